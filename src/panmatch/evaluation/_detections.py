"""Scores of detections over all cases of a model: from surfaces, never from tables (D17)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from panmatch.evaluation._case_result import CaseResult, Entry
from panmatch.evaluation._confidences import empty_like, passed_threshold
from panmatch.evaluation._setting import MEANS, ClassSetting, Row, Setting, matcher_of
from panmatch.evaluation._table import Table
from panmatch.evaluation._tables import finished
from panmatch.matching import LIMBS, Matcher, carry
from panmatch.overlap import Ints
from panmatch.scoring import (
    COCO_THRESHOLDS,
    CPM_RATES,
    BestCut,
    Calibration,
    CutCurve,
    Surface,
    add_surfaces,
)

FROC = {f"froc_{rate:g}": rate for rate in CPM_RATES}
AT_THRESHOLD = ("ap", "ap_101", *FROC, "cpm", "best_cut", "best_cut_above", "best_pq", "ece")
OVER_THRESHOLDS = ("map", "map_101", "ar")
OVER_CLASSES = ("ap", "ap_101", *FROC, "cpm", *OVER_THRESHOLDS)  # those that classes can average
CURVE_COLUMNS = ("tp", "fp", "fn", "precision", "recall", "pq")


@dataclass(frozen=True, slots=True, eq=False)
class CalibrationSeries:
    """Predictions of each case in bins by their confidence."""

    counts: Ints  # shape (cases, bins)
    matched: Ints
    limbs: Ints  # shape (cases, bins, limbs)

    @classmethod
    def of(cls, found: Sequence[Calibration | None]) -> CalibrationSeries:
        """Collect the calibration of each case; None for a case without the class."""
        bins = next(len(one.counts) for one in found if one is not None)
        zeros = np.zeros(bins, np.int64)
        none = Calibration(np.zeros(0), zeros, zeros, np.zeros((bins, LIMBS), np.int64))
        every = [none if one is None else one for one in found]
        return cls(*(np.stack([getattr(one, name) for one in every]) for name in cls.__slots__))

    def pooled(self, weights: Ints | None = None) -> Calibration:
        """Return the sum over cases, in which case i counts ``weights[i]`` times."""
        times = np.ones(len(self.counts), np.int64) if weights is None else weights
        counts, matched, limbs = (
            np.tensordot(times, getattr(self, name), axes=1) for name in self.__slots__
        )
        edges = np.linspace(0.0, 1.0, len(counts) + 1)
        return Calibration(edges, counts, matched, carry(limbs))


@dataclass(frozen=True, eq=False)
class DetectionSeries:
    """One model under one setting, over all its cases, at every cut.

    Attributes
    ----------
    model, setting
        What the cases have in common; the setting has no cut.
    surface
        The sum of the surfaces of all cases, also of those that lack the class.
    calibrations
        By threshold of the spec; left out if some confidence is not from 0 to 1.
    thresholds
        Those of the spec.
    """

    model: str
    setting: Setting
    surface: Surface
    calibrations: dict[float, CalibrationSeries]
    thresholds: tuple[float, ...]
    _curves: dict[float, CutCurve] = field(default_factory=dict, repr=False)

    @property
    def matcher(self) -> Matcher:
        """How objects are matched."""
        return self.setting.matcher

    @property
    def n_cases(self) -> int:
        """Number of cases, with or without the class."""
        return self.surface.n_cases

    def over_cuts(self, threshold: float) -> CutCurve:
        """Return the tallies at a threshold over all cuts."""
        if threshold not in self._curves:
            asked = passed_threshold(self.matcher, threshold)
            self._curves[threshold] = self.surface.over_cuts(asked)
        return self._curves[threshold]

    def best_cut(self, threshold: float) -> BestCut | None:
        """Return the cuts with the highest PQ; None if no cut has a PQ above 0."""
        curve = self.over_cuts(threshold)
        return curve.best() if (curve.tp > 0).any() else None

    def scores_at(self, threshold: float) -> dict[str, float]:
        """Return the scores at a threshold, by name."""
        curve, best = self.over_cuts(threshold), self.best_cut(threshold)
        froc, calibrated = curve.froc(), self.calibrations.get(threshold)
        found = {
            "ap": curve.average_precision(),
            "ap_101": curve.average_precision("101-point"),
            **{name: froc.at(rate) for name, rate in FROC.items()},
            "cpm": froc.cpm,
            "best_cut": math.nan if best is None else best.high,
            "best_cut_above": math.nan if best is None or best.low == -math.inf else best.low,
            "best_pq": math.nan if best is None else best.tally.pq,
        }
        return found | ({} if calibrated is None else {"ece": calibrated.pooled().ece})

    @cached_property
    def overall(self) -> dict[str, float]:
        """The scores over the thresholds 0.5, 0.55 … 0.95, by name."""
        curves = [self.over_cuts(threshold) for threshold in COCO_THRESHOLDS]
        return {
            "map": _mean([one.average_precision() for one in curves]),
            "map_101": _mean([one.average_precision("101-point") for one in curves]),
            "ar": _mean([one.at(-math.inf).recall for one in curves]),
        }


@dataclass(frozen=True, slots=True)
class DetectionScore:
    """One score of the detections of a model, pooled over its cases."""

    model: str
    setting: ClassSetting
    threshold: float | None  # None for scores over 0.5, 0.55 … 0.95
    measure: str
    value: float
    cases: int

    @property
    def columns(self) -> Row:
        """A row of a table."""
        return {
            "model": self.model,
            **self.setting.columns,
            "threshold": math.nan if self.threshold is None else self.threshold,
            "measure": self.measure,
            "value": self.value,
        }


def detection_series(model: str, cases: Sequence[CaseResult]) -> list[DetectionSeries]:
    """Return the series of a model; empty without confidences.

    Cases are read one after the other, and only their surfaces are kept.
    """
    entries: dict[Setting, dict[int, tuple[Surface, dict[float, Calibration | None]]]] = {}
    for place, case in enumerate(cases):
        for entry in case.entries:
            if entry.surface is not None:
                setting = replace(entry.setting, cut=None)
                found = entry.surface, _calibrations(entry)
                entries.setdefault(setting, {})[place] = found
    return [_series(model, setting, found, len(cases)) for setting, found in entries.items()]


def _calibrations(entry: Entry) -> dict[float, Calibration | None]:
    return {level.threshold: level.calibration for level in entry.levels}


def _series(
    model: str,
    setting: Setting,
    found: dict[int, tuple[Surface, dict[float, Calibration | None]]],
    n_cases: int,
) -> DetectionSeries:
    first, levels = next(iter(found.values()))
    nothing = empty_like(first)
    places = range(n_cases)
    surfaces = [found[place][0] if place in found else nothing for place in places]
    calibrations = {
        threshold: CalibrationSeries.of(
            [found[place][1][threshold] if place in found else None for place in places]
        )
        for threshold in levels
        if all(of_case[threshold] is not None for _, of_case in found.values())
    }
    pooled = add_surfaces(surfaces)
    return DetectionSeries(model, setting, pooled, calibrations, tuple(levels))


def detection_scores(series: Iterable[DetectionSeries]) -> Iterator[DetectionScore]:
    """Yield the scores of each series, then their means over classes."""
    found = []
    for one in series:
        levels = {threshold: one.scores_at(threshold) for threshold in one.thresholds}
        for threshold, scores in (*levels.items(), (None, one.overall)):
            for measure, value in scores.items():
                found.append(
                    DetectionScore(one.model, one.setting, threshold, measure, value, one.n_cases)
                )
    yield from found
    for family in families(found):
        yield replace(family[0], setting=mean_setting(family[0]), value=_mean_of(family))


def families(scores: Iterable[DetectionScore]) -> list[list[DetectionScore]]:
    """Return the scores of several classes that a mean over classes averages."""
    found: dict[object, list[DetectionScore]] = {}
    for one in scores:
        if one.measure in OVER_CLASSES and not one.setting.is_mean:
            key = one.model, matcher_of(one.setting), one.threshold, one.measure
            found.setdefault(key, []).append(one)
    return [family for family in found.values() if len(family) > 1]


def mean_setting(one: DetectionScore) -> ClassSetting:
    """Return the setting of the mean over classes."""
    return one.setting.mean(next(iter(MEANS)))


def _mean_of(family: Sequence[DetectionScore]) -> float:
    """Return the mean over the classes that have references."""
    return _mean([one.value for one in family if not math.isnan(one.value)])


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else math.nan


def detection_table(
    scores: Iterable[DetectionScore],
    cases: Sequence[CaseResult],
    more: Callable[[DetectionScore], Row] = lambda _: {},
) -> Table:
    """Return the scores of detections, one row for each.

    Parameters
    ----------
    more
        Returns further columns of a score.
    """
    rows: list[Row] = [{**one.columns, **more(one), "cases": one.cases} for one in scores]
    return finished(rows, cases, first=("model",))


def pr_table(series: Iterable[DetectionSeries], cases: Sequence[CaseResult]) -> Table:
    """Return the pooled tally at every cut; it applies down to the next cut."""
    rows: list[Row] = []
    for one, who, curve in _curves(series):
        values = {name: getattr(curve, name).tolist() for name in CURVE_COLUMNS}
        for i, cut in enumerate(curve.cuts.tolist()):
            numbers = {name: column[i] for name, column in values.items()}
            rows.append({"model": one.model, **who, "cut": cut, **numbers})
    return finished(rows, cases, first=("model",))


def froc_table(series: Iterable[DetectionSeries], cases: Sequence[CaseResult]) -> Table:
    """Return sensitivity and false positives per case at every cut."""
    rows: list[Row] = []
    for one, who, curve in _curves(series):
        froc = curve.froc()
        columns = (froc.cuts.tolist(), froc.false_positives.tolist(), froc.sensitivity.tolist())
        for cut, rate, share in zip(*columns, strict=True):
            found: Row = {"cut": cut, "fp_per_case": rate, "sensitivity": share}
            rows.append({"model": one.model, **who, **found})
    return finished(rows, cases, first=("model",))


def calibration_table(series: Iterable[DetectionSeries], cases: Sequence[CaseResult]) -> Table:
    """Return the share of matched predictions in each bin of confidences, pooled over cases."""
    rows: list[Row] = []
    for one in series:
        for threshold, found in one.calibrations.items():
            pooled = found.pooled()
            columns = (pooled.edges[:-1], pooled.edges[1:], pooled.counts, pooled.matched,
                       pooled.confidence, pooled.reliability)  # fmt: skip
            names = ("bin_start", "bin_stop", "predictions", "matched", "confidence", "reliability")
            for row in zip(*(column.tolist() for column in columns), strict=True):
                who: Row = {"model": one.model, **one.setting.columns, "threshold": threshold}
                rows.append(who | dict(zip(names, row, strict=True)))
    return finished(rows, cases, first=("model",))


def _curves(
    series: Iterable[DetectionSeries],
) -> Iterator[tuple[DetectionSeries, Row, CutCurve]]:
    for one in series:
        for threshold in one.thresholds:
            who: Row = {**one.setting.columns, "threshold": threshold}
            yield one, who, one.over_cuts(threshold)
