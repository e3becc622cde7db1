"""Everything of one model under one setting over its cases: what is pooled, averaged, resampled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from panmatch.evaluation._case_result import Entry, Level, MaskCounts
from panmatch.evaluation._edge_cases import EdgeCases, settle
from panmatch.evaluation._setting import (
    AREAS,
    PART_AREAS,
    PARTS,
    PLAIN,
    ClassSetting,
    Score,
    Setting,
    metric_scores,
)
from panmatch.matching import (
    LIMBS,
    Tallies,
    Tally,
    carry,
    limbs_to_floats,
    ratio,
    to_limbs,
    units_to_limbs,
)
from panmatch.overlap import Floats, Ints
from panmatch.scoring import CHOICES, Average, Curve, Curves, Metric, Repair, RepairGains, areas_of

_TALLY = 3 + LIMBS
_NEAR = _TALLY
_PARTS = _NEAR + 1
_METRICS = _PARTS + LIMBS
_PER_METRIC = LIMBS + 1  # the sum of the values over matched objects, and their number


@dataclass(frozen=True, slots=True, eq=False)
class CaseCounts:
    """Whole numbers that add up over cases, and the scores that follow from them (D13).

    The same scores are computed for single cases, for their sum and for resamples of them: only
    the shape of the array differs.

    Attributes
    ----------
    counts
        Shape (…, columns): the tally, true positives near the threshold, the summed part quality,
        and for every metric its sum over matched objects and their number.
    metrics
        What was measured.
    has_parts
        Whether part quality counts.
    edge_cases
        What scores are where there is nothing to average, by their names.
    """

    counts: Ints
    metrics: tuple[Metric, ...]
    has_parts: bool
    edge_cases: EdgeCases

    @classmethod
    def of(cls, levels: Sequence[Level | None], edge_cases: EdgeCases) -> CaseCounts:
        """Return a row per case; zeros for a case that lacks the class."""
        places = [i for i, level in enumerate(levels) if level is not None]
        known = [level for level in levels if level is not None]
        metrics = known[0].measurements.metrics
        counts = np.zeros((len(levels), _METRICS + _PER_METRIC * len(metrics)), np.int64)
        counts[places, :_METRICS] = [_row(level) for level in known]
        if metrics:
            matched = [level.measurements.columns["status"] == "matched" for level in known]
            for i, metric in enumerate(metrics):
                start = _METRICS + i * _PER_METRIC
                counts[places, start : start + _PER_METRIC] = _exact_sums(
                    [
                        level.measurements.columns[metric.name][rows]
                        for level, rows in zip(known, matched, strict=True)
                    ]
                )
        has_parts = any(level.part_tally is not None for level in known)
        return cls(counts, metrics, has_parts, edge_cases)

    @property
    def tallies(self) -> Tallies:
        """Counts with summed IoU."""
        return Tallies(self.counts[..., :_TALLY])

    @property
    def part_tallies(self) -> Tallies:
        """Counts with summed part quality (D9)."""
        return self._tallies_with(self.counts[..., _PARTS:_METRICS])

    @property
    def near_threshold(self) -> Ints:
        """True positives that a threshold higher by 0.05 would lose."""
        return self.counts[..., _NEAR]

    def n_cases(self, _: Score) -> int:
        """Return in how many cases the class occurs."""
        return int(np.count_nonzero(self.tallies.occurs))

    def sum(self) -> CaseCounts:
        """Return the sum over cases."""
        return self._with(self.counts.sum(axis=0))

    def weighted(self, weights: Ints) -> CaseCounts:
        """Return the sums in which case i counts ``weights[:, i]`` times."""
        return self._with(np.tensordot(weights, self.counts, axes=1))

    def scores(self) -> dict[Score, Floats]:
        """Return all scores at the threshold."""
        found = {score: getattr(self.tallies, score.name) for score in PLAIN}
        if self.has_parts:
            found |= {
                score: getattr(self.part_tallies, score.name.removeprefix("part_"))
                for score in PARTS
            }
        for i, metric in enumerate(self.metrics):
            if metric_scores(metric)[0] not in found:  # by IoU they are there already
                found |= self._metric_scores(metric, _METRICS + i * _PER_METRIC)
        return self.settle(found)

    def settle(self, scores: Mapping[Score, Floats]) -> dict[Score, Floats]:
        """Return scores of these counts with the values of edge cases."""
        return settle(scores, self.edge_cases, self.counts[..., :3])

    def _metric_scores(self, metric: Metric, start: int) -> dict[Score, Floats]:
        limbs, count = self.counts[..., start : start + LIMBS], self.counts[..., start + LIMBS]
        scores = metric_scores(metric)
        if not metric.is_share:
            return {scores[0]: ratio(limbs_to_floats(limbs), count)}
        tallies = self._tallies_with(limbs)
        return {scores[0]: tallies.sq, scores[1]: tallies.pq}

    def _tallies_with(self, limbs: Ints) -> Tallies:
        return Tallies(np.concatenate([self.counts[..., :3], carry(limbs)], axis=-1))

    def _with(self, counts: Ints) -> CaseCounts:
        return replace(self, counts=counts)


@dataclass(frozen=True, eq=False)
class CaseSeries:
    """One model under one setting."""

    model: str  # what the cases have in common
    setting: Setting
    cases: tuple[str, ...]  # names of the model's cases
    # What was found in each; None for a case that lacks the class.
    entries: tuple[Entry | None, ...]
    thresholds: tuple[float, ...]  # those of the spec
    edge_cases: EdgeCases = field(default_factory=dict)

    @cached_property
    def counts(self) -> dict[float, CaseCounts]:
        """Counts of all cases at every threshold of the spec."""
        return {
            threshold: CaseCounts.of(
                [None if entry is None else entry.level(threshold) for entry in self.entries],
                self.edge_cases,
            )
            for threshold in self.thresholds
        }

    @cached_property
    def curves(self) -> Curves | None:
        """Curves of PQ of all cases; None where none was asked for."""
        return _stacked([None if entry is None else entry.curve for entry in self.entries])

    @cached_property
    def part_curves(self) -> Curves | None:
        """Curves of PartPQ of all cases; None without parts."""
        return _stacked([None if entry is None else entry.part_curve for entry in self.entries])

    @cached_property
    def pooled_curve(self) -> Curve | None:
        """The curve of all cases together."""
        return None if self.curves is None else self.curves.sum()

    @cached_property
    def pooled_part_curve(self) -> Curve | None:
        """The curve of PartPQ of all cases together."""
        return None if self.part_curves is None else self.part_curves.sum()

    @cached_property
    def case_areas(self) -> dict[Score, Floats]:
        """The areas under the curves of every case, NaN where it lacks the class."""
        found: dict[Score, Floats] = {}
        for scores, curves in (
            (AREAS, [None if entry is None else entry.curve for entry in self.entries]),
            (PART_AREAS, [None if entry is None else entry.part_curve for entry in self.entries]),
        ):
            if any(curve is not None for curve in curves):
                found |= dict(zip(scores, areas_of(curves), strict=False))
        return self.any_counts.settle(found)

    @property
    def any_counts(self) -> CaseCounts:
        """Counts at one threshold: which objects there are is the same at all of them."""
        return self.counts[self.thresholds[0]]

    def budgets(self, threshold: float) -> Tallies:
        """Return the tallies behind the error budget of every case, shape (cases, 8)."""
        levels = [None if entry is None else entry.level(threshold) for entry in self.entries]
        nothing = [Tally(0, 0, 0, 0.0)] * len(CHOICES)
        every = [one for level in levels for one in (level.budget.tallies if level else nothing)]
        return Tallies(Tallies.of(every).counts.reshape(len(levels), len(CHOICES), -1))

    def losses(self, threshold: float) -> dict[Repair, float]:
        """Return which share of 1 − PQ each kind of mistake has, over all cases together."""
        gains = RepairGains(self.budgets(threshold).sum())
        return {repair: float(share) for repair, share in gains.shares.items()}

    def deviations(self, threshold: float) -> dict[str, Floats]:
        """Return the standard deviation of every metric over the matched objects of each case."""
        levels = [None if entry is None else entry.level(threshold) for entry in self.entries]
        places = [i for i, level in enumerate(levels) if level is not None]
        known = [level.measurements for level in levels if level is not None]
        found = {}
        for metric in known[0].metrics:
            values = [one.columns[metric.name][one.columns["status"] == "matched"] for one in known]
            found[metric.name] = np.full(len(levels), np.nan)
            found[metric.name][places] = _deviations(values)
        return found

    def case_scores(self) -> dict[tuple[float | None, Score], Floats]:
        """Return every score of every case by threshold (None for areas) and name."""
        found: dict[tuple[float | None, Score], Floats] = {
            (threshold, score): values
            for threshold, counts in self.counts.items()
            for score, values in counts.scores().items()
        }
        return found | {(None, score): values for score, values in self.case_areas.items()}


@dataclass(frozen=True, slots=True, eq=False)
class ScoreCounts:
    """Sums and counts of such scores, which add up over cases.

    Attributes
    ----------
    counts
        Shape (…, scores, 4): the sum in limbs, and what it is divided by.
    names
        The scores.
    voxels
        Shape (…, 3): voxels of the class in both sides, in the prediction only and in the
        reference only.
    edge_cases
        What scores are where there is nothing to average, by their names.
    """

    counts: Ints
    names: tuple[Score, ...]
    voxels: Ints
    edge_cases: EdgeCases

    def sum(self) -> ScoreCounts:
        """Return the sum over cases."""
        return replace(self, counts=self.counts.sum(axis=0), voxels=self.voxels.sum(axis=0))

    def weighted(self, weights: Ints) -> ScoreCounts:
        """Return the sums in which case i counts ``weights[:, i]`` times."""
        counts, voxels = (np.tensordot(weights, one, axes=1) for one in (self.counts, self.voxels))
        return replace(self, counts=counts, voxels=voxels)

    def scores(self) -> dict[Score, Floats]:
        """Return all scores."""
        sums = limbs_to_floats(carry(self.counts[..., :LIMBS]))
        values = ratio(sums, self.counts[..., LIMBS])
        found = {score: values[..., i] for i, score in enumerate(self.names)}
        return settle(found, self.edge_cases, self.voxels)

    def n_cases(self, score: Score) -> int:
        """Return in how many cases a score is defined."""
        return int(np.count_nonzero(self.counts[:, self.names.index(score), LIMBS]))


@dataclass(frozen=True, eq=False)
class ClassSeries:
    """One class of one model over its cases: scores without a matcher."""

    model: str  # what the cases have in common
    setting: ClassSetting
    cases: tuple[str, ...]  # names of the model's cases
    found: tuple[dict[Score, Average], ...]  # of each; empty for a case that lacks the class
    names: tuple[Score, ...]
    masks: tuple[MaskCounts | None, ...]  # of each; None for a case that lacks the class
    edge_cases: EdgeCases = field(default_factory=dict)

    @cached_property
    def counts(self) -> dict[float | None, ScoreCounts]:
        """Sums and counts of all cases."""
        nothing = Average(0, 0, 0)
        rows = [
            [
                (*units_to_limbs(average.units), average.count)
                for average in (case.get(score, nothing) for score in self.names)
            ]
            for case in self.found
        ]
        shape = len(rows), len(self.names), LIMBS + 1
        counts = np.array(rows, np.int64).reshape(shape)
        masks = [(0, 0, 0) if one is None else (one.tp, one.fp, one.fn) for one in self.masks]
        voxels = np.array(masks, np.int64).reshape(len(rows), 3)
        return {None: ScoreCounts(counts, self.names, voxels, self.edge_cases)}

    def case_scores(self) -> dict[tuple[float | None, Score], Floats]:
        """Return every score of every case."""
        return {(None, score): values for score, values in self.counts[None].scores().items()}


def _row(level: Level) -> list[int]:
    tally, part_tally = level.tally, level.part_tally
    row = [tally.tp, tally.fp, tally.fn, *units_to_limbs(tally.units), level.near_threshold]
    return [*row, *units_to_limbs(0 if part_tally is None else part_tally.units)]


def _deviations(values: Sequence[Floats]) -> Floats:
    """Return the standard deviation of every array, NaN skipped; NaN of nothing.

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


def _exact_sums(values: Sequence[Floats]) -> Ints:
    """Return the sum of every array in limbs, and how many of its values are defined.

    Examples
    --------
    >>> _exact_sums([np.array([1.0, np.nan, 2.5]), np.array([])]).tolist()
    [[3, 1073741824, 0, 2], [0, 0, 0, 0]]
    """
    every = np.concatenate(values)
    defined = ~np.isnan(every)
    terms = np.column_stack([to_limbs(np.where(defined, every, 0.0)), defined])
    running = np.concatenate([np.zeros((1, terms.shape[1]), np.int64), np.cumsum(terms, axis=0)])
    ends = np.cumsum([len(one) for one in values])
    sums = np.diff(running[ends], axis=0, prepend=0)
    return np.concatenate([carry(sums[:, :LIMBS]), sums[:, LIMBS:]], axis=1)


def _stacked(curves: Sequence[Curve | None]) -> Curves | None:
    return Curves.of(curves) if any(curve is not None for curve in curves) else None
