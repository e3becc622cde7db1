"""Time a call as scripts for panoptica make it, with panoptica or with the drop-in.

Usage: python peer_panoptica_call.py FOLDER METRICS AREAS

FOLDER holds reference.npy and prediction.npy; METRICS are names joined by commas, or ``default``.
Prints {"ms": …, "numbers": …, "version": …}; with AREAS, of `evaluate_autc`.
"""

import importlib
import json
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np


def time_call(
    module: str, reference: Any, prediction: Any, metrics: str, *, areas: bool, repeats: int
) -> tuple[float, dict[str, float]]:
    """Return the shortest of several runs in milliseconds, and the numbers."""
    face = importlib.import_module(module)
    chosen = {} if metrics == "default" else {
        "instance_metrics": [face.Metric[name] for name in metrics.split(",")]}  # fmt: skip
    evaluator = face.Panoptica_Evaluator(
        expected_input=face.InputType.UNMATCHED_INSTANCE,
        instance_matcher=face.NaiveThresholdMatching(),
        **chosen,
    )
    call = evaluator.evaluate_autc if areas else evaluator.evaluate
    times: list[float] = []
    while len(times) < repeats and sum(times) < 20:
        start = time.perf_counter()
        found = call(prediction, reference)["ungrouped"].to_dict()
        times.append(time.perf_counter() - start)
    return 1e3 * min(times), {name: float(value) for name, value in found.items()}


def main(folder: str, metrics: str, areas: str) -> None:
    reference, prediction = (
        np.load(Path(folder) / f"{name}.npy") for name in ("reference", "prediction")
    )
    ms, numbers = time_call(
        "panoptica", reference, prediction, metrics, areas=areas == "True", repeats=3
    )
    print("\n" + json.dumps({"ms": ms, "numbers": numbers, "version": version("panoptica")}))


if __name__ == "__main__":
    main(*sys.argv[1:])
