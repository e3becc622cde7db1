"""Where masks lie: voxels, centre and bounding box, from their runs."""

from __future__ import annotations

import numpy as np

from panmatch.errors import ShapeError
from panmatch.labels._arrays import Ints
from panmatch.labels._geometry import Geometry
from panmatch.labels._masks import Masks


def mask_geometry(masks: Masks, ids: Ints) -> Geometry:
    """Return voxels, centre and box of masks of a 2-D image.

    Parameters
    ----------
    ids
        What to call each mask, rising.

    Examples
    --------
    >>> from panmatch.labels import read_masks
    >>> found = mask_geometry(read_masks([np.eye(2, dtype=bool)], "masks"), np.array([7]))
    >>> found.voxels.tolist(), found.start.tolist(), found.stop.tolist()
    ([2], [[0, 0]], [[2, 2]])
    """
    if len(masks.shape) != 2:
        raise ShapeError(f"masks have the shape {masks.shape}; their image must have two axes.")
    length = masks.row_length
    owner = np.repeat(np.arange(len(masks)), np.diff(masks.first))
    lines, places = np.divmod(masks.start, length)
    last_lines, last_places = np.divmod(masks.stop - 1, length)
    wraps = last_lines > lines
    starts = lines, np.where(wraps, 0, places)
    stops = last_lines + 1, np.where(wraps, length, last_places + 1)
    before, after = _sums_up_to(masks.start, length), _sums_up_to(masks.stop, length)
    start = np.full((len(masks), 2), np.iinfo(np.int64).max)
    stop, sums = np.zeros((2, len(masks), 2), np.int64)
    # Voxels are numbered along the last axis first, or along the first ("F").
    for axis, which in enumerate((0, 1) if masks.order == "C" else (1, 0)):
        np.minimum.at(start[:, axis], owner, starts[which])
        np.maximum.at(stop[:, axis], owner, stops[which])
        np.add.at(sums[:, axis], owner, after[which] - before[which])
    sizes = masks.sizes
    start[sizes == 0] = 0
    return Geometry(ids, sizes, sums, start, stop)


def _sums_up_to(end: Ints, length: int) -> tuple[Ints, Ints]:
    """Return the sums of ``n // length`` and ``n % length`` over all n below each end."""
    lines, rest = np.divmod(end, length)
    of_lines = length * (lines * (lines - 1) // 2) + lines * rest
    of_places = lines * (length * (length - 1) // 2) + rest * (rest - 1) // 2
    return of_lines, of_places
