"""Three ways to rank: the definitions of challengeR on its own example data, and by hand."""

from __future__ import annotations

import math
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import stats

from panmatch.datasets._statistics import (
    Aggregate,
    RankedScore,
    RankMethod,
    RankRule,
    Resampling,
    _rank_rules,
    combined,
    final_ranks,
    places_by,
    rank_points,
    resampled_points,
    signed_rank_p,
    significance_map,
)
from tests.datasets.challenge_data import ideal_challenge, random_challenge, worst_challenge

NAN = math.nan
METHODS: tuple[RankMethod, ...] = ("mean-then-rank", "rank-then-mean", "test-based")


def ranked(
    table: Any, method: RankMethod, *, higher: bool = True, aggregate: Aggregate = "mean"
) -> tuple[list[float], list[float]]:
    """Return what models are ranked by, and their ranks."""
    score, rule = RankedScore(np.array(table, np.float64), higher), RankRule(method, aggregate)
    points = rank_points(score, rule, np.arange(len(score.values)))
    return points.tolist(), final_ranks(places_by(points, score, rule)).tolist()


def drawn_points(table: Any, rule: RankRule, resampling: Resampling) -> Any:
    score = RankedScore(np.array(table, np.float64))
    return resampled_points(score, rule, resampling, resampling.counts)


@pytest.mark.parametrize(("higher", "expected"), [(False, [1, 2]), (True, [2, 1])])
def test_averages_are_ranked_in_either_direction(higher: bool, expected: list[float]) -> None:
    table = [[0.6, 0.8], [0.4, 1.0]]
    for aggregate in ("mean", "median"):
        points, ranks = ranked(table, "mean-then-rank", higher=higher, aggregate=aggregate)
        assert points == pytest.approx([0.5, 0.9])
        assert ranks == expected


def test_models_that_tie_share_the_better_rank() -> None:
    assert ranked([[0.6, 0.6, 0.8]], "mean-then-rank", higher=False)[1] == [1, 1, 3]
    assert ranked([[0.6, 0.6, 0.8]], "rank-then-mean", higher=False) == ([1, 1, 3], [1, 1, 3])


def test_a_model_without_a_score_has_the_worst_rank_of_the_case() -> None:
    points, ranks = ranked([[NAN, 0.8, 0.5], [0.9, 0.8, 0.5]], "rank-then-mean")
    assert points == [2.0, 1.5, 2.5]  # ranks 3, 1, 2 and 1, 2, 3
    assert ranks == [2, 1, 3]
    assert ranked([[NAN, 0.5, 0.5]], "rank-then-mean")[0] == [3, 1, 1]
    assert ranked([[NAN, NAN, 0.5]], "rank-then-mean")[0] == [2, 2, 1]


def test_a_case_in_which_nobody_has_a_score_ranks_nobody() -> None:
    points, ranks = ranked([[NAN, NAN], [0.2, 0.4]], "rank-then-mean")
    assert (points, ranks) == ([2.0, 1.0], [2, 1])


def test_averages_skip_undefined_scores() -> None:
    points, _ = ranked([[NAN, 0.8], [0.5, 0.4], [0.7, 0.4]], "mean-then-rank")
    assert points == pytest.approx([0.6, 1.6 / 3])
    points, _ = ranked([[NAN, 0.8], [0.5, 0.4], [0.7, 0.3]], "mean-then-rank", aggregate="median")
    assert points == pytest.approx([0.6, 0.4])


def test_mean_and_rank_can_disagree() -> None:
    table = [[1.0, 0.5], [0.5, 0.6], [0.5, 0.6]]
    assert ranked(table, "mean-then-rank")[1] == [1, 2]
    assert ranked(table, "rank-then-mean")[1] == [2, 1]


@pytest.mark.parametrize("method", METHODS)
def test_a_clear_order_is_found_by_every_method(method: RankMethod) -> None:
    points, ranks = ranked(ideal_challenge(), method)
    assert ranks == [1, 2, 3, 4, 5]
    if method == "test-based":
        assert points == [1, 0.75, 0.5, 0.25, 0]
    if method == "rank-then-mean":
        assert points == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("method", METHODS)
def test_all_orders_alike_give_no_order(method: RankMethod) -> None:
    points, ranks = ranked(worst_challenge(), method)
    assert ranks == [1] * 5
    assert points == pytest.approx(
        [{"mean-then-rank": 0.9, "rank-then-mean": 3.0}.get(method, 0)] * 5
    )


