"""Intervals follow their definitions, and contain the true score as often as the page says."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from benchmarks.coverage import CASES, SETTINGS, measure, measure_clusters
from panmatch.datasets import IntervalMethod, ResampledScores, Resampling, interval_ends
from panmatch.datasets._notices import MEASURED_COVERAGE
from panmatch.datasets._statistics._intervals import quantiles
from panmatch.evaluation import resampled_means
from panmatch.overlap import Floats

NAN = float("nan")
METHODS = get_args(IntervalMethod)
PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "intervals.md"


def bootstrap_t(values: Floats, resampling: Resampling, level: float) -> tuple[float, float]:
    """Return the textbook bootstrap-t interval of a mean, resample by resample."""
    mean, error = values.mean(), values.std() / math.sqrt(len(values))
    t = []
    for row in resampling.drawn:
        drawn = np.repeat(values, row)
        t.append((drawn.mean() - mean) / (drawn.std() / math.sqrt(len(values))))
    low, high = np.quantile(t, [(1 - level) / 2, (1 + level) / 2])
    return mean - high * error, mean - low * error


def bca(values: Floats, resampling: Resampling, level: float) -> tuple[float, float]:
    """Return the textbook BCa interval of a mean."""
    means = np.array([np.repeat(values, row).mean() for row in resampling.drawn])
    z0 = stats.norm.ppf(
        ((means < values.mean() - 1e-12).mean() + (means <= values.mean() + 1e-12).mean()) / 2
    )
    rest = np.array([np.delete(values, i).mean() for i in range(len(values))])
    u = rest.mean() - rest
    a = (u**3).sum() / (6 * (u**2).sum() ** 1.5)
    ends = []
    for tail in ((1 - level) / 2, (1 + level) / 2):
        z = z0 + stats.norm.ppf(tail)
        ends.append(float(np.quantile(means, stats.norm.cdf(z0 + z / (1 - a * z)))))
    return ends[0], ends[1]


@pytest.mark.parametrize("level", [0.8, 0.95])
@pytest.mark.parametrize("n", [8, 21])
def test_intervals_of_a_mean_are_those_of_the_textbook(n: int, level: float) -> None:
    values = np.random.default_rng(n).beta(6, 1.5, n)
    oracles = {"studentised": bootstrap_t, "bca": bca}
    for method, oracle in oracles.items():
        resampling = Resampling.of(n, method, n_resamples=400)  # type: ignore[arg-type]
        found = resampling.mean_interval(values, level=level)
        assert (found.low, found.high) == pytest.approx(oracle(values, resampling, level), abs=1e-9)
        assert found.level == level


def test_bca_agrees_with_scipy() -> None:
    values = np.random.default_rng(0).beta(6, 1.5, 15)
    theirs = stats.bootstrap((values,), np.mean, n_resamples=40_000, rng=np.random.default_rng(1))
    ours = Resampling.of(15, "bca", n_resamples=40_000).mean_interval(values)
    assert ours.low == pytest.approx(theirs.confidence_interval.low, abs=0.002)
    assert ours.high == pytest.approx(theirs.confidence_interval.high, abs=0.002)


@given(
    hnp.arrays(np.float64, (3, 7), elements=st.floats(-5, 5) | st.just(NAN)),
    hnp.arrays(np.float64, 3, elements=st.floats(0, 1)),
)
def test_quantiles_are_those_of_numpy_without_nan(samples: Floats, shares: Floats) -> None:
    for row, share, found in zip(samples, shares, quantiles(samples, shares), strict=True):
        defined = row[~np.isnan(row)]
        expected = np.quantile(defined, share) if len(defined) else NAN
        assert found == pytest.approx(expected, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("method", METHODS)
def test_cases_without_a_score_do_not_count(method: IntervalMethod) -> None:
    values = np.array([0.4, 0.5, 0.9, 0.6, 0.7, NAN, NAN])
    found = Resampling.of(7, method).mean_interval(values)
    assert found.is_defined
    assert found.low < np.nanmean(values) < found.high
    assert not Resampling.of(7, method).mean_interval(np.array([*values[:4], NAN, NAN, NAN])
                                                      ).is_defined  # fmt: skip


@pytest.mark.parametrize("method", METHODS)
def test_equal_scores_have_an_interval_without_width(method: IntervalMethod) -> None:
    found = Resampling.of(6, method).mean_interval([0.75] * 6)
    assert (found.low, found.high) == (0.75, 0.75)


@pytest.mark.parametrize("method", METHODS)
def test_infinite_scores_have_the_percentile_interval(method: IntervalMethod) -> None:
    values = [1.0, 2.0, 3.0, math.inf, 4.0, 5.0]
    found = Resampling.of(6, method).mean_interval(values)
    assert found == Resampling.of(6, "percentile").mean_interval(values)
    assert found.high == math.inf
    assert math.isfinite(found.low)


def test_students_t_replaces_an_infinite_end() -> None:
    """Without the lost case, a third of all resamples have no spread."""
    values = np.array([1.0, 1.0, 1.0, 1.0, 0.5])
    margin = stats.t.ppf(0.975, 4) * values.std(ddof=1) / math.sqrt(5)
    found = Resampling.of(5).mean_interval(values, bounds=(0, 1))
    assert found.low == pytest.approx(values.mean() - margin)
    assert found.high == 1.0


@pytest.mark.parametrize("method", METHODS)
def test_intervals_of_several_scores_at_once_are_those_of_each(method: IntervalMethod) -> None:
    values = np.random.default_rng(2).random((4, 9))
    resampling = Resampling.of(9, method, n_resamples=200)
    scores = resampled_means(values.T, resampling.weights).T
    rows = ResampledScores(scores[:, :200], scores[:, 200], scores[:, 201:], resampling.counts)
    low, high = interval_ends(rows, method, 0.9)
    for i, row in enumerate(values):
        one = resampling.mean_interval(row, level=0.9)
        assert (one.low, one.high) == pytest.approx((low[i], high[i]), abs=1e-12)


def test_clusters_are_drawn_and_left_out_as_a_whole() -> None:
    names = ["b", "a", "b", "c", "a"]
    resampling = Resampling.of(names, n_resamples=50)
    assert (resampling.n_units, resampling.n_cases, resampling.is_clustered) == (3, 5, True)
    assert (resampling.drawn[:, [0, 1]] == resampling.drawn[:, [2, 4]]).all()
    assert resampling.weights[50].tolist() == [1, 1, 1, 1, 1]
    assert resampling.weights[51:].tolist() == [[0, 1, 0, 1, 1], [1, 0, 1, 1, 0], [1, 1, 1, 0, 1]]
    assert resampling.n_defined(np.array([1.0, NAN, 1.0, 1.0, NAN])) == 2


def test_clusters_of_one_case_are_cases() -> None:
    values = np.random.default_rng(4).random(7)
    as_clusters = Resampling.of(list("abcdefg")).mean_interval(values)
    assert as_clusters == Resampling.of(7).mean_interval(values)


def test_four_patients_have_no_interval_however_many_scans() -> None:
    names = [str(i // 5) for i in range(25)]
    values = np.linspace(0.2, 0.9, 25)
    assert Resampling.of(names).mean_interval(values).is_defined
    assert not Resampling.of(names[:20]).mean_interval(values[:20]).is_defined


def test_many_cases_have_the_percentile_interval() -> None:
    values = np.random.default_rng(5).random(1001)
    many = Resampling.of(1001, "studentised", n_resamples=100)
    assert many.weights.shape == (100, 1001)
    plain = Resampling.of(1001, "percentile", n_resamples=100)
    assert many.mean_interval(values) == plain.mean_interval(values)


def page_table() -> dict[tuple[str, str], list[int]]:
    """Return the coverage in percent by score and method, as the page lists it."""
    rows = re.findall(r"^\| ([^|]+) \| (\w+) \| (.*%.*) \|$", PAGE.read_text("utf-8"), re.MULTILINE)
    return {
        (score, method): [int(n) for n in re.findall(r"(\d+) %", cells)]
        for score, method, cells in rows
    }


@pytest.mark.parametrize("score", SETTINGS)
@pytest.mark.parametrize("method", METHODS)
def test_the_page_says_how_often_intervals_contain_the_truth(
    score: str, method: IntervalMethod
) -> None:
    shares = page_table()[score, method]
    assert len(shares) == len(CASES)
    for n, share in list(zip(CASES, shares, strict=True))[:3]:
        found = measure(SETTINGS[score], n, method, datasets=500, seed=7).coverage
        assert found == pytest.approx(share / 100, abs=0.055)


def test_the_default_covers_best() -> None:
    table = page_table()
    for score in SETTINGS:
        for i in range(2):  # 5 and 10 cases
            others = [table[score, method][i] for method in METHODS[1:]]
            assert table[score, METHODS[0]][i] > max(others)
    assert METHODS[0] == "studentised" == Resampling.of(3).method


def test_warnings_say_what_the_page_says() -> None:
    table = page_table()
    for method, known in MEASURED_COVERAGE.items():
        for n, ends in known.items():
            shares = [table[score, method][CASES.index(n)] for score in SETTINGS]
            assert (min(shares), max(shares)) == ends


def test_correlated_cases_need_clusters() -> None:
    by_case = measure_clusters(10, 5, by_cluster=False, datasets=500)
    by_cluster = measure_clusters(10, 5, by_cluster=True, datasets=500)
    assert by_case.coverage < 0.8
    assert by_cluster.coverage == pytest.approx(0.95, abs=0.03)
    assert by_case.width < by_cluster.width
