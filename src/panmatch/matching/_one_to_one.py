"""One prediction per reference, one reference per prediction."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np

from panmatch import native
from panmatch.errors import check_choice
from panmatch.matching._solution import Certificate, Course, Solution
from panmatch.matching._strategy import Dash, Strategy, best_first, walk_edges
from panmatch.matching._tally import tally_edges
from panmatch.overlap import Floats, Ints, Overlap

Solver = Literal["optimal", "greedy"]

# Weights are whole multiples of 2**-60, so that totals are exact. Every pair adds a little to
# its weight: among totals equal up to rounding the one with more pairs wins (D4), among those the
# one that leaves fewer false positives where void dismisses some (D10), and then, where the score
# is not IoU, the one with the higher quality.
_SCALE = 60
_PAIR_BONUS = 1 << 26
_FALSE_POSITIVE_BONUS = 1 << 18
_QUALITY_BONUS = 1 << 16
TIE = 2 * _PAIR_BONUS / 2**_SCALE  # more than all that a pair adds to its score


@dataclass(frozen=True, slots=True)
class OneToOne(Strategy):
    """Match every reference to at most one prediction and every prediction to at most one.

    Parameters
    ----------
    solver
        ``"optimal"``: maximum total score, which for IoU is also maximum PQ; among equal totals
        (within 1e-10) the one with more true positives. ``"greedy"``: best edge first.

    Examples
    --------
    >>> from panmatch.overlap import Overlap
    >>> ov = Overlap.from_dense([[6, 5], [5, 0]], ref_sizes=[11, 10], pred_sizes=[11, 10])
    >>> OneToOne().solve(ov, ov.iou, 0.0).edges, OneToOne("greedy").solve(ov, ov.iou, 0.0).edges
    (array([1, 2]), array([0]))
    """

    solver: Solver = "optimal"

    name: ClassVar[str] = "one-to-one"
    max_preds_per_ref: ClassVar[int | None] = 1
    max_refs_per_pred: ClassVar[int | None] = 1
    forgives: ClassVar[str] = "nothing"
    hue: ClassVar[tuple[str, str]] = ("#7048e8", "#a98bff")

    def __post_init__(self) -> None:
        check_choice("solver", self.solver, get_args(Solver))

    @property
    def about(self) -> str:
        """One sentence on what it does."""
        optimal = self.solver == "optimal"
        how = "chosen for the largest total IoU" if optimal else "the highest IoU first"
        return f"Pairs of one prediction and one reference, {how}."

    @property
    def dash(self) -> Dash:
        """Lengths of strokes and gaps of its lines."""
        return () if self.solver == "optimal" else (4.0, 1.6)

    def solve(self, overlap: Overlap, score: Floats, threshold: float) -> Solution:
        """Return the edges matched at `threshold`."""
        passing = np.flatnonzero(score > threshold)
        if self.solver == "greedy":
            walk = best_first(score)[: len(passing)]
            return Solution(walk_edges(overlap, walk, seedable=len(walk), grow=False))
        began = time.perf_counter()
        ref, pred = overlap.edges.ref[passing], overlap.edges.pred[passing]
        weight = _weights(overlap, score)[passing]
        chosen = native.assign(ref, pred, weight, len(overlap.ref_ids), len(overlap.pred_ids))
        edges = passing[chosen.view(np.bool_)]
        proof = _certificate(overlap, edges, began) if np.array_equal(score, overlap.iou) else None
        return Solution(edges, proof)

    def sweep(self, overlap: Overlap, score: Floats) -> Course:
        """Return the matchings at all thresholds.

        Greedy matchings are nested. An optimal matching is repaired whenever it loses an edge,
        by one shortest-path search for each end of that edge.
        """
        if self.solver == "greedy":
            return Course.nested(self.solve(overlap, score, 0.0).edges, score)
        ref, pred = overlap.edges.ref, overlap.edges.pred
        weight = _weights(overlap, score)
        sizes = len(overlap.ref_ids), len(overlap.pred_ids)
        return Course(*native.assign_sweep(ref, pred, weight, score, *sizes), proven=True)


def _certificate(overlap: Overlap, edges: Ints, began: float) -> Certificate:
    """Bound PQ by the largest total over the smallest denominator.

    TP + ½FP + ½FN is at least half the number of segments, and just that unless a prediction is
    matched that would be dismissed otherwise, or several pieces of one prediction are.
    """
    tally = tally_edges(overlap, edges)
    segments = len(overlap.ref_ids) + int(np.count_nonzero(~overlap.predictions.dismissible))
    largest = tally.quality + TIE * tally.tp
    upper = max(tally.pq, largest / (0.5 * segments)) if segments else tally.pq
    return Certificate(tally.pq, upper, 1, 0, time.perf_counter() - began)


def to_weights(score: Floats) -> Ints:
    """Return scores in [0, 1] as whole numbers, each with the bonus of a pair."""
    return np.rint(np.ldexp(score, _SCALE)).astype(np.int64) + _PAIR_BONUS


def _weights(overlap: Overlap, score: Floats) -> Ints:
    weight = to_weights(score)
    weight[~overlap.dismissible[overlap.edges.pred]] += _FALSE_POSITIVE_BONUS
    return weight + np.rint(_QUALITY_BONUS * overlap.iou).astype(np.int64)
