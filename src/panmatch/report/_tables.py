"""The tables of a report: scores with intervals, PQ over thresholds, and how models rank."""

from __future__ import annotations

import math
from collections.abc import Mapping
from colorsys import hls_to_rgb
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import get_args

import numpy as np

from panmatch.datasets import (
    Comparison,
    Criterion,
    Difference,
    Placing,
    RankInterval,
    RankStability,
    averages_with_samples,
    order_text,
    resampling_of,
    spread,
)
from panmatch.evaluation import (
    AverageScore,
    AveragingName,
    ClassSetting,
    Result,
    Score,
    Setting,
    matcher_of,
    metric_scores,
    unit_text,
)
from panmatch.report._selection import find_levels
from panmatch.report._style import luminance
from panmatch.scoring import Repair

THRESHOLDS = tuple(round(0.1 * step, 1) for step in range(10))
HUE, SATURATION = 205, 65  # of shaded values, in degrees and percent
EVEN_CONTRAST = 0.179  # luminance on which white and black text have the same contrast, 4.6 : 1


@dataclass(frozen=True, slots=True)
class Value:
    """A score with its interval; NaN where it is undefined."""

    value: float = math.nan
    low: float = math.nan
    high: float = math.nan
    cases: int = 0  # how many it is made of, and how many more were undefined
    skipped: int = 0


@dataclass(frozen=True, slots=True)
class StructureRow:
    """The components of the graphs of one model: how many of each kind, and their shares."""

    model: str
    counts: list[tuple[int, float]]
    answers: str


def structure_rows(result: Result, class_name: str, threshold: float) -> list[StructureRow]:
    """Return the components of the graph of a class at a threshold, a row per model."""
    rows = []
    for model, found in result.structures.items():
        for (name, _, at), one in found.items():
            if (name, at) == (class_name, threshold):
                counts = list(zip(one.components.values(), one.shares.values(), strict=True))
                answers = ", ".join(one.answers) or "nothing more"
                rows.append(StructureRow(model, counts, answers))
    return rows


class Averages:
    """All averages of a result with their intervals, found by what they are."""

    def __init__(self, result: Result) -> None:
        self._found: dict[
            tuple[str, ClassSetting, float | None, str, AveragingName], AverageScore
        ] = {}
        self._settings: dict[str, dict[Setting, None]] = {}
        self._scores: dict[str, dict[str, Score]] = {}
        self._class_scores: dict[str, dict[str, Score]] = {}
        self._resampling = {model: resampling_of(result, model) for model in result.models}
        for model in result.models:
            for average in averages_with_samples(result, model):
                setting, score = average.setting, average.score
                key = model, setting, average.threshold, score.name, average.averaging
                self._found[key] = average
                if isinstance(setting, Setting):
                    self._settings.setdefault(setting.class_name, {})[setting] = None
                    self._scores.setdefault(setting.class_name, {})[score.name] = score
                else:
                    self._class_scores.setdefault(setting.class_name, {})[score.name] = score

    @property
    def classes(self) -> list[str]:
        """Names of the classes, and of means over classes where there are any."""
        return list(self._settings)

    def settings(self, class_name: str) -> list[Setting]:
        """Return the settings of a class."""
        return list(self._settings[class_name])

    def scores(self, class_name: str) -> dict[str, Score]:
        """Return the scores that a class has, by name."""
        return self._scores[class_name]

    def class_scores(self, class_name: str) -> dict[str, Score]:
        """Return the scores of a class that need no matching, by name."""
        return self._class_scores.get(class_name, {})

    def find(
        self,
        model: str,
        setting: ClassSetting,
        threshold: float | None,
        score: str,
        averaging: AveragingName = "pooled",
    ) -> Value:
        """Return a score; NaN where it is not there. Areas have no threshold."""
        average = self._found.get((model, setting, threshold, score, averaging))
        if average is None:
            return Value()
        ends = spread(average, self._resampling[model])
        return Value(average.value, ends.low, ends.high, average.cases, average.skipped)


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """A model under a setting at a threshold, with a value for every score of the table."""

    setting: Setting
    threshold: float
    model: str
    values: list[Value]


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """Scores of a class: pooled ones, then means of cases (D11, D15)."""

    pooled: list[Score]
    means: list[Score]
    first: list[ScoreRow]  # at the first threshold of the spec
    others: list[ScoreRow]


