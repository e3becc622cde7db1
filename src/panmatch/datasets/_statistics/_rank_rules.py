"""How challenges turn the scores of cases into one ranking: three rules, in every resample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Literal

import numpy as np
import numpy.typing as npt

from panmatch.datasets._statistics._paired import holm, signed_rank_p
from panmatch.datasets._statistics._ranking import TIE, places
from panmatch.datasets._statistics._resampling import Resampling
from panmatch.evaluation import resampled_means
from panmatch.matching import Weights, ratio
from panmatch.overlap import Floats, Ints

RankMethod = Literal["mean-then-rank", "rank-then-mean", "test-based"]
Aggregate = Literal["mean", "median"]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class RankRule:
    """How models are ranked.

    Attributes
    ----------
    method
        ``"mean-then-rank"``: average the scores of a model over cases, then rank the models.
        ``"rank-then-mean"``: rank the models in every case, then average the ranks.
        ``"test-based"``: count the other models that a model beats significantly, then rank.
    aggregate
        What the first two take over cases: the ``"mean"`` or the ``"median"``.
    alpha
        Significance level of the tests, after Holm's correction over all ordered pairs of models.
    """

    method: RankMethod = "mean-then-rank"
    aggregate: Aggregate = "mean"
    alpha: float = 0.05


@dataclass(frozen=True, slots=True, eq=False)
class RankedScore:
    """A score to rank by.

    Attributes
    ----------
    values
        Shape (cases, models); NaN where undefined.
    higher_is_better
        False for distances.
    weight
        How much it counts beside other scores.
    """

    values: Floats
    higher_is_better: bool = True
    weight: float = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class SignificanceMap:
    """Which models are better than which: one-sided Wilcoxon tests of all ordered pairs.

    Attributes
    ----------
    p_values
        p of row being better than column, shape (models, models); NaN on the diagonal and for
        models without a common case.
    p_holm
        The same, corrected over all ordered pairs by Holm's method.
    """

    p_values: Floats
    p_holm: Floats

    def better(self, alpha: float) -> Floats:
        """Return 1 where row is significantly better than column, 0 elsewhere."""
        return (self.p_holm <= alpha).astype(np.float64)


def min_ranks(scores: Floats, higher_is_better: bool = True) -> Floats:
    """Return 1 plus the number of better models, along the last axis; models with NaN rank last.

    Examples
    --------
    >>> min_ranks(np.array([[0.5, 0.9, 0.5, np.nan], [0.1, 0.1, 0.1, 0.1]]))
    array([[2., 1., 2., 4.],
           [1., 1., 1., 1.]])
    """
    return places(scores, higher_is_better)[0].astype(np.float64) + 1.0


def significance_map(score: RankedScore, clusters: Ints) -> SignificanceMap:
    """Test for every ordered pair of models whether the first is better.

    Parameters
    ----------
    score
        Cases in which one of the two models has no score are left out of their test.
    clusters
        The cluster of each case, as whole numbers.

    Examples
    --------
    >>> table = np.array([[0.9, 0.5], [0.8, 0.6], [0.7, 0.4], [0.9, 0.4], [0.6, 0.3]])
    >>> significance_map(RankedScore(table), np.arange(5)).p_holm
    array([[   nan, 0.0625],
           [1.    ,    nan]])
    """
    n_models = score.values.shape[1]
    found = np.full((n_models, n_models), np.nan)
    for a, b in permutations(range(n_models), 2):
        differences, there = _differences(score, a, b)
        if there.any():
            found[a, b] = signed_rank_p(differences[there], clusters[there], one_sided=True)
    return SignificanceMap(found, holm(found.ravel()).reshape(found.shape))


def rank_points(score: RankedScore, rule: RankRule, clusters: Ints) -> Floats:
    """Return what models are ranked by under one score, shape (models,).

    This is the mean or median score, the mean or median rank, or the share of the other models that
    a model beats significantly.

    Examples
    --------
    >>> score = RankedScore(np.array([[0.9, 0.5], [0.6, 0.7], [0.8, 0.1]]))
    >>> rank_points(score, RankRule("rank-then-mean"), np.arange(3)).round(3)
    array([1.333, 1.667])
    """
    if rule.method != "test-based":
        found: Floats = _averages(score, rule, np.ones((1, len(clusters)), np.int32))[0]
        return found
    tests = significance_map(score, clusters)
    if np.isnan(tests.p_values).all():
        return np.full(len(tests.p_values), np.nan)
    shares: Floats = tests.better(rule.alpha).sum(axis=1) / (len(tests.p_values) - 1)
    return shares


def resampled_points(
    score: RankedScore, rule: RankRule, resampling: Resampling, counts: Weights
) -> Floats:
    """Return what models are ranked by under one score in every resample, (resamples, models).

    In resamples, p-values are approximated by the normal distribution with continuity correction.

    Parameters
    ----------
    counts
        How often each unit counts, shape (resamples, units).
    """
    if rule.method == "test-based":
        return _win_shares(score, rule.alpha, resampling, counts)
    return _averages(score, rule, counts[:, resampling.unit_of])


def _averages(score: RankedScore, rule: RankRule, drawn: Weights) -> Floats:
    """Return the mean or median score or rank of each model, given how often each case counts."""
    table = score.values
    if rule.method == "rank-then-mean":
        table = case_ranks(score)
    return resampled_means(table, drawn) if rule.aggregate == "mean" else medians(table, drawn)


def case_ranks(score: RankedScore) -> Floats:
    """Return the rank of each model in each case.

    A model without a score ranks last. A case in which no model has a score ranks nobody: NaN.
    """
    nobody = np.isnan(score.values).all(axis=1, keepdims=True)
    return np.where(nobody, np.nan, min_ranks(score.values, score.higher_is_better))


def places_by(points: Floats, score: RankedScore, rule: RankRule) -> Floats:
    """Return what a score contributes to the final ranking: ranks, or mean ranks as they are.

    NaN if no model has points.
    """
    if rule.method == "rank-then-mean":
        return points
    up = score.higher_is_better if rule.method == "mean-then-rank" else True
    nobody = np.isnan(points).all(axis=-1, keepdims=True)
    return np.where(nobody, np.nan, min_ranks(points, up))


def combined(places: Sequence[Floats], weights: Sequence[float]) -> Floats:
    """Return the weighted mean over scores, of those that are defined.

    Examples
    --------
    >>> combined([np.array([1.0, 2.0]), np.array([2.0, 1.0])], [3, 1]).tolist()
    [1.25, 1.75]
    """
    stacked = np.stack(places)
    shares = np.reshape(np.asarray(weights, np.float64), (-1,) + (1,) * (stacked.ndim - 1))
    some = ~np.isnan(stacked)
    mean: Floats = ratio((np.where(some, stacked, 0.0) * shares).sum(axis=0),
                         (some * shares).sum(axis=0))  # fmt: skip
    return mean


def final_ranks(points: Floats) -> Floats:
    """Return the ranks by combined points, of which fewer are better."""
    return min_ranks(points, higher_is_better=False)


def medians(table: Floats, drawn: Weights) -> Floats:
    """Return the median over cases in each resample, skipping NaN, shape (resamples, models).

    Examples
    --------
    >>> medians(np.array([[1.0], [5.0], [2.0]]), np.array([[1, 1, 1], [1, 1, 0], [0, 3, 0]]))
    array([[2.],
           [3.],
           [5.]])
    """
    found = np.full((len(drawn), table.shape[1]), np.nan)
    for model, column in enumerate(table.T):
        order = np.argsort(column, kind="stable")
        order = order[~np.isnan(column[order])]
        up_to = np.cumsum(drawn[:, order], axis=1, dtype=np.int64)
        n = up_to[:, -1] if len(order) else np.zeros(len(drawn), np.int64)
        some = n > 0
        middle = [
            column[order][np.argmax(up_to[some] > at[some, np.newaxis], axis=1)]
            for at in ((n - 1) // 2, n // 2)
            if len(order)
        ]
        if middle:
            found[some, model] = (middle[0] + middle[1]) / 2
    return found


def _differences(score: RankedScore, a: int, b: int) -> tuple[Floats, Bools]:
    """Return how much better a is than b in each case, and which cases have both scores."""
    first, second = score.values[:, a], score.values[:, b]
    with np.errstate(invalid="ignore"):  # ∞ − ∞
        found = np.where(first == second, 0.0, first - second)
    if not score.higher_is_better:
        found = -found
    return np.where(np.abs(found) <= TIE, 0.0, found), ~np.isnan(found)


def _win_shares(
    score: RankedScore, alpha: float, resampling: Resampling, counts: Weights
) -> Floats:
    """Return the share of other models that each model beats, in every resample."""
    n_models = score.values.shape[1]
    pairs = [
        (a, b) for a, b in permutations(range(n_models), 2) if _differences(score, a, b)[1].any()
    ]
    wins = np.zeros((len(counts), n_models))
    if not pairs:
        return np.full(wins.shape, np.nan)
    p_values = np.stack(
        [_resampled_p(*_differences(score, a, b), resampling, counts) for a, b in pairs], axis=1
    )
    beaten = np.stack([holm(row) <= alpha for row in p_values])
    for i, (a, _) in enumerate(pairs):
        wins[:, a] += beaten[:, i]
    shares: Floats = wins / (n_models - 1)
    return shares


def _resampled_p(
    differences: Floats, there: Bools, resampling: Resampling, counts: Weights
) -> Floats:
    """Return one-sided p-values of the signed-rank test in every resample.

    Every draw of a unit is a unit of its own, whose cases change their signs together. Equal |d|
    have their mean rank among all that are drawn.
    """
    from scipy.special import erfc

    values, owner = differences[there], resampling.unit_of[there]
    order = np.argsort(np.abs(values), kind="stable")
    values, owner = values[order], owner[order]
    first, last = places(np.abs(values), higher_is_better=False)
    up_to = np.cumsum(counts[:, owner], axis=1, dtype=np.float64)
    up_to = np.concatenate([np.zeros((len(counts), 1)), up_to], axis=1)
    signed = np.sign(values) * (up_to[:, first] + up_to[:, last + 1] + 1) / 2
    if resampling.is_clustered:
        signed = signed @ (owner[:, np.newaxis] == np.arange(counts.shape[1])).astype(np.float64)
        drawn = counts.astype(np.float64)
    else:
        drawn = counts[:, owner].astype(np.float64)
    total, square = (drawn * signed).sum(axis=1), (drawn * signed**2).sum(axis=1)
    spread = np.sqrt(np.where(square > 0, square, 1.0) * 2)
    p: Floats = np.where(square > 0, erfc((total - 1) / spread) / 2, 1.0)
    return p
