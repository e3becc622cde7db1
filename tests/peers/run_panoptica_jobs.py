"""Judge scenes by jobs, with panoptica or with the drop-in: the same calls to either.

Usage: python run_panoptica_jobs.py SCENES.npz RESULTS.json

SCENES holds `reference_0`, `prediction_0`, … and `jobs`, a JSON list. A job names a scene, or
paths, and what to pass to the evaluator. RESULTS has one entry per job: for every group its
numbers, or `error`.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

Job = Mapping[str, Any]
Found = dict[str, Any]


def judge(module: str, scenes: Mapping[str, Any], jobs: Sequence[Job], **more: Any) -> list[Found]:
    """Return the numbers of every job, or the name of the error."""
    return [_numbers(module, scenes, job, more) for job in jobs]


def _numbers(module: str, scenes: Mapping[str, Any], job: Job, more: Mapping[str, Any]) -> Found:
    at, spacing = job["scene"], job.get("spacing")
    pair = job.get("paths") or (scenes[f"prediction_{at}"], scenes[f"reference_{at}"])
    try:
        evaluator = make_evaluator(module, job, **more)
        if "step" in job:
            mode = job.get("mode", "step")
            found = evaluator.evaluate_autc(*pair, job["step"], mode, voxelspacing=spacing)
            return {name: _plain(one.to_dict()) for name, one in found.items()}
        found = evaluator.evaluate(*pair, voxelspacing=spacing)
        return {name: _of(one, job) for name, one in found.items()}
    except Exception as error:
        return {"error": type(error).__name__, "said": str(error)}


def make_evaluator(module: str, job: Job, **more: Any) -> Any:
    """Return the evaluator that a job asks for."""
    face = importlib.import_module(module)
    matchers = importlib.import_module(f"{module}.instance_matcher")
    approximators = importlib.import_module(f"{module}.instance_approximator")
    groups = importlib.import_module(f"{module}.utils.label_group")
    classes = importlib.import_module(f"{module}.utils.segmentation_class")
    edges = importlib.import_module(f"{module}.utils.edge_case_handling")
    options: dict[str, Any] = dict(more)
    for key in ("instance_metrics", "global_metrics"):
        if key in job:
            options[key] = [face.Metric[name] for name in job[key]]
    if "matcher" in job:
        name, metric, threshold, extra = job["matcher"]
        options["instance_matcher"] = getattr(matchers, name)(
            face.Metric[metric], matching_threshold=threshold, **extra
        )
    if "approximator" in job:
        name, backend = job["approximator"]
        chosen = None if backend is None else face.CCABackend[backend]
        options["instance_approximator"] = getattr(approximators, name)(chosen)
    if "groups" in job:
        made = {name: getattr(groups, kind)(*args) for name, (kind, args) in job["groups"].items()}
        options["segmentation_class_groups"] = classes.SegmentationClassGroups(made)
    if "decision" in job:
        metric, options["decision_threshold"] = job["decision"]
        options["decision_metric"] = face.Metric[metric]
    if "edges" in job:
        results = edges.EdgeCaseResult
        values = {
            face.Metric[name]: edges.MetricZeroTPEdgeCaseHandling(
                None, *(results[value] for value in of)
            )
            for name, of in job["edges"].items()
        }
        options["edge_case_handler"] = edges.EdgeCaseHandler(values, results.ZERO)
    options["per_region_evaluation"] = job.get("regions", False)
    return face.Panoptica_Evaluator(expected_input=face.InputType[job["input"]], **options)


def _of(result: Any, job: Job) -> Found:
    numbers = result.to_dict(True)
    rows = numbers.pop("reference_instances")
    found = _plain(numbers)
    found["rows"] = [_plain(row) for row in rows]
    found["text"] = str(result).splitlines()
    for name in job.get("global_metrics", ()) if job.get("regions") else ():
        found[f"region_avg_{name.lower()}"] = float(getattr(result, f"region_avg_{name.lower()}"))
    return found


def _plain(numbers: Mapping[str, Any]) -> Found:
    return {name: None if value is None else float(value) for name, value in numbers.items()}


def main(scenes_path: str, results_path: str) -> None:
    scenes: dict[str, Any] = dict(np.load(scenes_path))
    jobs = json.loads(str(scenes.pop("jobs")))
    Path(results_path).write_text(json.dumps({"found": judge("panoptica", scenes, jobs)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
