"""One prediction per reference, one reference per prediction."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np

from panmatch import native
from panmatch.errors import check_choice
from panmatch.matching._objective import Objective, check_objective
from panmatch.matching._optimal_cover import certified, optimal_cover, sweep_optimal_covers
from panmatch.matching._solution import Course, Solution
from panmatch.matching._strategy import Dash, Strategy, best_first, walk_edges
from panmatch.overlap import Floats, Ints, Overlap

Solver = Literal["optimal", "greedy"]

# Weights are whole multiples of 2**-60, so totals are exact. Every pair gets a small bonus: if
# totals are equal up to rounding, the one with more pairs wins (D4), then the one that leaves fewer
# false positives where void dismisses some (D10), and then, if the score is not IoU, the one with
# the higher quality.
_SCALE = 60
_PAIR_BONUS = 1 << 26
_FALSE_POSITIVE_BONUS = 1 << 18
_QUALITY_BONUS = 1 << 16


@dataclass(frozen=True, slots=True, repr=False)
class OneToOne(Strategy):
    """Match every reference to at most one prediction and every prediction to at most one.

    Parameters
    ----------
    solver
        ``"optimal"``: maximum PQ, with a certificate (D6). Ties (within 1e-10) go to the matching
        with more true positives. On whole predictions without void, this is the largest total IoU.
        With a score other than IoU it is the largest total score, without a certificate.
        ``"greedy"``: best edge first.
    objective
        What ``"optimal"`` maximises: ``"pq"``, or ``"parts"`` for PartPQ, which needs an overlap
        with parts (D9).

    Examples
    --------
    >>> import panmatch as pm
    >>> ov = pm.Overlap.from_dense([[6, 5], [5, 0]], ref_sizes=[11, 10], pred_sizes=[11, 10])
    >>> for solver in ("optimal", "greedy"):
    ...     print(solver, pm.match(ov, pm.OneToOne(solver), threshold=0).pairs.tolist())
    optimal [[1, 2], [2, 1]]
    greedy [[1, 1]]
    """

    solver: Solver = "optimal"
    objective: Objective = "pq"

    name: ClassVar[str] = "one-to-one"
    max_preds_per_ref: ClassVar[int | None] = 1
    max_refs_per_pred: ClassVar[int | None] = 1
    forgives: ClassVar[str] = "nothing"
    hue: ClassVar[tuple[str, str]] = ("#7c45f2", "#9a7bff")

    def __post_init__(self) -> None:
        check_choice("solver", self.solver, get_args(Solver))
        check_objective(self.objective, self.solver)

    @property
    def about(self) -> str:
        """One sentence on what it does."""
        optimal = self.solver == "optimal"
        how = f"chosen for maximum {self.maximises}" if optimal else "highest IoU first"
        return f"Pairs of one prediction and one reference, {how}."

    @property
    def dash(self) -> Dash:
        """Lengths of strokes and gaps of its lines."""
        if self.objective == "parts":
            return (9.0, 1.2, 1.2, 1.2)
        return () if self.solver == "optimal" else (4.0, 1.6)

    def solve(self, overlap: Overlap, score: Floats, threshold: float) -> Solution:
        """Return the edges matched at `threshold`."""
        passing = np.flatnonzero(score > threshold)
        if self.solver == "greedy":
            walk = best_first(score)[: len(passing)]
            return Solution(walk_edges(overlap, walk, seedable=len(walk), grow=False))
        if self.objective == "parts":
            return optimal_cover(overlap, score > threshold, exclusive=True, quality="parts")
        began = time.perf_counter()
        by_iou, fixed = np.array_equal(score, overlap.iou), _has_fixed_denominator(overlap)
        if by_iou and not fixed:
            return optimal_cover(overlap, score > threshold, exclusive=True)
        if by_iou and _is_settled(overlap, threshold):
            return certified(overlap, score > threshold, passing, 1, began)
        ref, pred = overlap.edges.ref[passing], overlap.edges.pred[passing]
        weight = _weights(overlap, score)[passing]
        chosen = native.assign(ref, pred, weight, len(overlap.ref_ids), len(overlap.pred_ids))
        edges = passing[chosen.view(np.bool_)]
        return certified(overlap, score > threshold, edges, 1, began)

    def sweep(self, overlap: Overlap, score: Floats) -> Course:
        """Return the matchings at all thresholds.

        Greedy matchings are nested. An optimal matching is repaired whenever it loses an edge,
        by one shortest-path search for each end of that edge.
        """
        if self.solver == "greedy":
            return Course.nested(self.solve(overlap, score, 0.0).edges, score)
        if self.objective == "parts" or self._weighs_pq(overlap, score):
            return sweep_optimal_covers(overlap, score, exclusive=True, quality=self.quality)
        ref, pred = overlap.edges.ref, overlap.edges.pred
        weight = _weights(overlap, score)
        sizes = len(overlap.ref_ids), len(overlap.pred_ids)
        return Course(*native.assign_sweep(ref, pred, weight, score, *sizes), proven=True)

    def is_local(self, overlap: Overlap, threshold: float) -> bool:
        """Whether matching an object never costs another one.

        It can if the denominator of PQ depends on what is matched, unless an IoU above ½ settles
        which objects belong together: such a pair raises any PQ. PartPQ needs all parts of a class.
        """
        if self.objective == "parts":
            return False
        settled = _is_settled(overlap, threshold)
        return self.solver == "greedy" or settled or _has_fixed_denominator(overlap)

    def _weighs_pq(self, overlap: Overlap, score: Floats) -> bool:
        return np.array_equal(score, overlap.iou) and not _has_fixed_denominator(overlap)


def _is_settled(overlap: Overlap, threshold: float) -> bool:
    """Whether no two edges above the threshold share an object, so that all are matched.

    An IoU above ½ is more than half of either object; only masks that share voxels can have two.
    """
    return threshold >= 0.5 and overlap.sharing is None


def _has_fixed_denominator(overlap: Overlap) -> bool:
    """Whether every matched prediction is whole and would be a false positive otherwise."""
    if overlap.pieces is not None:
        return False
    return overlap.ignores_nothing or not overlap.dismissible[overlap.edges.pred].any()


def _weights(overlap: Overlap, score: Floats) -> Ints:
    weight = np.rint(np.ldexp(score, _SCALE)).astype(np.int64) + _PAIR_BONUS
    weight[~overlap.dismissible[overlap.edges.pred]] += _FALSE_POSITIVE_BONUS
    return weight + np.rint(_QUALITY_BONUS * overlap.iou).astype(np.int64)
