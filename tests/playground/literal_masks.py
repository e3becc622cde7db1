"""Which pixels a shape covers, by the letter of the definition: every pixel is asked."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from panmatch.playground import Disc, Ellipse, Stroke
from panmatch.playground._shapes import Shape

Mask = npt.NDArray[np.bool_]
ROWS, COLUMNS = 1448, 2400
LARGEST_PARTNER = 2**15  # eighths of a unit: squares of squares still fit 64 bits


def literal_mask(shape: Shape) -> Mask:
    """Ask every pixel in floating point."""
    covered = np.zeros((ROWS, COLUMNS), dtype=np.bool_)
    add_literally(covered, shape)
    return covered


def add_literally(covered: Mask, shape: Shape) -> None:
    """Ask every pixel of a mask in floating point, besides what it covers already."""
    left, top, right, bottom = window(shape)
    x = (np.arange(left, right) + 0.5) / 4
    y = (np.arange(top, bottom)[:, None] + 0.5) / 4
    covered[top:bottom, left:right] |= _covers(shape, x, y)


def window(shape: Shape) -> tuple[int, int, int, int]:
    """Left, top, right and bottom of pixels beyond which a shape certainly ends."""
    if isinstance(shape, Stroke):
        points, reach = shape.points, shape.width / 2
    elif isinstance(shape, Disc):
        points, reach = ((shape.x, shape.y),), shape.r
    else:
        assert isinstance(shape, Ellipse)
        points, reach = ((shape.x, shape.y),), max(shape.rx, shape.ry)
    xs, ys = zip(*points, strict=True)
    return (
        _pixel(min(xs) - reach - 1, COLUMNS),
        _pixel(min(ys) - reach - 1, ROWS),
        _pixel(max(xs) + reach + 1, COLUMNS),
        _pixel(max(ys) + reach + 1, ROWS),
    )


def _pixel(coordinate: float, highest: int) -> int:
    return min(max(int(np.floor(4 * coordinate)), 0), highest)


def _covers(shape: Shape, x: Any, y: Any) -> Any:
    if isinstance(shape, Disc):
        return np.hypot(x - shape.x, y - shape.y) <= shape.r
    if isinstance(shape, Ellipse):
        turn = shape.angle / 180 * np.pi
        along = (x - shape.x) * np.cos(turn) + (y - shape.y) * np.sin(turn)
        across = (y - shape.y) * np.cos(turn) - (x - shape.x) * np.sin(turn)
        return np.hypot(along / shape.rx, across / shape.ry) <= 1
    assert isinstance(shape, Stroke)
    nearest = np.full(np.broadcast_shapes(x.shape, y.shape), np.inf)
    for (ax, ay), (bx, by) in zip(
        (shape.points[0], *shape.points), (*shape.points, shape.points[-1]), strict=True
    ):
        ux, uy = bx - ax, by - ay
        along = ((x - ax) * ux + (y - ay) * uy) / max(ux * ux + uy * uy, 1e-300)
        along = np.clip(along, 0, 1)
        nearest = np.minimum(nearest, np.hypot(x - ax - along * ux, y - ay - along * uy))
    return nearest <= shape.width / 2


def exact_mask(shape: Shape) -> Mask:
    """Ask every pixel in whole numbers: all of the shape's are multiples of 1/8 of a unit.

    Ellipses must be turned by right angles, and half the width of strokes be such a multiple.
    """
    covered = np.zeros((ROWS, COLUMNS), dtype=np.bool_)
    left, top, right, bottom = window(shape)
    x = 2 * np.arange(left, right) + 1
    y = 2 * np.arange(top, bottom)[:, None] + 1
    covered[top:bottom, left:right] = _covers_exactly(shape, x, y)
    return covered


def eighths(value: float) -> int:
    exact = Fraction(value) * 8
    assert exact.denominator == 1
    assert abs(exact) < LARGEST_PARTNER
    return exact.numerator


def _covers_exactly(shape: Shape, x: Any, y: Any) -> Any:
    if isinstance(shape, Disc):
        dx, dy = x - eighths(shape.x), y - eighths(shape.y)
        return dx**2 + dy**2 <= eighths(shape.r) ** 2
    if isinstance(shape, Ellipse):
        dx, dy = x - eighths(shape.x), y - eighths(shape.y)
        assert shape.angle % 90 == 0
        rx, ry = eighths(shape.rx), eighths(shape.ry)
        if shape.angle % 180:
            rx, ry = ry, rx
        return (dx * ry) ** 2 + (dy * rx) ** 2 <= (rx * ry) ** 2
    assert isinstance(shape, Stroke)
    r = eighths(shape.width / 2)
    covered = np.zeros(np.broadcast_shapes(x.shape, y.shape), dtype=np.bool_)
    ends = [(eighths(px), eighths(py)) for px, py in shape.points]
    for px, py in ends:
        covered |= (x - px) ** 2 + (y - py) ** 2 <= r**2
    for (ax, ay), (bx, by) in pairwise(ends):
        ux, uy = bx - ax, by - ay
        along, across = (x - ax) * ux + (y - ay) * uy, (x - ax) * uy - (y - ay) * ux
        length = ux**2 + uy**2
        covered |= (along > 0) & (along < length) & (across**2 <= r**2 * length)
    return covered
