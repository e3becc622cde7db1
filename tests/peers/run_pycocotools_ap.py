"""Average precision by pycocotools.

Usage: python run_pycocotools_ap.py QUESTIONS.json RESULTS.json

A question has `reference` and `prediction` as COCO instances. The answer has, for masks and boxes,
the twelve numbers of the summary and the precision of every class (mean of thresholds and recalls).
"""

import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any

from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval


def evaluate(question: dict[str, Any], kind: str) -> dict[str, Any]:
    reference = COCO()
    reference.dataset = json.loads(json.dumps(question["reference"]))
    reference.createIndex()
    rows = json.loads(json.dumps(question["prediction"]))
    if kind == "bbox":
        for row in rows:
            del row["segmentation"]
    prediction = reference.loadRes(rows)
    judge = COCOeval(reference, prediction, kind)
    judge.evaluate()
    judge.accumulate()
    judge.summarize()
    precision = judge.eval["precision"][:, :, :, 0, -1]
    of_classes = {
        str(one): float(precision[:, :, k].mean()) for k, one in enumerate(judge.params.catIds)
    }
    return {"stats": [float(one) for one in judge.stats], "classes": of_classes}


def answer(question: dict[str, Any]) -> dict[str, Any]:
    with contextlib.redirect_stdout(io.StringIO()):
        return {kind: evaluate(question, kind) for kind in ("segm", "bbox")}


if __name__ == "__main__":
    questions = json.loads(Path(sys.argv[1]).read_text())
    Path(sys.argv[2]).write_text(json.dumps([answer(one) for one in questions]))
