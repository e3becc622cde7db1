"""Bootstrap intervals of scores of detections: the same as resampling surfaces one by one."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

import panmatch as pm
from panmatch.datasets import _detection_tables as tables
from panmatch.datasets import resampling_of
from panmatch.evaluation import Row
from tests.detection_scenes import ScoredCase, scored_case
from tests.evaluation.test_detections import overlap_of, result_of

CASES = [scored_case(seed) for seed in range(12)]
AT = 0.3

STATISTICS: dict[str, Callable[[pm.Surface], float]] = {
    "ap": lambda s: s.average_precision(AT),
    "ap_101": lambda s: s.average_precision(AT, "101-point"),
    "froc_0.25": lambda s: s.froc(AT).at(0.25),
    "froc_2": lambda s: s.froc(AT).at(2),
    "cpm": lambda s: s.froc(AT).cpm,
    "best_cut": lambda s: s.best_cut(AT).high,
    "best_pq": lambda s: s.best_cut(AT).tally.pq,
    "map": lambda s: s.mean_average_precision(),
    "ar": lambda s: s.average_recall(),
}


def rows_of(result: pm.Result) -> dict[tuple[str, str, float], Row]:
    found = tables.detections_with_intervals(
        result, {model: resampling_of(result, model) for model in result.models}
    )
    return {
        (str(row["class"]), str(row["measure"]), float(row["threshold"] or math.nan)): row
        for row in found.rows()
        if row["strategy"] == "one-to-one"
    }


def row_of(rows: dict[tuple[str, str, float], Row], measure: str, of: str = "object") -> Row:
    return next(
        row
        for (name, which, threshold), row in rows.items()
        if (name, which) == (of, measure) and (threshold == AT or math.isnan(threshold))
    )


@pytest.fixture(scope="module")
def rows() -> dict[tuple[str, str, float], Row]:
    return rows_of(result_of(CASES))


@pytest.fixture(scope="module")
def pooled() -> pm.Surface:
    return pm.add_surfaces([pm.surface(overlap_of(case)) for case in CASES])


@pytest.mark.parametrize("measure", STATISTICS)
def test_an_interval_is_that_of_resampled_surfaces(
    measure: str, rows: dict[tuple[str, str, float], Row], pooled: pm.Surface
) -> None:
    expected = pm.surface_interval(pooled, STATISTICS[measure], n_resamples=1000)
    row = row_of(rows, measure)
    assert row["resamples"] == 1000
    assert (row["low"], row["high"]) == pytest.approx((expected.low, expected.high), abs=1e-12)
    assert row["value"] == STATISTICS[measure](pooled)


def test_the_interval_of_the_calibration_error_resamples_cases(
    rows: dict[tuple[str, str, float], Row],
) -> None:
    every = [pm.calibration(pm.match(overlap_of(case), threshold=AT)) for case in CASES]
    drawn = resampling_of(result_of(CASES), "").drawn[:1000]
    errors = []
    for row in drawn:
        first, *rest = [one for one, n in zip(every, row.tolist(), strict=True) for _ in range(n)]
        errors.append(sum(rest, first).ece)
    found = row_of(rows, "ece")
    assert (found["low"], found["high"]) == pytest.approx(
        tuple(np.quantile(errors, [0.025, 0.975])), abs=1e-12
    )


def test_fewer_than_five_cases_have_no_interval() -> None:
    row = row_of(rows_of(result_of(CASES[:4])), "ap")
    assert (row["resamples"], math.isnan(float(str(row["low"])))) == (0, True)


def test_classes_with_many_predictions_get_fewer_resamples_which_the_table_states(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tables, "WORK", 20_000)
    row = row_of(rows_of(result_of(CASES)), "ap")
    assert 100 <= int(str(row["resamples"])) < 1000


def test_the_mean_of_classes_is_resampled_jointly() -> None:
    classes = {"small": {"labels": [1, 2]}, "large": {"labels": [3, 4, 5]}}
    found = rows_of(result_of(CASES, classes=classes))
    surfaces = {
        name: pm.add_surfaces([pm.surface(overlap_of(restricted(case, kind["labels"])))
                               for case in CASES])
        for name, kind in classes.items()
    }  # fmt: skip
    drawn = resampling_of(result_of(CASES), "").drawn[:1000]
    means = [
        np.nanmean([one.weighted(row).average_precision(AT) for one in surfaces.values()])
        for row in drawn
    ]
    row = row_of(found, "ap", "mean of classes")
    assert (row["low"], row["high"]) == pytest.approx(
        tuple(np.quantile(means, [0.025, 0.975])), abs=1e-12
    )


def restricted(case: ScoredCase, labels: list[int]) -> ScoredCase:
    reference, prediction = (
        np.where(np.isin(image, labels), image, 0) for image in (case.reference, case.prediction)
    )
    known = {one: value for one, value in case.confidence.items() if one in labels}
    return ScoredCase(case.name, reference, prediction, known)


def test_resamples_draw_clusters_if_there_are_any() -> None:
    pairs = {case.name: f"p{place // 2}" for place, case in enumerate(CASES)}
    result = result_of(CASES, averaging={"cluster": "patient"})
    about = tuple(
        type(case)(**{name: getattr(case, name) for name in case.__slots__ if name != "about"},
                   about={"patient": pairs[case.case]})
        for case in result.cases
    )  # fmt: skip
    clustered = pm.Result(result.spec, about)
    drawn = resampling_of(clustered, "").drawn
    assert (drawn[:, ::2] == drawn[:, 1::2]).all()
    pooled = pm.add_surfaces([pm.surface(overlap_of(case)) for case in CASES])
    values = [pooled.weighted(row).average_precision(AT) for row in drawn[:1000]]
    row = row_of(rows_of(clustered), "ap")
    assert row["low"] == pytest.approx(np.quantile(values, 0.025), abs=1e-12)
