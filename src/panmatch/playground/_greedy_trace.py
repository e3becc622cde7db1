"""Greedy matching, edge by edge: what became of each, and why (D5).

The library's own loop says only which edges it took. This one explains every decision, for
people to watch, and tests compare its end with `match`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from panmatch.errors import OptionError
from panmatch.matching import ManyToOne, OneToOne, Strategy, best_first
from panmatch.overlap import Ints, Overlap

Decision = Literal[
    "taken",  # the first prediction of a reference
    "joined",  # one more prediction, which raises the IoU of the union
    "below threshold",
    "prediction taken",  # by another reference, or by this one through another piece
    "reference taken",  # one-to-one: it has its prediction
    "no gain",  # the IoU of the union would not rise
]


@dataclass(frozen=True, slots=True)
class Visit:
    """One edge of the walk.

    Attributes
    ----------
    edge
        Its position among the edges of the overlap.
    decision
        What became of it.
    before, after
        IoU of the reference and the union of its predictions before this edge, and with it; the
        second one is what would have been, where the edge was refused.
    """

    edge: int
    decision: Decision
    before: float
    after: float

    @property
    def matched(self) -> bool:
        """Whether the edge was matched."""
        return self.decision in ("taken", "joined")


def trace_greedy(overlap: Overlap, strategy: Strategy, threshold: float) -> list[Visit]:
    """Return every edge in the order in which greedy matching visits it: by falling IoU.

    Parameters
    ----------
    strategy
        ``OneToOne("greedy")``, or ``ManyToOne("merge")`` with either gate.

    Examples
    --------
    >>> from panmatch.matching import ManyToOne
    >>> halves = Overlap.from_dense([[6, 3, 1]], ref_sizes=[10], pred_sizes=[6, 3, 9])
    >>> for visit in trace_greedy(halves, ManyToOne(), 0.5):
    ...     print(visit.edge, visit.decision, visit.before, round(visit.after, 3))
    0 taken 0.0 0.6
    1 joined 0.6 0.9
    2 no gain 0.9 0.556
    """
    grow, gated = _rules(strategy)
    passes = overlap.iou > threshold
    unions = _Unions(overlap)
    visits = []
    for edge in best_first(overlap.iou).tolist():
        before, after = unions.iou(edge), unions.iou(edge, enlarged=True)
        decision = unions.decide(edge, bool(passes[edge]), grow=grow, gated=gated)
        visit = Visit(edge, decision, before, after)
        visits.append(visit)
        if visit.matched:
            unions.take(edge)
    return visits


def matched_edges(visits: list[Visit]) -> Ints:
    """Return the positions of the matched edges, rising."""
    return np.array(sorted(visit.edge for visit in visits if visit.matched), np.int64)


def _rules(strategy: Strategy) -> tuple[bool, bool]:
    """Return whether references take several predictions, and whether every edge must pass."""
    if isinstance(strategy, OneToOne) and strategy.solver == "greedy":
        return False, True
    if isinstance(strategy, ManyToOne) and strategy.solver == "merge":
        return True, strategy.gate == "edge"
    raise OptionError(
        f"strategy={strategy!r} does not visit edges one by one. Accepted: "
        "OneToOne(solver='greedy') and ManyToOne(solver='merge')."
    )


class _Unions:
    """Who has been taken so far, and the union of each reference's predictions."""

    def __init__(self, overlap: Overlap) -> None:
        edges = overlap.edges
        self._ref: list[int] = edges.ref.tolist()
        self._pred: list[int] = edges.pred.tolist()
        self._intersection = [float(value) for value in edges.intersection]
        self._ref_sizes = [float(value) for value in overlap.ref_sizes]
        self._pred_areas = [float(value) for value in overlap.pred_areas]
        self._shared = [0.0] * len(self._ref_sizes)
        self._covered = [0.0] * len(self._ref_sizes)
        self._taken: set[int] = set()  # predictions

    def iou(self, edge: int, *, enlarged: bool = False) -> float:
        """Return the IoU of an edge's reference with its union, with or without the edge."""
        ref = self._ref[edge]
        shared, covered = self._shared[ref], self._covered[ref]
        if enlarged:
            shared += self._intersection[edge]
            covered += self._pred_areas[self._pred[edge]]
        return shared / (self._ref_sizes[ref] + covered - shared)

    def decide(self, edge: int, passes: bool, *, grow: bool, gated: bool) -> Decision:
        """Return what becomes of an edge."""
        seeded = self._covered[self._ref[edge]] > 0
        if not passes and (gated or not seeded):
            return "below threshold"
        if self._pred[edge] in self._taken:
            return "prediction taken"
        if not seeded:
            return "taken"
        if not grow:
            return "reference taken"
        return "joined" if self.iou(edge, enlarged=True) > self.iou(edge) else "no gain"

    def take(self, edge: int) -> None:
        """Match an edge."""
        ref, pred = self._ref[edge], self._pred[edge]
        self._taken.add(pred)
        self._shared[ref] += self._intersection[edge]
        self._covered[ref] += self._pred_areas[pred]
