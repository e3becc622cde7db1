"""Time panoptica in its own environment: python peer_panoptica.py FOLDER MATCHER THRESHOLD.

FOLDER holds reference.npy and prediction.npy. Prints {"ms": …, "pq": …, "version": …}.
"""

import json
import sys
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np
from panoptica import InputType, Metric, NaiveThresholdMatching, Panoptica_Evaluator
from panoptica.instance_matcher import MaximizeMergeMatching

MATCHERS = {"greedy": NaiveThresholdMatching, "merge": MaximizeMergeMatching}


def main(folder: str, matcher: str, threshold: str) -> None:
    reference, prediction = (
        np.load(Path(folder) / f"{name}.npy") for name in ("reference", "prediction")
    )
    judge = Panoptica_Evaluator(
        expected_input=InputType.UNMATCHED_INSTANCE,
        instance_matcher=MATCHERS[matcher](
            matching_threshold=float(threshold), strict_threshold=True
        ),
        instance_metrics=[Metric.IOU],
        global_metrics=[],
    )
    times: list[float] = []
    while len(times) < 3 and sum(times) < 20:
        start = time.perf_counter()
        found = judge.evaluate(prediction, reference, verbose=False)["ungrouped"]
        pq = float(found.pq)
        times.append(time.perf_counter() - start)
    print(json.dumps({"ms": 1e3 * min(times), "pq": pq, "version": version("panoptica")}))


if __name__ == "__main__":
    main(*sys.argv[1:])
