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

import pytest

import panmatch as pm
from tests.peers.protocols.scenes import FAMILIES, Scene

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


@pytest.mark.parametrize(("record", "entry"), ANSWERS)
def test_protocol_gives_the_numbers_of_its_program(
    record: dict[str, Any], entry: dict[str, Any]
) -> None:
    scene = scenes(record["family"])[entry["name"]]
    found = pm.protocols.run(
        record["protocol"],
        reference=scene.reference,
        prediction=scene.prediction,
        spacing=scene.spacing,
    )
    theirs = entry["numbers"]
    assert theirs.keys() <= found.keys()
    different = {
        name: (found[name], number)
        for name, number in theirs.items()
        if not same(found[name], number, record["tolerance"])
    }
    assert not different


def test_every_protocol_has_numbers_of_its_program() -> None:
    assert {record["protocol"] for record in RECORDS.values()} == PROTOCOLS


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


@pytest.mark.parametrize("family", FAMILIES)
def test_scenes_have_names_of_their_own_and_stay_small(family: str) -> None:
    made = list(FAMILIES[family]())
    assert len(scenes(family)) == len(made)
    assert all(scene.reference.shape == scene.prediction.shape for scene in made)
    assert all(scene.reference.size <= 40**3 for scene in made)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_record_is_small(file: Path) -> None:
    assert file.stat().st_size < 300_000
