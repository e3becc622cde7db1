"""Time torchmetrics on one image in a loop: python peer_torchmetrics.py FOLDER.

FOLDER holds reference.npy and prediction.npy: objects of one class. Tensors are made beforehand.
torchmetrics leaves out what a prediction does not label, so background is a class of stuff here,
and PQ is that of the objects.
"""

import json
import sys
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np
import torch
from torchmetrics.functional.detection import panoptic_quality


def main(folder: str) -> None:
    torch.set_num_threads(1)
    reference, prediction = (
        np.load(Path(folder) / f"{name}.npy") for name in ("reference", "prediction")
    )
    sides = [
        torch.from_numpy(np.stack([image > 0, image], -1)[np.newaxis].astype(np.int64))
        for image in (prediction, reference)
    ]
    times: list[float] = []
    while len(times) < 4 or (len(times) < 500 and sum(times[1:]) < 2):
        start = time.perf_counter()
        found = panoptic_quality(*sides, things={1}, stuffs={0}, return_per_class=True)
        pq = float(found[0, 0])
        times.append(time.perf_counter() - start)
    name = f"torchmetrics {version('torchmetrics')}, PQ alone"
    print(json.dumps({"name": name, "ms": 1e3 * min(times), "numbers": {"pq": pq}}))


if __name__ == "__main__":
    main(*sys.argv[1:])