def score_table(result: Result, averages: Averages, class_name: str) -> ScoreTable:
    """Return the scores of a class, with PartPQ beside PQ where it has parts (D9)."""
    known = averages.scores(class_name)
    names = ("pq", "part_pq", "sq", "part_sq", "rq", "autc", "part_autc")
    pooled = [known[name] for name in names if name in known]
    means = [known[name] for name in names[:2] if name in known]
    rows = []
    for setting, threshold, model in product(
        averages.settings(class_name), result.spec.thresholds, result.models
    ):
        values = [
            averages.find(model, setting, None if score.is_area else threshold, score.name)
            for score in pooled
        ]
        values += [
            averages.find(model, setting, threshold, score.name, "mean of cases") for score in means
        ]
        rows.append(ScoreRow(setting, threshold, model, values))
    first = result.spec.thresholds[0]
    return ScoreTable(
        pooled,
        means,
        [row for row in rows if row.threshold == first],
        [row for row in rows if row.threshold != first],
    )


@dataclass(frozen=True, slots=True)
class ClassScoreRow:
    """A score that needs no matching, of one model: pooled, and the mean of cases."""

    score: Score
    unit: str
    model: str
    pooled: Value
    mean: Value


def class_score_rows(result: Result, averages: Averages, class_name: str) -> list[ClassScoreRow]:
    """Return the scores of a class that need no matching, score by score."""
    rows = []
    kind = averages.settings(class_name)[0].kind
    setting = ClassSetting(class_name, kind)
    for score, model in product(averages.class_scores(class_name).values(), result.models):
        pooled, mean = (
            averages.find(model, setting, None, score.name, averaging)
            for averaging in get_args(AveragingName)[:2]
        )
        rows.append(ClassScoreRow(score, unit_text(score, result.unit), model, pooled, mean))
    return rows


@dataclass(frozen=True, slots=True)
class ShadedValue:
    """A score and the lightness behind it, in percent; text is white where that reads better."""

    value: float

    @property
    def share(self) -> float:
        """The score within [0, 1]; 0 where it is undefined."""
        return 0.0 if math.isnan(self.value) else min(max(self.value, 0.0), 1.0)

    @property
    def lightness(self) -> int:
        """Lightness of the colour behind it."""
        return round(100 - 62 * self.share)

    @property
    def is_dark(self) -> bool:
        """Whether its text must be white."""
        rgb = hls_to_rgb(HUE / 360, self.lightness / 100, SATURATION / 100)
        return luminance(rgb) < EVEN_CONTRAST


@dataclass(frozen=True, slots=True)
class ThresholdRow:
    """A model under a setting: PQ at `THRESHOLDS`, and the area under its curve."""

    setting: Setting
    model: str
    values: list[ShadedValue]
    area: float


def threshold_tables(result: Result, class_name: str) -> dict[str, list[ThresholdRow]]:
    """Return tables of pooled PQ over thresholds, and of PartPQ with parts, by their title."""
    tables: dict[str, list[ThresholdRow]] = {}
    for series in result.series:
        curves = {"": series.pooled_curve, "part_": series.pooled_part_curve}
        for prefix, curve in curves.items():
            if curve is not None and series.setting.class_name == class_name:
                pq, area = result.known_scores[f"{prefix}pq"], result.known_scores[f"{prefix}autc"]
                scores = {pq: curve.sampled(np.array(THRESHOLDS)).pq, area: np.array(curve.autc)}
                scores = series.any_counts.sum().settle(scores)
                values = [ShadedValue(value) for value in scores[pq].tolist()]
                row = ThresholdRow(series.setting, series.model, values, float(scores[area]))
                tables.setdefault(pq.title, []).append(row)
    for rows in tables.values():
        order = list(dict.fromkeys(row.setting for row in rows))
        rows.sort(key=lambda row: order.index(row.setting))
    return tables


def losses_of(result: Result, class_name: str) -> dict[str, dict[Repair, float]]:
    """Return what each kind of mistake costs every model, where that is defined.

    It uses the first matcher at the lowest threshold, pooled over cases. The headline may be a mean
    over classes; other means have no costs.
    """
    threshold = result.spec.thresholds[0]
    if class_name == result.headline_class:
        found = result.losses
    else:
        found = {
            one.model: one.losses(threshold)
            for one in result.series
            if (one.setting.class_name, one.setting.matcher)
            == (class_name, result.spec.matching[0])
        }
    return {
        model: kinds
        for model, kinds in found.items()
        if kinds and not math.isnan(math.fsum(kinds.values()))
    }


@dataclass(frozen=True, slots=True)
class MetricNumbers:
    """How a metric is distributed over the matched objects of a model."""

    metric: str
    unit: str
    model: str
    n: int
    mean: float
    median: float
    q1: float
    q3: float
    p5: float  # percentiles
    p95: float

    @property
    def numbers(self) -> tuple[float, ...]:
        """Mean, median, quartiles, and the 5th and 95th percentile."""
        return self.mean, self.median, self.q1, self.q3, self.p5, self.p95


