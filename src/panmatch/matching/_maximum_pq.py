"""Maximum PQ by Dinkelbach's method (D6).

PQ is a ratio N(M) / D(M). At a price λ on the denominator, the best N − λD is above 0 exactly if
some matching has PQ > λ. So we solve at the PQ reached, take the better matching, and repeat until
nothing is above 0. A round need not be solved to the end: any matching above 0 will do. An upper
bound on N − λD also gives one on PQ: PQ ≤ λ + bound / D. With a single price, D is replaced by a
lower bound on all denominators. A second price, just above the point where N − λD should vanish,
gives a sharper bound. If there is no time for either, the highest quality that each reference can
have still bounds PQ.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from panmatch.matching._solution import PROOF_TOLERANCE, Budget, Certificate, Course, Solution
from panmatch.matching._tally import Quality, are_false, tally_edges
from panmatch.overlap import Floats, Ints, Overlap

MOST_ROUNDS = 100
ROUND_SHARE = 0.7  # of the time that is left; the rest is for a better bound
ROUNDING = 1e-12  # relative


@dataclass(frozen=True, slots=True, eq=False)
class Priced:
    """The outcome at one price: a matching, and an upper bound on N − λD of any matching."""

    edges: Ints
    upper: float
    nodes: int


@dataclass(frozen=True, slots=True, eq=False)
class Effort:
    """What is left of a budget."""

    nodes: int
    deadline: float | None

    @property
    def seconds(self) -> float | None:
        """Seconds until the deadline, None without one."""
        return None if self.deadline is None else max(0.0, self.deadline - time.perf_counter())

    @property
    def seconds_or_inf(self) -> float:
        """Seconds until the deadline, infinity without one."""
        return np.inf if self.seconds is None else self.seconds

    @property
    def spent(self) -> bool:
        """Whether no search is left to do."""
        return self.nodes <= 0 or self.seconds == 0.0

    def share(self, part: float) -> Effort:
        """Return an effort with the same nodes and a part of the time."""
        if self.seconds is None:
            return self
        return Effort(self.nodes, time.perf_counter() + part * self.seconds)


SolveAt = Callable[[float, Effort], Priced]


def maximise_pq(
    overlap: Overlap,
    usable: npt.NDArray[np.bool_],
    starts: Sequence[Ints],
    solve_at: SolveAt,
    budget: Budget,
    *,
    most_quality: Floats | None = None,
    quality: Quality = "iou",
) -> Solution:
    """Return the matching with the highest PQ, or the best one that the budget allows.

    Parameters
    ----------
    usable
        Which edges a matching may contain.
    starts
        Feasible matchings to start from; the best one is never lost.
    solve_at
        Maximises N − λD for a price λ.
    most_quality
        The highest quality that every reference can have; by default its best usable IoU.
    quality
        Of true positives: ``"parts"`` to maximise PartPQ (D9).
    """
    began = time.perf_counter()
    deadline = None if budget.seconds is None else began + budget.seconds
    best = best_of(overlap, starts, quality)
    value = _pq(overlap, best, quality)
    if not usable.any():
        return Solution(best, Certificate(value, value, 0, 0, time.perf_counter() - began, quality))
    smallest = smallest_denominator(overlap, usable)
    most = _best_iou(overlap, usable) if most_quality is None else most_quality
    upper = bound_by_quality(most, smallest)
    searching = budget.nodes > 0 and budget.seconds != 0
    rounds, nodes, excess = 0, 0, np.inf
    while rounds < MOST_ROUNDS:
        effort = Effort(budget.nodes - nodes, deadline).share(ROUND_SHARE)
        if effort.seconds == 0.0:
            break
        found = solve_at(value, effort)
        rounds, nodes, excess = rounds + 1, nodes + found.nodes, max(found.upper, 0.0)
        upper = min(upper, value + excess / smallest)
        reached = _pq(overlap, found.edges, quality)
        improved = searching and reached > value
        if improved:
            best, value = found.edges, reached
        if not improved or Effort(budget.nodes - nodes, deadline).spent:
            break
    last = Effort(0, deadline)
    is_open = searching and upper - value > PROOF_TOLERANCE
    if is_open and excess < np.inf and last.seconds != 0.0:
        price = value + 1.05 * excess / _denominator(overlap, best)
        excess = solve_at(price, last).upper
        upper = min(upper, price + max(excess, 0.0) / smallest)
    seconds = time.perf_counter() - began
    return Solution(best, Certificate(value, max(upper, value), rounds, nodes, seconds, quality))


def best_of(overlap: Overlap, matchings: Sequence[Ints], quality: Quality = "iou") -> Ints:
    """Return the matching of highest PQ, or PartPQ."""
    if len(matchings) == 1:
        return matchings[0]
    return max(matchings, key=lambda edges: _pq(overlap, edges, quality))


def usable_edges(
    overlap: Overlap, passes: npt.NDArray[np.bool_], gate: str
) -> npt.NDArray[np.bool_]:
    """Return which edges a merge may contain, given those above the threshold (D5)."""
    if gate == "edge":
        return passes
    seeded = np.zeros(len(overlap.ref_ids), np.bool_)
    seeded[overlap.edges.ref[passes]] = True
    return seeded[overlap.edges.ref]


def bound_by_quality(most_quality: Floats, smallest: float) -> float:
    """Return an upper bound on PQ from the highest quality that every reference can have.

    With t true positives, the summed quality is at most that of the t best references, and the
    denominator is at least half a true positive for each above the smallest one.

    Parameters
    ----------
    smallest
        A lower bound on the denominator that holds without any true positive.

    Examples
    --------
    >>> bound_by_quality(np.array([0.9, 0.1]), smallest=1.0) < 0.61
    True
    """
    totals = np.cumsum(-np.sort(-most_quality))
    bounds = totals / (smallest + 0.5 * np.arange(1, len(totals) + 1))
    return float(min(1.0, bounds.max(initial=0.0) * (1 + ROUNDING)))


def _best_iou(overlap: Overlap, usable: npt.NDArray[np.bool_]) -> Floats:
    best = np.zeros(len(overlap.ref_ids))
    np.maximum.at(best, overlap.edges.ref[usable], overlap.iou[usable])
    return best


def count_each_once(
    overlap: Overlap,
    price: float,
    solve: Callable[[npt.NDArray[np.bool_]], Priced],
    effort: Effort | None = None,
) -> Priced:
    """Maximise N − λD where several pieces of one prediction save only one false positive.

    Crediting each matched piece with that saving bounds N − λD from above. So does crediting none
    of them and granting the saving outright. We start with the first bound for all predictions, and
    switch to the second for those credited more than once. Whole predictions never are.

    Parameters
    ----------
    solve
        Maximises N − λD, given which vertices are credited when matched.
    effort
        What stops the search; all bounds found by then are valid.
    """
    predictions = overlap.predictions
    credited = ~overlap.dismissible
    granted = np.zeros(len(predictions.ids), np.bool_)
    best, upper, nodes = Priced(np.zeros(0, np.int64), np.inf, 0), np.inf, 0
    while True:
        found = solve(credited)
        nodes += found.nodes
        if not len(best.edges) or _pq(overlap, found.edges) > _pq(overlap, best.edges):
            best = found
        upper = min(upper, found.upper + 0.5 * price * int(np.count_nonzero(granted)))
        matched = np.unique(overlap.edges.pred[found.edges])
        _, owner = predictions.expand(matched[credited[matched]])
        repeated = np.bincount(owner, minlength=len(granted)) > 1
        if not repeated.any() or (effort is not None and effort.seconds == 0.0):
            return Priced(best.edges, upper, nodes)
        granted |= repeated
        credited[predictions.vertex[repeated[predictions.owner]]] = False


def smallest_denominator(overlap: Overlap, usable: npt.NDArray[np.bool_]) -> float:
    """Return a lower bound on TP + ½FP + ½FN: what no usable edge can save."""
    hopeless = are_false(overlap, np.flatnonzero(usable))
    return 0.5 * (len(overlap.ref_ids) + int(np.count_nonzero(hopeless)))


def sweep_optima(
    solve: Callable[[float, Sequence[Ints]], Solution],
    expiry: Callable[[Ints], float],
    ref: Ints,
    when_over: Callable[[float, Sequence[Ints]], Course | None] | None = None,
) -> Course:
    """Return the optimal matchings at all thresholds.

    Raising the threshold only rules matchings out. So an optimal matching stays optimal until the
    threshold reaches one of its own edges, and only then do we solve again.

    Parameters
    ----------
    solve
        Solves at a threshold, given matchings to start from.
    expiry
        The threshold at which a matching stops being allowed.
    ref
        The reference of every edge.
    when_over
        Returns the rest of the course, without proof, if no time is left, given the threshold and
        the last matching; None as long as there is time.
    """
    record = _Record(ref)
    threshold, proven = 0.0, True
    kept: list[Ints] = []
    while threshold < 1.0:
        rest = None if when_over is None else when_over(threshold, kept)
        if rest is not None:
            return record.finish(threshold, proven=False, rest=rest)
        solution = solve(threshold, kept)
        proven = proven and (solution.certificate is None or solution.certificate.proven)
        record.change(threshold, solution.edges)
        threshold = min(1.0, expiry(solution.edges)) if len(solution.edges) else 1.0
        kept = [solution.edges]
    return record.finish(threshold, proven)


class _Record:
    """The course of a matching that changes from time to time.

    The edges of a reference are recorded again when any of them changes, and only then: sums over
    them are the same as for a single matching, and a course is no longer than it needs to be.
    """

    def __init__(self, ref: Ints) -> None:
        self._ref = ref
        self._edges, self._since = np.zeros(0, np.int64), np.zeros(0)
        self._rows: list[Course] = []

    def change(self, threshold: float, edges: Ints) -> None:
        """From a threshold on, these edges are matched."""
        changed = self._ref[np.setxor1d(self._edges, edges, assume_unique=True)]
        leaving = np.isin(self._ref[self._edges], changed)
        joining = edges[np.isin(self._ref[edges], changed)]
        self._close(leaving, threshold)
        self._edges = np.concatenate([self._edges[~leaving], joining])
        self._since = np.concatenate([self._since[~leaving], np.full(len(joining), threshold)])

    def finish(self, threshold: float, proven: bool, rest: Course | None = None) -> Course:
        """Return the course up to a threshold, and the rest of it as given."""
        self._close(np.ones(len(self._edges), np.bool_), threshold)
        rows = [*self._rows, *([] if rest is None else [rest])]
        return Course(
            np.concatenate([row.edge for row in rows]),
            np.concatenate([row.start for row in rows]),
            np.concatenate([row.stop for row in rows]),
            proven,
        )

    def _close(self, leaving: npt.NDArray[np.bool_], threshold: float) -> None:
        edges = self._edges[leaving]
        self._rows.append(Course(edges, self._since[leaving], np.full(len(edges), threshold)))


def _denominator(overlap: Overlap, edges: Ints) -> float:
    tally = tally_edges(overlap, edges)
    return tally.tp + 0.5 * tally.fp + 0.5 * tally.fn


def _pq(overlap: Overlap, edges: Ints, quality: Quality = "iou") -> float:
    return tally_edges(overlap, edges, quality).pq
