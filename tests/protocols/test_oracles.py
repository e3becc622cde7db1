"""Protocols give the numbers of the programs that they are named after.

`make oracles` ran those programs on the scenes of tests/peers/protocols/scenes.py and wrote what
they said to tests/data/protocols.
"""

from __future__ import annotations

import json
import math
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import panmatch as pm
from panmatch import related
from tests.peers.protocols.scenes import FAMILIES, Labels, Scene

FILES = sorted((Path(__file__).parents[1] / "data" / "protocols").glob("*.json"))
RECORDS: dict[str, dict[str, Any]] = {file.stem: json.loads(file.read_text()) for file in FILES}
ANSWERS = [
    pytest.param(record, entry, id=f"{name}: {entry['name']}")
    for name, record in RECORDS.items()
    for entry in record["scenes"]
    if "numbers" in entry
]
PROTOCOLS = {
    "autopet",
    "brats-2023-lesionwise",
    "brats-mets",
    "cc-metrics-0.0.3",
    "cellpose",
    "cityscapes",
    "coco-panoptic",
    "isles-2022",
    "nnunet-summary",
    "panoptic-parts",
    "panoptica-2.1.7",
    "stardist",
}


@cache
def scenes(family: str) -> dict[str, Scene]:
    return {scene.name: scene for scene in FAMILIES[family]()}


def same(ours: float, theirs: float, tolerance: float) -> bool:
    if math.isnan(theirs):
        return math.isnan(ours)
    return math.isclose(ours, theirs, rel_tol=tolerance, abs_tol=tolerance)


def tolerance_of(record: dict[str, Any], name: str) -> float:
    """Return how far apart two numbers may be: programs may differ in precision by number."""
    found: float = record.get("tolerances", {}).get(name.partition("/")[0], record["tolerance"])
    return found


def given(record: dict[str, Any], scene: Scene) -> dict[str, Any]:
    """Return what a protocol is run with."""
    sides = {"reference": scene.reference, "prediction": scene.prediction}
    if record["protocol"] == "coco-panoptic":
        things = {
            int(id_): bool(thing) for id_, thing in RECORDS["coco-panoptic"]["isthing"].items()
        }
        return {name: segments(side, things) for name, side in sides.items()}
    own = {"classes": {"a": 1, "b": 2, "c": 3}} if record["protocol"] == "nnunet-summary" else {}
    return {**sides, **own, "spacing": scene.spacing}


def segments(ids: Labels, things: dict[int, bool]) -> pm.Panoptic:
    """Return COCO's segments: a category, or a category · 1000 + an instance; 0 is void."""
    kinds = [pm.SegmentClass(category, "", thing) for category, thing in things.items()]
    table = {}
    for id_ in np.unique(ids[ids != 0]).tolist():
        category = id_ // 1000 if id_ >= 1000 else id_
        table[id_] = category, id_ < 1000 and things[category]
    return pm.from_segments(ids, table, kinds)


@pytest.mark.parametrize(("record", "entry"), ANSWERS)
def test_protocol_gives_the_numbers_of_its_program(
    record: dict[str, Any], entry: dict[str, Any]
) -> None:
    scene = scenes(record["family"])[entry["name"]]
    found = pm.protocols.run(record["protocol"], **given(record, scene))
    # CC-Metrics lists a value per component there, which another test compares.
    theirs = {name: n for name, n in entry["numbers"].items() if "/overall/" not in name}
    assert theirs.keys() <= found.keys()
    different = {
        name: (found[name], number)
        for name, number in theirs.items()
        if not same(found[name], number, tolerance_of(record, name))
    }
    assert not different


def test_every_protocol_has_numbers_of_its_program() -> None:
    assert {record["protocol"] for record in RECORDS.values()} == PROTOCOLS


CC_METRICS: dict[str, dict[str, Any]] = {
    "CCDiceMetric": {"metric": "dice"},
    "CCSurfaceDiceMetric": {"metric": "nsd", "tolerance": 1},
    "CCHausdorffDistanceMetric": {"metric": "hd", "penalty": 30},
    "CCHausdorffDistance95Metric": {"metric": "hd95", "penalty": 30},
    "CCSurfaceDistanceMetric": {"metric": "asd_from_prediction", "penalty": 30},
}


