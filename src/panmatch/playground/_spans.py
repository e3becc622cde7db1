"""Which pixels a convex shape covers: one span of columns in every row of the raster.

A pixel is covered if its centre is. The ends of a row's chord come from a square root, which
rounds. So the exact rule is checked for the pixel nearest to either end, and that settles the span.
All shapes of one kind are processed together, row by row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

WIDTH, HEIGHT = 600, 362  # of the canvas, in units
SAMPLES = 4  # pixels per unit and axis
COLUMNS, ROWS = WIDTH * SAMPLES, HEIGHT * SAMPLES

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

SEGMENTS_AT_ONCE = 512  # bounds the memory that long and wide strokes need
VANISHING = 1e-200  # squared lengths below are 0: their products would underflow


@dataclass(frozen=True, slots=True, eq=False)
class Spans:
    """Pixels [start, stop) of the flattened raster, each span with the number of its shape.

    Two spans of one shape have no pixel in common.
    """

    shape: Ints
    start: Ints
    stop: Ints


def disc_spans(x: Floats, y: Floats, r: Floats) -> Spans:
    """Return the spans of discs: centres at a distance of at most r.

    Examples
    --------
    >>> dot = disc_spans(np.array([0.5]), np.array([0.125]), np.array([0.25]))
    >>> dot.start, dot.stop
    (array([1]), array([3]))
    """
    shape, row = _rows_between(y - r, y + r)
    x, r_squared = x[shape], (r * r)[shape]
    dy_squared = (_centres(row) - y[shape]) ** 2
    half = np.sqrt(np.maximum(r_squared - dy_squared, 0))

    def covers(column: Floats) -> Mask:
        covered: Mask = (_centres(column) - x) ** 2 + dy_squared <= r_squared
        return covered

    return _settled(shape, row, (x - half, x + half), covers)


def ellipse_spans(x: Floats, y: Floats, rx: Floats, ry: Floats, degrees: Floats) -> Spans:
    """Return the spans of ellipses: centres at a normalised radius of at most 1.

    With u, v the offsets from the centre along the two axes, that is (u/rx)² + (v/ry)² ≤ 1. It is
    computed without divisions. An ellipse without any area covers nothing.
    """
    cos, sin = _turn(degrees)
    tall = (rx * sin) ** 2 + (ry * cos) ** 2  # square of half the height
    some = (rx * ry) ** 2 > VANISHING
    reach = np.where(some, np.sqrt(tall), -1)
    shape, row = _rows_between(y - reach, y + reach)
    x, rx, ry, cos, sin, tall = (values[shape] for values in (x, rx, ry, cos, sin, tall))
    dy = _centres(row) - y[shape]
    middle = x + (rx - ry) * (rx + ry) * sin * cos * dy / tall
    half = rx * ry * np.sqrt(np.maximum(tall - dy * dy, 0)) / tall

    def covers(column: Floats) -> Mask:
        dx = _centres(column) - x
        u, v = cos * dx + sin * dy, cos * dy - sin * dx
        covered: Mask = (ry * u) ** 2 + (rx * v) ** 2 <= (rx * ry) ** 2
        return covered

    return _settled(shape, row, (middle - half, middle + half), covers)


def segment_spans(shape: Ints, begin: Floats, end: Floats, r: Floats) -> Spans:
    """Return the spans of thick segments: centres at a distance of at most r from a segment.

    Parameters
    ----------
    shape
        To which shape each segment belongs.
    begin, end
        Shape (segments, 2): x and y of both ends, which may be the same point.
    r
        Half the thickness of every segment.

    Returns
    -------
    Spans
        Those of all segments of a shape together.
    """
    groups = []
    for first in range(0, len(shape), SEGMENTS_AT_ONCE):
        some = slice(first, first + SEGMENTS_AT_ONCE)
        groups.append(_united(_segment_spans(shape[some], begin[some], end[some], r[some])))
    return groups[0] if len(groups) == 1 else _united(joined(groups))


def joined(groups: list[Spans]) -> Spans:
    """Return all spans of all groups."""
    none = np.zeros((3, 0), dtype=np.int64)
    columns = [np.stack((spans.shape, spans.start, spans.stop)) for spans in groups]
    return Spans(*np.concatenate([none, *columns], axis=1))


def _segment_spans(owner: Ints, begin: Floats, end: Floats, r: Floats) -> Spans:
    """Return the spans of every segment, which for one shape may overlap."""
    down = (begin[:, 1] < end[:, 1]) | ((begin[:, 1] == end[:, 1]) & (begin[:, 0] <= end[:, 0]))
    (ax, ay), (bx, by) = np.where(down, begin.T, end.T), np.where(down, end.T, begin.T)
    ux, uy = bx - ax, by - ay
    length = np.hypot(ux, uy)
    # The straight side on the left touches the discs this far below their centres.
    lean = r * np.divide(ux, length, where=length > 0, out=np.zeros_like(ux))
    segment, row = _rows_between(ay - r, by + r)
    hit = (_centres(row) - ay[segment] >= -r[segment]) & (_centres(row) - by[segment] <= r[segment])
    segment, row = segment[hit], row[hit]
    ax, ay, bx, by, ux, uy, r, lean = (v[segment] for v in (ax, ay, bx, by, ux, uy, r, lean))
    dy_a, dy_b = _centres(row) - ay, _centres(row) - by
    left = _reach(dy_a, uy, lean, flat=0.0)
    right = _reach(dy_a, uy, -lean, flat=1.0)
    r_squared, length_squared = r * r, ux * ux + uy * uy
    half_left = np.sqrt(np.maximum(r_squared - (dy_a - left * uy) ** 2, 0))
    half_right = np.sqrt(np.maximum(r_squared - (dy_a - right * uy) ** 2, 0))

    def covers(column: Floats) -> Mask:
        dx_a, dx_b = _centres(column) - ax, _centres(column) - bx
        along, across = ux * dx_a + uy * dy_a, ux * dy_a - uy * dx_a
        beside = (along >= 0) & (along <= length_squared) & (length_squared > VANISHING)
        beside &= across * across <= r_squared * length_squared
        covered: Mask = (
            beside
            | (dx_a * dx_a + dy_a * dy_a <= r_squared)
            | (dx_b * dx_b + dy_b * dy_b <= r_squared)
        )
        return covered

    ends = ax + left * ux - half_left, ax + right * ux + half_right
    return _settled(owner[segment], row, ends, covers)


def _turn(degrees: Floats) -> tuple[Floats, Floats]:
    """Return cosine and sine, exact for right angles."""
    turn = np.radians(np.fmod(degrees, 360))
    cos, sin = np.cos(turn), np.sin(turn)
    right = np.fmod(degrees, 90) == 0
    return np.where(right, np.rint(cos), cos), np.where(right, np.rint(sin), sin)


def _reach(dy: Floats, uy: Floats, lean: Floats, flat: float) -> Floats:
    """Return how far along a segment, 0 to 1, the disc is that reaches farthest in a row."""
    with np.errstate(over="ignore"):  # a slope that can hardly be told from none
        along = np.divide(dy - lean, uy, where=uy > 0, out=np.full_like(dy, flat))
    return np.clip(along, 0, 1)


def _centres(pixel: Floats | Ints) -> Floats:
    centres: Floats = (pixel + 0.5) / SAMPLES
    return centres


def _rows_between(top: Floats, bottom: Floats) -> tuple[Ints, Floats]:
    """Return the rows of every shape, one more at either end, and which shape each is of."""
    first = np.clip(np.ceil(top * SAMPLES - 0.5) - 1, 0, ROWS).astype(np.int64)
    stop = np.clip(np.floor(bottom * SAMPLES - 0.5) + 2, 0, ROWS).astype(np.int64)
    count = np.maximum(stop - first, 0)
    shape = np.repeat(np.arange(len(count), dtype=np.int64), count.astype(np.intp))
    before = np.cumsum(count) - count
    return shape, (np.arange(len(shape)) + (first - before)[shape]).astype(np.float64)


def _settled(
    shape: Ints, row: Floats, ends: tuple[Floats, Floats], covers: Callable[[Floats], Mask]
) -> Spans:
    """Return the spans between both ends of the chords."""
    first, last = (np.rint(end * SAMPLES - 0.5) for end in ends)
    start = np.maximum(first + ~covers(first), 0)
    stop = np.minimum(last + covers(last), COLUMNS)
    some = np.flatnonzero(start < stop)
    before = row[some] * COLUMNS
    return Spans(
        shape[some],
        (before + start[some]).astype(np.int64),
        (before + stop[some]).astype(np.int64),
    )


def _united(spans: Spans) -> Spans:
    """Return spans of which no two of one shape overlap or touch."""
    if len(spans.start) == 0:
        return spans
    raster = ROWS * COLUMNS
    base = spans.shape * (raster + 1)  # so that spans of two shapes never touch
    order = np.argsort(base + spans.start, kind="stable")
    start, stop = (base + spans.start)[order], (base + spans.stop)[order]
    so_far = np.maximum.accumulate(stop)
    first = np.flatnonzero(np.r_[True, start[1:] > so_far[:-1]])
    last = np.r_[first[1:], len(start)] - 1
    shape, begin = np.divmod(start[first], raster + 1)
    return Spans(shape, begin, so_far[last] - shape * (raster + 1))