def test_models_that_do_not_differ_are_ranked_by_chance() -> None:
    table = random_challenge()
    means = table.mean(axis=0)
    assert ranked(table, "mean-then-rank")[0] == pytest.approx(means.tolist())
    assert ranked(table, "mean-then-rank")[1] == stats.rankdata(-means, "min").tolist()
    by_case = stats.rankdata(-table, "min", axis=1).mean(axis=0)
    assert ranked(table, "rank-then-mean")[0] == pytest.approx(by_case.tolist())
    assert ranked(table, "rank-then-mean")[1] == stats.rankdata(by_case, "min").tolist()
    assert ranked(table, "mean-then-rank")[1] == [1, 2, 5, 3, 4]
    assert ranked(table, "rank-then-mean")[1] == [1, 3, 5, 2, 4]
    assert ranked(table, "test-based") == ([0] * 5, [1] * 5)


@pytest.mark.parametrize("table", [random_challenge(), ideal_challenge()])
def test_the_significance_map_is_that_of_scipy_with_holm(table: Any) -> None:
    found = significance_map(RankedScore(table), np.arange(len(table)))
    pairs = list(permutations(range(5), 2))
    p = np.array([stats.wilcoxon(table[:, a], table[:, b], alternative="greater",
                                 method="exact").pvalue for a, b in pairs])  # fmt: skip
    assert [found.p_values[pair] for pair in pairs] == pytest.approx(p.tolist(), rel=1e-9)
    rising = np.argsort(p)
    adjusted = np.empty(len(p))
    adjusted[rising] = np.minimum(
        np.maximum.accumulate(p[rising] * np.arange(len(p), 0, -1)), 1.0
    )  # Holm 1979
    assert [found.p_holm[pair] for pair in pairs] == pytest.approx(adjusted.tolist(), rel=1e-9)
    assert np.isnan(np.diag(found.p_values)).all()
    # As R does it by default, with the normal approximation and continuity correction.
    in_r = [stats.wilcoxon(table[:, a], table[:, b], alternative="greater", correction=True,
                           method="asymptotic").pvalue for a, b in pairs]  # fmt: skip
    assert [one <= 0.05 for one in in_r] == [found.p_values[pair] <= 0.05 for pair in pairs]


def test_lower_is_better_turns_the_significance_map_round() -> None:
    table = ideal_challenge()[:, :2]
    up = significance_map(RankedScore(table), np.arange(50)).p_values
    down = significance_map(RankedScore(table, False), np.arange(50)).p_values
    assert up[0, 1] < 1e-10
    assert down[1, 0] == up[0, 1]
    assert down[0, 1] == up[1, 0] == pytest.approx(1.0)


def test_models_without_a_common_case_are_not_tested() -> None:
    found = significance_map(RankedScore(np.array([[0.5, NAN], [NAN, 0.4]])), np.arange(2))
    assert np.isnan(found.p_values).all()
    assert ranked([[0.5, NAN], [NAN, 0.4]], "test-based")[0] == pytest.approx(
        [NAN] * 2, nan_ok=True
    )


@given(
    arrays.arrays(np.float64, st.integers(1, 9), elements=st.sampled_from([-2, -1, 0, 0.5, 1, 3]))
)
def test_one_sided_p_is_the_share_of_signs_that_reach_as_far(differences: Any) -> None:
    order = stats.rankdata(np.abs(differences)) * (differences != 0)
    reached = order[differences > 0].sum()
    signs = np.array(np.meshgrid(*[[0, 1]] * len(order))).reshape(len(order), -1)
    expected = np.mean(order @ signs >= reached - 1e-9)
    assert signed_rank_p(differences, one_sided=True) == pytest.approx(expected)
    # The two tails add up to the two-sided p, which is symmetric.
    both = signed_rank_p(differences, one_sided=True), signed_rank_p(-differences, one_sided=True)
    assert signed_rank_p(differences) == pytest.approx(min(2 * min(both), 1.0))


