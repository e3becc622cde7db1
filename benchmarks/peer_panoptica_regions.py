"""Time panoptica's region-wise evaluation in its own environment.

Usage: python peer_panoptica_regions.py FOLDER THRESHOLD

FOLDER holds reference.npy and prediction.npy. Prints {"ms": …, "dice": …, "version": …}, where
"dice" is the mean over regions.
"""

import json
import sys
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np
from panoptica import InputType, Metric, NaiveThresholdMatching, Panoptica_Evaluator


def main(folder: str, threshold: str) -> None:
    reference, prediction = (
        np.load(Path(folder) / f"{name}.npy") for name in ("reference", "prediction")
    )
    judge = Panoptica_Evaluator(
        expected_input=InputType.UNMATCHED_INSTANCE,
        instance_matcher=NaiveThresholdMatching(matching_threshold=float(threshold)),
        instance_metrics=[Metric.IOU],
        global_metrics=[Metric.DSC],
        per_region_evaluation=True,
    )
    start = time.perf_counter()
    found = judge.evaluate(prediction, reference, verbose=False)["ungrouped"]
    dice = float(found.region_avg_dsc)
    ms = 1e3 * (time.perf_counter() - start)
    print(json.dumps({"ms": ms, "dice": dice, "version": version("panoptica")}))


if __name__ == "__main__":
    main(*sys.argv[1:])
