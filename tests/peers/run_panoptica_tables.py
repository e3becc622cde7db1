"""Write TSV files with panoptica, and read ours with it, in panoptica's own environment.

Usage: python run_panoptica_tables.py SCENES.npz RESULTS.json

SCENES holds `reference_0`, `prediction_0`, …, `subjects`, `spacing` and `last`, the highest label
of the first group. Writes a file NAME.tsv for every matcher beside SCENES. RESULTS maps NAME, and
the stem of every other TSV file there, to what panoptica reads: groups, metrics, subjects, values
by group and metric (null where undefined), and their averages.
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from panoptica import InputType, MaxBipartiteMatching, Metric, Panoptica_Evaluator
from panoptica.instance_matcher import MaximizeMergeMatching
from panoptica.panoptica_aggregator import Panoptica_Aggregator
from panoptica.panoptica_statistics import Panoptica_Statistic
from panoptica.utils.label_group import LabelGroup
from panoptica.utils.segmentation_class import SegmentationClassGroups

MATCHERS = {"one-to-one": MaxBipartiteMatching, "many-to-one": MaximizeMergeMatching}
METRICS = [Metric.IOU, Metric.DSC, Metric.ASSD, Metric.RVD, Metric.RVAE]


def write(name: str, scenes: dict[str, npt.NDArray[Any]]) -> None:
    last = int(scenes["last"])
    judge = Panoptica_Evaluator(
        expected_input=InputType.UNMATCHED_INSTANCE,
        instance_matcher=MATCHERS[name](matching_threshold=0.3, strict_threshold=True),
        instance_metrics=METRICS,
        global_metrics=[Metric.DSC, Metric.IOU],
        segmentation_class_groups=SegmentationClassGroups(
            {
                "Large": LabelGroup(list(range(1, last + 1))),
                "small": LabelGroup(list(range(last + 1, 2 * last + 1))),
            }
        ),
    )
    aggregator = Panoptica_Aggregator(judge, Path(f"{name}.tsv"))
    for i, subject in enumerate(scenes["subjects"].tolist()):
        aggregator.evaluate(
            scenes[f"prediction_{i}"],
            scenes[f"reference_{i}"],
            subject,
            voxelspacing=tuple(scenes["spacing"].tolist()),
        )


def read(path: Path) -> dict[str, Any]:
    found = Panoptica_Statistic.from_file(path, verbose=False)
    names = [(group, metric) for group in found.groupnames for metric in found.metricnames]
    return {
        "groups": found.groupnames,
        "metrics": found.metricnames,
        "subjects": found.subjectnames,
        "values": {f"{group}-{metric}": found.get(group, metric) for group, metric in names},
        "means": {
            f"{group}-{metric}": float(np.mean(found.get(group, metric, remove_nones=True) or 0.0))
            for group, metric in names
        },
    }


def main(scenes_path: str, results_path: str) -> None:
    scenes: dict[str, npt.NDArray[Any]] = dict(np.load(scenes_path))
    for name in MATCHERS:
        write(name, scenes)
    results = {path.stem: read(path) for path in Path().glob("*.tsv")}
    Path(results_path).write_text(json.dumps(results))


if __name__ == "__main__":
    main(*sys.argv[1:])
