"""Ranks with ties and NaN, places over resamples, agreement of rankings."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from panmatch.datasets import resample
from panmatch.datasets._statistics import kendall_tau, rank_counts, rank_counts_resampled, ranks
from panmatch.errors import ShapeError
from panmatch.overlap import Floats

NAN = float("nan")
tenths = st.integers(0, 4).map(lambda n: n / 10)
tables = hnp.arrays(
    np.float64, st.tuples(st.integers(1, 6), st.integers(1, 5)), elements=tenths | st.just(NAN)
)


def test_ranks_by_hand() -> None:
    assert ranks([0.2, 0.9, 0.5]).tolist() == [3, 1, 2]
    assert ranks([0.2, 0.9, 0.5], higher_is_better=False).tolist() == [1, 3, 2]
    assert ranks([0.5, 0.5, 0.9, 0.5]).tolist() == [3, 3, 1, 3]
    assert ranks([0.5]).tolist() == [1]
    assert ranks([]).tolist() == []


def test_models_without_a_score_rank_last_together_either_way() -> None:
    assert ranks([NAN, 0.1, NAN, 0.9]).tolist() == [3.5, 2, 3.5, 1]
    assert ranks([NAN, 0.1, NAN, 0.9], higher_is_better=False).tolist() == [3.5, 1, 3.5, 2]
    assert ranks([NAN, NAN, NAN]).tolist() == [2, 2, 2]


def test_rounding_noise_ties_and_more_does_not() -> None:
    assert ranks([0.1 + 0.2, 0.3, 0.3 - 1e-11]).tolist() == [1.5, 1.5, 3]
    assert ranks([0.3 + 1.5e-12, 0.3, 0.3 + 0.75e-12]).tolist() == [2, 2, 2]


@given(st.lists(tenths, min_size=1, max_size=8))
def test_ranks_equal_those_of_scipy(scores: list[float]) -> None:
    assert ranks(scores, higher_is_better=False).tolist() == stats.rankdata(scores).tolist()
    assert ranks(scores).tolist() == stats.rankdata([-s for s in scores]).tolist()


def test_places_by_hand() -> None:
    scores = [[0.9, 0.5, 0.1], [0.1, 0.5, 0.8]]
    counts = np.array([[2, 0], [0, 2], [1, 1], [2, 0]])
    # Means: twice (0.9, 0.5, 0.1), once (0.1, 0.5, 0.8), once (0.5, 0.5, 0.45).
    assert rank_counts(scores, counts).tolist() == [
        [0.625, 0.125, 0.25],
        [0.125, 0.875, 0.0],
        [0.25, 0.0, 0.75],
    ]
    flipped = rank_counts(scores, counts, higher_is_better=False)
    assert flipped.tolist() == rank_counts(scores, counts)[:, ::-1].tolist()


def test_undefined_cases_are_skipped_model_by_model() -> None:
    scores = [[0.9, 0.5], [NAN, 0.8], [0.1, NAN]]
    counts = np.array([[1, 1, 1], [0, 3, 0], [2, 1, 0]])
    # Means: (0.5, 0.65), (NaN, 0.8), (0.9, 0.6).
    expected = np.array([[1, 2], [2, 1]]) / 3
    assert rank_counts(scores, counts) == pytest.approx(expected, abs=1e-15)


def test_resamples_without_any_score_are_skipped() -> None:
    found = rank_counts_resampled([[NAN, NAN], [0.1, 0.2], [NAN, 0.2], [0.1, NAN]])
    assert found == pytest.approx(np.array([[1, 2], [2, 1]]) / 3, abs=1e-15)


def test_places_are_undefined_where_nothing_can_be_resampled() -> None:
    assert np.isnan(rank_counts([[0.9, 0.5]], resample(1, 5))).all()
    assert np.isnan(rank_counts([[0.9, 0.5], [NAN, NAN]], resample(2, 5))).all()
    assert np.isnan(rank_counts_resampled([[NAN, NAN]])).all()
    assert np.isnan(rank_counts_resampled(np.zeros((0, 3)))).all()
    # Two cases with a score are enough, even if no model has both.
    assert not np.isnan(rank_counts([[0.9, NAN], [NAN, 0.5]], np.array([[1, 1]]))).any()


@given(tables)
def test_every_model_takes_one_place_and_every_place_is_taken_once(table: Floats) -> None:
    found = rank_counts_resampled(table)
    if np.isnan(table).all():
        assert np.isnan(found).all()
        return
    assert found.sum(axis=0) == pytest.approx(np.ones(len(found)))
    assert found.sum(axis=1) == pytest.approx(np.ones(len(found)))
    kept = [row for row in table if not np.isnan(row).all()]
    mean_place = found @ np.arange(1, len(found) + 1)
    assert mean_place == pytest.approx(np.mean([ranks(row) for row in kept], axis=0))


def test_equal_models_share_their_places_evenly_whatever_the_sums_round_to() -> None:
    scores = np.repeat(np.random.default_rng(1).random((37, 1)), 7, axis=1)
    assert rank_counts(scores, resample(37, 200)) == pytest.approx(np.full((7, 7), 1 / 7))


def test_tau_by_hand() -> None:
    assert kendall_tau([1, 2, 3], [1, 2, 3]) == 1.0
    assert kendall_tau([1, 2, 3], [3, 2, 1]) == -1.0
    assert kendall_tau([1, 2, 3], [1, 3, 2]) == 1 / 3
    # Two of three pairs agree, one ties in b: 2 / √(3 · 2).
    assert kendall_tau([1, 2, 3], [1, 2.5, 2.5]) == pytest.approx(2 / math.sqrt(6))


def test_tau_is_undefined_without_an_untied_pair() -> None:
    assert math.isnan(kendall_tau([2, 2, 2], [2, 2, 2]))
    assert math.isnan(kendall_tau([1, 2, 3], [2, 2, 2]))
    assert math.isnan(kendall_tau([1], [1]))
    assert math.isnan(kendall_tau([], []))
    assert math.isnan(kendall_tau([1, NAN], [1, 2]))


@given(st.lists(st.tuples(tenths, tenths), min_size=2, max_size=8))
def test_tau_equals_that_of_scipy(pairs: list[tuple[float, float]]) -> None:
    a, b = (ranks(column) for column in zip(*pairs, strict=True))
    expected = stats.kendalltau(a, b).statistic
    assert kendall_tau(a, b) == pytest.approx(expected, abs=1e-12, nan_ok=True)


def test_wrong_arguments_are_explained() -> None:
    with pytest.raises(ShapeError, match="ranks_a has 2 models, ranks_b has 3"):
        kendall_tau([1, 2], [1, 2, 3])
    with pytest.raises(ShapeError, match=r"scores has shape \(2,\): pass an array with 2 axes"):
        rank_counts([0.1, 0.2], resample(2, 5))
    with pytest.raises(ShapeError, match="but there are 1 cases"):
        rank_counts([[0.1, 0.2]], resample(2, 5))


def test_infinite_distances_tie_behind_all_others_and_before_what_is_undefined() -> None:
    scores = [math.inf, 0.1, math.nan, math.inf]
    assert ranks(scores, higher_is_better=False).tolist() == [2.5, 1.0, 4.0, 2.5]
    table = np.array([[math.inf, 1.0], [0.0, 1.0]])
    drawn = np.array([[2, 0], [1, 1], [0, 2], [0, 2]])
    shares = rank_counts(table, drawn, higher_is_better=False)
    assert shares.tolist() == [[0.5, 0.5], [0.5, 0.5]]
