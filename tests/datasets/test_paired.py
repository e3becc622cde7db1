"""Paired differences: exact p-values, zeros, NaN, and several tests at once."""

from __future__ import annotations

import itertools
import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from panmatch.datasets import resample
from panmatch.datasets._statistics import (
    Resampling,
    bootstrap_mean,
    holm,
    interval,
    paired_test,
    signed_rank_p,
)
from panmatch.errors import OptionError, ShapeError

NAN = float("nan")
tenths = st.integers(-5, 5).map(lambda n: n / 10)


def p_by_all_signs(differences: list[float]) -> float:
    """Return Pratt's exact p by trying all signs of the ranks that are not of zeros."""
    rank = stats.rankdata(np.round(np.abs(differences), 9))
    signs = np.sign(differences)
    kept = rank[signs != 0]
    reached = abs(float(rank @ signs))
    sums = [abs(float(kept @ np.array(s))) for s in product([-1, 1], repeat=len(kept))]
    return sum(total >= reached for total in sums) / len(sums)


@given(st.lists(tenths, min_size=1, max_size=8))
def test_p_equals_the_share_of_all_signs_with_ties_and_zeros(differences: list[float]) -> None:
    assert signed_rank_p(differences) == pytest.approx(p_by_all_signs(differences), abs=1e-15)


@pytest.mark.parametrize("n", [1, 2, 5, 8, 20, 50, 100])
def test_p_equals_that_of_scipy_without_ties_and_zeros(n: int) -> None:
    differences = np.random.default_rng(n).normal(0.2, 1.0, n)
    expected = stats.wilcoxon(differences, method="exact").pvalue
    assert signed_rank_p(differences) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("n_zeros", [0, 30])
def test_beyond_100_pairs_p_is_that_of_the_normal_approximation(n_zeros: int) -> None:
    drawn = np.random.default_rng(1).integers(-40, 50, 150) / 100
    differences = np.concatenate([drawn, np.zeros(n_zeros)])
    expected = stats.wilcoxon(differences, zero_method="pratt", method="approx").pvalue
    assert signed_rank_p(differences) == pytest.approx(expected, rel=1e-10)


def test_the_exact_p_goes_over_into_the_normal_one() -> None:
    drawn = np.random.default_rng(2).normal(0.2, 1.0, 101)
    normal = signed_rank_p(drawn)
    exact = stats.wilcoxon(drawn, method="exact").pvalue
    assert normal != exact
    assert normal == pytest.approx(exact, rel=0.05)


def test_zeros_do_not_let_a_growing_difference_lose_its_significance() -> None:
    # The negative values have the ranks 1, 3 and 4 without the zero: T⁻ = 8 of 10 values. A
    # little more for all, and the zero takes rank 1: T⁻ = 11 of 11 values.
    values = np.array([0, -1, 2, -3, -4, 5, 6, 7, 8, 9, 10.0])
    dropped, grown = signed_rank_p(values[values != 0]), signed_rank_p(values + 0.1)
    assert dropped == 0.048828125
    assert grown == 0.0537109375
    assert signed_rank_p(values) >= grown


def test_few_or_equal_pairs_have_a_p_by_definition() -> None:
    assert math.isnan(signed_rank_p([]))
    assert signed_rank_p([0.3]) == 1.0
    assert signed_rank_p([0.0, 0.0, 1e-13]) == 1.0
    assert signed_rank_p([0.0] * 150) == 1.0
    assert signed_rank_p([0.1] * 10) == 2 / 2**10


def test_rounding_noise_makes_neither_a_difference_nor_a_rank() -> None:
    noisy = [0.3 - 0.2, 0.1, -0.1, 0.2 - 0.1 - 0.1 + 1e-16, 0.4]
    clean = [0.1, 0.1, -0.1, 0.0, 0.4]
    assert noisy[0] != clean[0]
    assert signed_rank_p(noisy) == signed_rank_p(clean) == p_by_all_signs(clean)


def test_a_comparison_by_hand() -> None:
    first = [0.9, 0.5, NAN, 0.7, 0.4, 0.1 + 0.2]
    second = [0.4, 0.6, 0.5, 0.7, NAN, 0.3]
    found = paired_test(first, second)
    assert (found.n, found.skipped) == (4, 2)
    assert (found.wins, found.losses, found.ties) == (1, 1, 2)
    assert found.mean_difference == pytest.approx(0.1)
    # Ranks of 0, 0, 0.1, 0.5 are 1.5, 1.5, 3, 4: T⁺ is 4 of 7, as far off centre as 3 is.
    assert found.p_value == 1.0


