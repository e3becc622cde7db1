"""Time hotcoco on COCO panoptic files: python peer_hotcoco.py FOLDER.

FOLDER holds reference.json, prediction.json and the folders of their PNG files. The time is that of
the processor, from the files to the scores.
"""

import json
import sys
import time
from importlib.metadata import version
from pathlib import Path

from hotcoco import panoptic


def main(folder: str) -> None:
    sides = [Path(folder) / name for name in ("reference", "prediction")]
    times = []
    for _ in range(5):
        start = time.process_time()
        files = [str(side.with_suffix(".json")) for side in sides]
        judge = panoptic.PanopticEval(*files, gt_folder=str(sides[0]), pred_folder=str(sides[1]))
        judge.evaluate()
        found = judge.results()["All"]
        times.append(time.process_time() - start)
    numbers = {name: found[name] for name in ("pq", "sq", "rq")}
    name = f"hotcoco {version('hotcoco')}"
    print(json.dumps({"name": name, "ms": 1e3 * min(times), "numbers": numbers}))


if __name__ == "__main__":
    main(*sys.argv[1:])
