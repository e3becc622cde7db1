"""What a spec wants where there is nothing to average: cases, pooled, means and intervals."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import panmatch as pm
from panmatch.cli._json import as_json, comparison_document, evaluation_document
from panmatch.cli._screen import evaluation_screen
from panmatch.datasets import (
    DatasetPaths,
    Job,
    RunOptions,
    compare,
    load_run,
    pair,
    run_dataset,
    summary_table,
)
from panmatch.datasets._other_outputs import write_other_outputs
from panmatch.evaluation import Result, Score
from panmatch.evaluation._edge_cases import settle
from panmatch.report import write_report
from panmatch.spec import EdgeCase, as_spec
from panmatch.spec._edge_cases import STATES
from tests.evaluation.by_hand import Labels

NAN, INF = math.nan, math.inf
EMPTY = np.zeros((6, 12), np.int64)
LEFT, RIGHT = EMPTY.copy(), EMPTY.copy()
LEFT[1:4, 1:4], RIGHT[1:5, 7:11] = 1, 1
SCENES: dict[str, tuple[Labels, Labels]] = {
    "both_empty": (EMPTY, EMPTY),
    "no_reference": (EMPTY, RIGHT),
    "no_prediction": (LEFT, EMPTY),
    "no_match": (LEFT, RIGHT),
    "perfect": (LEFT, LEFT),
}
CONTENT: dict[str, Any] = {
    "matching": "one-to-one",
    "thresholds": [0.5],
    "metrics": ["iou", "dice", "masd"],
    "whole": ["dice", "masd", "cldice"],
    "related": ["lesion_f1", {"score": "cc_metric", "name": "cc"}],
}
# By column what there is without edge cases, in the order of the scenes.
DEFINED: dict[str, list[float]] = {
    "pq": [NAN, 0, 0, 0, 1],
    "sq": [NAN, 0, 0, 0, 1],
    "rq": [NAN, 0, 0, 0, 1],
    "precision": [NAN, 0, NAN, 0, 1],
    "recall": [NAN, NAN, 0, 0, 1],
    "autc": [NAN, 0, 0, 0, 1],
    "sq_dice": [NAN, 0, 0, 0, 1],
    "pq_dice": [NAN, 0, 0, 0, 1],
    "sq_masd": [NAN, NAN, NAN, NAN, 0],
    "whole_dice": [NAN, 0, 0, 0, 1],
    "whole_cldice": [NAN, 0, 0, 0, 1],
    "lesion_f1": [NAN, 0, 0, 0, 1],
    "cc": [NAN, NAN, 0, 0, 1],
}


def evaluated(
    edge_cases: dict[str, Any], scenes: dict[str, tuple[Labels, Labels]] = SCENES, **more: Any
) -> Result:
    evaluator = pm.Evaluator({**CONTENT, **more, "edge_cases": edge_cases})
    for name, (reference, prediction) in scenes.items():
        evaluator.update(reference=reference, prediction=prediction, case=name)
    return evaluator.compute()


def column(result: Result, name: str) -> list[float]:
    by_case = result.scores.set_index("case")[name]
    return [float(by_case[case]) for case in SCENES]


def average(result: Result, name: str, averaging: str) -> tuple[float, int, int]:
    (found,) = [
        (one.value, one.cases, one.skipped)
        for one in result.average_scores
        if (one.score.name, one.averaging) == (name, averaging)
    ]
    return found


def test_without_edge_cases_all_is_as_defined() -> None:
    result = evaluated({})
    for name, expected in DEFINED.items():
        np.testing.assert_array_equal(column(result, name), expected, err_msg=name)
    measured = column(result, "whole_masd")
    np.testing.assert_array_equal(measured[:3], [NAN] * 3)
    assert measured[3] > 3


GOVERNED = {
    "iou": "sq", "dice": "sq_dice", "masd": "sq_masd", "whole_dice": "whole_dice",
    "whole_masd": "whole_masd", "lesion_f1": "lesion_f1", "cc": "cc",
}  # fmt: skip


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("name", GOVERNED)
def test_a_value_stands_where_it_is_meant_to_and_nowhere_else(name: str, state: str) -> None:
    plain, changed = evaluated({}), evaluated({name: {state: 0.75}})
    for other in [*DEFINED, "whole_masd"]:
        expected = column(plain, other)
        if other == GOVERNED[name]:
            expected[list(SCENES).index(state)] = 0.75
        np.testing.assert_array_equal(column(changed, other), expected, err_msg=other)


@pytest.mark.parametrize(
    ("name", "state"),
    [
        ("pq", "both_empty"),
        ("rq", "both_empty"),
        ("pq_dice", "both_empty"),
        ("autc", "both_empty"),
        ("precision", "both_empty"),
        ("precision", "no_prediction"),
        ("recall", "no_reference"),
    ],
)
def test_ratios_have_a_value_only_where_they_are_undefined(name: str, state: str) -> None:
    changed = evaluated({name: {state: "inf"}})
    for other, expected in DEFINED.items():
        wanted = list(expected)
        if other == name:
            wanted[list(SCENES).index(state)] = INF
        np.testing.assert_array_equal(column(changed, other), wanted, err_msg=other)


def test_parts_have_edge_cases_of_their_own() -> None:
    classes = {"a": {"labels": [1, 2], "instances": "components", "parts": [2]}}
    edge_cases = {
        "part_pq": {"both_empty": 1},
        "part_sq": {"no_match": 0.5},
        "part_autc": {"both_empty": 0.25},
    }
    result = evaluated(edge_cases, classes=classes)
    np.testing.assert_array_equal(column(result, "part_pq"), [1, 0, 0, 0, 1])
    np.testing.assert_array_equal(column(result, "part_sq"), [NAN, 0, 0, 0.5, 1])
    np.testing.assert_array_equal(column(result, "part_autc"), [0.25, 0, 0, 0, 1])


def test_means_take_the_values_and_pooled_scores_take_them_only_where_all_cases_have_nothing() -> (
    None
):
    edge_cases = {"dice": {"both_empty": 0.5, "no_match": 0.25}, "masd": 8, "whole_dice": 2,
                  "pq": {"both_empty": 1}}  # fmt: skip
    result = evaluated(edge_cases)
    assert average(result, "sq_dice", "mean of cases") == (1.75 / 5, 5, 0)
    assert average(result, "sq_dice", "pooled") == (1.0, 4, 1)
    assert average(result, "sq_masd", "mean of cases") == (32 / 5, 5, 0)
    assert average(result, "sq_masd", "pooled")[0] == 0
    assert average(result, "whole_dice", "mean of cases") == (9 / 5, 5, 0)
    assert average(result, "whole_dice", "pooled")[0] == pytest.approx(18 / (18 + 2 * 9 + 2 * 16))
    assert average(result, "pq", "mean of cases") == (0.4, 5, 0)
    apart = {name: SCENES[name] for name in ("no_reference", "no_prediction", "both_empty")}
    pooled = evaluated(edge_cases, apart)  # together they have both sides, and no match
    assert average(pooled, "sq_dice", "pooled")[0] == 0.25
    assert average(pooled, "sq_masd", "pooled")[0] == 8
    assert average(pooled, "whole_dice", "pooled")[0] == 2
    nothing = evaluated(edge_cases, {"both_empty": SCENES["both_empty"]})
    assert average(nothing, "sq_dice", "pooled")[0] == 0.5
    assert average(nothing, "pq", "pooled")[0] == 1


def test_nan_is_skipped_or_filled_as_averaging_says() -> None:
    skip = evaluated({"dice": {"no_reference": "nan"}})
    assert average(skip, "sq_dice", "mean of cases") == (1 / 3, 3, 2)
    zero = evaluated({"dice": {"no_reference": "nan"}}, averaging={"undefined": "one"})
    assert average(zero, "sq_dice", "mean of cases") == (3 / 5, 5, 0)


def test_sums_do_not_hold_values_of_edge_cases() -> None:
    plain, changed = evaluated({}), evaluated({"dice": 0.7, "whole_masd": 3, "lesion_f1": 1})
    stored = [json.loads(result.to_json())["cases"] for result in (plain, changed)]
    assert stored[0] == stored[1]
    again = Result.from_json(changed.to_json())
    assert again.to_json() == changed.to_json()
    np.testing.assert_array_equal(column(again, "sq_dice"), column(changed, "sq_dice"))


def test_a_case_that_lacks_the_class_has_nothing_on_both_sides() -> None:
    kinds = [pm.SegmentClass(1, "a"), pm.SegmentClass(2, "b")]
    evaluator = pm.Evaluator(
        {"preset": "coco", "related": "lesion_f1",
         "edge_cases": {"pq": {"both_empty": 1}, "lesion_f1": {"both_empty": 1}}}
    )  # fmt: skip
    for case, kind in (("x", 1), ("y", 2)):
        one = pm.from_segments([[4, 4, 0]], {4: (kind, False)}, kinds)
        other = pm.from_segments([[0, 0, 4]], {4: (kind, False)}, kinds)
        evaluator.update(reference=one, prediction=other, case=case)
    means = {
        (one.setting.class_name, one.score.name): one.value
        for one in evaluator.compute().average_scores
        if one.averaging == "mean of cases" and one.score.name in ("pq", "lesion_f1")
    }
    assert means["a", "pq"] == means["b", "pq"] == means["mean of classes", "pq"] == 0.5
    assert means["a", "lesion_f1"] == 0.5


def infinite(models: tuple[str, ...] = ("",), n: int = 6) -> Result:
    """Return cases some of which have an infinite distance; the second model has more of them."""
    edge_cases = {"masd": "inf", "whole_masd": "inf"}
    evaluator = pm.Evaluator({**CONTENT, "thresholds": 0.1, "edge_cases": edge_cases})
    for place, model in enumerate(models):
        for i in range(n):
            prediction = EMPTY if i <= place else np.roll(LEFT, 1 + place, axis=1)
            evaluator.update(reference=LEFT, prediction=prediction, case=f"{i}", model=model)
    return evaluator.compute()


def test_an_infinite_case_makes_the_mean_infinite_and_intervals_end_there() -> None:
    summary = summary_table(infinite(n=40)).frame().set_index(["measure", "averaging"])
    for name in ("whole_masd", "sq_masd"):
        mean, pooled = summary.loc[name, "mean of cases"], summary.loc[name, "pooled"]
        assert mean["value"] == mean["high"] == INF
        # The one infinite case is missing in (39/40)⁴⁰ = 36 % of the resamples.
        assert math.isfinite(mean["low"])
        assert math.isfinite(pooled["value"])
    assert summary.loc["pq", "pooled"]["high"] <= 1


def test_nothing_that_people_read_breaks_at_infinity(tmp_path: Path) -> None:
    result = infinite(("one", "two"))
    assert "inf" in result.summary()
    assert "whole masd voxel" in evaluation_screen(result, 200)
    text = as_json(evaluation_document(result, [], {}))
    rows = json.loads(text, parse_constant=pytest.fail)["scores"]
    means = [row["value"] for row in rows
             if (row["measure"], row["averaging"]) == ("sq_masd", "mean of cases")]  # fmt: skip
    assert means == [None, None]
    write_other_outputs(tmp_path, result, [], ["metrics.json", "summary.json"])
    for model in ("one", "two"):
        text = (tmp_path / f"metrics_{model}.json").read_text()
        metrics = json.loads(text, parse_constant=pytest.fail)
        scores = metrics["case"][0]["scores"]["object"]
        assert scores["one-to-one"]["at_10"]["sq_masd"] is None
        assert scores["one-to-one"]["at_10"]["fn"] == 1
        assert scores["no_matching"]["whole_masd"] is None


def test_models_with_infinite_distances_are_compared() -> None:
    comparison = compare(infinite(("one", "two")), ["whole_masd", "sq_masd", "pq"])
    placings = {
        criterion.score.name: [(one.model, one.value) for one in ranking]
        for criterion, ranking in comparison.rankings.items()
    }
    assert placings["whole_masd"] == [("one", INF), ("two", INF)]
    (difference,) = [
        one for one in comparison.differences if one.criterion.score.name == "whole_masd"
    ]
    assert difference.test.wins == 5  # the case that both miss is a tie
    assert difference.test.ties == 1
    assert difference.test.mean_difference == -INF
    json.loads(as_json(comparison_document(comparison, [])), parse_constant=pytest.fail)


def test_metrics_for_a_challenge_have_the_values_of_tables(tmp_path: Path) -> None:
    result = evaluated({"dice": 0.5, "whole_dice": {"both_empty": 1}, "pq": {"both_empty": 1}})
    write_other_outputs(tmp_path, result, [], ["metrics.json"])
    metrics = json.loads((tmp_path / "metrics.json").read_text())
    scores = {one["case"]: one["scores"]["object"] for one in metrics["case"]}
    both = scores["both_empty"]
    assert both["one-to-one"]["at_50"]["pq"] == 1
    assert both["one-to-one"]["at_50"]["sq_dice"] == 0.5
    assert both["one-to-one"]["at_50"]["rq"] is None
    assert both["no_matching"]["whole_dice"] == 1
    assert scores["no_match"]["one-to-one"]["at_50"]["sq_dice"] == 0.5
    assert scores["no_match"]["no_matching"]["whole_dice"] == 0


def test_a_metric_that_is_undefined_on_its_matches_is_not_an_edge_case() -> None:
    score = Score("sq_hd")
    counts = np.array([[1, 0, 0], [1, 2, 3], [0, 2, 3]])
    found = settle({score: np.array([NAN, NAN, NAN])}, {score.name: EdgeCase(*[7.0] * 4)}, counts)
    np.testing.assert_array_equal(found[score], [NAN, NAN, 7.0])


def test_reports_and_tables_of_a_run_hold_infinities(tmp_path: Path) -> None:
    for i in range(6):
        for side, labels in (("ref", LEFT), ("net", EMPTY if i == 2 else np.roll(LEFT, 1, axis=1))):
            (tmp_path / side).mkdir(exist_ok=True)
            np.save(tmp_path / side / f"{i}.npy", labels)
    edge_cases = {"masd": "inf", "whole_masd": "inf", "cc": {"both_empty": 0.5, "no_match": "inf"}}
    spec = as_spec({**CONTENT, "edge_cases": edge_cases})
    paths, out = DatasetPaths(tmp_path / "ref", {"net": tmp_path / "net"}), tmp_path / "out"
    run_dataset(pair(paths), Job(spec.canonical()), out, RunOptions())
    summary = (out / "summary.csv").read_text()
    assert "sq_masd,masd,mean of cases,inf," in summary
    said = "masd: inf; whole_masd: inf; cc: 0.5 without any object, inf without a match."
    assert said in write_report(out).read_text(encoding="utf-8")
    assert load_run(out).spec == spec
