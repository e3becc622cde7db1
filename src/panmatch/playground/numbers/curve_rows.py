"""Curves, and the table of scores at round thresholds, as plain data (D7)."""

from __future__ import annotations

import numpy as np

from panmatch.matching import OneToOne
from panmatch.overlap import Floats
from panmatch.playground.plain import Message, number, numbers
from panmatch.scoring import Curve

TABLE_THRESHOLDS = tuple(tenth / 10 for tenth in range(10))


def curve_row(name: str, steps: Curve) -> Message:
    """Return all steps of a curve and the areas under it; sortedAP where it is defined."""
    optimal = steps.strategy == OneToOne(solver="optimal")
    return {
        "strategy": name,
        "thresholds": numbers(steps.thresholds),
        "pq": numbers(steps.pq),
        "sq": numbers(steps.sq),
        "rq": numbers(steps.rq),
        "ap": numbers(accuracy(steps)),
        "tp": numbers(steps.tp),
        "fp": numbers(steps.fp),
        "fn": numbers(steps.fn),
        "autc": number(steps.autc),
        "autc_sq": number(steps.autc_sq),
        "autc_rq": number(steps.autc_rq),
        "sorted_ap": number(steps.sorted_ap) if optimal else None,
    }


def accuracy(steps: Curve) -> Floats:
    """Return TP / (TP + FP + FN) on every step; NaN if both sides are empty."""
    whole = steps.tp + steps.fp + steps.fn
    found: Floats = np.full(len(whole), np.nan)
    np.divide(steps.tp, whole, out=found, where=whole > 0)
    return found


def table_row(name: str, steps: Curve) -> Message:
    """Return the scores at the round thresholds."""
    tallies = [steps.at(threshold) for threshold in TABLE_THRESHOLDS]
    return {
        "strategy": name,
        "pq": [number(tally.pq) for tally in tallies],
        "sq": [number(tally.sq) for tally in tallies],
        "rq": [number(tally.rq) for tally in tallies],
        "tp": [tally.tp for tally in tallies],
        "fp": [tally.fp for tally in tallies],
        "fn": [tally.fn for tally in tallies],
    }
