"""Evaluate scenes with panoptica, in panoptica's own environment.

Usage: python run_panoptica.py SCENES.npz RESULTS.json

SCENES holds `reference_0`, `prediction_0`, `reference_1`, … and `thresholds`. RESULTS maps a
matcher's name to a list with a row {threshold, tp, fp, fn, pq} per scene and threshold.
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from panoptica import (
    InputType,
    MaxBipartiteMatching,
    Metric,
    NaiveThresholdMatching,
    Panoptica_Evaluator,
)
from panoptica.instance_matcher import MaximizeMergeMatching

MATCHERS = {
    "one-to-one/greedy": NaiveThresholdMatching,
    "one-to-one/optimal": MaxBipartiteMatching,
    "many-to-one/merge/seed": MaximizeMergeMatching,
}


def evaluator(matcher: Any, threshold: float) -> Any:
    return Panoptica_Evaluator(
        expected_input=InputType.UNMATCHED_INSTANCE,
        instance_matcher=matcher(matching_threshold=threshold, strict_threshold=True),
        instance_metrics=[Metric.IOU],
        global_metrics=[],
    )


def row(found: Any, threshold: float) -> dict[str, float]:
    return {
        "threshold": threshold,
        "tp": int(found.tp),
        "fp": int(found.fp),
        "fn": int(found.fn),
        "pq": float(found.pq),
    }


def main(scenes_path: str, results_path: str) -> None:
    scenes: dict[str, npt.NDArray[Any]] = dict(np.load(scenes_path))
    count = sum(name.startswith("reference_") for name in scenes)
    results: dict[str, list[dict[str, float]]] = {name: [] for name in MATCHERS}
    for name, matcher in MATCHERS.items():
        for threshold in scenes["thresholds"].tolist():
            judge = evaluator(matcher, threshold)
            for i in range(count):
                found = judge.evaluate(
                    scenes[f"prediction_{i}"], scenes[f"reference_{i}"], verbose=False
                )["ungrouped"]
                results[name].append({"scene": i, **row(found, threshold)})
    Path(results_path).write_text(json.dumps(results))


if __name__ == "__main__":
    main(*sys.argv[1:])
