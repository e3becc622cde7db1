"""How a curve of optimal matchings spends a limited time (D6, D7)."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from panmatch.matching._maximum_pq import sweep_optima
from panmatch.matching._solution import Budget, Course, Solution
from panmatch.matching._steps import count_steps
from panmatch.matching._tally import Quality
from panmatch.overlap import Floats, Ints, Overlap

PROVING_SHARE = 0.5  # of the time that is left, while everything so far is proven
SPREADING_SHARE = 0.1  # later on
TAIL_COST = 3.0  # times what the heuristic takes: to compare courses, and to count the steps


class SweepClock:
    """The time that is left for the matchings of a curve.

    A curve is proven only if all of its matchings are. So as long as they are, each may take half
    of the time that is left. After the first one that is not proven, the rest share it more evenly.

    Examples
    --------
    >>> clock = SweepClock(Budget(nodes=7, seconds=None))
    >>> clock.next_budget(), clock.is_over
    (Budget(nodes=7, seconds=None), False)
    >>> SweepClock(Budget(seconds=0)).is_over
    True
    """

    def __init__(self, budget: Budget) -> None:
        self._budget, self._share = budget, PROVING_SHARE
        self._began = time.perf_counter()

    @property
    def is_over(self) -> bool:
        """Whether no time is left."""
        return self._left == 0.0

    def next_budget(self) -> Budget:
        """Return what the next matching may take."""
        left = self._left
        return self._budget if left is None else replace(self._budget, seconds=self._share * left)

    def note(self, solution: Solution) -> Solution:
        """Record whether the solution is proven, and return it."""
        if solution.certificate is not None and not solution.certificate.proven:
            self._share = SPREADING_SHARE
        return solution

    @property
    def _left(self) -> float | None:
        if self._budget.seconds is None:
            return None
        return max(0.0, self._began + self._budget.seconds - time.perf_counter())


def sweep_within(
    overlap: Overlap,
    budget: Budget,
    solve: Callable[[float, Sequence[Ints], Budget], Solution],
    decay: Callable[[Ints], Course],
    heuristic: Callable[[], Course],
    quality: Quality = "iou",
) -> Course:
    """Return the optimal matchings at all thresholds, as far as the budget allows.

    When time runs out, the last matching only loses edges as the threshold rises, and the heuristic
    replaces it wherever that is better.

    Parameters
    ----------
    solve
        Solves at a threshold, given matchings to start from and a budget.
    decay
        What remains of a matching as the threshold rises and nothing is added.
    heuristic
        Returns the course of the heuristic.
    quality
        Of true positives: ``"parts"`` if PartPQ is what counts (D9).
    """
    began = time.perf_counter()
    fallback = heuristic()
    reserved = TAIL_COST * (time.perf_counter() - began)
    clock = SweepClock(budget.left_since(began - reserved))

    def solve_next(threshold: float, kept: Sequence[Ints]) -> Solution:
        return clock.note(solve(threshold, kept, clock.next_budget()))

    def when_over(threshold: float, kept: Sequence[Ints]) -> Course | None:
        if not clock.is_over:
            return None
        return best_course(overlap, [*map(decay, kept), fallback], threshold, quality)

    return sweep_optima(
        solve_next, lambda edges: float(decay(edges).stop.min()), overlap.edges.ref, when_over
    )


def best_course(
    overlap: Overlap, courses: Sequence[Course], start: float, quality: Quality = "iou"
) -> Course:
    """Return, from a threshold on, whichever of the courses has the highest PQ at each threshold.

    The first wins a tie.
    """
    clipped = [_between(course, start, 1.0) for course in courses]
    if len(clipped) == 1:
        return clipped[0]
    steps = [count_steps(overlap, course, quality) for course in clipped]
    grid = np.unique(np.concatenate([[start], *(thresholds for thresholds, _ in steps)]))
    grid = grid[grid >= start]
    heights = [
        tallies.pq[np.searchsorted(thresholds, grid, side="right") - 1]
        for thresholds, tallies in steps
    ]
    winner = np.argmax(np.nan_to_num(heights), axis=0)
    changes = np.flatnonzero(np.diff(winner, prepend=-1))
    bounds: Floats = np.append(grid[changes], 1.0)
    pieces = [
        _between(clipped[winner[at]], float(begin), float(end))
        for at, (begin, end) in zip(changes, pairwise(bounds), strict=True)
    ]
    return Course(
        np.concatenate([piece.edge for piece in pieces]),
        np.concatenate([piece.start for piece in pieces]),
        np.concatenate([piece.stop for piece in pieces]),
    )


def _between(course: Course, begin: float, end: float) -> Course:
    start, stop = np.maximum(course.start, begin), np.minimum(course.stop, end)
    kept = start < stop
    return Course(course.edge[kept], start[kept], stop[kept])
