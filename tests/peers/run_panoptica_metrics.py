"""Measure objects with panoptica, in panoptica's own environment.

Usage: python run_panoptica_metrics.py SCENES.npz RESULTS.json

SCENES holds `reference_0`, `prediction_0`, … and `spacing`. RESULTS maps a matcher's name to one
entry per scene: a table `objects` with a list per metric, and `whole` with a number per metric.
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from panoptica import InputType, Metric, NaiveThresholdMatching, Panoptica_Evaluator
from panoptica.instance_matcher import MaximizeMergeMatching
from panoptica.metrics import MetricMode

MATCHERS = {
    "one-to-one/greedy": NaiveThresholdMatching,
    "many-to-one/merge/seed": MaximizeMergeMatching,
}
NAMES = ("IOU", "DSC", "ASSD", "HD", "HD95", "CEDI", "RVD", "RVAE")
METRICS = [getattr(Metric, name) for name in NAMES]


def main(scenes_path: str, results_path: str) -> None:
    scenes: dict[str, npt.NDArray[Any]] = dict(np.load(scenes_path))
    spacing = tuple(scenes["spacing"].tolist())
    count = sum(name.startswith("reference_") for name in scenes)
    results: dict[str, list[Any]] = {name: [] for name in MATCHERS}
    for name, matcher in MATCHERS.items():
        judge = Panoptica_Evaluator(
            expected_input=InputType.UNMATCHED_INSTANCE,
            instance_matcher=matcher(matching_threshold=0.1, strict_threshold=True),
            instance_metrics=METRICS,
            global_metrics=METRICS,
        )
        for i in range(count):
            found = judge.evaluate(
                scenes[f"prediction_{i}"],
                scenes[f"reference_{i}"],
                verbose=False,
                voxelspacing=spacing,
            )["ungrouped"]
            objects = {m.name: found.get_list_metric(m, MetricMode.ALL) for m in METRICS}
            objects["volume"] = found.instance_volume_matched_ref_list
            whole = {m.name: getattr(found, f"global_bin_{m.name.lower()}") for m in METRICS}
            results[name].append({"objects": objects, "whole": whole})
    Path(results_path).write_text(json.dumps(results, default=float))


if __name__ == "__main__":
    main(*sys.argv[1:])
