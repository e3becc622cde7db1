"""Results for other programs: one JSON document on stdout."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from numbers import Integral, Real

import panmatch
from panmatch.cli._screen import largest_mistakes
from panmatch.datasets import Comparison, summary_table, verdict, verdict_on_models
from panmatch.evaluation import CostlyMistake, Json, Notice, Result

EVALUATION, COMPARISON = "panmatch-evaluation-1", "panmatch-comparison-1"


def as_json(content: Mapping[str, object]) -> str:
    r"""Return a document as JSON. JSON has no NaN, so undefined values become null.

    Examples
    --------
    >>> as_json({"pq": float("nan"), "tp": 3})
    '{\n  "pq": null,\n  "tp": 3\n}'
    """
    return json.dumps(_plain(content), indent=2, allow_nan=False)  # ASCII: any console shows it


def evaluation_document(result: Result, notices: Sequence[Notice], files: Json) -> Json:
    """Return all averages of a result with their intervals, and the verdict on them."""
    spec = result.spec
    return {
        "format": EVALUATION,
        "panmatch": panmatch.__version__,
        "cases": len({case.case for case in result.cases}),
        "models": list(result.models),
        "headline": {
            "class": result.headline_class,
            **spec.matching[0].columns,
            "threshold": spec.thresholds[0],
        },
        "verdict": verdict(result),
        "scores": summary_table(result).rows(),
        "losses": result.losses,
        "look_first": [_mistake(one) for one in result.look_first()],
        "mistakes": largest_mistakes(result),
        "failed": [
            {"case": case.case, "model": case.model, "reason": case.reason}
            for case in result.failures
        ],
        "warnings": [notice.to_dict() for notice in notices],
        "files": dict(files),
        **_detections(result),
    }


def _detections(result: Result) -> Json:
    """Return the scores of detections, if there are confidences."""
    return {"detections": result.plain("detections").rows()} if result.spec.confidence else {}


def _mistake(one: CostlyMistake) -> Json:
    return {
        "case": one.case,
        "model": one.model,
        "class": one.setting.class_name,
        "mistake": one.kind,
        "ref_ids": list(one.ref_ids),
        "pred_ids": list(one.pred_ids),
        "cost": one.cost,
        "start": list(one.start),
        "stop": list(one.stop),
        "slice_axis": one.axis,
        "slice": one.slice,
    }


def comparison_document(comparison: Comparison, notices: Sequence[Notice]) -> Json:
    """Return rankings, differences and stability of models."""
    return {
        "format": COMPARISON,
        "panmatch": panmatch.__version__,
        "cases": len(comparison.cases),
        "models": list(comparison.models),
        "left_out": {model: list(cases) for model, cases in comparison.left_out.items()},
        "verdict": verdict_on_models(comparison),
        **{name: table.rows() for name, table in comparison.plain_tables().items()},
        "warnings": [notice.to_dict() for notice in notices],
    }


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, bool | str) or value is None:
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value) if math.isfinite(value) else None
    return str(value)