def test_the_interval_is_that_of_the_mean_difference_over_the_same_resamples() -> None:
    rng = np.random.default_rng(4)
    first, second = rng.random(12), rng.random(12)
    first[3] = NAN
    by_percentiles = Resampling.of(12, "percentile", n_resamples=300, seed=8)
    expected = interval(bootstrap_mean(first - second, resample(12, 300, seed=8)), level=0.9)
    found = paired_test(first, second, resampling=by_percentiles, level=0.9).interval
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-15)
    by_default = paired_test(first, second, level=0.9).interval
    assert by_default == Resampling.of(12).mean_interval(first - second, level=0.9)


def test_an_interval_stays_within_the_possible_differences() -> None:
    first, second = (
        np.array([0.9, 0.95, 1.0, 1.0, 0.1, 1.0]),
        np.array([0.0, 0.0, 0.1, 0.0, 0.0, 0]),
    )
    assert paired_test(first, second).interval.high > 1
    assert paired_test(first, second, bounds=(-1, 1)).interval.high == 1


@given(st.lists(st.tuples(tenths, tenths), min_size=2, max_size=7))
def test_swapping_the_models_turns_everything_round(pairs: list[tuple[float, float]]) -> None:
    first, second = zip(*pairs, strict=True)
    few = Resampling.of(len(pairs), n_resamples=100)
    one = paired_test(first, second, resampling=few)
    other = paired_test(second, first, resampling=few)
    assert (one.wins, one.losses, one.ties) == (other.losses, other.wins, other.ties)
    assert one.wins + one.losses + one.ties == one.n == len(pairs)
    assert one.p_value == other.p_value
    assert one.mean_difference == pytest.approx(-other.mean_difference, abs=1e-15)
    assert one.interval.low == pytest.approx(-other.interval.high, abs=1e-12, nan_ok=True)
    assert one.interval.is_defined == other.interval.is_defined == (len(pairs) >= 5)


def test_the_smaller_distance_wins() -> None:
    first, second = [1.0, 2.0, 3.0, 5.0, 5.0], [2.0, 4.0, 1.0, 5.0, 5.0]
    found = paired_test(first, second, higher_is_better=False)
    assert (found.wins, found.losses) == (2, 1)
    assert found.mean_difference == pytest.approx(-1 / 5)
    assert found.interval == paired_test(first, second).interval


def test_without_pairs_everything_is_undefined_and_one_pair_has_no_interval() -> None:
    for first, second, skipped in (([], [], 0), ([NAN, 1.0], [1.0, NAN], 2)):
        found = paired_test(first, second)
        assert (found.n, found.skipped, found.wins, found.losses, found.ties) == (
            0, skipped, 0, 0, 0,
        )  # fmt: skip
        assert np.isnan([found.mean_difference, found.p_value, found.interval.low]).all()
    found = paired_test([0.75, NAN], [0.5, 1.0])
    assert (found.n, found.mean_difference, found.p_value) == (1, 0.25, 1.0)
    assert math.isnan(found.interval.low)


def test_fewer_than_five_pairs_have_no_interval_but_an_exact_p() -> None:
    first, second = np.array([0.5, 0.6, 0.7, 0.8, 0.9]), np.array([0.4, 0.3, 0.5, 0.4, 0.4])
    five, four = paired_test(first, second), paired_test(first[:4], second[:4])
    assert (five.interval.is_defined, four.interval.is_defined) == (True, False)
    assert (five.p_value, four.p_value) == (2 / 2**5, 2 / 2**4)
    missing = np.array([NAN, *first[1:]])  # pairs count, not cases
    assert not paired_test(missing, second).interval.is_defined
    assert paired_test(missing, second).mean_difference == pytest.approx(
        (first[1:] - second[1:]).mean()
    )


def test_infinite_distances_are_the_worst_and_equal_each_other() -> None:
    found = paired_test(
        [1.0, 2.0, math.inf, 1.0], [math.inf, 3.0, math.inf, NAN], higher_is_better=False
    )
    assert (found.n, found.wins, found.losses, found.ties) == (3, 2, 0, 1)
    assert found.mean_difference == -math.inf
    assert found.p_value == signed_rank_p([-9.0, -1.0, 0.0])
    undecided = paired_test([1.0, math.inf], [math.inf, 1.0])
    assert math.isnan(undecided.mean_difference)
    assert undecided.p_value == 1.0


def test_wrong_arguments_are_explained() -> None:
    with pytest.raises(ShapeError, match="first has 2 cases, second has 1"):
        paired_test([1, 2], [1])
    with pytest.raises(ShapeError, match="values has 2 cases, but 3 were resampled"):
        Resampling.of(3).mean_interval([1, 2])
    with pytest.raises(OptionError, match="differences contain NaN"):
        signed_rank_p([1, NAN])
    with pytest.raises(OptionError, match=r"values outside \[0, 1\]"):
        holm([0.5, 1.5])


def test_holm_is_that_of_statsmodels() -> None:
    """Recorded from `multipletests(p, method="holm")` of statsmodels 0.15.0."""
    found = holm([0.0637, 0.027, 0.0041, 0.0017, 0.0813, 0.0913])
    expected = [0.1911, 0.108, 0.0205, 0.0102, 0.1911, 0.1911]
    assert found.tolist() == pytest.approx(expected, abs=1e-15)


