"""The most important scores of detections as lines on a screen (D17)."""

from __future__ import annotations

import math

from panmatch.cli._layout import wrapped
from panmatch.evaluation import DetectionScore, Result, detection_scores, matcher_of, number

# What people call the scores of the line, in its order.
NAMES = {"ap": "AP", "map": "mAP", "ar": "AR", "cpm": "CPM"}


def detection_lines(result: Result, width: int) -> list[str]:
    """Return a sentence for each model: the headline class, first matcher and first threshold.

    There are none without confidences.
    """
    found: dict[str, dict[str, float]] = {}
    for one in detection_scores(result.detection_series):
        if _is_shown(one, result):
            found.setdefault(one.model, {})[one.measure] = one.value
    lines = []
    for model, scores in found.items():
        who = f"{model}, " if len(result.models) > 1 else ""
        where = f"{result.spec.matching[0].label} at τ = {result.spec.thresholds[0]:g}"
        text = f"Detections ({who}{where}, pooled): {_values(scores)}{_best(scores)}."
        lines += wrapped(text, width)
    return lines


def _is_shown(one: DetectionScore, result: Result) -> bool:
    spec = result.spec
    return (
        one.setting.class_name == result.headline_class
        and matcher_of(one.setting) == spec.matching[0]
        and one.threshold in (None, spec.thresholds[0])
    )


def _values(scores: dict[str, float]) -> str:
    return ", ".join(f"{name} {number(scores[key])}" for key, name in NAMES.items())


def _best(scores: dict[str, float]) -> str:
    """Return where PQ is highest.

    Examples
    --------
    >>> _best({"best_cut": 0.25, "best_pq": 0.7})
    '; highest PQ 0.700 at confidence ≥ 0.25'
    """
    if math.isnan(scores.get("best_cut", math.nan)):
        return ""
    return f"; highest PQ {number(scores['best_pq'])} at confidence ≥ {scores['best_cut']:g}"
