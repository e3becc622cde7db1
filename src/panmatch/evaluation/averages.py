"""Scores of many cases: pooled, and the mean of cases (D10, D11).

Everything here also runs on resampled cases: with weights of shape (resamples, cases) every case
counts so many times, and `AverageRow.samples` holds the score of each resample.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from panmatch.evaluation.groups import AREAS, COUNTS, CurveGroup, Group, Key, scores_of
from panmatch.overlap import Floats
from panmatch.scoring import all_metrics

AveragingName = Literal["pooled", "mean of cases"]
Undefined = Literal["skip", "zero", "one"]

SUBSTITUTE = {"skip": math.nan, "zero": 0.0, "one": 1.0}
MEANS = {"mean of classes": ("things", "stuff"), "mean of things": ("things",),
         "mean of stuff": ("stuff",)}  # fmt: skip
MOST_STEPS = 2000  # of a curve, for its resamples; the area itself is exact


@dataclass(frozen=True, slots=True, eq=False)
class AverageRow:
    """One score of a model over all its cases.

    Attributes
    ----------
    model, way, threshold
        As in `Group`; the threshold is NaN for areas.
    measure
        Name of the score, such as ``"pq"`` or ``"sq_hd95"``.
    averaging
        ``"pooled"``: tallies of all cases are summed, then scored. ``"mean of cases"``: each case
        is scored, and the scores averaged.
    value
        The score.
    cases, skipped
        How many cases it is made of, and how many more were undefined.
    samples
        The score of every resample of the cases; empty without weights.
    """

    model: str
    way: Key
    threshold: float
    measure: str
    averaging: AveragingName
    value: float
    cases: int
    skipped: int
    samples: Floats


def average_all(
    groups: Iterable[Group],
    curves: Iterable[CurveGroup],
    undefined: Undefined,
    weights: Floats | None = None,
) -> list[AverageRow]:
    """Return pooled scores, means of cases, areas, and their means over classes."""
    rows = [row for group in groups for row in _pooled_rows(group, weights)]
    rows += [row for group in curves for row in _area_rows(group, weights)]
    rows += _case_means(groups, undefined, weights)
    return rows + list(class_means(rows))


def class_means(rows: Iterable[AverageRow]) -> Iterator[AverageRow]:
    """Yield means over the classes that occur: of all, of things and of stuff (D10).

    Where there is a single class, or a single kind, there is nothing to average.
    """
    families: dict[Key, list[AverageRow]] = {}
    for row in rows:
        level = "area" if math.isnan(row.threshold) else row.threshold
        key = row.model, row.way[2:], level, row.measure, row.averaging
        families.setdefault(key, []).append(row)
    for family in families.values():
        several = len({row.way[1] for row in family}) > 1
        for title, kinds in MEANS.items():
            if len(family) > 1 and (several or len(kinds) > 1):
                yield _mean_row(title, [row for row in family if row.way[1] in kinds])


def areas_under(thresholds: Floats, steps: Floats) -> list[Floats]:
    """Return ∫PQ, ∫SQ and ∫RQ over [0, 1) of counts of shape (4, …, steps)."""
    widths = np.diff(thresholds, append=1.0)
    return [score @ widths for score in scores_of(steps)]


def _pooled_rows(group: Group, weights: Floats | None) -> Iterator[AverageRow]:
    sums = {name: np.array([math.fsum(column)]) for name, column in group.columns.items()}
    samples: dict[str, Floats] = {}
    if weights is not None:
        samples = _pooled(group, {name: weights @ of for name, of in group.columns.items()})
    occurs = int(np.count_nonzero(group.occurs))
    for measure, value in _pooled(group, sums).items():
        yield AverageRow(
            group.model, group.way, group.threshold, measure, "pooled", float(value[0]), occurs,
            len(group.occurs) - occurs, samples.get(measure, np.zeros(0)),
        )  # fmt: skip


def _pooled(group: Group, sums: dict[str, Floats]) -> dict[str, Floats]:
    """Return the scores of summed tallies, one for each entry of the sums."""
    tp, fp, fn, quality = (sums[name] for name in COUNTS)
    pq, sq, rq = scores_of(np.stack([tp, fp, fn, quality]))
    found = {"pq": pq, "sq": sq, "rq": rq}
    found |= {"precision": _ratio(tp, tp + fp), "recall": _ratio(tp, tp + fn)}
    for name in group.metrics:
        total = sums[f"total_{name}"]
        if all_metrics()[name].is_share:
            found[f"sq_{name}"] = np.where(tp > 0, _ratio(total, tp), 0.0 * sq)
            found[f"pq_{name}"] = found[f"sq_{name}"] * rq
        else:
            found[f"sq_{name}"] = _ratio(total, sums[f"count_{name}"])
    return found


def _area_rows(group: CurveGroup, weights: Floats | None) -> Iterator[AverageRow]:
    areas = areas_under(group.thresholds, group.summed())
    samples = [np.zeros(0)] * 3
    if weights is not None:
        at = np.linspace(0, len(group.thresholds) - 1, MOST_STEPS).round().astype(np.int64)
        grid = group.thresholds[np.unique(at)]
        samples = areas_under(grid, group.weighted(grid, weights))
    n = len(np.unique(group.case[group.changes[:, :3].any(axis=1)]))
    for measure, value, resampled in zip(AREAS, areas, samples, strict=True):
        yield AverageRow(group.model, group.way, math.nan, measure, "pooled", float(value), n,
                         group.n_cases - n, resampled)  # fmt: skip


def _case_means(
    groups: Iterable[Group], undefined: Undefined, weights: Floats | None
) -> Iterator[AverageRow]:
    seen: set[Key] = set()
    for group in groups:
        for measure, values in group.values.items():
            threshold = math.nan if measure in AREAS else group.threshold
            key = group.model, group.way, measure
            if measure in AREAS and key in seen:
                continue  # the area does not depend on the threshold
            seen.add(key)
            defined = filled(measure, values, undefined)
            some = ~np.isnan(defined)
            zeroed = np.where(some, defined, 0.0)
            n = int(np.count_nonzero(some))
            mean = math.fsum(zeroed) / n if n else math.nan
            samples = np.zeros(0)
            if weights is not None:
                samples = _ratio(weights @ zeroed, weights @ some.astype(np.float64))
            yield AverageRow(group.model, group.way, threshold, measure, "mean of cases", mean, n,
                             len(values) - n, samples)  # fmt: skip


def filled(measure: str, values: Floats, undefined: Undefined) -> Floats:
    """Return scores of cases with undefined ones as the spec wants them; distances stay NaN."""
    metric = all_metrics().get(measure[3:])
    if metric is not None and not metric.is_share:
        return values
    return np.where(np.isnan(values), SUBSTITUTE[undefined], values)


def _mean_row(title: str, rows: list[AverageRow]) -> AverageRow:
    first = rows[0]
    kind = first.way[1] if title != "mean of classes" else ""
    values = np.array([row.value for row in rows])
    samples = np.stack([row.samples for row in rows])
    return replace(
        first,
        way=(title, kind, *first.way[2:]),
        value=float(_mean_of_defined(values[:, np.newaxis])[0]),
        cases=max(row.cases for row in rows),
        skipped=min(row.skipped for row in rows),
        samples=_mean_of_defined(samples),
    )


def _mean_of_defined(values: Floats) -> Floats:
    """Return the mean over the first axis, NaN skipped."""
    some = ~np.isnan(values)
    return _ratio(np.where(some, values, 0.0).sum(axis=0), some.sum(axis=0).astype(np.float64))


def _ratio(part: Floats, whole: Floats | npt.NDArray[np.int64]) -> Floats:
    ratio: Floats = np.divide(part, whole, out=np.full(np.shape(part), np.nan), where=whole > 0)
    return ratio
