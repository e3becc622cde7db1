"""Samples of every file format that panmatch writes.

``python -m tests.stored_formats`` adds those of today's version to tests/data/formats.

A sample stays once a release has written its format, and reading it stays possible.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import panmatch as pm
from panmatch.datasets import DatasetPaths, Job, RunOptions, load_run, pair, run_dataset
from panmatch.evaluation import Result
from panmatch.spec import as_spec

FOLDER = Path(__file__).parent / "data" / "formats"
SPEC = {
    "classes": {"cell": {"labels": "all", "min_voxels": 1}},
    "matching": ["one-to-one", {"strategy": "many-to-one", "solver": "optimal"}, "union"],
    "thresholds": [0.1, 0.5],
    "metrics": ["dice", "hd95"],
    "whole": ["dice"],
    "related": ["cc_dice"],
}
KEPT = ("run.json", "cases.jsonl")


def sides() -> tuple[np.ndarray[Any, np.dtype[np.int64]], np.ndarray[Any, np.dtype[np.int64]]]:
    """Return a reference and a prediction with a split, a merge, a miss and a spurious object."""
    reference, prediction = np.zeros((2, 12, 14), np.int64)
    reference[1:5, 1:5], reference[1:5, 7:9], reference[1:5, 9:12], reference[8:11, 1:4] = (
        1,
        2,
        3,
        4,
    )
    prediction[1:5, 1:3], prediction[1:5, 3:5], prediction[1:5, 7:12] = 1, 2, 3
    prediction[8:11, 9:12] = 4
    return reference, prediction


def scores_of(result: Result) -> dict[str, list[object]]:
    """Return what a reader must still find in a stored result."""
    rows = result.scores[["case", "class", "strategy", "threshold", "tp", "fp", "fn", "pq"]]
    found: dict[str, list[object]] = rows.to_dict(orient="list")
    return found


def write_samples() -> None:
    """Write a sample of each format, under its name."""
    reference, prediction = sides()
    overlap = pm.count_overlaps(reference, prediction)
    result = pm.evaluate(reference=reference, prediction=prediction, spec=SPEC, spacing=(1, 0.5))
    for suffix in (".json", ".npz"):
        pm.save_overlap(overlap, FOLDER / f"panmatch-overlap-1{suffix}")
    name = json.loads(result.to_json())["format"]
    (FOLDER / f"{name}.json").write_text(result.to_json(), encoding="utf-8")
    (FOLDER / f"{name}.scores.json").write_text(json.dumps(scores_of(result)), encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        write_run_sample(Path(folder), FOLDER)


def write_run_sample(folder: Path, below: Path) -> None:
    """Evaluate two small cases in a folder, and keep the run below another, without its tables."""
    reference, prediction = sides()
    for case, labels in {"a": prediction, "b": reference}.items():
        for side, array in {"ref": reference, "pred": labels}.items():
            (folder / side).mkdir(exist_ok=True)
            np.save(folder / side / f"{case}.npy", array)
    paths = DatasetPaths(folder / "ref", {"model": folder / "pred"})
    run_dataset(pair(paths), Job(as_spec(SPEC).canonical()), folder / "out", RunOptions(), print)
    name = json.loads((folder / "out" / "run.json").read_text("utf-8"))["format"]
    target = below / name
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    for file in KEPT:
        text = (folder / "out" / file).read_text("utf-8").replace(str(folder), "data")
        (target / file).write_text(text, encoding="utf-8")
    scores = scores_of(load_run(target))
    (target / "scores.json").write_text(json.dumps(scores), encoding="utf-8")


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    write_samples()
