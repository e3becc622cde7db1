"""Scores over the confidence cut, as rows of JSON (D17)."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from panmatch.errors import OptionError
from panmatch.overlap import Floats, Overlap
from panmatch.playground._answers import answer_object
from panmatch.playground._score_rows import json_number, json_numbers
from panmatch.playground._sources import CountedOverlap, Source, budgeted_strategy
from panmatch.playground._states import Side, View
from panmatch.playground._validation import Message
from panmatch.scoring import BestCut, CutCurve

MOST_TO_SWEEP = 5_000  # predictions whose surface is computed while a page waits
MOST_TOGETHER = 40  # where the strategy looks at all predictions at once
MOST_TICKS = 200  # below the slider


def confidence_row(source: Source, view: View) -> Message | None:
    """Return what a page shows about confidences; None where predictions have none.

    Everything is about whole objects and plain IoU, and about all predictions, not only about those
    above the cut.
    """
    counted = source.whole.counted(replace(view, parts=False))
    confidence = counted.overlap.confidence
    if confidence is None:
        return None
    kept = np.ones(len(confidence), np.bool_) if view.cut is None else confidence >= view.cut
    low, high = _range(confidence)
    known = np.unique(confidence)
    return {
        "low": low,
        "high": high,
        "values": known.tolist() if len(known) <= MOST_TICKS else [],
        "kept": int(kept.sum()),
        "below": np.flatnonzero(~kept).tolist(),
        **_curve_row(counted, view),
    }


def below_the_cut(source: Source, view: View, side: Side, number: int) -> Message | None:
    """Return one prediction below the cut with what it overlaps; None for any other object."""
    whole = source.whole
    if whole is source or side == "reference":
        return None
    if number in source.counted(view).overlap.predictions.ids:
        return None
    found = answer_object(whole, view, side, number)
    return {
        **found,
        "state": "below",
        "partners": [{**partner, "chosen": False} for partner in found["partners"]],
    }


def _range(confidence: Floats) -> tuple[float, float]:
    """Return where a slider begins and ends: 0 and 1, unless the confidences go beyond them.

    Examples
    --------
    >>> _range(np.array([0.2, 0.9])), _range(np.array([-4.0, 3.5]))
    ((0.0, 1.0), (-4.0, 3.5))
    """
    low, high = float(confidence.min(initial=math.inf)), float(confidence.max(initial=-math.inf))
    return (0.0, 1.0) if low >= 0 and high <= 1 else (low, high)


def _curve_row(counted: CountedOverlap, view: View) -> Message:
    if _is_too_large(counted.overlap, view.strategy):
        return {"curve": None, "best": None, "ap": None, "mean_ap": None}
    surface = counted.surface(view.strategy)
    curve = surface.over_cuts(view.threshold)
    return {
        "curve": _columns(curve),
        "best": _best_row(curve),
        "ap": json_number(curve.average_precision()),
        "mean_ap": json_number(surface.mean_average_precision()),
    }


def _is_too_large(overlap: Overlap, name: str) -> bool:
    n = len(overlap.predictions.ids)
    strategy = budgeted_strategy(name).suited_to(overlap)
    apart = overlap.pieces is None and strategy.is_local(overlap, 0.0)
    return n > (MOST_TO_SWEEP if apart else MOST_TOGETHER)


def _columns(curve: CutCurve) -> Message:
    """Return the rows of a curve as columns; the first cut, where nothing is left, is null."""
    names = ("pq", "precision", "recall", "tp", "fp", "fn")
    return {
        "cuts": [None, *curve.cuts[1:].tolist()],
        **{name: json_numbers(getattr(curve, name)) for name in names},
    }


def _best_row(curve: CutCurve) -> Message | None:
    """Return the cuts at which PQ is highest; null for a bound at which nothing ends."""
    try:
        best: BestCut = curve.best()
    except OptionError:  # no object at all
        return None
    low, high = (value if math.isfinite(value) else None for value in (best.low, best.high))
    return {"low": low, "high": high, "pq": best.tally.pq}
