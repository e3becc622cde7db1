"""Scores of subgroups: by a column of the case table, or by the size of objects."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
import numpy.typing as npt

from panmatch.datasets._case_table import SUBJECTS, case_columns, cluster_of
from panmatch.datasets._outputs import RESAMPLES, SEED, bounds_of
from panmatch.datasets._statistics import FEWEST_CASES, Interval, Resampling, interaction_p
from panmatch.errors import Argument, check_choice
from panmatch.evaluation import (
    CaseCounts,
    CaseResult,
    CaseSeries,
    Level,
    Result,
    Row,
    Score,
    Setting,
    Table,
    filled,
    mean_of_defined,
)
from panmatch.matching import LIMBS, Tallies, to_limbs
from panmatch.overlap import Floats, Ints

SIZE = "size"  # of objects; not a column of the case table
SIZE_BINS = ("small", "medium", "large")
STATUSES = ("matched", "false positive", "missed")
NO_INTERVAL = Interval(math.nan, math.nan)
MOST_GROUPS = 12  # a column with more values is not shown unless it is asked for


@dataclass(frozen=True, slots=True)
class SubgroupScore:
    """A score of one subgroup, or the difference between two models in it."""

    group: str
    cases: int  # that have the score
    value: float  # mean of cases
    interval: Interval
    # The interval that holds for all subgroups together, and so for the worst of them too.
    simultaneous: Interval
    pooled: float = math.nan  # over all objects of the subgroup
    pooled_interval: Interval = NO_INTERVAL


@dataclass(frozen=True, slots=True)
class SubgroupFamily:
    """All subgroups by one column: of one model, or of the difference between two.

    Attributes
    ----------
    setting, threshold, score
        What is scored.
    column
        A column of the case table, or ``"size"``.
    model, second
        The model; for a difference, model − second.
    groups
        The subgroups.
    p_value
        Of the interaction test: whether score, or difference, depends on the subgroup at all.
    """

    setting: Setting
    threshold: float
    score: Score
    column: str
    model: str
    second: str
    groups: tuple[SubgroupScore, ...]
    p_value: float

    @property
    def title(self) -> str:
        """The model, or the two models whose difference this is."""
        return f"{self.model} − {self.second}" if self.second else self.model

    @property
    def worst(self) -> SubgroupScore | None:
        """The subgroup with the worst score among those with an interval; None for differences."""
        known = [one for one in self.groups if one.interval.is_defined]
        if self.second or not known:
            return None
        sign = 1 if self.score.higher_is_better else -1
        return min(known, key=lambda one: sign * one.value)

    @property
    def rows(self) -> list[Row]:
        """The subgroups as rows of a table."""
        who: Row = {**self.setting.columns, "threshold": self.threshold, "measure": self.score.name,
               "column": self.column, "model": self.model, "second": self.second}  # fmt: skip
        return [
            who
            | {
                "group": one.group,
                "cases": one.cases,
                "value": one.value,
                "low": one.interval.low,
                "high": one.interval.high,
                "simultaneous_low": one.simultaneous.low,
                "simultaneous_high": one.simultaneous.high,
                "pooled": one.pooled,
                "pooled_low": one.pooled_interval.low,
                "pooled_high": one.pooled_interval.high,
                "worst": "yes" if one is self.worst else "",
                "p_interaction": self.p_value,
            }
            for one in self.groups
        ]


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """The cases of a subgroup, and what they add to scores."""

    group: str
    results: tuple[CaseResult, ...]
    units: tuple[str, ...]  # cluster of each case
    counts: CaseCounts

    @property
    def cases(self) -> tuple[str, ...]:
        """Names of the cases."""
        return tuple(one.case for one in self.results)


@dataclass(frozen=True, eq=False)
class Subgroups:
    """Scores of subgroups of a result, for every class and model.

    Examples
    --------
    >>> import panmatch as pm
    >>> from panmatch.datasets import describe_cases
    >>> scans = pm.Evaluator("cells")
    >>> for i in range(12):
    ...     found = [[1, 1, 0, 2]] if i % 2 else [[1, 1, 0, 0]]
    ...     case = f"{'ab'[i % 2]}-{i}"
    ...     scans.update(reference=[[1, 1, 0, 2]], prediction=found, case=case)
    >>> by_site = Subgroups(describe_cases(scans.compute(), "{site}-{number}"), "site")
    >>> [(one.group, one.cases, round(one.value, 3)) for one in by_site.families[0].groups]
    [('a', 6, 0.667), ('b', 6, 1.0)]
    """

    result: Result
    column: str
    score: str = "pq"

    def __post_init__(self) -> None:
        known = [*case_columns(self.result.cases), SIZE]
        check_choice(Argument("column", flag="--by"), self.column, known)
        counts = {score.name for one in self.result.series for level in one.counts.values()
                  for score in level.scores()}  # fmt: skip
        check_choice(Argument("score"), self.score, counts)

    @cached_property
    def families(self) -> list[SubgroupFamily]:
        """The subgroups of each model, then the differences of every two, class by class."""
        found = []
        for settings in self._by_class().values():
            parts = {one.model: self._parts(one) for one in settings}
            first = settings[0]
            found += [self._of_model(one, parts[one.model]) for one in settings]
            found += [
                self._of_difference(first, (a, b), (parts[a], parts[b]))
                for a, b in combinations(parts, 2)
            ]
        return [one for one in found if len(one.groups) > 1]

    def table(self) -> Table:
        """Return all subgroups as one table."""
        return Table.of_rows([row for family in self.families for row in family.rows])

    @property
    def _threshold(self) -> float:
        return self.result.spec.thresholds[0]

    @property
    def _score(self) -> Score:
        return self.result.known_scores[self.score]

    def _by_class(self) -> dict[str, list[CaseSeries]]:
        """Return the series of each class under the first matcher."""
        found: dict[str, list[CaseSeries]] = {}
        for one in self.result.series:
            if one.setting.matcher == self.result.spec.matching[0]:
                found.setdefault(one.setting.class_name, []).append(one)
        return found

    def _parts(self, series: CaseSeries) -> list[_Part]:
        if self.column == SIZE:
            return list(self._by_size(series))
        counts = series.counts[self._threshold]
        values = [case.about.get(self.column, "") for case in series.results]
        names = sorted(set(values) - {""}, key=natural_key)
        return [
            self._part(series, name, np.array([value == name for value in values]), counts)
            for name in names
        ]

    def _by_size(self, series: CaseSeries) -> Iterator[_Part]:
        """Yield objects by size: references by their own, false positives by theirs."""
        levels = [None if one is None else one.level(self._threshold) for one in series.entries]
        edges = self._size_edges(series.setting)
        for i, name in enumerate(SIZE_BINS):
            tallies = [_tally_of_size(level, edges, i) for level in levels]
            counts = CaseCounts.of_tallies(
                Tallies(np.stack(tallies)), self.result.spec.edge_columns
            )
            yield self._part(series, _size_name(name, edges, i), counts.tallies.occurs, counts)

    def _size_edges(self, setting: Setting) -> Floats:
        """Return the terciles of the sizes of all references, the same for all models."""
        sizes = [
            _sizes(one.level(self._threshold))
            for series in self.result.series
            if series.setting == setting
            for one in series.entries
            if one is not None
        ]
        every = np.concatenate([np.zeros(0), *sizes])
        return np.quantile(every, [1 / 3, 2 / 3]) if len(every) else np.zeros(2)

    def _part(
        self, series: CaseSeries, group: str, there: npt.NDArray[np.bool_], counts: CaseCounts
    ) -> _Part:
        rows = np.flatnonzero(there)
        cases = [series.results[i] for i in rows]
        column = self.result.spec.averaging.cluster
        units = (
            one.case if column is None else cluster_of(one.case, one.about, column) for one in cases
        )
        return _Part(group, tuple(cases), tuple(units), counts.rows(rows))

    def _case_scores(self, part: _Part) -> Floats:
        values = part.counts.scores()[self._score]
        return filled(self._score, values, self.result.spec.averaging.undefined, part.results)

    def _of_model(self, series: CaseSeries, parts: Sequence[_Part]) -> SubgroupFamily:
        scores = [self._case_scores(part) for part in parts]
        groups = [
            self._group(part, values, len(parts))
            for part, values in zip(parts, scores, strict=True)
        ]
        return self._family(series, "", groups, _p_value(parts, scores))

    def _of_difference(
        self, series: CaseSeries, models: tuple[str, str], parts: tuple[list[_Part], list[_Part]]
    ) -> SubgroupFamily:
        """Compare two models on the cases of each subgroup that both have."""
        others = {part.group: part for part in parts[1]}
        kept, differences, groups = [], [], []
        for part in parts[0]:
            if (other := others.get(part.group)) is None:
                continue
            theirs = dict(zip(other.cases, self._case_scores(other), strict=True))
            mine = self._case_scores(part)
            values = mine - np.array([theirs.get(case, math.nan) for case in part.cases])
            kept.append(part)
            differences.append(values)
            groups.append(self._group(part, values, len(parts[0]), is_difference=True))
        family = self._family(series, models[1], groups, _p_value(kept, differences))
        return SubgroupFamily(
            family.setting, family.threshold, family.score, family.column, models[0], models[1],
            family.groups, family.p_value,
        )  # fmt: skip

    def _group(
        self, part: _Part, values: Floats, n_groups: int, *, is_difference: bool = False
    ) -> SubgroupScore:
        resampling = Resampling.of(
            part.units, self.result.spec.averaging.interval, n_resamples=RESAMPLES, seed=SEED
        )
        low, high = bounds_of(self._score)
        bounds = (low - high, high - low) if is_difference else (low, high)
        alone = resampling.mean_interval(values, bounds=bounds)
        together = 1 - (1 - alone.level) / n_groups
        everywhere = resampling.mean_interval(values, bounds=bounds, level=together)
        n, mean = int(np.count_nonzero(~np.isnan(values))), float(mean_of_defined(values))
        if is_difference:
            return SubgroupScore(part.group, n, mean, alone, everywhere)
        pooled = part.counts.sum().scores()[self._score]
        ends = NO_INTERVAL
        if resampling.n_units >= FEWEST_CASES:
            samples = part.counts.weighted(resampling.weights).scores()[self._score]
            ends = resampling.interval(samples, resampling.n_defined(values), bounds=bounds)
        return SubgroupScore(part.group, n, mean, alone, everywhere, float(pooled), ends)

    def _family(
        self, series: CaseSeries, second: str, groups: Sequence[SubgroupScore], p_value: float
    ) -> SubgroupFamily:
        return SubgroupFamily(
            series.setting, self._threshold, self._score, self.column, series.model, second,
            tuple(groups), p_value,
        )  # fmt: skip


def subgroup_columns(result: Result) -> list[str]:
    """Return the columns worth showing: two or more groups of 2 cases, at most 12, no patients."""
    found = []
    for column in case_columns(result.cases):
        if column in (*SUBJECTS, result.spec.averaging.cluster):
            continue
        of_case = {case.case: case.about.get(column, "") for case in result.with_status("ok")}
        sizes = np.unique([value for value in of_case.values() if value], return_counts=True)[1]
        if 2 <= len(sizes) <= MOST_GROUPS and np.count_nonzero(sizes > 1) >= 2:
            found.append(column)
    return found


def natural_key(text: str) -> tuple[int, float, str]:
    """Return a key that sorts numbers by value, before all other texts.

    Examples
    --------
    >>> sorted(["b", "10", "9", "a"], key=natural_key)
    ['9', '10', 'a', 'b']
    """
    try:
        return 0, float(text), text
    except ValueError:
        return 1, 0.0, text


def _p_value(parts: Sequence[_Part], values: Sequence[Floats]) -> float:
    if len(parts) < 2:
        return math.nan
    groups = np.repeat(np.arange(len(parts)), [len(one) for one in values])
    return interaction_p(np.concatenate(values), groups, [unit for p in parts for unit in p.units])


def _sizes(level: Level) -> Floats:
    """Return the sizes of references."""
    columns = level.measurements.columns
    sizes: Floats = columns["ref_volume"][columns["ref_id"] > 0]
    return sizes


def _tally_of_size(level: Level | None, edges: Floats, place: int) -> Ints:
    """Return the tally of the objects in one size bin, as a row of `Tallies`."""
    if level is None:
        return np.zeros(3 + LIMBS, np.int64)
    columns = level.measurements.columns
    is_ref = columns["ref_id"] > 0
    sizes = np.where(is_ref, columns["ref_volume"], columns["pred_volume"])
    here = np.searchsorted(edges, sizes, side="right") == place
    limbs = to_limbs(level.quality[here & (columns["status"] == "matched")]).sum(axis=0)
    kinds = [np.count_nonzero(here & (columns["status"] == status)) for status in STATUSES]
    tp, fp, fn = (np.array(n, np.int64) for n in kinds)
    return Tallies.of_counts(tp, fp, fn, limbs).counts


def _size_name(name: str, edges: Floats, place: int) -> str:
    """Return the name of a bin with its ends.

    Examples
    --------
    >>> [_size_name(name, np.array([10.0, 25.5]), i) for i, name in enumerate(SIZE_BINS)]
    ['small (< 10)', 'medium (10 to 25.5)', 'large (≥ 25.5)']
    """
    low, high = (f"{edge:.4g}" for edge in edges)
    return f"{name} ({(f'< {low}', f'{low} to {high}', f'≥ {high}')[place]})"
