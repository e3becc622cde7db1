"""One prediction per reference, one reference per prediction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np

from panmatch import native
from panmatch.errors import check_choice
from panmatch.matching.course import Course
from panmatch.matching.greedy import walk_edges
from panmatch.matching.strategy import Strategy, best_first
from panmatch.overlap import Floats, Ints, Overlap

# Weights are whole multiples of 2**-60, so that totals are exact. Every pair adds a little to
# its weight: among totals equal up to rounding the one with more pairs wins (D4), and among
# those the one that leaves fewer false positives where void dismisses some (D10).
_SCALE = 60
_PAIR_BONUS = 1 << 20
_FALSE_POSITIVE_BONUS = 1 << 8


@dataclass(frozen=True, slots=True)
class OneToOne(Strategy):
    """Match every reference to at most one prediction and every prediction to at most one.

    Parameters
    ----------
    solver
        ``"optimal"``: maximum total score, which for IoU is also maximum PQ; among equal totals
        (within 1e-12) the one with more true positives. ``"greedy"``: best edge first.

    Examples
    --------
    >>> from panmatch.overlap import Overlap
    >>> ov = Overlap.from_dense([[6, 5], [5, 0]], ref_sizes=[11, 10], pred_sizes=[11, 10])
    >>> OneToOne().select(ov, ov.iou, 0.0), OneToOne("greedy").select(ov, ov.iou, 0.0)
    (array([1, 2]), array([0]))
    """

    solver: Literal["optimal", "greedy"] = "optimal"

    name: ClassVar[str] = "one-to-one"
    max_preds_per_ref: ClassVar[int | None] = 1
    max_refs_per_pred: ClassVar[int | None] = 1

    def __post_init__(self) -> None:
        check_choice("solver", self.solver, get_args(Literal["optimal", "greedy"]))

    def select(self, overlap: Overlap, score: Floats, threshold: float) -> Ints:
        """Return the positions of the edges matched at `threshold`, rising."""
        passing = np.flatnonzero(score > threshold)
        if self.solver == "greedy":
            walk = best_first(score)[: len(passing)]
            return walk_edges(overlap, walk, seedable=len(walk), grow=False)
        ref, pred = overlap.edges.ref[passing], overlap.edges.pred[passing]
        weight = _weights(overlap, score)[passing]
        chosen = native.assign(ref, pred, weight, len(overlap.ref_ids), len(overlap.pred_ids))
        return passing[chosen.view(np.bool_)]

    def sweep(self, overlap: Overlap, score: Floats) -> Course:
        """Return the matchings at all thresholds.

        Greedy matchings are nested. An optimal matching is repaired whenever it loses an edge,
        by one shortest-path search for each end of that edge.
        """
        if self.solver == "greedy":
            return Course.nested(self.select(overlap, score, 0.0), score)
        ref, pred = overlap.edges.ref, overlap.edges.pred
        weight = _weights(overlap, score)
        sizes = len(overlap.ref_ids), len(overlap.pred_ids)
        return Course(*native.assign_sweep(ref, pred, weight, score, *sizes))


def _weights(overlap: Overlap, score: Floats) -> Ints:
    weight = np.rint(np.ldexp(score, _SCALE)).astype(np.int64) + _PAIR_BONUS
    weight[~overlap.dismissible[overlap.edges.pred]] += _FALSE_POSITIVE_BONUS
    return weight
