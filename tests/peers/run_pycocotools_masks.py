"""Rasterise polygons, and intersect run-length encodings, with pycocotools.

Usage: python run_pycocotools_masks.py QUESTIONS.json RESULTS.json

A question has `size`, `polygons` (a list per mask) and `rles` (plain lengths). The answer has the
compressed texts of both, and the IoU of each polygon mask with each encoding: plain, and as crowd.
"""

import json
import sys
from pathlib import Path
from typing import Any

from pycocotools import mask as coco


def answer(question: dict[str, Any]) -> dict[str, Any]:
    height, width = question["size"]
    drawn = [coco.merge(coco.frPyObjects(one, height, width)) for one in question["polygons"]]
    given = [coco.frPyObjects(one, height, width) for one in question["rles"]]
    tables = {}
    for name, crowd in (("iou", 0), ("crowd", 1)):
        table = coco.iou(given, drawn, [crowd] * len(drawn))
        tables[name] = table.tolist() if len(drawn) and len(given) else []
    return {
        "drawn": [one["counts"].decode() for one in drawn],
        "given": [one["counts"].decode() for one in given],
        "areas": [int(area) for area in coco.area(drawn)],
        **tables,
    }


if __name__ == "__main__":
    questions = json.loads(Path(sys.argv[1]).read_text())
    Path(sys.argv[2]).write_text(json.dumps([answer(one) for one in questions]))
