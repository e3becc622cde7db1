"""Scores of detections over cases are those of the summed surfaces, to the last bit (D13, D17)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

import panmatch as pm
from panmatch.scoring import COCO_THRESHOLDS
from tests.detection_scenes import ScoredCase, scored_case

THRESHOLDS = (0.1, 0.3)
CASES = [scored_case(seed) for seed in range(9)]
STRATEGIES = ("one-to-one", "many-to-one", "one-to-many")


def result_of(cases: list[ScoredCase], **keys: Any) -> pm.Result:
    spec = {"matching": list(STRATEGIES), "thresholds": list(THRESHOLDS), "confidence": {}}
    evaluator = pm.Evaluator(spec | keys)
    for case in cases:
        evaluator.update(
            reference=case.reference,
            prediction=case.prediction,
            confidence=case.confidence,
            case=case.name,
        )
    return evaluator.compute()


@pytest.fixture(scope="module")
def result() -> pm.Result:
    return result_of(CASES)


def overlap_of(case: ScoredCase) -> pm.Overlap:
    overlap = pm.count_overlaps(case.reference, case.prediction)
    return overlap.with_confidence(case.confidence)


def error_of(strategy: str, threshold: float) -> float:
    every = [pm.calibration(pm.match(overlap_of(case), strategy, threshold)) for case in CASES]
    total = sum(every[1:], every[0])
    return total.ece


def value_of(result: pm.Result, measure: str, threshold: float | None, **where: str) -> float:
    rows = result.detections
    for column, wanted in {"measure": measure, **where}.items():
        rows = rows[rows[column] == wanted]
    at = rows["threshold"].isna() if threshold is None else rows["threshold"] == threshold
    (value,) = rows[at]["value"]
    return float(value)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_table_holds_the_numbers_of_the_summed_surfaces(
    result: pm.Result, strategy: str
) -> None:
    pooled = pm.add_surfaces([pm.surface(overlap_of(case), strategy) for case in CASES])
    for threshold in THRESHOLDS:
        froc, best = pooled.froc(threshold), pooled.best_cut(threshold)
        expected = {
            "ap": pooled.average_precision(threshold),
            "ap_101": pooled.average_precision(threshold, "101-point"),
            **{f"froc_{rate:g}": froc.at(rate) for rate in (0.125, 0.25, 0.5, 1, 2, 4, 8)},
            "cpm": froc.cpm,
            "best_cut": best.high,
            "best_pq": best.tally.pq,
            "ece": error_of(strategy, threshold),
        }
        for measure, value in expected.items():
            assert value_of(result, measure, threshold, strategy=strategy) == value, measure
        above = value_of(result, "best_cut_above", threshold, strategy=strategy)
        assert above == best.low or (math.isnan(above) and best.low == -math.inf)
    overall = {
        "map": pooled.mean_average_precision(),
        "map_101": pooled.mean_average_precision(interpolation="101-point"),
        "ar": pooled.average_recall(),
    }
    for measure, value in overall.items():
        assert value_of(result, measure, None, strategy=strategy) == value


def test_every_row_over_the_cut_is_that_of_matching_anew_what_is_left(result: pm.Result) -> None:
    rows = result.plain("pr").frame()
    assert len(rows) > 40
    for _, row in rows.iterrows():
        tallies = [
            pm.match(overlap_of(case).above_cut(row["cut"]), row["strategy"], row["threshold"])
            for case in CASES
        ]
        tally = sum(one.tally for one in tallies)
        assert isinstance(tally, pm.Tally)
        assert (row["tp"], row["fp"], row["fn"]) == (tally.tp, tally.fp, tally.fn)
        assert row["pq"] == tally.pq or math.isnan(tally.pq)


def test_froc_divides_by_all_cases_with_and_without_the_class() -> None:
    cases = [scored_case(1), scored_case(2)]
    empty = np.zeros_like(cases[0].reference)
    nothing = ScoredCase("nothing", empty, empty, {})
    few, many = result_of(cases), result_of([*cases, nothing, ScoredCase("b", empty, empty, {})])
    for one, other in zip(few.plain("froc").rows(), many.plain("froc").rows(), strict=True):
        assert other["fp_per_case"] == one["fp_per_case"] / 2  # type: ignore[operator]
        assert other["sensitivity"] == one["sensitivity"]


def test_bins_of_confidences_add_up_over_cases(result: pm.Result) -> None:
    rows = [
        row
        for row in result.plain("calibration").rows()
        if (row["strategy"], row["threshold"]) == ("one-to-one", 0.1)
    ]
    total = sum(pm.calibration(pm.match(overlap_of(case), threshold=0.1)) for case in CASES)
    assert isinstance(total, pm.Calibration)
    assert [row["predictions"] for row in rows] == total.counts.tolist()
    assert [row["matched"] for row in rows] == total.matched.tolist()
    assert [row["bin_stop"] for row in rows] == total.edges[1:].tolist()
    np.testing.assert_array_equal([row["reliability"] for row in rows], total.reliability)
    np.testing.assert_array_equal([row["confidence"] for row in rows], total.confidence)


def test_means_over_classes_skip_classes_without_references() -> None:
    classes = {"small": {"labels": [1, 2]}, "large": {"labels": [3, 4]}, "none": {"labels": [5]}}
    found = result_of(CASES, classes=classes)
    for measure in ("ap", "cpm"):
        values = [value_of(found, measure, 0.1, strategy="one-to-one", **{"class": name})
                  for name in classes]  # fmt: skip
        assert math.isnan(values[2])
        where = {"strategy": "one-to-one", "class": "mean of classes"}
        assert value_of(found, measure, 0.1, **where) == math.fsum(values[:2]) / 2
    means = found.detections[found.detections["kind"] == "mean"]
    assert not {"best_cut", "ece"} & set(means["measure"])


def test_a_matcher_that_accepts_scores_equal_to_the_threshold_does_so_at_every_cut() -> None:
    reference, prediction = np.array([[1, 1, 0, 0]]), np.array([[1, 0, 0, 2]])
    case = ScoredCase("half", reference, prediction, {1: 0.9, 2: 0.4})  # an IoU of exactly ½
    lenient = {"strategy": "one-to-one", "strict": False}
    found = {
        strict: result_of([case], matching=[matcher], thresholds=[0.5])
        for strict, matcher in {True: "one-to-one", False: lenient}.items()
    }
    for strict, result in found.items():
        assert value_of(result, "ap", 0.5) == (0.0 if strict else 1.0)
        assert value_of(result, "froc_1", 0.5) == result.scores["recall"][0]


def test_the_best_cut_is_undefined_if_nothing_is_ever_matched() -> None:
    apart = ScoredCase("apart", np.array([[1, 0, 0]]), np.array([[0, 0, 4]]), {4: 0.5})
    found = result_of([apart])
    assert math.isnan(value_of(found, "best_cut", 0.1, strategy="one-to-one"))
    assert value_of(found, "ap", 0.1, strategy="one-to-one") == 0.0


def test_results_of_other_cases_add_up_to_the_same_table(result: pm.Result) -> None:
    parts = sum([result_of(CASES[:4]), result_of(CASES[4:])])
    assert isinstance(parts, pm.Result)
    for name in ("detections", "pr", "froc", "calibration"):
        ours, theirs = (one.plain(name).frame() for one in (parts, result))
        pd.testing.assert_frame_equal(ours, theirs, check_exact=True)


def test_average_precision_over_thresholds_uses_those_of_coco() -> None:
    assert COCO_THRESHOLDS == (0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)
