"""Whole numbers of cases that add up, and the scores that follow from them (D13)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from panmatch.evaluation._case_result import Level, MaskCounts
from panmatch.evaluation._edge_cases import EdgeCases, settle
from panmatch.evaluation._setting import PARTS, PLAIN, Score, metric_scores
from panmatch.matching import (
    LIMBS,
    Tallies,
    Weights,
    carry,
    limbs_to_floats,
    ratio,
    to_limbs,
    units_to_limbs,
)
from panmatch.overlap import Floats, Ints
from panmatch.scoring import Average, Metric

T = TypeVar("T")
Placed = tuple[int, T]  # where a block of cases starts among all cases, and the block
Array = TypeVar("Array", bound=npt.NDArray[Any])

EXACT = 2**53  # whole numbers up to here are exact as floats
SOME = 1 << 18  # weights to process at a time

_TALLY = 3 + LIMBS
_NEAR = _TALLY
_PARTS = _NEAR + 1
_METRICS = _PARTS + LIMBS
_PER_METRIC = LIMBS + 1  # the sum of the values over matched objects, and their number


@dataclass(frozen=True, slots=True, eq=False)
class CaseCounts:
    """Whole numbers that add up over cases, and the scores that follow from them (D13).

    The same code scores single cases, their sum and resamples of them: only the shape of the array
    differs.

    Attributes
    ----------
    counts
        Shape (…, columns): the tally, true positives near the threshold, the summed part quality,
        and for each metric its sum over matched objects and their number.
    metrics
        What was measured.
    has_parts
        Whether there is part quality.
    edge_cases
        The values of scores where there is nothing to average, by name.
    """

    counts: Ints
    metrics: tuple[Metric, ...]
    has_parts: bool
    edge_cases: EdgeCases

    @classmethod
    def of(cls, levels: Sequence[Level | None], edge_cases: EdgeCases) -> CaseCounts:
        """Return a row per case, with zeros for a case that lacks the class."""
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

    @classmethod
    def of_tallies(cls, tallies: Tallies, edge_cases: EdgeCases) -> CaseCounts:
        """Return a row per tally, without metrics and parts."""
        counts = np.zeros((*tallies.counts.shape[:-1], _METRICS), np.int64)
        counts[..., :_TALLY] = tallies.counts
        return cls(counts, (), has_parts=False, edge_cases=edge_cases)

    @classmethod
    def joined(cls, blocks: Sequence[Placed[CaseCounts]], n_cases: int) -> CaseCounts:
        """Join blocks of cases, given where each starts; all other cases are zeros."""
        first = blocks[0][1]
        counts = lay_out([(at, one.counts) for at, one in blocks], n_cases)
        has_parts = any(one.has_parts for _, one in blocks)
        return replace(first, counts=counts, has_parts=has_parts)

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
        """True positives that would be lost if the threshold were 0.05 higher."""
        return self.counts[..., _NEAR]

    def n_cases(self, _: Score) -> int:
        """Return the number of cases in which the class occurs."""
        return int(np.count_nonzero(self.tallies.occurs))

    def rows(self, cases: Ints | slice) -> CaseCounts:
        """Return the rows of some cases."""
        return self._with(self.counts[cases])

    def sum(self) -> CaseCounts:
        """Return the sum over cases."""
        return self._with(self.counts.sum(axis=0))

    def weighted(self, weights: Weights) -> CaseCounts:
        """Return the sums in which case i counts ``weights[:, i]`` times."""
        return self._with(weighted_sums(weights, self.counts))

    def scores(self) -> dict[Score, Floats]:
        """Return all scores at the threshold."""
        found = {score: getattr(self.tallies, score.name) for score in PLAIN}
        if self.has_parts:
            found |= {
                score: getattr(self.part_tallies, score.name.removeprefix("part_"))
                for score in PARTS
            }
        for i, metric in enumerate(self.metrics):
            if metric_scores(metric)[0] not in found:  # those by IoU are already there
                found |= self._metric_scores(metric, _METRICS + i * _PER_METRIC)
        return self.settle(found)

    def settle(self, scores: Mapping[Score, Floats]) -> dict[Score, Floats]:
        """Return scores of these counts, with the spec's values in edge cases."""
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


