"""Time panoptica in its own environment.

Usage: python peer_panoptica.py FOLDER MATCHER THRESHOLD METRICS WORKERS

FOLDER holds reference.npy and prediction.npy, METRICS are names joined by commas. Prints
{"ms": …, "pq": …, "version": …}, and "sq_…" of every metric.
"""

import json
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from panoptica import InputType, Metric, NaiveThresholdMatching, Panoptica_Evaluator
from panoptica.instance_matcher import MaximizeMergeMatching
from panoptica.utils.speed_toggles import PanopticaSpeedToggles

MATCHERS = {"greedy": NaiveThresholdMatching, "merge": MaximizeMergeMatching}


def main(folder: str, matcher: str, threshold: str, metrics: str, workers: str) -> None:
    reference, prediction = (
        np.load(Path(folder) / f"{name}.npy") for name in ("reference", "prediction")
    )
    judge = Panoptica_Evaluator(
        expected_input=InputType.UNMATCHED_INSTANCE,
        instance_matcher=MATCHERS[matcher](
            matching_threshold=float(threshold), strict_threshold=True
        ),
        instance_metrics=[Metric[name] for name in metrics.split(",")],
        global_metrics=[],
        speed_toggles=PanopticaSpeedToggles(
            parallel_instance_eval=int(workers) > 1, parallel_instance_eval_workers=int(workers)
        ),
    )
    times: list[float] = []
    while len(times) < 3 and sum(times) < 20:
        start = time.perf_counter()
        found = judge.evaluate(prediction, reference, verbose=False)["ungrouped"]
        pq = float(found.pq)
        times.append(time.perf_counter() - start)
    scores = {f"sq_{name}": _score(found, name) for name in metrics.split(",")}
    result = {"ms": 1e3 * min(times), "pq": pq, "version": version("panoptica"), **scores}
    print(json.dumps(result))


def _score(found: Any, name: str) -> float:
    return float(found.sq if name == "IOU" else getattr(found, f"sq_{name.lower()}"))


if __name__ == "__main__":
    main(*sys.argv[1:])
