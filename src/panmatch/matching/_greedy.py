"""Walking edges best first (D5): what greedy one-to-one and many-to-one merging share."""

from __future__ import annotations

import numpy as np

from panmatch import native
from panmatch.matching._strategy import Course
from panmatch.overlap import Floats, Ints, Overlap


def walk_edges(overlap: Overlap, walk: Ints, *, seedable: int, grow: bool) -> Ints:
    """Take edges in the order of `walk` and return the positions of those taken, rising.

    Parameters
    ----------
    walk
        Positions of the edges to visit, best first.
    seedable
        How many edges at the front of `walk` may give a reference its first prediction.
    grow
        Whether a reference takes further predictions that raise the IoU of its union.
    """
    taken = native.merge(*_in_order(overlap, walk), seedable, grow)
    return np.sort(walk[taken.view(np.bool_)])


def sweep_seeds(overlap: Overlap, walk: Ints, score: Floats) -> Course:
    """Return the merges of all thresholds when only a reference's first edge must pass."""
    edge, start, stop = native.merge_sweep(*_in_order(overlap, walk), score[walk])
    return Course(walk[edge], start, stop)


def _in_order(overlap: Overlap, walk: Ints) -> tuple[Ints, Ints, Floats, Floats, Floats]:
    return (
        overlap.edges.ref[walk],
        overlap.edges.pred[walk],
        overlap.edges.intersection[walk].astype(np.float64),
        overlap.ref_sizes.astype(np.float64),
        overlap.pred_areas.astype(np.float64),
    )
