"""Resampled scores equal those of the drawn cases, and undefined ones stay undefined."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from panmatch.datasets import resample
from panmatch.datasets._statistics import (
    Interval,
    bootstrap_mean,
    interval,
)
from panmatch.errors import OptionError, ShapeError
from panmatch.matching import Weights
from panmatch.overlap import Floats

NAN = float("nan")


def drawn_cases(counts: Weights) -> list[list[int]]:
    """Return the indices that every row of counts stands for, repeated as often as drawn."""
    return [[i for i, n in enumerate(row) for _ in range(n)] for row in counts.tolist()]


def test_resamples_are_the_same_everywhere() -> None:
    assert resample(5, n_resamples=3, seed=0).tolist() == [
        [0, 2, 1, 1, 1],
        [4, 0, 0, 0, 1],
        [0, 0, 1, 2, 2],
    ]
    assert resample(5, 3).tolist() == resample(5, 3, seed=0).tolist()
    assert resample(5, 3, seed=1).tolist() != resample(5, 3, seed=0).tolist()
    assert resample(7).shape == (2000, 7)
    assert resample(7).dtype == np.int32


def test_more_resamples_begin_with_the_fewer() -> None:
    assert resample(9, 50, seed=4)[:20].tolist() == resample(9, 20, seed=4).tolist()


def test_a_single_case_is_drawn_once_in_every_resample() -> None:
    counts = resample(1, n_resamples=3)
    assert counts.tolist() == [[1], [1], [1]]
    assert counts.dtype == np.int32


def test_every_resample_draws_all_cases_with_equal_chance() -> None:
    counts = resample(6, 30_000, seed=2)
    assert (counts.sum(axis=1) == 6).all()
    # A count is binomial with n = 6 and p = 1/6: mean 1, variance 5/6, covariance −1/6.
    assert counts.mean(axis=0) == pytest.approx(np.ones(6), abs=0.03)
    covariance = np.eye(6) - 1 / 6
    assert np.cov(counts.T) == pytest.approx(covariance, abs=0.03)


def test_no_case_gives_no_columns_and_undefined_scores() -> None:
    counts = resample(0, 3)
    assert counts.shape == (3, 0)
    assert np.isnan(bootstrap_mean([], counts)).all()


def test_the_interval_takes_linear_percentiles_and_skips_nan() -> None:
    values = [*np.linspace(0, 1, 201).tolist(), NAN, NAN]
    found = interval(values)
    assert [found.low, found.high] == pytest.approx([0.025, 0.975])
    assert found.level == 0.95
    assert interval([3.0, 1.0, NAN, 2.0], level=0.5) == Interval(1.5, 2.5, 0.5)


def test_an_interval_of_nothing_is_nan() -> None:
    for values in ([], [NAN, NAN]):
        found = interval(values, level=0.9)
        assert math.isnan(found.low)
        assert math.isnan(found.high)
        assert found.level == 0.9


def test_the_interval_of_a_normal_mean_is_about_1_96_standard_errors() -> None:
    values = np.random.default_rng(3).normal(0.6, 0.1, 200)
    found = interval(bootstrap_mean(values, resample(200, 4000)))
    half_width = 1.96 * values.std() / math.sqrt(200)
    assert found.high - values.mean() == pytest.approx(half_width, rel=0.1)
    assert values.mean() - found.low == pytest.approx(half_width, rel=0.1)


def test_the_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(5)
    counts = resample(60, 500)
    found = [
        interval(bootstrap_mean(rng.normal(0.5, 0.1, 60), counts), level=0.8) for _ in range(400)
    ]
    covered = np.mean([i.low <= 0.5 <= i.high for i in found])
    assert covered == pytest.approx(0.8, abs=0.06)


@given(
    hnp.arrays(np.float64, st.integers(2, 6), elements=st.floats(0, 1) | st.just(NAN)),
    st.integers(0, 100),
)
def test_resampled_means_equal_the_means_of_the_drawn_cases(values: Floats, seed: int) -> None:
    counts = resample(len(values), 20, seed)
    found = bootstrap_mean(values, counts)
    enough = np.count_nonzero(~np.isnan(values)) >= 2
    for mean, cases in zip(found, drawn_cases(counts), strict=True):
        defined = [values[i] for i in cases if not np.isnan(values[i])]
        if defined and enough:
            assert mean == pytest.approx(sum(defined) / len(defined), abs=1e-14)
        else:
            assert math.isnan(mean)


def test_undefined_cases_are_skipped_or_filled() -> None:
    counts = np.array([[1, 1, 1], [1, 0, 2]])
    values = [0.25, 0.75, NAN]
    assert bootstrap_mean(values, counts).tolist() == [0.5, 0.25]
    assert bootstrap_mean(values, counts, "zero").tolist() == [1 / 3, 0.25 / 3]
    assert bootstrap_mean(values, counts, "one").tolist() == [2 / 3, 0.75]


def test_one_case_leaves_nothing_to_resample() -> None:
    one = resample(1, 10)
    assert math.isnan(interval(bootstrap_mean([0.8], one)).low)


def test_one_case_with_a_score_among_empty_ones_leaves_nothing_either() -> None:
    counts = resample(3, 10)
    assert np.isnan(bootstrap_mean([NAN, 0.8, NAN], counts)).all()
    assert bootstrap_mean([NAN, 0.8, NAN], counts, "zero").max() > 0


def test_wrong_shapes_and_values_are_explained() -> None:
    counts = resample(2, 5)
    with pytest.raises(ShapeError, match=r"counts has shape \(5, 2\), but there are 3 cases"):
        bootstrap_mean([1, 2, 3], counts)
    with pytest.raises(ShapeError, match=r"values has shape \(1, 2\): pass an array with 1 axes"):
        bootstrap_mean([[1, 2]], counts)


def test_an_infinite_score_makes_means_infinite_where_its_case_is_drawn() -> None:
    counts = np.array([[1, 1, 1], [2, 0, 1], [0, 2, 1], [0, 0, 3]])
    found = bootstrap_mean([1.0, math.inf, NAN], counts)
    np.testing.assert_array_equal(found, [math.inf, 1.0, math.inf, NAN])
    both = bootstrap_mean([1.0, math.inf, -math.inf], counts)
    np.testing.assert_array_equal(both, [NAN, -math.inf, NAN, -math.inf])


@pytest.mark.parametrize(
    ("values", "low", "high"),
    [
        ([1.0, 2.0, 3.0, 4.0, math.inf], 2.0, 4.0),  # the ends fall on values
        ([1.0, 2.0, 3.0, math.inf, math.inf], 2.0, math.inf),
        ([math.inf] * 4, math.inf, math.inf),
        ([0.0, 1.0, 2.0, math.inf], 0.75, math.inf),  # and between 2 and infinity
        ([0.0, 1.0, math.inf], 0.5, math.inf),
    ],
)
def test_ends_of_intervals_may_be_infinite(values: list[float], low: float, high: float) -> None:
    found = interval(values, level=0.5)
    assert (found.low, found.high) == (low, high)


def test_wrong_options_are_explained() -> None:
    with pytest.raises(OptionError, match="undefined='skp' is not known; did you mean 'skip'"):
        bootstrap_mean([1, 2], resample(2, 5), "skp")  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="n_resamples=0 is too small: pass 1 or more"):
        resample(3, 0)
    with pytest.raises(OptionError, match="n_cases=-1 is too small: pass 0 or more"):
        resample(-1)
    for level in (0.0, 1.0, 95, NAN):
        with pytest.raises(OptionError, match="is not a confidence level"):
            interval([1.0], level=level)
