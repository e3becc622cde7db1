"""The JSON Schema accepts what the models accept, and refuses what no spec can say."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
import yaml

from panmatch.errors import SpecError
from panmatch.spec import as_spec, preset_names, preset_text, spec_schema

SCHEMA = spec_schema()


def accepts(spec: object) -> bool:
    found: bool = jsonschema.Draft202012Validator(SCHEMA).is_valid(spec)
    return found


def test_it_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_every_key_of_every_level_is_described() -> None:
    keys = SCHEMA["properties"]
    below = keys["classes"]["additionalProperties"]["anyOf"][0]["properties"]
    levels: list[dict[str, Any]] = [keys, below, *(keys[k]["properties"] for k in
                                                   ("metric_options", "averaging"))]  # fmt: skip
    assert all(key["description"] for level in levels for key in level.values())


@pytest.mark.parametrize("name", preset_names())
def test_every_preset_is_accepted(name: str) -> None:
    assert accepts(yaml.safe_load(preset_text(name)))


ACCEPTED: tuple[dict[str, object], ...] = (
    {},
    {"preset": "cells", "classes": {"cell": None}},
    {"classes": {"a": {"labels": 3}, "b": {"labels": "100-199", "parts": [1, "5-7"]}}},
    {"matching": "one-to-one", "thresholds": 0.3, "metrics": "dice", "related": "aji"},
    {"matching": [{"strategy": "many-to-one", "gate": "edge", "regions": True, "strict": False}]},
    {"matching": ["union", {"strategy": "one-to-one", "score": "dice", "regions": "voronoi"}]},
    {"related": [{"score": "lesionwise_dice", "dilation": 3, "name": "brats"}]},
    {
        "edge_cases": {"dice": {"both_empty": "nan", "no_match": 0}, "hd95": "inf"},
        "metrics": ["dice", "hd95"],
    },
    {"background": "others", "classes": {"a": {"labels": [1, 2]}}},
    {"background": [7, "-3--1"], "void": 9, "unit": "mm", "classes": {"a": {"labels": 1}}},
    {"metric_options": {"penalty": "diagonal", "tolerance": 2}, "averaging": {"undefined": "one"}},
)


@pytest.mark.parametrize("spec", ACCEPTED, ids=str)
def test_short_forms_are_accepted_as_reading_them_does(spec: dict[str, object]) -> None:
    if spec.get("classes") != {"cell": None}:
        as_spec(spec)
    assert accepts(spec)


REFUSED: tuple[dict[str, object], ...] = (
    {"treshold": 0.5},
    {"thresholds": 1},
    {"thresholds": [-0.1]},
    {"matching": "many-to-many"},
    {"matching": [{"strategy": "many-to-one", "gate": "door"}]},
    {"matching": [{"gate": "edge"}]},
    {"metrics": ["dize"]},
    {"related": "ajj"},
    {"classes": {"a": {"label": 3}}},
    {"classes": {"a": {"min_voxels": 0}}},
    {"edge_cases": {"dice": {"empty": 1}}},
    {"averaging": {"undefined": "two"}},
    {"unit": "inch"},
    {"preset": "cels"},
)


@pytest.mark.parametrize("spec", REFUSED, ids=str)
def test_what_no_spec_can_say_is_refused_as_reading_it_does(spec: dict[str, object]) -> None:
    with pytest.raises(SpecError):
        as_spec(spec)
    assert not accepts(spec)
