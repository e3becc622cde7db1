"""Time exacta in its own environment.

Usage: python peer_exacta.py FOLDER JOB THREADS

FOLDER holds reference.npy and prediction.npy. JOB is ``whole`` (Dice, HD95, ASSD and NSD of all
labels as one), ``organs`` (the same of every label) or ``lesions`` (PQ, Dice and HD95 of the
components of all labels as one). Prints {"ms": …, "version": …}, and the scores.
"""

import json
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import torch
from exacta import functional, lesions

METRICS = {"dice": {}, "hd95": {}, "assd": {}, "nsd": {"tolerance": 1.0}}


def main(folder: str, job: str, threads: str) -> None:
    torch.set_num_threads(int(threads))
    reference, prediction = (
        np.load(Path(folder) / f"{name}.npy") for name in ("reference", "prediction")
    )
    if job != "organs":
        reference, prediction = ((image > 0).astype(np.uint8) for image in (reference, prediction))
    sides: dict[str, Any] = {
        "pred": prediction[np.newaxis],
        "target": reference[np.newaxis],
        "spacing": 1.0,
        "num_classes": int(max(reference.max(), prediction.max())) + 1,
        "include_background": False,
    }
    times: list[float] = []
    while len(times) < 3 and sum(times) < 20:
        start = time.perf_counter()
        found = (
            _lesions(sides) if job == "lesions" else functional.evaluate(**sides, metrics=METRICS)
        )
        times.append(time.perf_counter() - start)
    scores = {name: values[0].tolist() for name, values in found.items()}
    print(json.dumps({"ms": 1e3 * min(times), "version": version("exacta"), **scores}))


def _lesions(sides: dict[str, Any]) -> dict[str, Any]:
    found = lesions.evaluate(
        **sides, matching="greedy", connectivity=3, threshold=0.1, strict=True, missed_distance=0.0
    )
    return {"pq": found.pq_iou, "dice": found.lesion_dice, "hd95": found.lesion_hd95}


if __name__ == "__main__":
    main(*sys.argv[1:])
