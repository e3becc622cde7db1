"""Averages over cases: pooled, mean of cases, areas, and means over classes (D7, D10, D11)."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import panmatch as pm
from panmatch.evaluation import WORST, AverageScore, CaseResult, Result, filled
from panmatch.evaluation._setting import AREAS, known_scores
from panmatch.scoring import resolve_metrics
from panmatch.spec import Spec, as_spec
from tests.evaluation.by_hand import columns_of, objects
from tests.evaluation.dataset import SPEC, evaluated, images, result, row_for, scores
from tests.scenes import strip

NAN = float("nan")

WAYS = [
    (name, strategy, threshold)
    for name in ("cell", "lesion", "body", "absent")
    for strategy in ("one-to-one", "many-to-one")
    for threshold in (0.1, 0.5)
]


@pytest.mark.parametrize(("name", "strategy", "threshold"), WAYS)
def test_pooled_scores_are_those_of_the_summed_tallies(
    name: str, strategy: str, threshold: float
) -> None:
    rows = [row for (row,) in scores(name, strategy, threshold)]
    columns = ("tp", "fp", "fn", "quality")
    tally = sum(
        (pm.Tally(*(row[column] for column in columns)) for row in rows), pm.Tally(0, 0, 0, 0.0)
    )
    occurs = [row["status"] == "ok" for row in rows]
    for measure in ("pq", "sq", "rq", "precision", "recall"):
        found = row_for(result().average_scores, measure, "pooled", name, strategy, threshold)
        assert found.value == pytest.approx(getattr(tally, measure), abs=1e-14, nan_ok=True)
        assert (found.cases, found.skipped) == (sum(occurs), 6 - sum(occurs))
    assert math.isnan(tally.pq) == (name == "absent")


@pytest.mark.parametrize(("name", "strategy", "threshold"), WAYS)
def test_pooled_metrics_are_averages_over_all_matched_objects(
    name: str, strategy: str, threshold: float
) -> None:
    rows = [row for case in scores(name, strategy, threshold, "instances") for row in case]
    matched = [row for row in rows if row["status"] == "matched"]
    empty = NAN if name == "absent" else 0.0
    values = {
        measure: row_for(
            result().average_scores, measure, "pooled", name, strategy, threshold
        ).value
        for measure in ("rq", "sq_dice", "pq_dice", "sq", "pq", "sq_hd95")
    }
    for metric, end in (("dice", "_dice"), ("iou", "")):
        mean = float(np.mean([row[metric] for row in matched])) if matched else empty
        assert values[f"sq{end}"] == pytest.approx(mean, abs=1e-14, nan_ok=True)
        product = mean * values["rq"]
        assert values[f"pq{end}"] == pytest.approx(product, abs=1e-14, nan_ok=True)
    distance = float(np.mean([row["hd95"] for row in matched])) if matched else NAN
    assert values["sq_hd95"] == pytest.approx(distance, abs=1e-12, nan_ok=True)
    assert not any(row.score.name == "pq_hd95" for row in result().average_scores)


@pytest.mark.parametrize(("name", "strategy", "threshold"), WAYS)
def test_the_mean_of_cases_skips_undefined_ones_and_says_how_many(
    name: str, strategy: str, threshold: float
) -> None:
    rows = [row for (row,) in scores(name, strategy, threshold)]
    for measure in ("pq", "sq", "rq", "precision", "recall", "sq_dice", "pq_dice", "sq_hd95"):
        found = row_for(
            result().average_scores, measure, "mean of cases", name, strategy, threshold
        )
        defined = [row[measure] for row in rows if not math.isnan(row[measure])]
        mean = float(np.mean(defined)) if defined else NAN
        assert found.value == pytest.approx(mean, abs=1e-14, nan_ok=True)
        assert (found.cases, found.skipped) == (len(defined), 6 - len(defined))
    for area in ("autc", "autc_sq", "autc_rq"):
        found = row_for(result().average_scores, area, "mean of cases", name, strategy, None)
        defined = [row[area] for row in rows if not math.isnan(row[area])]
        mean = float(np.mean(defined)) if defined else NAN
        assert found.value == pytest.approx(mean, abs=1e-14, nan_ok=True)


def curves_of(name: str, strategy: str) -> list[pm.Curve]:
    """Return the curve of every case, made without the evaluation."""
    one = SPEC.classes[name]
    found = []
    for reference, prediction in images().values():
        sides = objects(reference, one), objects(prediction, one)
        cut = strategy == "many-to-one"
        count = pm.count_region_overlaps if cut else pm.count_overlaps
        found.append(pm.curve(count(*sides), strategy))
    return found


@pytest.mark.parametrize("name", ["cell", "lesion", "body", "absent"])
@pytest.mark.parametrize("strategy", ["one-to-one", "many-to-one"])
def test_pooled_areas_are_those_of_the_curves_added(name: str, strategy: str) -> None:
    total = sum(curves_of(name, strategy))
    assert isinstance(total, pm.Curve)
    for area in ("autc", "autc_sq", "autc_rq"):
        found = row_for(result().average_scores, area, "pooled", name, strategy, None)
        assert found.value == pytest.approx(getattr(total, area), abs=1e-12, nan_ok=True)
        assert found.threshold is None
        assert found.value == getattr(total, area) or math.isnan(found.value)  # to the bit


def test_pooled_and_mean_of_cases_by_hand() -> None:
    """One image with three objects found perfectly, one with one of two, one without any."""
    cases = {
        "a": (strip("aabbcc"), strip("aabbcc")),
        "b": (strip("aaaabb"), strip("aaaa..")),
        "c": (strip("......"), strip("......")),
    }
    rows = evaluated(cases, {"matching": "one-to-one"}).average_scores

    def found(measure: str, averaging: str) -> AverageScore:
        return row_for(rows, measure, averaging, "object", "one-to-one", 0.5)

    assert found("pq", "pooled").value == 4 / 4.5
    assert found("pq", "mean of cases").value == pytest.approx((1 + 1 / 1.5) / 2)
    assert found("recall", "pooled").value == 4 / 5
    assert found("recall", "mean of cases").value == 0.75
    for averaging in ("pooled", "mean of cases"):
        assert (found("pq", averaging).cases, found("pq", averaging).skipped) == (2, 1)


@pytest.mark.parametrize(
    ("undefined", "pq", "area", "cases"),
    [("skip", 0.5, 0.25, 1), ("zero", 0.25, 0.125, 2), ("one", 0.75, 0.625, 2)],
)
def test_undefined_cases_are_skipped_or_count_as_the_spec_says(
    undefined: str, pq: float, area: float, cases: int
) -> None:
    spec = as_spec(
        {
            "averaging": {"undefined": undefined},
            "matching": "one-to-one",
            "thresholds": 0.4,
            "metrics": ["dice", "hd95"],
        }
    )
    scenes = {"a": (strip("aaaa"), strip("aa..")), "b": (strip("...."), strip("...."))}
    rows = evaluated(scenes, spec).average_scores
    for measure, at, value in (("pq", 0.4, pq), ("sq", 0.4, pq), ("autc", None, area)):
        found = row_for(rows, measure, "mean of cases", "object", "one-to-one", at)
        assert found.value == value
        assert (found.cases, found.skipped) == (cases, 2 - cases)
    # What is pooled has no undefined cases, and distances have no substitute.
    assert row_for(rows, "pq", "pooled", "object", "one-to-one", 0.4).value == 0.5
    found = row_for(rows, "sq_hd95", "mean of cases", "object", "one-to-one", 0.4)
    assert (found.cases, found.skipped) == (1, 1)


def test_substitutes_are_for_scores_from_0_to_1() -> None:
    values, cases = np.array([0.5, NAN]), [CaseResult("a"), CaseResult("b")]
    known = known_scores(resolve_metrics(["dice", "hd95"]), parts=True, areas=True)
    assert filled(known["pq"], values, "one", cases).tolist() == [0.5, 1.0]
    assert filled(known["part_pq"], values, "one", cases).tolist() == [0.5, 1.0]
    assert filled(known["sq_dice"], values, "zero", cases).tolist() == [0.5, 0.0]
    assert filled(AREAS[1], values, "zero", cases).tolist() == [0.5, 0.0]
    assert np.isnan(filled(known["pq"], values, "skip", cases)[1])
    assert np.isnan(filled(known["sq_hd95"], values, "one", cases)[1])


def test_the_worst_prediction_has_the_worst_score_instead() -> None:
    values = np.array([0.5, NAN, NAN])
    missing = CaseResult("b", reason=WORST, shape=(3, 4), spacing=(2.0, 2.0), unit="mm")
    cases = [CaseResult("a"), missing, CaseResult("c")]
    known = known_scores(resolve_metrics(["hd95"]), parts=False, areas=True)
    assert filled(known["pq"], values, "one", cases).tolist() == [0.5, 0.0, 1.0]
    found = filled(known["sq_hd95"], values, "one", cases)
    assert found[:2].tolist() == [0.5, 10.0]
    assert np.isnan(found[2])


MEANS = {
    "mean of classes": ("cell", "lesion", "body"),
    "mean of things": ("cell", "lesion"),
    "mean of stuff": ("body",),
}


@pytest.mark.parametrize("title", list(MEANS))
@pytest.mark.parametrize("averaging", ["pooled", "mean of cases"])
def test_means_over_classes_take_those_that_occur(title: str, averaging: str) -> None:
    rows = result().average_scores
    for measure, threshold in (("pq", 0.5), ("sq_dice", 0.1), ("autc", None), ("sq_hd95", 0.1)):
        for strategy in ("one-to-one", "many-to-one"):
            single = [
                row_for(rows, measure, averaging, name, strategy, threshold).value
                for name in MEANS[title]
            ]
            found = row_for(rows, measure, averaging, title, strategy, threshold)
            assert found.value == pytest.approx(np.mean(single), abs=1e-14)
            assert not math.isnan(found.value)
            assert found.setting.kind == "mean"
            assert found.setting.is_mean


def test_there_is_no_mean_over_a_single_class_or_a_single_kind() -> None:
    rows = evaluated({"a": (strip("aa"), strip("aa"))}, Spec()).average_scores
    assert {row.setting.class_name for row in rows} == {"object"}
    classes = {"a": {"labels": 1}, "b": {"labels": 2}}
    rows = evaluated({"a": (strip("ab"), strip("ab"))}, {"classes": classes}).average_scores
    assert {row.setting.class_name for row in rows} == {"a", "b", "mean of classes"}


def test_a_class_that_is_missed_counts_with_zero_and_one_that_is_absent_does_not() -> None:
    classes = {name: {"labels": at + 1} for at, name in enumerate("abc")}
    spec = as_spec({"classes": classes, "matching": "one-to-one"})
    rows = evaluated({"x": (strip("aab"), strip("aa."))}, spec).average_scores
    assert row_for(rows, "pq", "pooled", "b", "one-to-one", 0.5).value == 0.0
    assert math.isnan(row_for(rows, "pq", "pooled", "c", "one-to-one", 0.5).value)
    for averaging in ("pooled", "mean of cases"):
        assert row_for(rows, "pq", averaging, "mean of classes", "one-to-one", 0.5).value == 0.5


def test_models_are_averaged_apart() -> None:
    cases = {"a": (strip("aaaa"), strip("aaa.")), "b": (strip("aa.."), strip("aa.."))}
    worse = {"a": (strip("aaaa"), strip("aaaa")), "b": (strip("aa.."), strip("...."))}
    both = evaluated(cases, Spec(), "good") + evaluated(worse, Spec(), "bad")
    table = both.averages
    for model, single in (("good", cases), ("bad", worse)):
        alone = evaluated(single, Spec()).averages
        mine = table[table["model"] == model].drop(columns="model").reset_index(drop=True)
        mine, alone = (
            t.sort_values(list(t.columns[:11])).reset_index(drop=True) for t in (mine, alone)
        )
        assert mine.equals(alone)


def test_the_table_of_averages_has_a_row_for_each() -> None:
    table = result().averages
    assert len(table) == len(result().average_scores)
    assert table.columns.tolist() == [
        "class", "kind", "strategy", "solver", "gate", "edge_score", "regions", "threshold",
        "measure", "quality", "averaging", "value", "unit", "cases", "skipped",
    ]  # fmt: skip
    assert {str(table[name].dtype) for name in ("cases", "skipped")} == {"int64"}
    keys = ["class", "strategy", "threshold", "measure", "averaging"]
    assert not table.duplicated(keys).any()


def test_cases_without_rows_of_a_class_count_with_nothing() -> None:
    """Categories of a file have rows only where they occur."""
    kinds = [pm.SegmentClass(1, "person"), pm.SegmentClass(2, "sky", thing=False)]

    def side(ids: list[int], table: dict[int, tuple[int, bool]]) -> pm.Panoptic:
        return pm.from_segments([ids], table, kinds)

    person, sky = (1, False), (2, False)
    both = side([1, 1, 2, 2], {1: person, 2: sky})
    only_sky = side([3, 3, 3, 0], {3: sky})
    half = side([3, 3, 0, 0], {3: sky})
    result = evaluated({"a": (both, both), "b": (only_sky, half)}, "coco")
    rows = result.average_scores
    found = row_for(rows, "pq", "pooled", "person", "one-to-one", 0.5)
    assert (found.value, found.cases, found.skipped) == (1.0, 1, 1)
    found = row_for(rows, "pq", "pooled", "sky", "one-to-one", 0.5)
    assert found.value == pytest.approx((1 + 2 / 3) / 2)
    found = row_for(rows, "autc", "pooled", "person", "one-to-one", None)
    assert (found.value, found.cases, found.skipped) == (1.0, 1, 1)
    found = row_for(rows, "pq", "pooled", "mean of classes", "one-to-one", 0.5)
    assert found.value == pytest.approx((1 + 5 / 6) / 2)


def test_series_hold_the_counts_of_every_case() -> None:
    for series in result().series:
        for threshold, counts in series.counts.items():
            name, strategy = series.setting.class_name, series.setting.matcher.name
            rows = [row for (row,) in scores(name, strategy, threshold)]
            assert counts.near_threshold.tolist() == [row["near_threshold"] for row in rows]
            assert counts.tallies.occurs.tolist() == [row["status"] == "ok" for row in rows]
            assert [metric.name for metric in counts.metrics] == ["iou", "dice", "hd95"]


def test_the_pooled_tally_is_the_sum_of_the_cases_tallies_to_the_bit() -> None:
    for series in result().series:
        for threshold, counts in series.counts.items():
            tallies = [entry.level(threshold).tally for entry in series.entries if entry]
            total: pm.Tally = sum(tallies[1:], tallies[0])
            assert counts.sum().tallies.tally().units == total.units
            assert counts.sum().tallies.tally() == total


def test_matched_objects_without_a_distance_are_left_out_of_its_mean() -> None:
    spec = as_spec({"matching": "one-to-one", "metrics": ["dice", "hd"], "thresholds": 0.1})
    (case,) = evaluated({"a": (strip("aaaabbbb"), strip("aa..bbb."))}, spec).cases
    assert columns_of(case, "instances")["hd"] == [2.0, 1.0]
    content = case.to_dict()
    content["objects"][0]["hd"] = [None, 1.0]
    undefined = CaseResult.from_dict(content)
    rows = Result(spec, (undefined, replace(case, case="b"))).average_scores
    assert row_for(rows, "sq_hd", "pooled", "object", "one-to-one", 0.1).value == 4 / 3


def test_penalties_of_missed_objects_are_no_part_of_the_mean_over_matched_ones() -> None:
    spec = as_spec(
        {
            "matching": "one-to-one",
            "thresholds": 0.5,
            "metrics": "hd",
            "metric_options": {"penalty": 30.0},
        }
    )
    found = evaluated({"a": (strip("aaaabb.."), strip("aaa....c"))}, spec)
    assert columns_of(found.cases[0], "instances")["hd"] == [1.0, 30.0, 30.0]
    for averaging in ("pooled", "mean of cases"):
        rows = found.average_scores
        assert row_for(rows, "sq_hd", averaging, "object", "one-to-one", 0.5).value == 1.0
