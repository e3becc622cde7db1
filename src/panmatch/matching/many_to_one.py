"""Any number of predictions per reference, one reference per prediction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np

from panmatch.errors import check_choice
from panmatch.matching.course import Course
from panmatch.matching.greedy import sweep_seeds, walk_edges
from panmatch.matching.strategy import Strategy, best_first
from panmatch.overlap import Floats, Ints, Overlap

Gate = Literal["seed", "edge"]


@dataclass(frozen=True, slots=True)
class ManyToOne(Strategy):
    """Match every reference to any number of predictions, every prediction to at most one.

    Fragments of one object then count once, with the quality of their union.

    Parameters
    ----------
    solver
        ``"merge"``: greedy merge (D5). Edges are walked by falling score; a reference takes its
        first prediction if the edge passes the threshold, and a further one only if the IoU of
        the union strictly rises. A prediction once taken never moves.
    gate
        ``"seed"``: only a reference's first edge must pass the threshold, joiners need only
        overlap. ``"edge"``: every edge must pass.

    Examples
    --------
    >>> from panmatch.overlap import Overlap
    >>> halves = Overlap.from_dense([[6, 4]], ref_sizes=[10], pred_sizes=[6, 4])
    >>> ManyToOne().select(halves, halves.iou, 0.5), ManyToOne(gate="edge").select(
    ...     halves, halves.iou, 0.5
    ... )
    (array([0, 1]), array([0]))
    """

    solver: Literal["merge"] = "merge"
    gate: Gate = "seed"

    name: ClassVar[str] = "many-to-one"
    max_preds_per_ref: ClassVar[int | None] = None
    max_refs_per_pred: ClassVar[int | None] = 1

    def __post_init__(self) -> None:
        check_choice("solver", self.solver, get_args(Literal["merge"]))
        check_choice("gate", self.gate, get_args(Gate))

    def select(self, overlap: Overlap, score: Floats, threshold: float) -> Ints:
        """Return the positions of the edges matched at `threshold`, rising."""
        walk, passing = best_first(score), int(np.count_nonzero(score > threshold))
        if self.gate == "edge":
            walk = walk[:passing]
        return walk_edges(overlap, walk, seedable=passing, grow=True)

    def sweep(self, overlap: Overlap, score: Floats) -> Course:
        """Return the matchings at all thresholds; with the gate on every edge they are nested."""
        if self.gate == "edge":
            return Course.nested(self.select(overlap, score, 0.0), score)
        return sweep_seeds(overlap, best_first(score), score)
