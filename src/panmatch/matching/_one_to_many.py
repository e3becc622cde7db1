"""One prediction per reference, any number of references per prediction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

from panmatch.errors import check_choice
from panmatch.matching._objective import Objective, check_objective
from panmatch.matching._optimal_cover import optimal_cover, sweep_optimal_covers
from panmatch.matching._solution import Course, Solution
from panmatch.matching._strategy import Dash, Strategy, best_of_each_ref
from panmatch.overlap import Floats, Ints, Overlap

Solver = Literal["best", "optimal"]


@dataclass(frozen=True, slots=True, repr=False)
class OneToMany(Strategy):
    """Match every reference to at most one prediction, every prediction to any number.

    One prediction that covers several objects then finds all of them, each with its own quality.

    Parameters
    ----------
    solver
        ``"best"``: every reference takes its best prediction above the threshold; ties go to
        the smaller prediction id. ``"optimal"``: maximum PQ, with a certificate (D6).
    objective
        What ``"optimal"`` maximises: ``"pq"``, or ``"parts"`` for PartPQ, which needs an overlap
        with parts (D9).

    Examples
    --------
    >>> import panmatch as pm
    >>> covered = pm.Overlap.from_dense([[5], [5]], ref_sizes=[5, 5], pred_sizes=[10])
    >>> pm.match(covered, pm.OneToMany(), threshold=0.4).pairs.tolist()
    [[1, 1], [2, 1]]
    """

    solver: Solver = "best"
    objective: Objective = "pq"

    name: ClassVar[str] = "one-to-many"
    max_preds_per_ref: ClassVar[int | None] = 1
    max_refs_per_pred: ClassVar[int | None] = None
    forgives: ClassVar[str] = "merged objects"
    hue: ClassVar[tuple[str, str]] = ("#b5077f", "#f095bd")

    def __post_init__(self) -> None:
        check_choice("solver", self.solver, get_args(Solver))
        check_objective(self.objective, self.solver)

    @property
    def about(self) -> str:
        """One sentence on what it does."""
        if self.solver == "optimal":
            return (
                f"One prediction per reference, any number of references per prediction, chosen "
                f"for maximum {self.maximises}."
            )
        return (
            "Every reference takes its best prediction above the threshold, even if other "
            "references take it, too."
        )

    @property
    def dash(self) -> Dash:
        """Lengths of strokes and gaps of its lines."""
        if self.objective == "parts":
            return (1.0, 1.4, 1.0, 1.4, 1.0, 4.0)
        return (1.0, 1.4) if self.solver == "best" else (1.0, 1.4, 1.0, 4.0)

    def is_local(self, overlap: Overlap, threshold: float) -> bool:  # noqa: ARG002
        """Maximum PQ weighs all objects against each other."""
        return self.solver == "best"

    def solve(self, overlap: Overlap, score: Floats, threshold: float) -> Solution:
        """Return the edges matched at `threshold`."""
        if self.solver == "optimal":
            passes = score > threshold
            return optimal_cover(overlap, passes, exclusive=False, quality=self.quality)
        return Solution(self._best(overlap, score, threshold))

    def sweep(self, overlap: Overlap, score: Floats) -> Course:
        """Return the matchings at all thresholds: a reference keeps its best prediction."""
        if self.solver == "optimal":
            return sweep_optimal_covers(overlap, score, exclusive=False, quality=self.quality)
        return Course.nested(self._best(overlap, score, 0.0), score)

    def _best(self, overlap: Overlap, score: Floats, threshold: float) -> Ints:
        best = best_of_each_ref(overlap.edges.ref, score)
        return best[score[best] > threshold]
