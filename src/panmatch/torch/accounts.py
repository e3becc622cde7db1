"""Curves as tables of whole numbers, which processes gather and add in any order (D13).

A row says by how much the tally of a class changes at a threshold. Thresholds are kept as the bits
of their float64: whole numbers survive every change of precision and every device.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from panmatch.matching import Tallies
from panmatch.overlap import Ints
from panmatch.scoring import Curve

COUNTS = 6  # columns of a tally: tp, fp, fn, and quality in three limbs
KEYS = 2  # columns that say where a step belongs: class position, bits of the threshold
STEP = KEYS + COUNTS + 1  # and after the counts, how many curves were not proven optimal


def step_rows(curves: Mapping[int, Curve]) -> Ints:
    """Return what changes at every threshold of curves by class position; shape (n, STEP)."""
    rows = (_steps(position, curve) for position, curve in curves.items())
    return np.concatenate([no_steps(), *rows])


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


def to_curve(steps: Ints, position: int, nothing: Curve) -> Curve:
    """Return the curve of the class at a position, added to that of `nothing`.

    Parameters
    ----------
    steps
        From `add_up`.
    nothing
        The curve of an image without segments, by the same strategy and score.
    """
    rows = steps[steps[:, 0] == position]
    if not len(rows):
        return nothing
    return replace(
        nothing,
        thresholds=np.ascontiguousarray(rows[:, 1]).view(np.float64),
        tallies=Tallies(rows[:, KEYS : KEYS + COUNTS]).cumulative(),
        proven=nothing.proven and not rows[:, -1].any(),
    )


def _steps(position: int, curve: Curve) -> Ints:
    n = len(curve.thresholds)
    unproven = np.zeros(n, np.int64)
    unproven[0] = curve.proven is False
    changes = np.diff(curve.tallies.counts, axis=0, prepend=0)
    return np.column_stack(
        [np.full(n, position), curve.thresholds.view(np.int64), changes, unproven]
    )
