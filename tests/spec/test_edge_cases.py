"""Edge cases in a spec: words and numbers, names of scores, and errors that list them."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from panmatch.errors import SpecError
from panmatch.evaluation._class_scores import known_class_scores
from panmatch.evaluation._setting import known_scores
from panmatch.related import RELATED
from panmatch.spec import Spec, as_spec, read_spec
from panmatch.spec._edge_cases import STATES

YAML = """
metrics: [iou, dice, masd]
whole: [dice, masd]
related: [lesion_f1, {score: stardist, name: sd}]
edge_cases:
  dice: {both_empty: nan, no_reference: 0, no_prediction: .NaN, no_match: -1.5}
  masd: inf
  whole_masd: .inf
  lesion_f1: {both_empty: 1, no_match: null}
  sd_f1: NaN
"""


def test_words_and_numbers_are_read_and_kept_as_json(tmp_path: Path) -> None:
    (tmp_path / "spec.yaml").write_text(YAML)
    spec = read_spec(tmp_path / "spec.yaml")
    assert spec.model_dump(mode="json")["edge_cases"] == {
        "dice": {"both_empty": "nan", "no_reference": 0, "no_prediction": "nan", "no_match": -1.5},
        "masd": dict.fromkeys(STATES, "inf"),
        "whole_masd": dict.fromkeys(STATES, "inf"),
        "lesion_f1": {"both_empty": 1},
        "sd_f1": dict.fromkeys(STATES, "nan"),
    }
    again = as_spec(json.loads(spec.canonical(), parse_constant=pytest.fail))
    assert again == spec
    assert again.canonical() == spec.canonical()
    (tmp_path / "spec.json").write_text(spec.canonical())
    assert read_spec(tmp_path / "spec.json") == spec


def test_every_name_governs_a_column_that_there_is() -> None:
    """The names of a spec, and those of the scores, are made in two places."""
    content: dict[str, Any] = {
        "classes": {"a": {"labels": [1, 2], "parts": 2}},
        "metrics": ["iou", "dice", "hd"],
        "whole": ["iou", "hd"],
        "related": [*RELATED, {"score": "stardist", "name": "sd"}],
    }
    spec = as_spec(content)
    scores = known_scores(spec.metric_objects, parts=True, areas=True) | known_class_scores(spec)
    aliases = {"sq": "iou", "sq_dice": "dice", "sq_hd": "hd"}
    named = {aliases.get(name, name): {"both_empty": 1} for name in scores}
    assert set(as_spec({**content, "edge_cases": named}).edge_columns) == set(scores)


@pytest.mark.parametrize(
    ("edge_cases", "message"),
    [
        ({"dcie": 1}, "edge_cases: 'dcie' is not a score of this spec; did you mean 'dice'"),
        ({"hd": 1}, r"'hd' is not a score of this spec.* Accepted: pq, sq, rq, precision, recall"),
        ({"part_pq": {"both_empty": 1}}, "'part_pq' is not a score of this spec"),
        ({"whole_dice": 1}, "'whole_dice' is not a score of this spec"),
        ({"iou": 1, "sq": 0}, "'sq' is 'sq', which is already listed"),
        ({"pq": 1}, "edge_cases.pq: no_reference cannot be chosen, because pq is defined there"),
        ({"rq": {"no_match": 0}}, r"edge_cases.rq: no_match .* Write a mapping with both_empty"),
        ({"pq_dice": {"no_prediction": 0}}, "pq_dice: no_prediction cannot be chosen"),
        ({"autc": {"no_reference": 0}}, "autc: no_reference cannot be chosen"),
        ({"precision": {"no_reference": 1}}, "mapping with both_empty or no_prediction"),
        ({"recall": {"no_prediction": 1}}, "mapping with both_empty or no_reference"),
        ({"dice": {"both": 1}}, "the key 'both' is not known.* Accepted: both_empty, no_refer"),
        ({"dice": True}, r"must be a number, nan or inf \(it is True\)"),
        ({"dice": {"no_match": "none"}}, "no_match: must be a number, nan or inf, not 'none'"),
        ({"dice": {"no_match": -math.inf}}, "no_match: must be a number, nan or inf, not -inf"),
        ({"dice": {"no_match": 10**400}}, "no_match: must be a number, nan or inf, not 1000"),
        ({"dice": [1]}, "must be a number, nan or inf"),
        ([1], "edge_cases: Input should be a valid dictionary"),
    ],
)
def test_mistakes_are_explained(edge_cases: Any, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        as_spec({"metrics": ["iou", "dice"], "edge_cases": edge_cases})


def test_areas_have_no_edge_cases_without_a_curve() -> None:
    edge_cases = {"autc": {"both_empty": 1}}
    assert as_spec({"edge_cases": edge_cases}).edge_columns["autc"].numbers == {"both_empty": 1}
    with pytest.raises(SpecError, match="'autc' is not a score of this spec"):
        as_spec({"edge_cases": edge_cases, "curve": False})


def test_a_column_of_a_related_score_wins_over_a_metric_of_the_same_name() -> None:
    related = [{"score": "lesion_f1", "name": "dice"}]
    spec = as_spec({"metrics": "dice", "related": related, "edge_cases": {"dice": 1}})
    assert list(spec.edge_columns) == ["dice"]


def test_specs_that_say_nothing_are_equal() -> None:
    assert Spec() == as_spec({"edge_cases": {}})
    assert Spec() != as_spec({"edge_cases": {"dice": "nan"}})
    assert as_spec({"edge_cases": {"dice": "nan"}}) == as_spec({"edge_cases": {"dice": math.nan}})
