"""The components of the graph in results: counted once per class, pooled, stored and tabled."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

import panmatch as pm
from panmatch.evaluation import CaseResult
from panmatch.scoring import COMPONENT_KINDS

SPEC = {"classes": {"a": {"labels": "1-9"}, "b": {"labels": "10-19"}}, "thresholds": [0.3, 0.5]}
IMAGES: list[tuple[list[int], list[int]]] = [
    ([1, 1, 1, 2, 2, 0, 10, 10], [1, 1, 2, 2, 2, 3, 11, 11]),
    ([1, 1, 2, 2, 0, 0, 0, 0], [4, 4, 4, 4, 0, 0, 0, 12]),
    ([0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0]),
]


def evaluated(n: int = 3) -> pm.Result:
    evaluator = pm.Evaluator(SPEC)
    for at, (reference, prediction) in enumerate(IMAGES[:n]):
        evaluator.update(case=f"case {at}", reference=reference, prediction=prediction)
    return evaluator.compute()


def of_class(image: list[int], name: str) -> Any:
    low, high = (1, 9) if name == "a" else (10, 19)
    labels = np.array(image)
    return np.where((labels >= low) & (labels <= high), labels, 0)


@pytest.mark.parametrize("name", ["a", "b"])
@pytest.mark.parametrize("threshold", [0.0, 0.3, 0.5])
def test_pooled_components_are_the_sum_over_cases(name: str, threshold: float) -> None:
    expected = sum(
        pm.graph_structure(
            pm.count_overlaps(of_class(reference, name), of_class(prediction, name)), threshold
        )
        for reference, prediction in IMAGES
    )
    assert evaluated().structures[""][name, "things", threshold] == expected


def test_the_table_has_all_kinds_of_every_case_and_of_all_together() -> None:
    table = evaluated().structure
    assert list(table) == [
        "case", "class", "kind", "threshold", "averaging", "component", "share", "components",
        "references", "predictions", "ref_voxels", "pred_voxels", "shared_voxels",
    ]  # fmt: skip
    for _, rows in table.groupby(["case", "class", "threshold"]):
        assert rows["component"].tolist() == list(COMPONENT_KINDS)
        assert rows["share"].sum() == pytest.approx(1.0)
    assert set(table.case) == {"", "case 0", "case 1"}  # nothing is in the third one
    pooled, cases = table[table.averaging == "pooled"], table[table.averaging == "case"]
    for names, rows in cases.groupby(["class", "threshold", "component"]):
        same = pooled[(pooled[["class", "threshold", "component"]] == list(names)).all(axis=1)]
        for column in ("components", "references", "ref_voxels", "shared_voxels"):
            assert same[column].item() == rows[column].sum()


def test_a_merged_prediction_is_an_n_1_component() -> None:
    table = evaluated().structure
    row = table[(table.case == "case 1") & (table["class"] == "a") & (table.threshold == 0)]
    merged = row[row.component == "n-1"].iloc[0]
    assert merged[["components", "references", "predictions"]].tolist() == [1, 2, 1]
    assert merged[["ref_voxels", "pred_voxels", "shared_voxels"]].tolist() == [4, 4, 4]


def test_components_survive_json_and_old_results_have_none() -> None:
    case = evaluated(1).cases[0]
    content = json.loads(json.dumps(case.to_dict()))
    assert CaseResult.from_dict(content).structures == case.structures
    assert len(case.structures) == 6  # two classes at 0, 0.3 and 0.5
    del content["structures"]
    old = pm.Result(evaluated(1).spec, (CaseResult.from_dict(content),))
    assert old.structures == {"": {}}
    assert len(old.structure) == 0


def test_regions_do_not_change_the_components() -> None:
    spec = {"matching": [{"strategy": "many-to-one", "regions": True}], "thresholds": [0.1]}
    reference, prediction = IMAGES[1]
    found = pm.evaluate(reference=reference, prediction=prediction, spec=spec).structures[""]
    assert next(iter(found.values())).components["n-1"] == 1
    assert math.isclose(sum(next(iter(found.values())).shares.values()), 1.0)