@dataclass(frozen=True, slots=True, eq=False)
class ScoreCounts:
    """Sums and counts of scores that need no matching; they add up over cases.

    Attributes
    ----------
    counts
        Shape (…, scores, 4): the sum in limbs, and its divisor.
    names
        The names of the scores.
    voxels
        Shape (…, 3): voxels of the class on both sides, in the prediction only and in the
        reference only.
    edge_cases
        The values of scores where there is nothing to average, by name.
    """

    counts: Ints
    names: tuple[Score, ...]
    voxels: Ints
    edge_cases: EdgeCases

    @classmethod
    def of(
        cls,
        scores: Sequence[Mapping[Score, Average]],
        names: tuple[Score, ...],
        masks: Sequence[MaskCounts | None],
        edge_cases: EdgeCases,
    ) -> ScoreCounts:
        """Return a row per case, with zeros for a case that lacks the class."""
        nothing = Average(0, 0, 0)
        rows = [
            [
                (*units_to_limbs(average.units), average.count)
                for average in (case.get(score, nothing) for score in names)
            ]
            for case in scores
        ]
        counts = np.array(rows, np.int64).reshape(len(rows), len(names), LIMBS + 1)
        voxels = [(0, 0, 0) if one is None else (one.tp, one.fp, one.fn) for one in masks]
        return cls(counts, names, np.array(voxels, np.int64).reshape(-1, 3), edge_cases)

    @classmethod
    def joined(cls, blocks: Sequence[Placed[ScoreCounts]], n_cases: int) -> ScoreCounts:
        """Join blocks of cases, given where each starts; all other cases are zeros."""
        counts = lay_out([(at, one.counts) for at, one in blocks], n_cases)
        voxels = lay_out([(at, one.voxels) for at, one in blocks], n_cases)
        return replace(blocks[0][1], counts=counts, voxels=voxels)

    def rows(self, cases: slice) -> ScoreCounts:
        """Return the rows of some cases."""
        return replace(self, counts=self.counts[cases], voxels=self.voxels[cases])

    def sum(self) -> ScoreCounts:
        """Return the sum over cases."""
        return replace(self, counts=self.counts.sum(axis=0), voxels=self.voxels.sum(axis=0))

    def weighted(self, weights: Weights) -> ScoreCounts:
        """Return the sums in which case i counts ``weights[:, i]`` times."""
        counts, voxels = (weighted_sums(weights, one) for one in (self.counts, self.voxels))
        return replace(self, counts=counts, voxels=voxels)

    def scores(self) -> dict[Score, Floats]:
        """Return all scores."""
        sums = limbs_to_floats(carry(self.counts[..., :LIMBS]))
        values = ratio(sums, self.counts[..., LIMBS])
        found = {score: values[..., i] for i, score in enumerate(self.names)}
        return settle(found, self.edge_cases, self.voxels)

    def n_cases(self, score: Score) -> int:
        """Return the number of cases in which a score is defined."""
        return int(np.count_nonzero(self.counts[:, self.names.index(score), LIMBS]))


def lay_out(blocks: Sequence[Placed[Array]], n_cases: int, fill: float = 0) -> Array:
    """Return one array of all cases, given blocks of them and where each starts.

    Examples
    --------
    >>> lay_out([(0, np.array([7])), (2, np.array([8, 9]))], 5)
    array([7, 0, 8, 9, 0])
    """
    first = blocks[0][1]
    whole: Array = np.full((n_cases, *first.shape[1:]), fill, first.dtype)  # type: ignore[assignment]
    for start, block in blocks:
        whole[start : start + len(block)] = block
    return whole


def weighted_sums(weights: Weights, counts: Ints) -> Ints:
    """Return the sums in which case i counts ``weights[:, i]`` times.

    With floats this is many times faster, and still exact if no sum exceeds 2^53.

    Examples
    --------
    >>> weighted_sums(np.array([[1, 1], [0, 2]]), np.array([[3, 2**60], [4, 1]])).tolist()
    [[7, 1152921504606846977], [8, 2]]
    """
    flat = counts.reshape(len(counts), -1)
    most = int(np.abs(flat).max(initial=0)) * int(weights.sum(axis=1).max(initial=0))
    kind = np.float64 if most < EXACT else np.int64
    terms, size = flat.astype(kind), max(1, SOME // max(weights.shape[1], 1))
    sums = np.empty((len(weights), flat.shape[1]), np.int64)
    for start in range(0, len(weights), size):
        sums[start : start + size] = weights[start : start + size].astype(kind) @ terms
    return sums.reshape(len(weights), *counts.shape[1:])


def _row(level: Level) -> list[int]:
    tally, part_tally = level.tally, level.part_tally
    row = [tally.tp, tally.fp, tally.fn, *units_to_limbs(tally.units), level.near_threshold]
    return [*row, *units_to_limbs(0 if part_tally is None else part_tally.units)]


def _exact_sums(values: Sequence[Floats]) -> Ints:
    """Return the sum of each array in limbs, and the number of its defined values.

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
