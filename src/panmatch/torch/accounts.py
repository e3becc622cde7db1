"""Tallies and curves as tables of whole numbers, which add exactly in any order.

Processes add their states in an order of their own, and floating-point sums would depend on it.
So qualities are kept as two int64 halves (see `panmatch.matching.exact_sum`) and thresholds as the
bits of their float64. Whole numbers also survive every change of precision and every device.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from panmatch.matching import Tally
from panmatch.matching.exact_sum import from_halves, to_halves
from panmatch.overlap import Ints
from panmatch.scoring import Curve

COUNTS = 5  # columns: tp, fp, fn, and quality in two halves
KEYS = 2  # columns that say where a step belongs: class position, bits of the threshold
STEP = KEYS + COUNTS + 1  # and after the counts, how many curves were not proven optimal


def tally_rows(tallies: Iterable[Tally]) -> Ints:
    """Return a row of counts for every tally; shape (n, COUNTS).

    Examples
    --------
    >>> to_tally(tally_rows([Tally(3, 1, 0, 2.5), Tally(1, 0, 1, 0.75)]).sum(axis=0))
    Tally(tp=4, fp=1, fn=1, quality=3.25)
    """
    given = list(tallies)
    counts = np.array([[one.tp, one.fp, one.fn] for one in given], np.int64).reshape(-1, 3)
    halves = to_halves(np.array([one.quality for one in given], np.float64))
    return np.column_stack([counts, *halves])


def to_tally(row: Ints) -> Tally:
    """Return the tally of summed rows."""
    tp, fp, fn, _, _ = row.tolist()
    return Tally(tp, fp, fn, float(from_halves(row[3:4], row[4:5])[0]))


def step_rows(curves: Mapping[int, Curve]) -> Ints:
    """Return what changes at every threshold of curves by class position; shape (n, STEP)."""
    return np.concatenate([no_steps(), *(_steps(at, one) for at, one in curves.items())])


def no_steps() -> Ints:
    """Return a table of steps without rows."""
    return np.zeros((0, STEP), np.int64)


def add_up(steps: Ints) -> Ints:
    """Return the steps with those of one class and threshold as one, in rising order.

    Examples
    --------
    >>> add_up(np.array([[0, 9, 1], [0, 4, 2], [0, 9, -3]])).tolist()
    [[0, 4, 2], [0, 9, -2]]
    """
    rows = steps[np.lexsort((steps[:, 1], steps[:, 0]))]
    differs = (rows[1:, :KEYS] != rows[:-1, :KEYS]).any(axis=1)
    first = np.flatnonzero(np.concatenate([np.ones(min(len(rows), 1), np.bool_), differs]))
    return np.column_stack([rows[first, :KEYS], np.add.reduceat(rows[:, KEYS:], first)])


def to_curve(steps: Ints, at: int, nothing: Curve) -> Curve:
    """Return the curve of the class at position `at`, added to that of `nothing`.

    Parameters
    ----------
    steps
        From `add_up`.
    nothing
        The curve of an image without segments, by the same strategy and score.
    """
    rows = steps[steps[:, 0] == at]
    if not len(rows):
        return nothing
    tp, fp, fn, high, low, unproven = np.cumsum(rows[:, KEYS:], axis=0).T
    return Curve(
        np.ascontiguousarray(rows[:, 1]).view(np.float64),
        tp,
        fp,
        fn,
        from_halves(high, low),
        nothing.strategy,
        nothing.score,
        nothing.proven and not unproven.any(),
    )


def _steps(at: int, one: Curve) -> Ints:
    n = len(one.thresholds)
    unproven = np.zeros(n, np.int64)
    unproven[0] = one.proven is False
    counts = [one.tp, one.fp, one.fn, *to_halves(one.quality), unproven]
    changes = np.diff(np.column_stack(counts), axis=0, prepend=0)
    return np.column_stack([np.full(n, at), one.thresholds.view(np.int64), changes])
