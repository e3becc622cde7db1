"""One prediction per reference, any number of references per prediction."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal, get_args

import numpy as np
import numpy.typing as npt

from panmatch import native
from panmatch.errors import check_choice
from panmatch.matching._maximum_pq import Effort, Priced, count_each_once, maximise_pq
from panmatch.matching._one_to_one import TIE, to_weights
from panmatch.matching._solution import Budget, Course, Solution
from panmatch.matching._strategy import Dash, Strategy, best_of_each_ref
from panmatch.matching._sweep import sweep_within
from panmatch.overlap import Floats, Ints, Overlap

Solver = Literal["best", "optimal"]


@dataclass(frozen=True, slots=True)
class OneToMany(Strategy):
    """Match every reference to at most one prediction, every prediction to any number.

    One prediction that covers several objects then finds all of them, each with its own quality.

    Parameters
    ----------
    solver
        ``"best"``: every reference takes its best prediction above the threshold; ties go to
        the smaller prediction id. ``"optimal"``: maximum PQ, with a certificate (D6).
    budget
        How much search ``"optimal"`` may do, for one matching or for a whole curve. Only its
        seconds matter: there is nothing to branch on.

    Examples
    --------
    >>> from panmatch.overlap import Overlap
    >>> covered = Overlap.from_dense([[5], [5]], ref_sizes=[5, 5], pred_sizes=[10])
    >>> OneToMany().solve(covered, covered.iou, 0.4).edges
    array([0, 1])
    """

    solver: Solver = "best"
    budget: Budget = field(default=Budget(), repr=False)

    name: ClassVar[str] = "one-to-many"
    max_preds_per_ref: ClassVar[int | None] = 1
    max_refs_per_pred: ClassVar[int | None] = None
    forgives: ClassVar[str] = "merged objects"
    hue: ClassVar[tuple[str, str]] = ("#d6336c", "#ff7eab")

    def __post_init__(self) -> None:
        check_choice("solver", self.solver, get_args(Solver))

    @property
    def about(self) -> str:
        """One sentence on what it does."""
        if self.solver == "optimal":
            return (
                "One prediction per reference, any number of references per prediction, chosen for "
                "maximum PQ."
            )
        return (
            "Every reference takes its best prediction above the threshold, even one that others "
            "have taken."
        )

    @property
    def dash(self) -> Dash:
        """Lengths of strokes and gaps of its lines."""
        return (1.0, 1.4) if self.solver == "best" else (1.0, 1.4, 1.0, 4.0)

    @property
    def is_local(self) -> bool:
        """Maximum PQ weighs all objects against each other."""
        return self.solver == "best"

    def solve(self, overlap: Overlap, score: Floats, threshold: float) -> Solution:
        """Return the edges matched at `threshold`."""
        if self.solver == "optimal":
            return self._optimal(overlap, score, threshold, [], self.budget)
        return Solution(self._best(overlap, score, threshold))

    def sweep(self, overlap: Overlap, score: Floats) -> Course:
        """Return the matchings at all thresholds: a reference keeps its best prediction."""
        if self.solver == "optimal":
            return sweep_within(
                overlap,
                self.budget,
                lambda threshold, kept, budget: self._optimal(
                    overlap, score, threshold, kept, budget
                ),
                lambda edges: Course.nested(edges, score),
                lambda: Course.nested(self._best(overlap, score, 0.0), score),
            )
        return Course.nested(self._best(overlap, score, 0.0), score)

    def _best(self, overlap: Overlap, score: Floats, threshold: float) -> Ints:
        best = best_of_each_ref(overlap.edges.ref, score)
        return best[score[best] > threshold]

    def _optimal(
        self,
        overlap: Overlap,
        score: Floats,
        threshold: float,
        kept: Sequence[Ints],
        budget: Budget,
    ) -> Solution:
        began = time.perf_counter()
        passes = score > threshold
        starts = [self._best(overlap, score, threshold)]
        starts += [edges[passes[edges]] for edges in kept]
        return optimal_cover(overlap, passes, starts, budget.left_since(began))


def optimal_cover(
    overlap: Overlap, passes: npt.NDArray[np.bool_], starts: Sequence[Ints], budget: Budget
) -> Solution:
    """Return the one-to-many matching of maximum PQ; polynomial, so proven if the time suffices.

    Parameters
    ----------
    passes
        Which edges are above the threshold.
    starts
        Feasible matchings to begin with.
    """
    kept = np.flatnonzero(passes)
    iou = overlap.iou
    best = kept[best_of_each_ref(overlap.edges.ref[kept], iou[kept])]

    def solve_at(price: float, effort: Effort) -> Priced:
        return count_each_once(
            overlap,
            price,
            lambda credited: _solve_at(overlap, kept, best, iou, price, credited, effort),
            effort,
        )

    return maximise_pq(overlap, passes, starts, solve_at, budget)


def _solve_at(
    overlap: Overlap,
    kept: Ints,
    best: Ints,
    iou: Floats,
    price: float,
    credited: npt.NDArray[np.bool_],
    effort: Effort,
) -> Priced:
    """Maximise N − λD.

    The first reference on a counted prediction is worth its IoU, any other half a price less. So
    a reference can fall back on its best prediction for max(0, IoU − λ/2), and what it can gain
    by being first somewhere is a maximum-weight assignment.
    """
    ref, pred = overlap.edges.ref, overlap.edges.pred
    fallback = np.zeros(len(overlap.ref_ids))
    fallback[ref[best]] = np.maximum(0.0, iou[best] - 0.5 * price)
    gain = iou[kept] - fallback[ref[kept]]
    useful = (gain > 0) & credited[pred[kept]]
    first = kept[useful]
    sizes = len(overlap.ref_ids), len(overlap.pred_ids)
    taken = native.assign_within(
        ref[first], pred[first], to_weights(gain[useful]), *sizes, effort.seconds_or_inf
    )
    if taken is None:
        return Priced(best, np.inf, nodes=0)
    chosen = first[taken.view(np.bool_)]
    others = best[(iou[best] >= 0.5 * price) & ~np.isin(ref[best], ref[chosen])]
    worth = fallback.sum() + gain[useful][taken.view(np.bool_)].sum() + TIE * len(chosen)
    counted = ~overlap.predictions.dismissible
    segments = len(overlap.ref_ids) + int(np.count_nonzero(counted))
    edges = np.sort(np.concatenate([chosen, others]))
    return Priced(edges, float(worth) - 0.5 * price * segments, nodes=0)
