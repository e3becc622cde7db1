"""Any number of predictions per reference, one reference per prediction."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal, get_args

import numpy as np
import numpy.typing as npt

from panmatch.errors import StrategyError, check_choice
from panmatch.matching._objective import Objective, check_objective
from panmatch.matching._optimal_cover import optimal_cover
from panmatch.matching._optimal_merge import optimal_merge
from panmatch.matching._optimal_part_merge import optimal_part_merge
from panmatch.matching._shared_merge import sweep_shared, walk_shared
from panmatch.matching._solution import Budget, Course, Solution
from panmatch.matching._strategy import Dash, Strategy, best_first, sweep_seeds, walk_edges
from panmatch.matching._sweep import sweep_within
from panmatch.overlap import Floats, Ints, Overlap, Unions, predictions_overlap

Gate = Literal["seed", "edge"]
Solver = Literal["merge", "optimal"]


@dataclass(frozen=True, slots=True, repr=False)
class ManyToOne(Strategy):
    """Match every reference to any number of predictions, every prediction to at most one.

    The pieces of a split object then count once, with the quality of their union.

    Parameters
    ----------
    solver
        ``"merge"``: greedy merge (D5). It visits edges from the highest score to the lowest. A
        reference takes its first prediction if the edge passes the threshold, and another one only
        if the IoU of the union strictly rises. A prediction, once taken, never moves.
        ``"optimal"``: maximum PQ, with a certificate (D6).
    gate
        ``"seed"``: one edge of a reference must pass the threshold, the others need only overlap.
        ``"edge"``: every edge must pass.
    budget
        How much search ``"optimal"`` may do, for one matching or for a whole curve.
    objective
        What ``"optimal"`` maximises: ``"pq"``, or ``"parts"`` for PartPQ, which needs an overlap
        with parts (D9).

    Examples
    --------
    >>> import panmatch as pm
    >>> halves = pm.Overlap.from_dense([[6, 4]], ref_sizes=[10], pred_sizes=[6, 4])
    >>> pm.match(halves, pm.ManyToOne(), threshold=0.5).pairs.tolist()
    [[1, 1], [1, 2]]
    >>> pm.match(halves, pm.ManyToOne(gate="edge"), threshold=0.5).pairs.tolist()
    [[1, 1]]
    """

    solver: Solver = "merge"
    gate: Gate = "seed"
    budget: Budget = field(default=Budget())
    objective: Objective = "pq"

    name: ClassVar[str] = "many-to-one"
    max_preds_per_ref: ClassVar[int | None] = None
    max_refs_per_pred: ClassVar[int | None] = 1
    forgives: ClassVar[str] = "split objects"
    hue: ClassVar[tuple[str, str]] = ("#0f5414", "#3ca324")

    def __post_init__(self) -> None:
        check_choice("solver", self.solver, get_args(Solver))
        check_choice("gate", self.gate, get_args(Gate))
        check_objective(self.objective, self.solver)

    @property
    def about(self) -> str:
        """One sentence on what it does."""
        if self.solver == "optimal":
            gate = "at least one" if self.gate == "seed" else "each"
            return (
                f"Any number of predictions per reference, chosen for maximum {self.maximises}; "
                f"{gate} must pass the threshold."
            )
        joins = "overlaps" if self.gate == "seed" else "passes the threshold"
        return (
            f"A reference takes the prediction with the highest IoU if it passes the threshold, "
            f"then every other one that {joins} and raises the IoU of the union."
        )

    @property
    def dash(self) -> Dash:
        """Lengths of strokes and gaps of its lines."""
        merging = {"seed": (7.0, 2.0), "edge": (7.0, 2.0, 1.5, 2.0)}
        optimal = {"seed": (2.5, 1.5), "edge": (2.5, 1.5, 7.0, 1.5)}
        by_parts = {"seed": (2.5, 1.5, 1.0, 1.5), "edge": (2.5, 1.5, 1.0, 1.5, 7.0, 1.5)}
        if self.objective == "parts":
            return by_parts[self.gate]
        return (merging if self.solver == "merge" else optimal)[self.gate]

    def is_local(self, overlap: Overlap, threshold: float) -> bool:  # noqa: ARG002
        """Maximum PQ weighs all objects against each other."""
        return self.solver == "merge"

    def prepare(self, overlap: Overlap) -> Overlap:
        """Return the overlap as it is; the optimal solver needs disjoint predictions (D16)."""
        if self.solver == "optimal" and predictions_overlap(overlap):
            raise StrategyError(
                "strategy='many-to-one' with solver='optimal' needs predictions that do not share "
                "voxels, but some of these masks do (D16): use solver='merge', which counts shared "
                "voxels once, or strategy='one-to-one'."
            )
        return overlap

    def solve(self, overlap: Overlap, score: Floats, threshold: float) -> Solution:
        """Return the edges matched at `threshold`."""
        if self.solver == "optimal":
            return self._optimal(overlap, score, threshold, [], self.budget)
        return Solution(self._merge(overlap, score, threshold))

    def sweep(self, overlap: Overlap, score: Floats) -> Course:
        """Return the matchings at all thresholds."""
        if self.solver == "optimal":
            return sweep_within(
                overlap,
                self.budget,
                lambda threshold, kept, budget: self._optimal(
                    overlap, score, threshold, kept, budget
                ),
                lambda edges: self._decay(overlap, score, edges),
                lambda: self.heuristic.sweep(overlap, score),
                self.quality,
            )
        if self.gate == "edge":  # decisions above the threshold do not depend on those below
            return Course.nested(self._merge(overlap, score, 0.0), score)
        sweep = sweep_shared if predictions_overlap(overlap) else sweep_seeds
        return sweep(overlap, best_first(score), score)

    def _merge(self, overlap: Overlap, score: Floats, threshold: float) -> Ints:
        walk, passing = best_first(score), int(np.count_nonzero(score > threshold))
        if self.gate == "edge":
            walk = walk[:passing]
        if predictions_overlap(overlap):
            return walk_shared(overlap, walk, seedable=passing, unions=Unions(overlap))
        return walk_edges(overlap, walk, seedable=passing, grow=True)

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
        starts = [self._merge(overlap, score, threshold)]
        starts += [self._still_allowed(overlap, passes, edges) for edges in kept]
        if self.objective == "parts":
            return optimal_part_merge(
                overlap,
                passes,
                self.gate,
                [*starts, self._best_pairs(overlap, passes)],
                budget.left_since(began),
                lambda left: optimal_merge(overlap, passes, self.gate, starts, left).edges,
            )
        return optimal_merge(overlap, passes, self.gate, starts, budget.left_since(began))

    @property
    def heuristic(self) -> ManyToOne:
        """Greedy merge with the same gate."""
        return replace(self, solver="merge", objective="pq")

    def _best_pairs(self, overlap: Overlap, passes: npt.NDArray[np.bool_]) -> Ints:
        """Return the one-to-one matching of maximum PartPQ."""
        return optimal_cover(overlap, passes, exclusive=True, quality="parts").edges

    def _still_allowed(self, overlap: Overlap, passes: npt.NDArray[np.bool_], edges: Ints) -> Ints:
        if self.gate == "edge":
            return edges[passes[edges]]
        refs = overlap.edges.ref[edges]
        return edges[np.isin(refs, refs[passes[edges]])]

    def _decay(self, overlap: Overlap, score: Floats, edges: Ints) -> Course:
        """Return what remains of a matching as the threshold rises and nothing is added."""
        if self.gate == "edge":
            return Course.nested(edges, score)
        seeds = np.zeros(len(overlap.ref_ids))
        np.maximum.at(seeds, overlap.edges.ref[edges], score[edges])
        return Course.nested(edges, seeds[overlap.edges.ref])
