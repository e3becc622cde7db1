"""One model under one setting over all its cases: the numbers to pool, average and resample.

Series hold only numbers, a few hundred bytes per case. They are built from one block of cases after
another, so the findings of thousands of cases are never in memory at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from panmatch.evaluation._case_counts import CaseCounts, Placed, ScoreCounts, lay_out
from panmatch.evaluation._case_result import CaseResult, Entry, Findings, Level, MaskCounts
from panmatch.evaluation._class_scores import known_class_scores
from panmatch.evaluation._diagnosis import MISTAKES
from panmatch.evaluation._edge_cases import EdgeCases
from panmatch.evaluation._setting import AREAS, PART_AREAS, ClassSetting, Kind, Score, Setting
from panmatch.matching import Tallies, ratio
from panmatch.overlap import Floats, Ints
from panmatch.scoring import (
    CHOICES,
    Average,
    Curve,
    Curves,
    GraphStructure,
    Repair,
    RepairGains,
    areas_of,
)
from panmatch.spec import Spec

BLOCK = 64  # cases whose findings are in memory at once

Bools = npt.NDArray[np.bool_]
T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True, slots=True, eq=False)
class LevelSeries:
    """Matchings at one threshold, a row per case; zeros and NaN for cases that lack the class."""

    counts: CaseCounts
    budget: Tallies  # behind the error budget of all cases together, shape (8,)
    deviations: Mapping[str, Floats]  # of each metric over the matched objects of each case
    gaps: Floats  # how much PQ an optimal solver may have missed; NaN for heuristics

    @classmethod
    def of(cls, levels: Sequence[Level | None], edge_cases: EdgeCases) -> LevelSeries:
        """Collect the matchings of all cases."""
        tallies = [one for level in levels if level is not None for one in level.budget.tallies]
        budgets = Tallies.of(tallies).counts.reshape(len(tallies) // len(CHOICES), len(CHOICES), -1)
        gaps = [np.nan if level is None or level.gap is None else level.gap for level in levels]
        return cls(
            CaseCounts.of(levels, edge_cases),
            Tallies(budgets).sum(),
            _deviations_of(levels),
            np.array(gaps, np.float64),
        )

    @classmethod
    def joined(cls, blocks: Sequence[Placed[LevelSeries]], n_cases: int) -> LevelSeries:
        """Join blocks of cases, given where each starts."""
        return cls(
            CaseCounts.joined([(at, one.counts) for at, one in blocks], n_cases),
            Tallies(np.stack([one.budget.counts for _, one in blocks])).sum(),
            {
                name: lay_out([(at, one.deviations[name]) for at, one in blocks], n_cases, np.nan)
                for name in blocks[0][1].deviations
            },
            lay_out([(at, one.gaps) for at, one in blocks], n_cases, np.nan),
        )


@dataclass(frozen=True, eq=False)
class CaseSeries:
    """One model under one setting.

    Attributes
    ----------
    model, setting
        What the cases have in common.
    results
        The cases of the model.
    there
        Whether each case has the class.
    levels
        The matchings of all cases at each threshold of the spec.
    mistakes
        How many objects of each case are split, merged, missed and spurious.
    curves, part_curves
        PQ and PartPQ over all thresholds; None if the spec does not ask for them, or the class has
        no parts.
    areas, part_areas
        ∫PQ, ∫SQ and ∫RQ of each case, shape (3, cases); for parts without the last one.
    """

    model: str
    setting: Setting
    results: tuple[CaseResult, ...]
    there: Bools
    levels: dict[float, LevelSeries]
    mistakes: Ints
    curves: Curves | None
    part_curves: Curves | None
    areas: Floats
    part_areas: Floats

    @classmethod
    def of(
        cls,
        model: str,
        setting: Setting,
        results: tuple[CaseResult, ...],
        entries: Sequence[Entry | None],
        spec: Spec,
    ) -> CaseSeries:
        """Collect what was found in each case; None for cases that lack the class."""
        curves = [None if entry is None else entry.curve for entry in entries]
        part_curves = [None if entry is None else entry.part_curve for entry in entries]
        ids = [[() if entry is None else getattr(entry.diagnosis, name) for name in MISTAKES]
               for entry in entries]  # fmt: skip
        return cls(
            model,
            setting,
            results,
            np.array([entry is not None for entry in entries], np.bool_),
            {
                threshold: LevelSeries.of(
                    [None if entry is None else entry.level(threshold) for entry in entries],
                    spec.edge_columns,
                )
                for threshold in spec.thresholds
            },
            np.array([[len(one) for one in of_case] for of_case in ids], np.int64),
            _stacked(curves),
            _stacked(part_curves),
            areas_of(curves),
            areas_of(part_curves),
        )

    @classmethod
    def joined(
        cls, results: tuple[CaseResult, ...], blocks: Sequence[Placed[CaseSeries]]
    ) -> CaseSeries:
        """Join blocks of cases, given where each starts."""
        first, n = blocks[0][1], len(results)
        if len(first.there) == n:
            return replace(first, results=results)
        return cls(
            first.model,
            first.setting,
            results,
            lay_out([(at, one.there) for at, one in blocks], n),
            {
                threshold: LevelSeries.joined(
                    [(at, one.levels[threshold]) for at, one in blocks], n
                )
                for threshold in first.levels
            },
            lay_out([(at, one.mistakes) for at, one in blocks], n),
            _joined_curves([(at, one.curves) for at, one in blocks], n),
            _joined_curves([(at, one.part_curves) for at, one in blocks], n),
            lay_out([(at, one.areas.T) for at, one in blocks], n, np.nan).T,
            lay_out([(at, one.part_areas.T) for at, one in blocks], n, np.nan).T,
        )

    @property
    def cases(self) -> tuple[str, ...]:
        """Names of the cases."""
        return tuple(case.case for case in self.results)

    @property
    def entries(self) -> Iterator[Entry | None]:
        """What was found in each case, read one by one; None for cases that lack the class."""
        return (case.entry(self.setting) for case in self.results)

    @property
    def thresholds(self) -> tuple[float, ...]:
        """The thresholds of the spec."""
        return tuple(self.levels)

    @property
    def counts(self) -> dict[float, CaseCounts]:
        """Counts of all cases at each threshold of the spec."""
        return {threshold: level.counts for threshold, level in self.levels.items()}

    @cached_property
    def pooled_curve(self) -> Curve | None:
        """The curve of all cases together."""
        return None if self.curves is None else self.curves.sum()

    @cached_property
    def pooled_part_curve(self) -> Curve | None:
        """The curve of PartPQ of all cases together."""
        return None if self.part_curves is None else self.part_curves.sum()

    @property
    def case_areas(self) -> dict[Score, Floats]:
        """The areas under the curves of each case, NaN if it lacks the class."""
        found: dict[Score, Floats] = {}
        if self.curves is not None:
            found |= dict(zip(AREAS, self.areas, strict=False))
        if self.part_curves is not None:
            found |= dict(zip(PART_AREAS, self.part_areas, strict=False))
        return self.any_counts.settle(found)

    @property
    def any_counts(self) -> CaseCounts:
        """Counts at one threshold; the objects are the same at all thresholds."""
        return next(iter(self.levels.values())).counts

    def losses(self, threshold: float) -> dict[Repair, float]:
        """Return the share of 1 − PQ due to each kind of mistake, over all cases together."""
        gains = RepairGains(self.levels[threshold].budget)
        return {repair: float(share) for repair, share in gains.shares.items()}

    def case_scores(self) -> dict[tuple[float | None, Score], Floats]:
        """Return each score of each case, by threshold (None for areas) and name."""
        found: dict[tuple[float | None, Score], Floats] = {
            (threshold, score): values
            for threshold, counts in self.counts.items()
            for score, values in counts.scores().items()
        }
        return found | {(None, score): values for score, values in self.case_areas.items()}


@dataclass(frozen=True, eq=False)
class ClassSeries:
    """One class of one model over its cases: scores without a matcher."""

    model: str  # what the cases have in common
    setting: ClassSetting
    results: tuple[CaseResult, ...]  # the cases of the model
    there: Bools  # whether each case has the class
    all_counts: ScoreCounts  # sums and counts of all cases

    @classmethod
    def of(
        cls,
        model: str,
        setting: ClassSetting,
        results: tuple[CaseResult, ...],
        scores: Sequence[Mapping[Score, Average]],
        masks: Sequence[MaskCounts | None],
        spec: Spec,
    ) -> ClassSeries:
        """Collect the scores of each case; cases that lack the class have none, and no mask."""
        there = np.array([bool(one) for one in scores], np.bool_)
        names = tuple(known_class_scores(spec).values())
        counts = ScoreCounts.of(scores, names, masks, spec.edge_columns)
        return cls(model, setting, results, there, counts)

    @classmethod
    def joined(
        cls, results: tuple[CaseResult, ...], blocks: Sequence[Placed[ClassSeries]]
    ) -> ClassSeries:
        """Join blocks of cases, given where each starts."""
        first, n = blocks[0][1], len(results)
        if len(first.there) == n:
            return replace(first, results=results)
        counts = ScoreCounts.joined([(at, one.all_counts) for at, one in blocks], n)
        there = lay_out([(at, one.there) for at, one in blocks], n)
        return cls(first.model, first.setting, results, there, counts)

    @property
    def cases(self) -> tuple[str, ...]:
        """Names of the cases."""
        return tuple(case.case for case in self.results)

    @property
    def counts(self) -> dict[float | None, ScoreCounts]:
        """Sums and counts of all cases; they have no threshold."""
        return {None: self.all_counts}

    def case_scores(self) -> dict[tuple[float | None, Score], Floats]:
        """Return each score of each case."""
        return {(None, score): values for score, values in self.all_counts.scores().items()}


Structures = dict[tuple[str, Kind, float], GraphStructure]  # by class, its kind and threshold
ModelSeries = tuple[list[CaseSeries], list[ClassSeries], Structures]


class Each(Protocol):
    """Calls a function with every item, like `map`; perhaps in other processes."""

    def __call__(self, function: Callable[[T], R], items: Iterable[T], /) -> Iterator[R]:
        """Yield what the function returns, in the order of the items."""


def one_by_one(function: Callable[[T], R], items: Iterable[T], /) -> Iterator[R]:
    """Yield what a function returns for every item."""
    return map(function, items)


def series_of(
    model: str, results: Sequence[CaseResult], spec: Spec, each: Each = one_by_one
) -> ModelSeries:
    """Return the series of a model: for each setting, and for scores without a matcher.

    The last are the components of the graphs of all cases together.
    """
    matched: dict[Setting, list[Placed[CaseSeries]]] = {}
    plain: dict[ClassSetting, list[Placed[ClassSeries]]] = {}
    structures: Structures = {}
    starts = range(0, len(results), BLOCK)
    blocks = (tuple(results[start : start + BLOCK]) for start in starts)
    found = each(partial(_series_of_block, model, spec), blocks)
    for start, (case_series, class_series, parts) in zip(starts, found, strict=True):
        for one in case_series:
            matched.setdefault(one.setting, []).append((start, one))
        for other in class_series:
            plain.setdefault(other.setting, []).append((start, other))
        for key, structure in parts.items():
            structures[key] = structures.get(key, GraphStructure()) + structure
    every = tuple(results)
    return (
        [CaseSeries.joined(every, of_setting) for of_setting in matched.values()],
        [ClassSeries.joined(every, of_class) for of_class in plain.values()],
        structures,
    )


def _series_of_block(model: str, spec: Spec, results: tuple[CaseResult, ...]) -> ModelSeries:
    """Return the series of a few cases; which cases they are is known, and left out."""
    found = [case.findings for case in results]
    structures: Structures = {}
    for part in (one for case in found for one in case.structures):
        key = part.class_name, part.kind, part.threshold
        structures[key] = structures.get(key, GraphStructure()) + part.structure
    return (
        list(_case_series(model, found, spec)),
        list(_class_series(model, found, spec)),
        structures,
    )


def _case_series(model: str, found: Sequence[Findings], spec: Spec) -> Iterator[CaseSeries]:
    entries: dict[Setting, list[Entry | None]] = {}
    for i, one in enumerate(found):
        for entry in one.entries:
            entries.setdefault(entry.setting, [None] * len(found))[i] = entry
    for setting, of_setting in entries.items():
        yield CaseSeries.of(model, setting, (), of_setting, spec)


def _class_series(model: str, found: Sequence[Findings], spec: Spec) -> Iterator[ClassSeries]:
    rows: dict[ClassSetting, list[dict[Score, Average]]] = {}
    for i, case in enumerate(found):
        for one in case.class_scores:
            setting = ClassSetting(one.class_name, one.kind)
            rows.setdefault(setting, [{} for _ in found])[i][one.score] = one.average
    masks = [{mask.class_name: mask for mask in case.masks} for case in found]
    for setting, scores in rows.items():
        of_class = [case.get(setting.class_name) for case in masks]
        yield ClassSeries.of(model, setting, (), scores, of_class, spec)


def _deviations_of(levels: Sequence[Level | None]) -> dict[str, Floats]:
    """Return the standard deviation of each metric over the matched objects of each case."""
    places = [i for i, level in enumerate(levels) if level is not None]
    known = [level.measurements for level in levels if level is not None]
    found = {}
    matched = [one.columns["status"] == "matched" for one in known]
    for metric in known[0].metrics:
        values = [one.columns[metric.name][rows] for one, rows in zip(known, matched, strict=True)]
        found[metric.name] = np.full(len(levels), np.nan)
        found[metric.name][places] = _deviations(values)
    return found


def _deviations(values: Sequence[Floats]) -> Floats:
    """Return the standard deviation of each array, skipping NaN; NaN if nothing is left.

    Examples
    --------
    >>> _deviations([np.array([1.0, np.nan, 3.0]), np.array([2.0]), np.array([])])
    array([ 1.,  0., nan])
    """
    every = np.concatenate(values)
    owner = np.repeat(np.arange(len(values)), [len(one) for one in values])
    owner, every = owner[~np.isnan(every)], every[~np.isnan(every)]
    n = np.bincount(owner, minlength=len(values))
    means: Floats = ratio(np.bincount(owner, every, len(values)), n)
    squares = np.bincount(owner, (every - means[owner]) ** 2, len(values))
    spread: Floats = np.sqrt(ratio(squares, n))
    return spread


def _stacked(curves: Sequence[Curve | None]) -> Curves | None:
    return Curves.of(curves) if any(curve is not None for curve in curves) else None


def _joined_curves(blocks: Iterable[Placed[Curves | None]], n_cases: int) -> Curves | None:
    known = [(start, one) for start, one in blocks if one is not None]
    return Curves.joined(known, n_cases) if known else None
