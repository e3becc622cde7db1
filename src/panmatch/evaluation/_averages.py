"""Scores of many cases: pooled, and the mean of cases (D10, D11).

Everything here also works on resampled cases: weights of shape (resamples, cases) say how often
each case counts, and `AverageScore.samples` holds the score of each resample.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from panmatch.evaluation._case_counts import SOME, CaseCounts, ScoreCounts
from panmatch.evaluation._case_result import WORST, CaseResult
from panmatch.evaluation._series import CaseSeries, ClassSeries
from panmatch.evaluation._setting import (
    AREAS,
    MEANS,
    PART_AREAS,
    ClassSetting,
    Score,
    matcher_of,
)
from panmatch.matching import Weights, ratio
from panmatch.overlap import Floats, Ints

Series = CaseSeries | ClassSeries
AveragingName = Literal["pooled", "mean of cases", "mean of clusters"]
Undefined = Literal["skip", "zero", "one"]

SUBSTITUTE = {"skip": math.nan, "zero": 0.0, "one": 1.0}
MOST_STEPS = 2000  # of a curve in its resamples; the area itself is exact
NO_SAMPLES: Floats = np.zeros(0)


@dataclass(frozen=True, slots=True, eq=False)
class AverageScore:
    """One score of a model over all its cases."""

    model: str  # whose score it is, and under which setting
    setting: ClassSetting
    threshold: float | None  # None for areas
    score: Score
    # "pooled": tallies of all cases are summed, then scored. "mean of cases": each case is
    # scored, and the scores averaged. "mean of clusters": scores are averaged within clusters
    # first, so that a patient with many scans counts as much as one with few.
    averaging: AveragingName
    value: float
    cases: int  # how many cases went into it, and how many were skipped as undefined
    skipped: int
    samples: Floats  # the score of every resample of the cases; empty without weights


def average_all(
    series: Iterable[Series],
    undefined: Undefined,
    weights: Weights | None = None,
    *,
    areas: bool = True,
    clusters: Ints | None = None,
) -> list[AverageScore]:
    """Return pooled scores, means of cases, areas, and their means over classes.

    Parameters
    ----------
    series
        Models under settings.
    undefined
        What an undefined score counts as in a mean of cases.
    weights
        How often each case counts in every resample.
    areas
        Whether to include the areas under pooled curves.
    clusters
        The cluster of each case, from 0, to add means of clusters. Cases of a cluster must have the
        same weights.
    """
    given = list(series)
    drawn = [_drawn(one, weights) for one in given]
    rows = [row for one, sums in zip(given, drawn, strict=True) for row in _pooled(one, sums)]
    if areas:
        for one, sums in zip(given, drawn, strict=True):
            rows += _pooled_areas(one, weights, sums)
    rows += [row for one in given for row in _case_means(one, undefined, weights)]
    if clusters is not None:
        rows += [row for one in given for row in _case_means(one, undefined, weights, clusters)]
    return rows + list(class_means(rows))


def class_means(rows: Iterable[AverageScore]) -> Iterator[AverageScore]:
    """Yield means over the classes that occur: of all, of things and of stuff (D10).

    With a single class, or a single kind, there is nothing to average.
    """
    families: dict[object, list[AverageScore]] = {}
    for row in rows:
        key = row.model, matcher_of(row.setting), row.threshold, row.score, row.averaging
        families.setdefault(key, []).append(row)
    for family in families.values():
        several = len({row.setting.kind for row in family}) > 1
        for title, kinds in MEANS.items():
            if len(family) > 1 and (several or len(kinds) > 1):
                yield _mean_row(title, [row for row in family if row.setting.kind in kinds])


def filled(
    score: Score, values: Floats, undefined: Undefined, cases: Sequence[CaseResult]
) -> Floats:
    """Return scores of cases for means, ranks and tests, with undefined ones filled in.

    A case without a prediction that counts as the worst one has the worst value: 0, or for
    distances the image diagonal. Other undefined shares are what the spec says.
    """
    worst = [worst_value(score, case) if case.reason == WORST else math.nan for case in cases]
    values = np.where(np.isnan(values), worst, values)
    if not score.is_share:
        return values
    return np.where(np.isnan(values), SUBSTITUTE[undefined], values)


def worst_value(score: Score, case: CaseResult) -> float:
    """Return the worst value that a score can have in a case; NaN for signed errors.

    Examples
    --------
    >>> case, hd95 = CaseResult("a", shape=(3, 4)), Score("sq_hd95", "hd95", "lower", "length")
    >>> worst_value(Score("pq"), case), worst_value(hd95, case)
    (0.0, 5.0)
    """
    if score.direction == "higher":
        return 0.0
    if score.direction == "zero":
        return math.nan
    spacing = case.spacing or (1.0,) * len(case.shape)
    sides = [n * step for n, step in zip(case.shape, spacing, strict=True)]
    return {"length": math.hypot(*sides), "volume": math.prod(sides)}.get(score.dimension, math.inf)


def mean_of_defined(values: Floats) -> Floats:
    """Return the mean over the first axis, skipping NaN."""
    some = ~np.isnan(values)
    return ratio(np.where(some, values, 0.0).sum(axis=0), some.sum(axis=0))


def resampled_means(values: Floats, weights: Floats | Weights) -> Floats:
    """Return the means of (cases,) or (cases, models) in each resample, skipping NaN.

    A mean over an infinite value is infinite; a mean over both infinities is undefined.

    Parameters
    ----------
    values
        The score of each case.
    weights
        How often each case counts, shape (resamples, cases).

    Examples
    --------
    >>> resampled_means(np.array([[0.5, 1.0], [1.0, np.nan]]), np.array([[1, 1], [0, 2]]))
    array([[0.75, 1.  ],
           [1.  ,  nan]])
    >>> resampled_means(np.array([1.0, np.inf, 2.0]), np.array([[1, 0, 1], [1, 1, 1]]))
    array([1.5, inf])
    """
    return _means_of_columns([values], weights)[0]


def _means_of_columns(columns: Sequence[Floats], weights: Floats | Weights) -> list[Floats]:
    """Return the means of several scores in each resample; weights become floats only once."""
    size = max(1, SOME // max(weights.shape[1], 1))
    found: list[list[Floats]] = [[] for _ in columns]
    for start in range(0, len(weights), size):
        block = weights[start : start + size].astype(np.float64)
        sizes = block.sum(axis=1) if weights.dtype.kind in "iu" else None  # exact in any order
        for values, means in zip(columns, found, strict=True):
            means.append(_resampled(values, block, sizes))
    return [np.concatenate(means) for means in found]


def _resampled(values: Floats, weights: Floats, sizes: Floats | None) -> Floats:
    """Return the means in some resamples, given how many cases each has, if that is known."""
    some = ~np.isnan(values)
    sums = weights @ np.where(np.isfinite(values), values, 0.0)
    for infinity in (np.inf, -np.inf):  # 0 · ∞ is NaN, but cases that are not drawn do not count
        if (values == infinity).any():
            drawn = weights @ (values == infinity).astype(np.float64) > 0
            sums = np.where(drawn, np.where(sums == -infinity, np.nan, infinity), sums)
    if sizes is not None and values.ndim == 1 and some.all():
        return ratio(sums, sizes)
    return ratio(sums, weights @ some.astype(np.float64))


Drawn = dict[float | None, CaseCounts | ScoreCounts]  # sums of every resample, by threshold


def _drawn(series: Series, weights: Weights | None) -> Drawn:
    if weights is None:
        return {}
    return {threshold: counts.weighted(weights) for threshold, counts in _counts(series)}


def _pooled(series: Series, drawn: Drawn) -> Iterator[AverageScore]:
    for threshold, counts in _counts(series):
        samples = drawn[threshold].scores() if drawn else {}
        for score, value in counts.sum().scores().items():
            occurs = counts.n_cases(score)
            yield AverageScore(
                series.model, series.setting, threshold, score, "pooled", float(value), occurs,
                len(series.cases) - occurs, samples.get(score, NO_SAMPLES),
            )  # fmt: skip


def _counts(series: Series) -> Iterator[tuple[float | None, CaseCounts | ScoreCounts]]:
    yield from series.counts.items()


def _pooled_areas(series: Series, weights: Weights | None, drawn: Drawn) -> Iterator[AverageScore]:
    if isinstance(series, ClassSeries):
        return
    for scores, curves, pooled in (
        (AREAS, series.curves, series.pooled_curve),
        (PART_AREAS, series.part_curves, series.pooled_part_curve),
    ):
        if curves is None or pooled is None:
            continue
        counts, samples = series.any_counts, dict[Score, Floats]()
        if weights is not None:
            resampled = curves.resampled_areas(weights, MOST_STEPS)
            # Which classes occur in a resample does not depend on the threshold.
            any_drawn = next(one for one in drawn.values() if isinstance(one, CaseCounts))
            samples = any_drawn.settle(dict(zip(scores, resampled, strict=False)))
        values = {
            score: np.array(getattr(pooled, score.name.removeprefix("part_"))) for score in scores
        }
        n = curves.occurring
        for score, value in counts.sum().settle(values).items():
            yield AverageScore(
                series.model, series.setting, None, score, "pooled", float(value), n,
                len(series.cases) - n, samples.get(score, NO_SAMPLES),
            )  # fmt: skip


def _case_means(
    series: Series, undefined: Undefined, weights: Weights | None, clusters: Ints | None = None
) -> Iterator[AverageScore]:
    averaging: AveragingName = "mean of cases"
    if clusters is not None:
        averaging = "mean of clusters"
        firsts = np.unique(clusters, return_index=True)[1]
        weights = None if weights is None else weights[:, firsts]
    scores = series.case_scores()
    columns = [
        filled(score, values, undefined, series.results) for (_, score), values in scores.items()
    ]
    if clusters is not None:
        columns = [cluster_means(defined, clusters) for defined in columns]
    every = [NO_SAMPLES] * len(columns) if weights is None else _means_of_columns(columns, weights)
    for (threshold, score), defined, samples in zip(scores, columns, every, strict=True):
        some = ~np.isnan(defined)
        zeroed = np.where(some, defined, 0.0)
        n = int(np.count_nonzero(some))
        yield AverageScore(
            series.model, series.setting, threshold, score, averaging,
            math.fsum(zeroed) / n if n else math.nan, n, len(defined) - n, samples,
        )  # fmt: skip


def cluster_means(values: Floats, clusters: Ints) -> Floats:
    """Return the mean of each cluster of cases, skipping NaN; NaN if nothing is left.

    Examples
    --------
    >>> cluster_means(np.array([0.5, 1.0, np.nan, np.nan]), np.array([0, 0, 0, 1]))
    array([0.75,  nan])
    """
    some, n = ~np.isnan(values), int(clusters.max(initial=-1)) + 1
    sums = np.bincount(clusters[some], values[some], n)
    return ratio(sums, np.bincount(clusters[some], minlength=n))


def _mean_row(title: str, rows: list[AverageScore]) -> AverageScore:
    first = rows[0]
    values = np.array([[row.value] for row in rows])
    return replace(
        first,
        setting=first.setting.mean(title),
        value=float(mean_of_defined(values)[0]),
        cases=max(row.cases for row in rows),
        skipped=min(row.skipped for row in rows),
        samples=mean_of_defined(np.stack([row.samples for row in rows])),
    )
