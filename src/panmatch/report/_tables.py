"""The tables of a report: scores with intervals, PQ over thresholds, and how models rank."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
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
    unit_text,
)

THRESHOLDS = tuple(round(0.1 * step, 1) for step in range(10))


@dataclass(frozen=True, slots=True)
class Value:
    """A score with its interval; NaN where it is undefined."""

    value: float = math.nan
    low: float = math.nan
    high: float = math.nan


class Averages:
    """All averages of a result with their intervals, found by what they are."""

    def __init__(self, result: Result) -> None:
        self._found: dict[
            tuple[str, ClassSetting, float | None, str, AveragingName], AverageScore
        ] = {}
        self._settings: dict[str, dict[Setting, None]] = {}
        self._scores: dict[str, dict[str, Score]] = {}
        self._class_scores: dict[str, dict[str, Score]] = {}
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
        ends = spread(average)
        return Value(average.value, ends.low, ends.high)


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
            for averaging in get_args(AveragingName)
        )
        rows.append(ClassScoreRow(score, unit_text(score, result.unit), model, pooled, mean))
    return rows


@dataclass(frozen=True, slots=True)
class ShadedValue:
    """A score and the lightness behind it, in percent; text is white on the dark ones."""

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
        return self.share > 0.55


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


@dataclass(frozen=True, slots=True)
class StripPart:
    """Thresholds at which the ranking stays the same, and who leads there."""

    start: float
    stop: float
    order: str
    leader: str  # empty for a tie


@dataclass(frozen=True, slots=True)
class Ranks:
    """How models rank by the headline class, and how much that depends on the matching."""

    class_name: str
    models: tuple[str, ...]
    rankings: dict[Criterion, list[Placing]]
    stability: RankStability  # of all rankings by PQ
    strips: dict[Setting, list[StripPart]]  # who leads by pooled PQ at which threshold
    differences: list[Difference]  # under the first matcher and threshold
    other_differences: list[Difference]
    left_out: Mapping[str, tuple[str, ...]]  # cases without a result, by model


def rank_models(comparison: Comparison) -> Ranks:
    """Return rankings, paired differences and the strips of leaders over the threshold."""
    shown, score = comparison.headline_class, comparison.scores[0]
    criteria = sorted(
        (criterion for criterion in comparison.rankings if _is_shown(criterion, comparison)),
        key=lambda criterion: comparison.scores.index(criterion.score),
    )
    rankings = {
        criterion: comparison.rankings[criterion]
        for criterion in criteria
        if criterion.threshold is not None
    }
    by_pq = {key: placings for key, placings in rankings.items() if key.score == score}
    first = next(iter(by_pq))
    known = set(criteria)
    differences = sorted(
        (pair for pair in comparison.differences if pair.criterion in known),
        key=lambda pair: criteria.index(pair.criterion),
    )
    return Ranks(
        class_name=shown,
        models=comparison.models,
        rankings=rankings,
        stability=comparison.stability(score)[shown],
        strips={
            setting: [_strip_part(part) for part in parts]
            for setting, parts in comparison.over_threshold.items()
        },
        differences=[pair for pair in differences if _is_like(pair.criterion, first)],
        other_differences=[pair for pair in differences if not _is_like(pair.criterion, first)],
        left_out={model: cases for model, cases in comparison.left_out.items() if cases},
    )


def _is_shown(criterion: Criterion, comparison: Comparison) -> bool:
    """Return whether it is about the headline class, or a score that this class does not have.

    Where a single class has parts, there is no mean of PartPQ over classes.
    """
    headline = comparison.headline_class
    known = {key.score for key in comparison.values if key.setting.class_name == headline}
    return criterion.setting.class_name == headline or criterion.score not in known


def _is_like(criterion: Criterion, first: Criterion) -> bool:
    """Return whether it has the same matcher and, unless it is an area, the same threshold."""
    same_matcher = matcher_of(criterion.setting) == matcher_of(first.setting)
    return same_matcher and criterion.threshold in (None, first.threshold)


def _strip_part(part: RankInterval) -> StripPart:
    leads = part.ranks[0] < part.ranks[1]
    return StripPart(part.start, part.stop, order_text(part), part.order[0] if leads else "")
