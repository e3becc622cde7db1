"""Time exacta on two whole masks: python peer_exacta_masks.py FOLDER.

FOLDER holds reference.npy and prediction.npy.
"""

import json
import sys
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np
from exacta import functional


def main(folder: str) -> None:
    reference, prediction = (
        (np.load(Path(folder) / f"{name}.npy") > 0)[np.newaxis, np.newaxis]
        for name in ("reference", "prediction")
    )
    options = {"metrics": ("dice", "hd95", "assd"), "spacing": (1.0, 1.0, 1.0)}
    times: list[float] = []
    while len(times) < 5 and sum(times) < 30:
        start = time.perf_counter()
        found = functional.evaluate(prediction, reference, input_format="one-hot", **options)
        numbers = {name: float(values[0, 0]) for name, values in found.items()}
        times.append(time.perf_counter() - start)
    name = f"exacta {version('exacta')}"
    print(json.dumps({"name": name, "ms": 1e3 * min(times), "numbers": numbers}))


if __name__ == "__main__":
    main(*sys.argv[1:])
