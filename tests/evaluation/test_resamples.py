"""Resampled averages equal those of the drawn cases (D7, D11)."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import panmatch as pm
from panmatch.datasets import resample
from panmatch.evaluation import AverageScore, Result, average_all
from panmatch.evaluation import _averages as averages
from tests.evaluation.dataset import SPEC, evaluated, result, row_for
from tests.scenes import strip


def resampled(weights: Any, of: Result, undefined: Any = "skip") -> list[AverageScore]:
    return average_all(of.series, undefined, np.asarray(weights, np.int64))


def key_of(row: AverageScore) -> str:
    return repr((row.model, row.setting, row.threshold, row.score, row.averaging))


def repeated(times: list[int]) -> Result:
    """Return the cases, each literally so often."""
    cases = [
        replace(case, case=f"{case.case} {copy}")
        for case, n in zip(result().cases, times, strict=True)
        for copy in range(n)
    ]
    return Result(SPEC, tuple(cases))


@pytest.mark.parametrize("undefined", ["skip", "zero", "one"])
def test_every_case_once_gives_the_scores_themselves(undefined: Any) -> None:
    for row in resampled(np.ones((2, 6)), result(), undefined):
        assert row.samples.tolist() == pytest.approx([row.value] * 2, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("undefined", ["skip", "zero", "one"])
def test_whole_weights_equal_cases_that_are_literally_repeated(undefined: Any) -> None:
    weights = [[2, 1, 0, 3, 1, 1], [0, 0, 4, 0, 1, 0], [0, 5, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0]]
    samples = {key_of(row): row.samples for row in resampled(weights, result(), undefined)}
    for at, times in enumerate(weights):
        copies = repeated(times)
        rows = average_all(copies.series, undefined)
        assert len(rows) == len(samples)
        for row in rows:
            found = samples[key_of(row)][at]
            assert found == pytest.approx(row.value, abs=1e-12, nan_ok=True)


def test_without_weights_there_are_no_samples() -> None:
    assert all(row.samples.shape == (0,) for row in result().average_scores)


def test_a_resample_of_false_positives_scores_0_and_one_of_empty_cases_nan() -> None:
    cases = {"empty": (strip("...."), strip("....")), "false": (strip("...."), strip("ab.."))}
    for row in resampled([[2, 0], [0, 2], [1, 1]], evaluated(cases, {"matching": "one-to-one"})):
        if row.score.name in (
            "pq",
            "sq",
            "rq",
            "precision",
            "sq_dice",
            "autc",
            "autc_sq",
        ):
            assert math.isnan(row.samples[0])
            assert row.samples[1:].tolist() == [0.0, 0.0]
        if row.score.name == "recall":
            assert np.isnan(row.samples).all()


def test_models_see_the_same_resamples() -> None:
    """Worse on every case means worse in every resample; drawn apart, it would not."""
    good = {"a": (strip("aaaaaaaaaa"), strip("aaaaaaaaa.")), "b": (strip("aaaa"), strip("aaa.")),
            "c": (strip("aabb"), strip("aa.."))}  # fmt: skip
    bad = {"a": (strip("aaaaaaaaaa"), strip("aaaaaaaa..")), "b": (strip("aaaaa"), strip("aaa..")),
           "c": (strip("aabb"), strip("aacd"))}  # fmt: skip
    weights = resample(3, 200)
    rows = [
        resampled(weights, evaluated(cases, {"matching": "one-to-one"})) for cases in (good, bad)
    ]
    for measure, averaging in (("pq", "pooled"), ("pq", "mean of cases")):
        better, worse = (
            row_for(found, measure, averaging, "object", "one-to-one", 0.5).samples
            for found in rows
        )
        assert (better > worse).all()
        assert len(np.unique(better)) > 3


def test_areas_of_many_steps_are_resampled_on_a_grid(monkeypatch: pytest.MonkeyPatch) -> None:
    """The area itself stays exact; on the grid true positives may be lost late, never early."""
    exact = {key_of(row): row.value for row in result().average_scores}
    monkeypatch.setattr(averages, "MOST_STEPS", 9)
    curves = {series.setting: series.pooled_curve for series in result().series}
    for row in resampled(np.ones((1, 6)), result()):
        assert row.value == pytest.approx(exact[key_of(row)], abs=0, nan_ok=True)
        if row.score.name == "autc_rq" and row.averaging == "pooled" and row.setting in curves:
            pooled = curves[row.setting]
            assert pooled is not None
            steps = pooled.thresholds
            kept = steps[np.unique(np.linspace(0, len(steps) - 1, 9).round().astype(int))]
            widest = float(np.diff(kept, prepend=0.0).max()) if len(kept) > 1 else 0.0
            if not math.isnan(row.value):
                assert row.value - 1e-12 <= row.samples[0] <= row.value + widest


def test_a_class_without_rows_in_a_case_adds_nothing_there() -> None:
    """Categories of a file have rows only where they occur."""
    kinds = [pm.SegmentClass(1, "person"), pm.SegmentClass(2, "sky", thing=False)]
    both = pm.from_segments([[1, 1, 2]], {1: (1, False), 2: (2, False)}, kinds)
    only_sky = pm.from_segments([[3, 3, 3]], {3: (2, False)}, kinds)
    rows = resampled(
        [[0, 2], [1, 1]], evaluated({"a": (both, both), "b": (only_sky, only_sky)}, "coco")
    )
    for measure, threshold in (("pq", 0.5), ("autc", None)):
        found = row_for(rows, measure, "pooled", "person", "one-to-one", threshold)
        assert math.isnan(found.samples[0])
        assert found.samples[1] == 1.0
