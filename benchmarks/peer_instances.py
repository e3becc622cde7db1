"""Time a program on COCO instances: python peer_instances.py FOLDER PROGRAM THREADS ROUNDS.

FOLDER holds reference.json and prediction.json. Loading ends where both files are indexed; scoring
goes from there to the twelve numbers. Times are of the processor (all threads) and of the clock.
PROGRAM is hotcoco, pycocotools or panmatch; all of them have as many processors as threads.
"""

import contextlib
import importlib
import io
import json
import os
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

NAMES = ("AP", "AP50", "AP75", "APs", "APm", "APl", "AR1", "AR10", "AR100", "ARs", "ARm", "ARl")
Steps = tuple[Callable[[], Any], Callable[[Any], list[float]]]  # load, and score what is loaded


def peer(program: str, files: list[str]) -> Steps:
    """Return the steps of pycocotools, or of hotcoco, which has the same names."""
    data = importlib.import_module("hotcoco" if program == "hotcoco" else "pycocotools.coco")
    judges = importlib.import_module("hotcoco" if program == "hotcoco" else "pycocotools.cocoeval")

    def load() -> Any:
        reference = data.COCO(files[0])
        return reference, reference.loadRes(files[1])

    def score(loaded: Any) -> list[float]:
        judge = judges.COCOeval(*loaded, "segm")
        judge.evaluate()
        judge.accumulate()
        judge.summarize()
        return [float(one) for one in judge.stats]

    return load, score


def ours(files: list[str]) -> Steps:
    """Return our steps."""
    read = importlib.import_module("panmatch.formats").read_coco_instances
    rank = importlib.import_module("panmatch.related").coco_precision

    def load() -> Any:
        reference = read(files[0], decode=False)
        return reference, read(files[1], reference, decode=False)

    def score(loaded: Any) -> list[float]:
        reference, prediction = loaded
        found = rank(
            reference.table, prediction.table,
            images=list(reference.sizes), categories=list(reference.categories),
        )  # fmt: skip
        areas = ("small", "medium", "large")
        return [
            *(found.average_precision(threshold) for threshold in (None, 0.5, 0.75)),
            *(found.average_precision(area=area) for area in areas),
            *(found.average_recall(limit) for limit in (1, 10, 100)),
            *(found.average_recall(area=area) for area in areas),
        ]

    return load, score


def now() -> tuple[float, float]:
    return 1e3 * time.process_time(), 1e3 * time.perf_counter()


def timed(steps: Steps) -> tuple[list[float], list[float]]:
    """Return milliseconds of loading and scoring, processor and clock each, and the numbers."""
    load, score = steps
    with contextlib.redirect_stdout(io.StringIO()):
        start = now()
        loaded = load()
        between = now()
        numbers = score(loaded)
        end = now()
    spans = ((between[i] - start[i], end[i] - between[i]) for i in (0, 1))
    (load_cpu, score_cpu), (load_wall, score_wall) = spans
    return [load_cpu, score_cpu, load_wall, score_wall], numbers


def main(folder: str, program: str, threads: str, rounds: str) -> None:
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: int(threads)])
    os.environ["RAYON_NUM_THREADS"] = threads  # of hotcoco
    files = [str(Path(folder) / f"{side}.json") for side in ("reference", "prediction")]
    steps = ours(files) if program == "panmatch" else peer(program, files)
    times, numbers = zip(*(timed(steps) for _ in range(int(rounds))), strict=True)
    best = [min(column) for column in zip(*times, strict=True)]
    shown = dict(zip(NAMES, numbers[-1], strict=True))
    name = f"{program} {version(program)}"
    print(json.dumps({"name": name, "times": best, "numbers": shown}))


if __name__ == "__main__":
    main(*sys.argv[1:])
