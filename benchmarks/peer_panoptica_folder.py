"""Time panoptica's aggregator on folders of NIfTI files, in its own environment.

Usage: python peer_panoptica_folder.py REF PRED COUNT

Evaluates the first COUNT cases with IoU, Dice, ASSD and HD95, and prints {"ms": …, "pq": [...],
"version": …}; the time is per case.
"""

import json
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import nibabel
import numpy as np
from panoptica import (
    InputType,
    Metric,
    NaiveThresholdMatching,
    Panoptica_Aggregator,
    Panoptica_Evaluator,
)

METRICS = (Metric.IOU, Metric.DSC, Metric.ASSD, Metric.HD95)


def main(ref: str, pred: str, count: str) -> None:
    names = sorted(path.name for path in Path(ref).iterdir())[: int(count)]
    judge = Panoptica_Evaluator(
        expected_input=InputType.UNMATCHED_INSTANCE,
        instance_matcher=NaiveThresholdMatching(matching_threshold=0.5, strict_threshold=True),
        instance_metrics=list(METRICS),
        global_metrics=[],
    )
    with tempfile.TemporaryDirectory() as folder:
        aggregator = Panoptica_Aggregator(judge, Path(folder) / "out.jsonl")
        start = time.perf_counter()
        for name in names:
            images: list[Any] = [nibabel.load(Path(side) / name) for side in (ref, pred)]
            reference, prediction = images
            aggregator.evaluate(
                np.asarray(prediction.dataobj),
                np.asarray(reference.dataobj),
                name.split(".")[0],
                voxelspacing=tuple(map(float, reference.header.get_zooms())),
            )
        ms = 1e3 * (time.perf_counter() - start) / len(names)
        rows = [json.loads(line) for line in (Path(folder) / "out.jsonl").open()]
    print(json.dumps({"ms": ms, "rows": rows, "version": version("panoptica")}))


if __name__ == "__main__":
    main(*sys.argv[1:])
