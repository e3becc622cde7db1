"""Exact areas of discs and of what two discs share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from panmatch.errors import OptionError
from panmatch.overlap import Overlap
from panmatch.playground._shapes import Disc, Shape
from panmatch.playground._spans import HEIGHT, WIDTH, Floats
from panmatch.playground._states import SIDES, Scene, Side
from panmatch.playground._validation import ordinal

ROUNDING = 1e-9  # units by which discs may overlap, or leave the canvas: they were meant to touch
REMEDY = "switch exact areas off (areas='raster')"


def exact_overlap(scene: Scene) -> Overlap:
    """Return the overlap of a scene of discs with exact areas instead of counts of pixels (D1).

    Discs without any area are left out. Ids are those of the label images.

    Raises
    ------
    OptionError
        Unless all shapes are discs inside the canvas, and no two of a side overlap.

    Examples
    --------
    >>> scene = Scene([Disc(300, 181, 40)], [Disc(300, 181, 20)])
    >>> exact_overlap(scene).iou
    array([0.25])
    """
    reference, prediction = (_checked_discs(scene, side) for side in SIDES)
    shared = lens_areas(reference[:, None], prediction[None])
    sizes = [np.pi * discs[:, 2] ** 2 for discs in (reference, prediction)]
    refs, preds = (np.flatnonzero(size > 0) for size in sizes)
    overlap = Overlap.from_dense(shared[refs][:, preds], sizes[0][refs], sizes[1][preds])
    return replace(overlap, ref_ids=refs + 1, pred_ids=preds + 1)


def has_exact_areas(scene: Scene) -> bool:
    """Return whether a scene consists of whole discs that do not hide each other.

    Examples
    --------
    >>> has_exact_areas(Scene([Disc(300, 181, 40)], [Disc(300, 181, 20), Disc(310, 181, 20)]))
    False
    """
    try:
        exact_overlap(scene)
    except OptionError:
        return False
    return True


def disc_table(shapes: Sequence[Shape]) -> Floats:
    """Return x, y and r of all discs among shapes, one row each."""
    discs = [(shape.x, shape.y, shape.r) for shape in shapes if isinstance(shape, Disc)]
    return np.array(discs, dtype=np.float64).reshape(-1, 3)


def lens_areas(discs: Floats, others: Floats) -> Floats:
    """Return the areas that discs share with others.

    The angles under which the common chord is seen come from products of differences that are
    exact for circles that nearly touch or nearly coincide, and a thin segment from a series.

    Parameters
    ----------
    discs, others
        x, y and r along the last axis; the other axes are broadcast.

    Examples
    --------
    >>> float(lens_areas(np.array([0, 0, 1.0]), np.array([0, 1, 1.0])).round(12))
    1.228369698609
    """
    distance = np.hypot(discs[..., 0] - others[..., 0], discs[..., 1] - others[..., 1])
    small = np.minimum(discs[..., 2], others[..., 2])
    large = np.maximum(discs[..., 2], others[..., 2])
    depth = np.maximum((small + large) - distance, 0)
    sticks_out = np.maximum(distance - (large - small), 0)
    near, far = distance + (large - small), distance + (large + small)
    angle_small = 2 * np.arctan2(np.sqrt(depth * near), np.sqrt(sticks_out * far))
    angle_large = 2 * np.arctan2(np.sqrt(depth * sticks_out), np.sqrt(near * far))
    whole = np.pi * small**2
    area = small**2 * _segment(angle_small) + large**2 * _segment(angle_large)
    apart, nested = depth == 0, sticks_out == 0
    lens: Floats = np.where(apart, 0, np.where(nested, whole, np.minimum(area, whole)))
    return lens


def _segment(angle: Floats) -> Floats:
    """Return the area that a chord cuts off the unit disc, seen from the centre under 2·angle."""
    square = angle * angle
    series = angle * square * (2 / 3 - square * (2 / 15 - square * (4 / 315 - square * 2 / 2835)))
    return np.where(angle < 0.01, series, angle - np.sin(angle) * np.cos(angle))


def _checked_discs(scene: Scene, side: Side) -> Floats:
    """Return x, y, r of all shapes of a side, or raise unless their areas are those of discs."""
    shapes = scene.shapes(side)
    for position, shape in enumerate(shapes):
        _check_disc(f"the {ordinal(position)} shape of {side}", shape)
    discs = disc_table(shapes)
    _check_apart(side, discs)
    return discs


def _check_disc(where: str, shape: Shape) -> None:
    if not isinstance(shape, Disc):
        raise OptionError(
            f"{where} is of kind {shape.kind!r}, but exact areas work only for discs: {REMEDY}."
        )
    least, most_x, most_y = shape.r - ROUNDING, WIDTH - shape.r, HEIGHT - shape.r
    if not (least <= shape.x <= most_x + ROUNDING and least <= shape.y <= most_y + ROUNDING):
        raise OptionError(
            f"{where} extends beyond the edge of the canvas, but exact areas work only for whole "
            f"discs: move it inside, or {REMEDY}."
        )


def _check_apart(side: Side, discs: Floats) -> None:
    pair = overlapping_discs(discs)
    if pair is not None:
        raise OptionError(
            f"the {ordinal(pair[0])} and the {ordinal(pair[1])} shape of {side} overlap, but exact "
            f"areas work only for discs that do not hide each other: move them apart, or {REMEDY}."
        )


def overlapping_discs(discs: Floats) -> tuple[int, int] | None:
    """Return the positions of the first two discs that overlap, or None where none do.

    Examples
    --------
    >>> overlapping_discs(np.array([[0, 0, 1], [2, 0, 1], [3, 1, 1.0]]))
    (1, 2)
    """
    positions = np.flatnonzero(discs[:, 2] > 0)
    x, y, r = discs[positions].T
    near = np.hypot(x[:, None] - x, y[:, None] - y) < r[:, None] + r - ROUNDING
    pairs = np.argwhere(np.triu(near, k=1))
    return (int(positions[pairs[0, 0]]), int(positions[pairs[0, 1]])) if len(pairs) else None