def test_holm_by_hand() -> None:
    assert holm([0.04, 0.01, NAN, 0.03, 0.5]) == pytest.approx(
        [0.09, 0.04, NAN, 0.09, 0.5], nan_ok=True
    )
    assert holm([0.6, 0.7, 0.8]).tolist() == [1.0, 1.0, 1.0]
    assert holm([0.03]).tolist() == [0.03]
    assert holm([]).tolist() == []
    assert np.isnan(holm([NAN, NAN])).all()


@given(st.lists(st.floats(0, 1) | st.just(NAN), max_size=8), st.randoms(use_true_random=False))
def test_adjusted_p_values_keep_their_order_and_never_fall(
    values: list[float], random: object
) -> None:
    adjusted = holm(values)
    defined = [(p, q) for p, q in zip(values, adjusted.tolist(), strict=True) if p == p]
    assert all(p <= q <= 1 for p, q in defined)
    assert [q for _, q in sorted(defined)] == sorted(q for _, q in defined)
    assert holm([p for p in values if p == p]).tolist() == [q for _, q in defined]
    if defined:
        smallest = min(p for p, _ in defined)
        assert min(q for _, q in defined) == min(1.0, smallest * len(defined))
    order = list(range(len(values)))
    random.shuffle(order)  # type: ignore[attr-defined]
    shuffled = holm([values[i] for i in order])
    assert np.array_equal(shuffled, adjusted[order], equal_nan=True)


def p_by_flipping_clusters(differences: list[float], clusters: list[int]) -> float:
    """Return the exact p by changing the signs of whole clusters in all ways."""
    rank = stats.rankdata(np.round(np.abs(differences), 9)) * np.sign(differences)
    names = sorted(set(clusters))
    observed = abs(rank.sum())
    reached = 0
    for signs in itertools.product((1, -1), repeat=len(names)):
        sign = dict(zip(names, signs, strict=True))
        total = sum(sign[name] * one for name, one in zip(clusters, rank, strict=True))
        reached += abs(total) >= observed - 1e-9
    return float(reached / 2 ** len(names))


@given(st.lists(st.tuples(tenths, st.integers(0, 4)), min_size=1, max_size=12))
def test_the_cases_of_a_cluster_change_their_signs_together(pairs: list[tuple[float, int]]) -> None:
    differences, clusters = ([*one] for one in zip(*pairs, strict=True))
    expected = p_by_flipping_clusters(differences, clusters)
    assert signed_rank_p(differences, clusters) == pytest.approx(expected, abs=1e-12)


def test_clusters_of_one_case_change_nothing() -> None:
    for n in (8, 150):
        differences = np.random.default_rng(n).normal(0.2, 1, n)
        assert signed_rank_p(differences, range(n)) == signed_rank_p(differences)


def test_a_few_large_clusters_are_enumerated() -> None:
    rng = np.random.default_rng(3)
    clusters = np.repeat(np.arange(6), 40)
    differences = rng.normal(0.3, 1, 240)
    expected = p_by_flipping_clusters(differences.tolist(), clusters.tolist())
    assert signed_rank_p(differences, clusters) == expected
    assert signed_rank_p(np.abs(differences), clusters) == 2 / 2**6


@pytest.mark.parametrize("clusters", [8, 30])
def test_tests_of_clusters_keep_their_error_rate_and_tests_of_cases_do_not(clusters: int) -> None:
    """There is no difference, but the cases of a patient have a correlation of 0.5."""
    rng = np.random.default_rng(clusters)
    owner = np.repeat(np.arange(clusters), 5)
    by_case, by_cluster = 0, 0
    for _ in range(600):
        shared = rng.normal(0, 1, clusters)[owner]
        differences = shared + rng.normal(0, 1, len(owner))
        by_case += signed_rank_p(differences) <= 0.05
        by_cluster += signed_rank_p(differences, owner) <= 0.05
    assert by_cluster / 600 == pytest.approx(0.05, abs=0.03)
    assert by_case / 600 > 0.15


def test_wilcoxon_keeps_its_error_rate_with_ties_and_zeros() -> None:
    rng = np.random.default_rng(8)
    rejected = [signed_rank_p(np.round(rng.normal(0, 0.2, 15), 1)) <= 0.05 for _ in range(800)]
    assert 0.02 < np.mean(rejected) <= 0.065


def test_holm_keeps_the_chance_of_any_error_over_correlated_settings() -> None:
    rng = np.random.default_rng(9)
    some = 0
    for _ in range(400):
        shared = rng.normal(0, 1, (12, 1))
        differences = shared + rng.normal(0, 1, (12, 9))
        some += bool((holm([signed_rank_p(one) for one in differences.T]) <= 0.05).any())
    assert some / 400 <= 0.07
