"""One ranking of all models, across scores and classes, as challenges make them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, get_args

import numpy as np

from panmatch.datasets._comparison import Comparison, compare
from panmatch.datasets._criteria import Criterion
from panmatch.datasets._rank_choice import ChosenCriteria, Weighted, choose_criteria, score_names
from panmatch.datasets._statistics import (
    FEWEST_CASES,
    Aggregate,
    RankedScore,
    RankMethod,
    RankRule,
    SignificanceMap,
    combined,
    final_ranks,
    holm,
    kendall_tau,
    places_by,
    rank_points,
    resampled_points,
    significance_map,
)
from panmatch.errors import Argument, OptionError, check_choice
from panmatch.evaluation import Result, Table
from panmatch.overlap import Floats, Ints

if TYPE_CHECKING:
    import pandas as pd

    from panmatch.datasets._rank_left_out import LeftOut


@dataclass(frozen=True, slots=True)
class RankedModel:
    """A model in a ranking.

    Attributes
    ----------
    model
        Its name.
    rank
        1 plus the number of better models.
    points
        What it is ranked by: the weighted mean of its ranks over all criteria. Fewer are better.
    median, low, high
        The median rank over resamples, and the ends of the interval that holds 95 % of them; NaN
        with fewer than 5 cases.
    first_share
        Share of resamples in which no model is better.
    """

    model: str
    rank: int
    points: float
    median: float
    low: float
    high: float
    first_share: float


@dataclass(frozen=True, eq=False)
class Ranking:
    """Models in one ranking, and how stable it is.

    Attributes
    ----------
    comparison
        The models on the cases that all of them have.
    criteria
        What the models are ranked by, a score of a class each, with its weight.
    rule
        How the scores of cases become ranks.
    about
        What is known about each case, by column.

    Examples
    --------
    >>> import panmatch as pm
    >>> models = pm.Evaluator("cells")
    >>> for model, objects in {"a": [[1, 1, 0, 0]], "b": [[1, 1, 0, 2]]}.items():
    ...     models.update(reference=[[1, 1, 0, 2]], prediction=objects, case="x", model=model)
    >>> ranking = pm.rank(models.compute())
    >>> ranking.models, [(one.model, one.rank) for one in ranking.placings]
    (('a', 'b'), [('b', 1), ('a', 2)])
    """

    comparison: Comparison
    criteria: tuple[Weighted, ...]
    rule: RankRule
    about: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def __repr__(self) -> str:
        by = ", ".join(dict.fromkeys(one.criterion.score.title for one in self.criteria))
        return f"Ranking({self.order}; {self.rule.method} by {by}, {len(self.cases)} cases)"

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the models, in the order of the result."""
        return self.comparison.models

    @property
    def cases(self) -> tuple[str, ...]:
        """The cases that all models have."""
        return self.comparison.cases

    @property
    def order(self) -> str:
        """The ranking as text, such as ``"b > a = c"``."""
        text = ""
        for before, one in zip([None, *self.placings], self.placings, strict=False):
            sign = "" if before is None else " = " if before.rank == one.rank else " > "
            text += f"{sign}{one.model}"
        return text

    @cached_property
    def scores(self) -> dict[Criterion, RankedScore]:
        """The scores of the cases for each criterion."""
        return {
            one.criterion: RankedScore(
                self.comparison.values[one.criterion],
                one.criterion.score.higher_is_better,
                one.weight,
            )
            for one in self.criteria
        }

    @cached_property
    def points(self) -> dict[Criterion, Floats]:
        """What models are ranked by under each criterion, in the order of the models.

        The mean or median score, the mean or median rank, or the share of significant wins.
        """
        return {key: rank_points(one, self.rule, self.units) for key, one in self.scores.items()}

    @cached_property
    def criterion_ranks(self) -> dict[Criterion, Floats]:
        """The rank of each model under each criterion alone; NaN if no model has a score."""
        return {
            key: np.where(np.isnan(places), np.nan, final_ranks(places))
            for key, places in self._places.items()
        }

    @cached_property
    def ranks(self) -> Floats:
        """The rank of each model, in the order of the models."""
        return final_ranks(self._total)

    @cached_property
    def bootstrap(self) -> Floats:
        """The rank of each model in every resample, shape (resamples, models).

        There are no resamples with fewer than 5 cases, or clusters.
        """
        resampling = self.comparison.resampling
        if resampling.n_units < FEWEST_CASES:
            return np.empty((0, len(self.models)))
        places = [
            places_by(resampled_points(one, self.rule, resampling, resampling.counts), one,
                      self.rule)
            for one in self.scores.values()
        ]  # fmt: skip
        return final_ranks(combined(places, self._weights))

    @cached_property
    def bootstrap_tau(self) -> Floats:
        """Kendall's τ_b of the ranking and that of every resample; NaN where one ties all."""
        return np.array([kendall_tau(self.ranks, row) for row in self.bootstrap])

    @cached_property
    def placings(self) -> list[RankedModel]:
        """The models by rank."""
        found = []
        for i in np.argsort(self.ranks, kind="stable"):
            drawn = self.bootstrap[:, i]
            median, low, high, first = (math.nan,) * 4
            if len(drawn):
                median, low, high = np.quantile(drawn, [0.5, 0.025, 0.975]).tolist()
                first = float((drawn == 1).mean())
            own = self.models[i], int(self.ranks[i]), float(self._total[i])
            found.append(RankedModel(*own, median, low, high, first))
        return found

    @cached_property
    def rank_shares(self) -> Floats:
        """Share of resamples in which each model has each rank, shape (models, ranks)."""
        n = len(self.models)
        if not len(self.bootstrap):
            return np.full((n, n), np.nan)
        return np.stack([(self.bootstrap == rank).mean(axis=0) for rank in range(1, n + 1)], axis=1)

    @cached_property
    def significance(self) -> dict[Criterion, SignificanceMap]:
        """Which models are significantly better than which, for each criterion."""
        return {key: significance_map(one, self.units) for key, one in self.scores.items()}

    @cached_property
    def p_holm_all(self) -> dict[Criterion, Floats]:
        """One-sided p-values corrected over all ordered pairs of models and all criteria."""
        every = np.stack([one.p_values for one in self.significance.values()])
        adjusted = holm(every.ravel()).reshape(every.shape)
        return dict(zip(self.significance, adjusted, strict=True))

    def with_method(self, method: RankMethod) -> Ranking:
        """Return the ranking of the same models by another method."""
        return replace(self, rule=replace(self.rule, method=method))

    def leave_out(self, what: str = "case") -> list[LeftOut]:
        """Return the rankings without one case, cluster, site, score or class at a time.

        Parameters
        ----------
        what
            ``"case"``, ``"cluster"``, ``"metric"`` (a score), ``"class"``, or a column of the case
            table such as ``"site"``.
        """
        from panmatch.datasets._rank_left_out import rankings_without

        return rankings_without(self, what)

    def on(self, kept: Ints) -> Floats:
        """Return the ranks of the models on some of the cases, given their positions."""
        places = []
        for one in self.scores.values():
            points = rank_points(replace(one, values=one.values[kept]), self.rule,
                                 self.units[kept])  # fmt: skip
            places.append(places_by(points, one, self.rule))
        return final_ranks(combined(places, self._weights))

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return the ranking and its stability as pandas tables."""
        return {name: table.frame() for name, table in self.plain_tables().items()}

    def plain_tables(self, left_out: str | None = None) -> dict[str, Table]:
        """Return the ranking and its stability as plain columns.

        Parameters
        ----------
        left_out
            What to leave out in turn, as for `leave_out`; None for nothing.
        """
        from panmatch.datasets._rank_tables import rank_tables

        return rank_tables(self, left_out)

    @property
    def units(self) -> Ints:
        """The cluster of each case, as whole numbers."""
        return self.comparison.resampling.unit_of

    @property
    def _weights(self) -> list[float]:
        return [one.weight for one in self.criteria]

    @cached_property
    def _places(self) -> dict[Criterion, Floats]:
        return {
            key: places_by(self.points[key], one, self.rule) for key, one in self.scores.items()
        }

    @cached_property
    def _total(self) -> Floats:
        return combined(list(self._places.values()), self._weights)


def rank(
    result: Result,
    by: Sequence[str] = ("pq",),
    *,
    method: RankMethod = "mean-then-rank",
    aggregate: Aggregate = "mean",
    weights: Mapping[str, float] | None = None,
    classes: Sequence[str] = (),
    strategy: str | None = None,
    threshold: float | None = None,
    alpha: float = 0.05,
) -> Ranking:
    """Rank the models of a result, as challenges do, on the cases that all of them have.

    Every score of every class is a criterion. Under each, models are ranked by one of three
    methods. The weighted mean of their ranks over all criteria is ranked again. Models that tie
    share the better rank: 1, 2, 2, 4.

    Parameters
    ----------
    result
        A result of two or more models.
    by
        Names of scores, such as ``"pq"`` and ``"sq_hd95"``. The name of a metric alone, such as
        ``"hd95"``, means SQ by this metric.
    method
        ``"mean-then-rank"`` averages scores over cases and ranks the averages; undefined scores are
        skipped (D11). ``"rank-then-mean"`` ranks the models in each case, a model without a score
        last, and averages these ranks. ``"test-based"`` counts how many other models a model beats
        in a one-sided Wilcoxon signed-rank test, corrected over all ordered pairs by Holm's method.
    aggregate
        The mean or the median over cases, for the first two methods.
    weights
        Weights of scores and classes by name, 1 by default. The weight of a criterion is that of
        its score times that of its class.
    classes
        Names of classes; by default all of them.
    strategy, threshold
        How objects are matched; by default the first of the spec.
    alpha
        Significance level of the tests.

    References
    ----------
    M. Wiesenfarth et al., "Methods and open-source toolkit for analyzing and visualizing challenge
    results", Scientific Reports 11, 2369 (2021), https://doi.org/10.1038/s41598-021-82017-6

    Examples
    --------
    >>> import panmatch as pm
    >>> models = pm.Evaluator("cells")
    >>> for model, objects in {"a": [[1, 1, 0, 2]], "b": [[1, 1, 0, 0]]}.items():
    ...     models.update(reference=[[1, 1, 0, 2]], prediction=objects, case="x", model=model)
    >>> pm.rank(models.compute(), method="rank-then-mean")
    Ranking(a > b; rank-then-mean by PQ, 1 cases)
    """
    check_choice("method", method, get_args(RankMethod))
    check_choice("aggregate", aggregate, get_args(Aggregate))
    if not 0.0 < alpha < 1.0:
        raise OptionError(
            Argument("alpha", alpha), " is not a significance level: pass a number between 0 and 1."
        )
    comparison = compare(result, score_names(result, by))
    chosen = ChosenCriteria(tuple(classes), strategy, threshold, dict(weights or {}))
    about = {case.case: case.about for case in result.cases}
    return Ranking(
        comparison,
        choose_criteria(comparison, result.spec, chosen),
        RankRule(method, aggregate, alpha),
        {case: about[case] for case in comparison.cases},
    )
