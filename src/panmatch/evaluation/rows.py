"""From matchings, curves and measurements to the columns of tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from panmatch.evaluation.diagnosis import Diagnosis, count_near_threshold
from panmatch.matching import Matching
from panmatch.scoring import Curve, Measurements
from panmatch.spec import Matcher

Block = dict[str, Any]


def matcher_block(matcher: Matcher) -> Block:
    """Return what tells one way to match from another."""
    strategy = matcher.made()
    return {
        "strategy": strategy.name,
        "solver": getattr(strategy, "solver", ""),
        "gate": getattr(strategy, "gate", ""),
        "edge_score": matcher.score,
        "regions": matcher.regions,
    }


def score_block(
    matching: Matching, measured: Measurements, steps: Curve | None, mistakes: Diagnosis
) -> Block:
    """Return the scores of a matching as one row."""
    tally, certificate = matching.tally, matching.certificate
    block: Block = {
        "tp": tally.tp,
        "fp": tally.fp,
        "fn": tally.fn,
        "quality": tally.quality,
        "pq": tally.pq,
        "sq": tally.sq,
        "rq": tally.rq,
        "precision": tally.precision,
        "recall": tally.recall,
    }
    if steps is not None:
        block |= {"autc": steps.autc, "autc_sq": steps.autc_sq, "autc_rq": steps.autc_rq}
    block |= {name: value for name, value in measured.scores.items() if name != "rq"}
    block |= {
        "splits": len(mistakes.splits),
        "merges": len(mistakes.merges),
        "misses": len(mistakes.misses),
        "hallucinations": len(mistakes.hallucinations),
        "near_threshold": count_near_threshold(matching),
        "gap": float("nan") if certificate is None else certificate.gap,
        "status": tally.status,
    }
    return block


def curve_block(steps: Curve) -> Block:
    """Return the steps of a curve as rows; each holds from its threshold to the next."""
    names = ("tp", "fp", "fn", "quality", "pq", "sq", "rq")
    return {"threshold": steps.thresholds.tolist()} | {
        name: getattr(steps, name).tolist() for name in names
    }


def instance_block(matching: Matching, measured: Measurements) -> Block:
    """Return one row per reference, then one per false positive."""
    columns = measured.columns
    false = np.zeros(len(measured) - len(matching.overlap.ref_ids))
    block: Block = {
        "status": columns["status"].tolist(),
        "ref_id": columns["ref_id"].tolist(),
        "pred_ids": columns["pred_ids"].tolist(),
        "quality": [*matching.ref_quality.tolist(), *false.tolist()],
    }
    for side in ("ref", "pred"):
        block[f"{side}_voxels"] = columns[f"{side}_voxels"].tolist()
        block[f"{side}_volume"] = columns[f"{side}_volume"].tolist()
    block |= {metric.name: columns[metric.name].tolist() for metric in measured.metrics}
    for side in ("ref", "pred"):
        there = columns[f"{side}_voxels"] > 0
        block[f"{side}_centre"] = _texts(columns[f"{side}_centroid"].round(3), there)
        block[f"{side}_box"] = _boxes(columns[f"{side}_start"], columns[f"{side}_stop"], there)
    return block


def diagnosis_block(mistakes: Diagnosis) -> Block:
    """Return the ids of the objects with each kind of mistake as one row."""
    return {
        f"{name}_ids": " ".join(map(str, getattr(mistakes, name).tolist()))
        for name in ("splits", "merges", "misses", "hallucinations")
    }


def _texts(rows: npt.NDArray[Any], there: npt.NDArray[np.bool_]) -> list[str]:
    return [
        " ".join(map(str, row)) if some else ""
        for row, some in zip(rows.tolist(), there.tolist(), strict=True)
    ]


def _boxes(
    start: npt.NDArray[Any], stop: npt.NDArray[Any], there: npt.NDArray[np.bool_]
) -> list[str]:
    """Return boxes as slices along each axis, such as ``"3:9 0:4"``."""
    return [
        " ".join(f"{a}:{b}" for a, b in zip(first, last, strict=True)) if some else ""
        for first, last, some in zip(start.tolist(), stop.tolist(), there.tolist(), strict=True)
    ]
