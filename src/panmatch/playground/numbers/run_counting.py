"""Counting images that are given as runs: what holds along a run is counted once."""

from __future__ import annotations

import numpy as np

from panmatch.overlap import Ints, Overlap, assemble_labels, sum_by
from panmatch.playground.drawing.raster import Runs


def count_runs(reference: Runs, prediction: Runs) -> Overlap:
    """Return what `count_overlaps` returns for the two images.

    Examples
    --------
    >>> reference = Runs(np.array([2, 5, 6]), np.array([0, 1, 0]))
    >>> prediction = Runs(np.array([3, 6]), np.array([0, 7]))
    >>> count_runs(reference, prediction).edges.intersection
    array([2])
    """
    ref, pred, lengths = _common_runs(reference, prediction)
    width = int(pred.max()) + 1
    voxels = sum_by(ref * width + pred, lengths, (int(ref.max()) + 1) * width)
    seen = np.flatnonzero(voxels)
    return assemble_labels(*np.divmod(seen, width), voxels[seen])


def _common_runs(one: Runs, other: Runs) -> tuple[Ints, Ints, Ints]:
    """Return both values and the length of every run on which neither image changes."""
    stops = np.sort(np.concatenate([one.stops << 1, other.stops << 1 | 1]))
    is_other = stops & 1
    ended = np.cumsum(is_other) - is_other  # runs of the other image that ended before
    values = other.values.take(ended, mode="clip")  # beyond the last run there are no pixels
    ended = np.arange(len(stops)) - ended
    return one.values.take(ended, mode="clip"), values, np.diff(stops >> 1, prepend=0)
