"""A spec that asks for maximum PartPQ: what is matched, what tables say, and what is written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import panmatch as pm
from panmatch.spec import as_spec, read_spec
from tests.commands import panmatch

MATCHING: list[dict[str, Any]] = [
    {"strategy": "one-to-one"},
    {"strategy": "one-to-one", "objective": "parts"},
    {"strategy": "many-to-one", "solver": "optimal", "gate": "edge", "objective": "parts"},
    {"strategy": "one-to-many", "solver": "optimal", "objective": "parts"},
]
SPEC: dict[str, Any] = {
    "classes": {"cell": {"labels": "1-20", "parts": [1, 2]}},
    "part_background": "none",
    "matching": MATCHING,
    "thresholds": [0.1],
}
# Prediction 1 overlaps more of the reference, prediction 2 has the right part.
REFERENCE = np.array([[1] * 10 + [0] * 2])
PREDICTION = np.array([[1] * 6 + [2] * 6])
REFERENCE_PARTS = np.array([[1] * 5 + [2] * 5 + [0] * 2])
PREDICTION_PARTS = np.array([[2] * 10 + [0] * 2])


def evaluated(spec: dict[str, Any]) -> pm.Result:
    return pm.evaluate(
        reference=REFERENCE,
        prediction=PREDICTION,
        reference_parts=REFERENCE_PARTS,
        prediction_parts=PREDICTION_PARTS,
        spec=spec,
    )


def test_a_spec_with_the_objective_survives_writing(tmp_path: Path) -> None:
    spec = as_spec(SPEC)
    path = tmp_path / "spec.yaml"
    path.write_text(yaml.safe_dump(json.loads(spec.canonical())))
    assert read_spec(path) == spec
    assert [one.strategy.quality for one in spec.matching] == ["iou", "parts", "parts", "parts"]
    assert spec.matching[2].label == "many-to-one (optimal, edge, parts)"


def test_tables_tell_both_objectives_apart() -> None:
    scores = evaluated(SPEC).scores
    assert scores.objective.tolist() == ["", "parts", "parts", "parts"]
    assert scores.solver.tolist() == ["optimal"] * 4
    assert scores.part_pq.tolist()[:2] == pytest.approx([0.05 / 1.5, 0.4 / 1.5])
    assert scores.pq.tolist()[:2] == pytest.approx([0.6 / 1.5, 1 / 3 / 1.5])
    assert scores.part_autc[1] >= scores.part_autc[0]
    assert scores.gap.max() < 1e-9


def test_tables_leave_the_objective_out_if_it_is_pq_everywhere() -> None:
    columns = evaluated({**SPEC, "matching": MATCHING[:1]}).plain("scores").columns
    assert "objective" not in columns
    assert "gate" in columns


def test_classes_without_parts_are_matched_for_pq() -> None:
    """PartPQ of a class without parts is PQ, so both objectives are the same there (D9)."""
    classes = {"cell": {"labels": [1], "parts": [1, 2]}, "debris": {"labels": [2]}}
    found = evaluated({**SPEC, "classes": classes, "matching": MATCHING[:2]}).plain("scores")
    rows = list(zip(found.columns["class"], found.columns["pq"], strict=True))
    assert len({pq for name, pq in rows if name == "debris"}) == 1


def test_the_command_line_evaluates_the_objective(tmp_path: Path) -> None:
    sides = {"ref": REFERENCE, "pred": PREDICTION}
    sides |= {"ref_parts": REFERENCE_PARTS, "pred_parts": PREDICTION_PARTS}
    for name, image in sides.items():
        np.save(tmp_path / f"{name}.npy", image)
    (tmp_path / "spec.yaml").write_text(yaml.safe_dump({**SPEC, "matching": MATCHING[:1]}))
    files = [str(tmp_path / f"{name}.npy") for name in sides]
    done = panmatch(
        "evaluate", *files[:2], "--reference-parts", files[2], "--prediction-parts", files[3],
        "--spec", str(tmp_path / "spec.yaml"), "-s", "one-to-one/parts",
        "-o", str(tmp_path / "out"),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "one-to-one (optimal, parts)" in done.stdout
    head, row = (tmp_path / "out" / "scores.csv").read_text().splitlines()[:2]
    found = dict(zip(head.split(","), row.split(","), strict=True))
    assert found["objective"] == "parts"
    assert float(found["part_pq"]) == pytest.approx(0.4 / 1.5)
