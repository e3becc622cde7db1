"""Time CCMetrics in its own environment: python peer_ccmetrics.py FOLDER.

FOLDER holds reference.npy and prediction.npy. Prints {"ms": …, "dice": …, "version": …}.
"""

import json
import sys
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np
from CCMetrics import CCDiceMetric


def main(folder: str) -> None:
    masks = [np.load(Path(folder) / f"{name}.npy") > 0 for name in ("reference", "prediction")]
    reference, prediction = (np.stack([~m, m])[np.newaxis].astype(np.float32) for m in masks)
    times = []
    for _ in range(3):
        judge = CCDiceMetric(cc_reduction="patient")
        start = time.perf_counter()
        judge(y_pred=prediction, y=reference)
        dice = float(judge.cc_aggregate()[0])
        times.append(time.perf_counter() - start)
    print(json.dumps({"ms": 1e3 * min(times), "dice": dice, "version": version("CCMetrics")}))


if __name__ == "__main__":
    main(*sys.argv[1:])
