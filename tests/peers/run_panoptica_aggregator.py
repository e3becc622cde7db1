"""Write files of subjects with panoptica or with the drop-in, and read those of the other.

Usage: python run_panoptica_aggregator.py SCENES.npz RESULTS.json

SCENES holds `reference_0`, `prediction_0`, …; the folder holds `ours_…`, files that the drop-in
wrote. Writes `theirs_…` beside them. RESULTS has the summary of every file of ours.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

KINDS: dict[str, dict[str, Any]] = {
    "plain.tsv": {},
    "plain.jsonl": {},
    "rows.tsv": {"output_individual_instance_metrics": True},
    "rows.jsonl": {"output_individual_instance_metrics": True},
    "areas.tsv": {"is_autc": True, "threshold_step_size": 0.25},
}


def write_tables(module: str, scenes: Mapping[str, Any], folder: Path, prefix: str) -> None:
    """Write a file of every kind with all scenes."""
    face = importlib.import_module(module)
    groups = importlib.import_module(f"{module}.utils.segmentation_class")
    evaluator = face.Panoptica_Evaluator(
        face.InputType.UNMATCHED_INSTANCE,
        instance_matcher=face.NaiveThresholdMatching(matching_threshold=0.2),
        segmentation_class_groups=groups.SegmentationClassGroups(
            {
                "Low": groups.LabelGroup([3, 6, 9, 21, 22, 23]),
                "high": groups.LabelGroup([12, 15, 18, *range(24, 50)]),
            }
        ),
        instance_metrics=[face.Metric.DSC, face.Metric.IOU, face.Metric.ASSD],
        global_metrics=[face.Metric.DSC, face.Metric.RVD],
    )
    count = sum(name.startswith("reference_") for name in scenes)
    for kind, options in KINDS.items():
        aggregator = face.Panoptica_Aggregator(evaluator, folder / f"{prefix}_{kind}", **options)
        for i in range(count):
            aggregator.evaluate(scenes[f"prediction_{i}"], scenes[f"reference_{i}"], f"case-{i}")


def summaries(module: str, folder: Path, prefix: str) -> dict[str, Any]:
    """Return mean and standard deviation of every number in every file, by group."""
    face = importlib.import_module(module)
    found: dict[str, Any] = {}
    for kind in KINDS:
        statistic = face.Panoptica_Statistic.from_file(folder / f"{prefix}_{kind}")
        summary = statistic.get_summary_dict()
        found[kind] = {
            group: {name: [one.avg, one.std] for name, one in names.items()}
            for group, names in summary.items()
        }
        found[kind]["subjects"] = statistic.subjectnames
        if "rows" in kind:
            found[kind]["recall"] = statistic.recall_by_volume([20, 50], group="low")
    return found


def main(scenes_path: str, results_path: str) -> None:
    scenes: dict[str, Any] = dict(np.load(scenes_path))
    here = Path.cwd()
    write_tables("panoptica", scenes, here, "theirs")
    Path(results_path).write_text(json.dumps(summaries("panoptica", here, "ours")))


if __name__ == "__main__":
    main(*sys.argv[1:])
