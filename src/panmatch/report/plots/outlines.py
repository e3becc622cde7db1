"""Outlines of objects as paths."""

from __future__ import annotations

from collections.abc import Container
from typing import TYPE_CHECKING, Any

import numpy as np

from panmatch.labels import LabelArray, segment_geometry
from panmatch.overlap import Floats

if TYPE_CHECKING:
    from matplotlib.path import Path


def outline_of(labels: LabelArray, ids: Container[int]) -> Path | None:
    """Return the outlines of these objects in one path, holes included; None if none is there.

    Outlines run half-way between voxel centres, in coordinates (column, row). Each object is
    traced in its own box, so that many small ones take no longer than one large one.

    Examples
    --------
    >>> path = outline_of(np.array([[0, 7, 0], [0, 7, 0]]), {7})
    >>> path.get_extents().get_points().tolist() if path is not None else None
    [[0.5, -0.5], [1.5, 1.5]]
    """
    from matplotlib.path import Path

    boxes = segment_geometry(labels)
    lines = []
    for number, start, stop in zip(
        boxes.ids.tolist(), boxes.start.tolist(), boxes.stop.tolist(), strict=True
    ):
        if number in ids:
            box = tuple(slice(first, last) for first, last in zip(start, stop, strict=True))
            around = np.pad(labels[box] == number, 1).astype(np.float64)
            corner = np.array(start) - 1
            lines += [(line + corner)[:, ::-1] for line in _contours(around)]
    if not lines:
        return None
    return Path.make_compound_path(*(Path(line, closed=True) for line in lines))


def _contours(mask: Floats) -> list[Floats]:
    from skimage import measure

    trace: Any = measure.find_contours  # it has no types
    lines: list[Floats] = trace(mask, 0.5)
    return lines