@pytest.mark.parametrize("name", CC_METRICS)
def test_every_component_has_the_value_of_cc_metrics(name: str) -> None:
    record = RECORDS["cc-metrics-0.0.3"]
    compared = 0
    for entry in record["scenes"]:
        scene = scenes(record["family"])[entry["name"]]
        theirs = [v for key, v in entry["numbers"].items() if key.startswith(f"{name}/overall/")]
        if not scene.reference.any():
            assert theirs == [entry["numbers"][name]]  # a perfect or a worst score
            continue
        found = related.cc_metric(
            reference=scene.reference, prediction=scene.prediction, ties="scipy", **CC_METRICS[name]
        )
        wanted = pytest.approx(theirs, rel=tolerance_of(record, name))
        assert found.per_component == wanted, entry["name"]
        compared += len(theirs)
    assert compared > 180


def test_all_components_of_cc_metrics_count_alike() -> None:
    record = RECORDS["cc-metrics-0.0.3"]
    protocol = pm.protocols.find_protocol("cc-metrics-0.0.3")
    evaluator = pm.Evaluator(protocol.as_spec)
    values: dict[str, list[float]] = {name: [] for name in CC_METRICS}
    for entry in record["scenes"]:
        scene = scenes(record["family"])[entry["name"]]
        evaluator.update(reference=scene.reference, prediction=scene.prediction, case=entry["name"])
        for name, value in entry["numbers"].items():
            if "/overall/" in name:
                values[name.partition("/")[0]].append(value)
    found = {
        number.name: number.value
        for number in pm.protocols.protocol_numbers(evaluator.compute(), protocol)
        if number.case is None
    }
    for name, ones in values.items():
        wanted = pytest.approx(np.mean(ones), rel=tolerance_of(record, name))
        assert found[f"{name}/overall"] == wanted, name


@pytest.mark.parametrize(
    ("record", "dataset"),
    [
        (record, one)
        for record in RECORDS.values()
        for one in record.get("datasets", ())
        if not one.get("by_image")  # stardist's default is to pool
    ],
)
def test_several_cases_are_put_together_as_the_program_does(
    record: dict[str, Any], dataset: dict[str, Any]
) -> None:
    made = scenes(record["family"])
    classes = given(record, next(iter(made.values()))).get("classes")
    protocol = pm.protocols.find_protocol(
        record["protocol"], None if classes is None else {"classes": classes}
    )
    evaluator = pm.Evaluator(protocol.as_spec)
    for name in dataset["scenes"]:
        evaluator.update(
            reference=made[name].reference, prediction=made[name].prediction, case=name
        )
    found = {
        number.name: number.value
        for number in pm.protocols.protocol_numbers(evaluator.compute(), protocol)
        if number.case is None
    }
    for name, number in dataset["numbers"].items():
        assert same(found[name], number, tolerance_of(record, name)), name


@pytest.mark.parametrize("name", RECORDS)
def test_scenes_are_those_that_the_program_saw(name: str) -> None:
    record = RECORDS[name]
    made = scenes(record["family"])
    for entry in record["scenes"]:
        scene = made[entry["name"]]
        assert entry["checksum"] == scene.checksum
        assert entry["spacing"] == list(scene.spacing)
        assert entry["seed"] == scene.seed


@pytest.mark.parametrize("name", sorted(PROTOCOLS))
def test_a_protocol_has_numbers_for_at_least_thirty_scenes(name: str) -> None:
    record = RECORDS[name]
    answered = [entry for entry in record["scenes"] if entry.get("numbers")]
    assert len(answered) >= 30
    assert record["programs"]


@pytest.mark.parametrize("name", sorted(PROTOCOLS))
def test_a_protocol_says_how_many_numbers_were_compared(name: str) -> None:
    answers = [entry["numbers"] for entry in RECORDS[name]["scenes"] if entry.get("numbers")]
    said = pm.protocols.find_protocol(name).verified
    assert f"{sum(map(len, answers)):,} numbers of {len(answers)} scenes" in said


@pytest.mark.parametrize("family", FAMILIES)
def test_scenes_have_names_of_their_own_and_stay_small(family: str) -> None:
    made = list(FAMILIES[family]())
    assert len(scenes(family)) == len(made)
    assert all(scene.reference.shape == scene.prediction.shape for scene in made)
    assert all(scene.reference.size <= 40**3 for scene in made)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_record_is_small(file: Path) -> None:
    assert file.stat().st_size < 300_000
