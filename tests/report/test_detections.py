"""The section about detections: its charts show the pooled curves, its table their scores."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import panmatch as pm
from panmatch.evaluation import Result
from panmatch.report._detections import (
    about_detections,
    detection_charts,
    detection_rows,
    detection_scores,
)
from panmatch.report._page import render
from tests.detection_scenes import scored_case
from tests.evaluation.test_detections import overlap_of, result_of

CASES = [scored_case(seed) for seed in range(6)]


@pytest.fixture(scope="module")
def result() -> Result:
    return result_of(CASES)


@pytest.fixture(scope="module")
def charts(result: Result) -> dict[str, Any]:
    return dict(detection_charts(result, "object"))


@pytest.fixture(scope="module")
def pooled() -> pm.Surface:
    return pm.add_surfaces([pm.surface(overlap_of(case)) for case in CASES])


def test_lines_are_those_of_the_pooled_surface(charts: dict[str, Any], pooled: pm.Surface) -> None:
    curve = pooled.over_cuts(0.1)
    known = curve.tp + curve.fp > 0
    (line,) = charts["d-pr"]["data"]
    np.testing.assert_allclose(line["x"], curve.recall[known], atol=1e-6)
    np.testing.assert_allclose(line["y"], curve.precision[known], atol=1e-6)
    steps, best = charts["d-cut"]["data"]
    np.testing.assert_allclose(steps["y"], curve.pq[1:][::-1], atol=1e-6)
    assert (best["x"], best["y"]) == ([curve.best().high], [curve.best().tally.pq])
    (froc,) = charts["d-froc"]["data"]
    assert froc["y"][-1] == pytest.approx(curve.froc().sensitivity[-1], abs=1e-6)


def test_the_contour_is_pq_at_every_threshold_and_cut(
    charts: dict[str, Any], pooled: pm.Surface
) -> None:
    contour, chosen = charts["d-surface-0"]["data"]
    for row, cut in list(zip(contour["z"], contour["y"], strict=True))[5:-5:11]:
        for value, threshold in list(zip(row, contour["x"], strict=True))[::13]:
            assert value == pytest.approx(pooled.at(threshold, cut).pq, abs=1e-4)
    assert (chosen["x"], chosen["y"]) == ([0.1], [pooled.best_cut(0.1).high])


def test_the_table_has_a_row_for_every_setting_and_threshold(result: Result) -> None:
    rows = detection_rows(detection_scores(result), result, "object")
    assert [(row.strategy.split()[0], row.threshold) for row in rows] == [
        (name, threshold)
        for name in ("one-to-one", "many-to-one", "one-to-many")
        for threshold in ("0.1", "0.3")
    ]
    pooled = result.detection_series[0]
    assert rows[0].scores[0].value == pooled.scores_at(0.1)["ap"]
    assert rows[1].scores[-1].value == pooled.overall["ar"]
    assert rows[0].scores[0].low <= rows[0].scores[0].value <= rows[0].scores[0].high


def test_the_page_has_the_section_only_with_confidences(result: Result) -> None:
    page = render(result, {}, {})
    assert '<section id="detections">' in page
    assert "Scores of detections look at every cut." in page
    case = CASES[0]
    plain = pm.evaluate(reference=case.reference, prediction=case.prediction)
    assert '<section id="detections">' not in render(plain, {}, {})


def test_a_cut_is_said_and_marked() -> None:
    cut = result_of(CASES, confidence={"cut": 0.5})
    assert about_detections(cut)[1] == (
        "All other scores count only predictions with a confidence of at least 0.5."
    )
    charts: dict[str, Any] = dict(detection_charts(cut, "object"))
    assert charts["d-cut"]["layout"]["shapes"][0]["x0"] == 0.5
    assert charts["d-surface-0"]["data"][1]["y"] == [0.5]