def metric_numbers(result: Result, class_name: str) -> list[MetricNumbers]:
    """Return every metric of every model under the first matcher and threshold, where defined."""
    first = result.spec.matching[0], result.spec.thresholds[0]
    levels = {model: find_levels(result, model, class_name, *first) for model in result.models}
    rows = []
    for metric, (model, found) in product(result.spec.metric_objects, levels.items()):
        columns = [level.measurements.columns for level in found]
        values = [one[metric.name][one["status"] == "matched"] for one in columns]
        column = np.concatenate([np.zeros(0), *values])
        column = column[~np.isnan(column)]
        if len(column):
            p5, q1, median, q3, p95 = np.quantile(column, (0.05, 0.25, 0.5, 0.75, 0.95)).tolist()
            unit = unit_text(metric_scores(metric)[0], result.unit)
            mean = float(column.mean())
            rows.append(
                MetricNumbers(metric.name, unit, model, len(column), mean, median, q1, q3, p5, p95)
            )
    return rows


@dataclass(frozen=True, slots=True)
class StripPart:
    """Thresholds at which the ranking stays the same, and who leads there."""

    start: float
    stop: float
    order: str
    leader: str  # empty for a tie


@dataclass(frozen=True, slots=True)
class Ranks:
    """How models rank by a class, and how much that depends on the matching."""

    class_name: str
    models: tuple[str, ...]
    rankings: dict[Criterion, list[Placing]]
    stability: RankStability  # of all rankings by PQ
    strips: dict[Setting, list[StripPart]]  # who leads by pooled PQ at which threshold
    differences: list[Difference]  # under the first matcher and threshold
    other_differences: list[Difference]  # of the headline class
    left_out: Mapping[str, tuple[str, ...]]  # cases without a result, by model

    @property
    def first(self) -> list[Placing]:
        """The ranking by PQ under the first matcher and threshold."""
        return next(iter(self.rankings.values()))


class RankTables:
    """The rankings, paired differences and strips of leaders of every class of a comparison."""

    def __init__(self, comparison: Comparison) -> None:
        self._comparison = comparison

    @cached_property
    def _stability(self) -> dict[str, RankStability]:
        return self._comparison.stability(self._comparison.scores[0])

    def _criteria(self, class_name: str) -> list[Criterion]:
        """Return those of a class; for the headline, including scores that it does not have.

        If a single class has parts, there is no mean of PartPQ over classes.
        """
        every = self._comparison.values
        own = [one for one in every if one.setting.class_name == class_name]
        if class_name != self._comparison.headline_class:
            return own
        known = {one.score for one in own}
        return own + [one for one in every if one.score not in known]

    def of(self, class_name: str) -> Ranks | None:
        """Return those of a class; None for a mean over classes that is not compared."""
        comparison, score = self._comparison, self._comparison.scores[0]
        if class_name not in self._stability:
            return None
        criteria = sorted(
            self._criteria(class_name),
            key=lambda criterion: comparison.scores.index(criterion.score),
        )
        rankings = {
            criterion: comparison.rankings[criterion]
            for criterion in criteria
            if criterion.threshold is not None
        }
        first = next(key for key in rankings if key.score == score)
        known = set(criteria)
        differences = sorted(
            (pair for pair in comparison.differences if pair.criterion in known),
            key=lambda pair: criteria.index(pair.criterion),
        )
        is_headline = class_name == comparison.headline_class
        own = {setting.class_name for setting in comparison.over_threshold}
        return Ranks(
            class_name=class_name,
            models=comparison.models,
            rankings=rankings,
            stability=self._stability[class_name],
            strips={
                setting: [_strip_part(part) for part in parts]
                for setting, parts in comparison.over_threshold.items()
                if setting.class_name == class_name or class_name not in own
            },
            differences=[pair for pair in differences if _is_like(pair.criterion, first)],
            other_differences=[
                pair for pair in differences if is_headline and not _is_like(pair.criterion, first)
            ],
            left_out={model: cases for model, cases in comparison.left_out.items() if cases},
        )


def _is_like(criterion: Criterion, first: Criterion) -> bool:
    """Return whether it has the same matcher and, unless it is an area, the same threshold."""
    same_matcher = matcher_of(criterion.setting) == matcher_of(first.setting)
    return same_matcher and criterion.threshold in (None, first.threshold)


def _strip_part(part: RankInterval) -> StripPart:
    leads = part.ranks[0] < part.ranks[1]
    return StripPart(part.start, part.stop, order_text(part), part.order[0] if leads else "")
