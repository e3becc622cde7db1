"""Time a program on COCO instances: python peer_instances.py FOLDER PROGRAM THREADS ROUNDS.

FOLDER holds reference.json and prediction.json. Loading ends where both files are indexed; scoring
goes from there to the twelve numbers. Times are of the processor (all threads) and of the clock.
"""

import contextlib
import importlib
import io
import json
import os
import sys
import time
from importlib.metadata import version
from pathlib import Path

NAMES = ("AP", "AP50", "AP75", "APs", "APm", "APl", "AR1", "AR10", "AR100", "ARs", "ARm", "ARl")


def now() -> tuple[float, float]:
    return 1e3 * time.process_time(), 1e3 * time.perf_counter()


def main(folder: str, program: str, threads: str, rounds: str) -> None:
    os.environ["RAYON_NUM_THREADS"] = threads  # read when hotcoco starts its threads
    data = importlib.import_module("hotcoco" if program == "hotcoco" else "pycocotools.coco")
    judges = importlib.import_module("hotcoco" if program == "hotcoco" else "pycocotools.cocoeval")
    files = [str(Path(folder) / f"{side}.json") for side in ("reference", "prediction")]
    times = []
    for _ in range(int(rounds)):
        with contextlib.redirect_stdout(io.StringIO()):
            start = now()
            reference = data.COCO(files[0])
            prediction = reference.loadRes(files[1])
            loaded = now()
            judge = judges.COCOeval(reference, prediction, "segm")
            judge.evaluate()
            judge.accumulate()
            judge.summarize()
            done = now()
        times.append([loaded[0] - start[0], loaded[1] - start[1],
                      done[0] - loaded[0], done[1] - loaded[1]])  # fmt: skip
    numbers = dict(zip(NAMES, map(float, judge.stats), strict=True))
    name = f"{program} {version(program)}"
    best = [min(column) for column in zip(*times, strict=True)]
    print(json.dumps({"name": name, "times": best, "numbers": numbers}))


if __name__ == "__main__":
    main(*sys.argv[1:])