def test_one_sided_p_of_many_cases_and_of_clusters() -> None:
    differences = np.random.default_rng(3).normal(0.05, 1.0, 300)
    expected = stats.wilcoxon(differences, alternative="greater", method="asymptotic").pvalue
    assert signed_rank_p(differences, one_sided=True) == pytest.approx(expected)
    owner = np.arange(300) // 30
    few = signed_rank_p(differences, owner, one_sided=True)
    sums = np.bincount(owner, np.sign(differences) * stats.rankdata(np.abs(differences)))
    signs = np.array(np.meshgrid(*[[-1, 1]] * 10)).reshape(10, -1)
    assert few == pytest.approx(np.mean(np.abs(sums) @ signs >= sums.sum() - 1e-9))


@pytest.mark.parametrize("aggregate", ["mean", "median"])
@pytest.mark.parametrize("method", ["mean-then-rank", "rank-then-mean"])
def test_resampled_points_are_those_of_the_drawn_cases(
    method: RankMethod, aggregate: Aggregate
) -> None:
    generator = np.random.default_rng(0)
    table = np.where(generator.random((7, 3)) < 0.2, NAN, generator.random((7, 3)))
    resampling = Resampling.of(7, n_resamples=20)
    rule = RankRule(method, aggregate)
    found = drawn_points(table, rule, resampling)
    for counts, points in zip(resampling.counts, found, strict=True):
        again = ranked(np.repeat(table, counts, axis=0), method, aggregate=aggregate)[0]
        assert points.tolist() == pytest.approx(again, nan_ok=True)


def test_resampled_tests_are_those_of_the_drawn_units() -> None:
    """Against a signed-rank test of the drawn cases, written plainly."""
    generator = np.random.default_rng(5)
    table = generator.random((30, 2)).round(1)
    table[:, 0] += 0.12
    names = [str(i // 3) for i in range(30)]
    for units in (30, names):
        resampling = Resampling.of(units, n_resamples=60)
        found = drawn_points(table, RankRule("test-based"), resampling)
        differences = np.where(np.abs(off := table[:, 0] - table[:, 1]) < 1e-12, 0.0, off)
        p_values = _rank_rules._resampled_p(
            differences, np.ones(30, np.bool_), resampling, resampling.counts
        )
        assert p_values.tolist() == pytest.approx(
            [plain_p(table, resampling.unit_of, counts, 1) for counts in resampling.counts]
        )
        for counts, points in zip(resampling.counts, found, strict=True):
            p = [plain_p(table, resampling.unit_of, counts, sign) for sign in (1, -1)]
            smaller = min(range(2), key=lambda i: p[i])
            wins = [0.0, 0.0]
            wins[smaller] = float(2 * p[smaller] <= 0.05)  # Holm over both orders
            assert points.tolist() == wins


def plain_p(table: Any, unit_of: Any, counts: Any, sign: int) -> float:
    """Return the approximate one-sided p of a resample; every draw of a unit is its own unit."""
    differences: list[Any] = []
    owner: list[int] = []
    for unit, times in enumerate(counts):
        for _ in range(times):
            own = sign * (table[unit_of == unit, 0] - table[unit_of == unit, 1])
            differences.append(np.where(np.abs(own) < 1e-12, 0.0, own))
            owner.append(len(owner))
    flat = np.concatenate(differences)
    signed = np.sign(flat) * stats.rankdata(np.abs(flat).round(12))
    sums = np.bincount(np.repeat(owner, [len(one) for one in differences]), signed)
    spread = math.sqrt((sums**2).sum())
    return float(stats.norm.sf((sums.sum() - 1) / spread)) if spread else 1.0


def test_criteria_are_combined_by_their_weights() -> None:
    places = [np.array([1.0, 2.0, 3.0]), np.array([3.0, 2.0, 1.0]), np.full(3, NAN)]
    assert combined(places, [3, 1, 9]).tolist() == [1.5, 2.0, 2.5]
    assert final_ranks(combined(places, [1, 1, 1])).tolist() == [1, 1, 1]


@given(arrays.arrays(np.float64, (4, 3), elements=st.floats(0, 1)), st.permutations(range(3)))
def test_the_order_of_models_and_cases_does_not_matter(table: Any, order: list[int]) -> None:
    for method in METHODS:
        points, ranks = ranked(table, method)
        other, other_ranks = ranked(table[::-1, order], method)
        assert other == pytest.approx([points[i] for i in order])
        if method == "rank-then-mean":
            assert other_ranks == [ranks[i] for i in order]
