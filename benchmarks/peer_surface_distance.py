"""Time surface-distance on two whole masks: python peer_surface_distance.py FOLDER.

FOLDER holds reference.npy and prediction.npy. Its surfaces are elements weighted by area, so its
average distance has no equal here; HD95 has.
"""

import json
import sys
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np
import surface_distance


def main(folder: str) -> None:
    reference, prediction = (
        np.load(Path(folder) / f"{name}.npy") > 0 for name in ("reference", "prediction")
    )
    times: list[float] = []
    while len(times) < 2 and sum(times) < 30:
        start = time.perf_counter()
        found = surface_distance.compute_surface_distances(reference, prediction, (1, 1, 1))
        numbers = {
            "dice": surface_distance.compute_dice_coefficient(reference, prediction),
            "hd95_elements": surface_distance.compute_robust_hausdorff(found, 95),
        }
        surface_distance.compute_average_surface_distance(found)
        times.append(time.perf_counter() - start)
    name = f"surface-distance {version('surface-distance')}"
    print(json.dumps({"name": name, "ms": 1e3 * min(times), "numbers": numbers}))


if __name__ == "__main__":
    main(*sys.argv[1:])
