"""Scores over all cases, by model, class, matcher and threshold."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

import panmatch as pm
from panmatch.datasets import RankInterval, ranking_over_threshold
from panmatch.evaluation import AveragingName as Averaging
from panmatch.evaluation import CaseSeries
from studies.grid import THRESHOLDS

TIE = 1e-9  # scores that differ by less are equal


@dataclass(frozen=True, slots=True)
class Lead:
    """Thresholds start ≤ τ < stop at which these models have the highest PQ."""

    start: float
    stop: float
    models: tuple[str, ...]


class Summed:
    """The averages of a result, ready for tables.

    Parameters
    ----------
    result
        Of all cases and models.
    """

    def __init__(self, result: pm.Result) -> None:
        self.result = result
        self.models = result.models
        self.classes = tuple(result.spec.classes)
        self._averages = {
            (one.model, one.setting.class_name, one.setting.label, one.threshold,
             one.score.name, one.averaging): one.value
            for one in result.average_scores
        }  # fmt: skip

    @property
    def ways(self) -> tuple[str, ...]:
        """Labels of the matchers, in the order of the spec."""
        return tuple(matcher.label for matcher in self.result.spec.matching)

    def has_parts(self, kind: str) -> bool:
        """Whether a class is judged by its parts."""
        return bool(self.result.spec.classes[kind].parts)

    def named(self, kind: str, name: str) -> str:
        """Return what a score of a class is called: by its parts, where it has any."""
        return f"Part{name}" if self.has_parts(kind) else name

    def pq(self, model: str, kind: str, way: str, threshold: float, measure: str = "pq") -> float:
        """Return the pooled PQ, SQ or RQ; PartPQ and PartSQ of classes with parts."""
        part = "part_" if self.has_parts(kind) and measure != "rq" else ""
        return self._averages[model, kind, way, threshold, f"{part}{measure}", "pooled"]

    def area(self, model: str, kind: str, way: str, averaging: Averaging = "pooled") -> float:
        """Return the AUTC, pooled or as the mean of cases; PartAUTC of classes with parts."""
        name = "part_autc" if self.has_parts(kind) else "autc"
        return self._averages[model, kind, way, None, name, averaging]

    def counts(self, model: str, kind: str, way: str, threshold: float) -> tuple[int, int, int]:
        """Return TP, FP and FN over all cases."""
        tally = self._series[model, kind, way].counts[threshold].sum().tallies.tally()
        return tally.tp, tally.fp, tally.fn

    def half_life(self, model: str, kind: str, way: str) -> float:
        """Return the threshold from which on PQ is at most half of PQ at 0; NaN where that is 0."""
        curve = self._curve(self._series[model, kind, way])
        low = np.flatnonzero(curve.pq <= curve.pq[0] / 2)
        return float(curve.thresholds[low[0]]) if len(low) and curve.pq[0] > 0 else float("nan")

    def leads(self, kind: str, way: str) -> list[Lead]:
        """Return who has the highest pooled PQ, from τ = 0 to 1, exactly."""
        curves = {
            model: self._curve(self._series[model, kind, way])
            for model in self.models
            if (model, kind, way) in self._series
        }
        parts = ranking_over_threshold(curves)
        return joined(Lead(part.start, part.stop, _first(part)) for part in parts)

    def best(self, kind: str, way: str, threshold: float | None) -> tuple[str, ...]:
        """Return the models with the highest PQ at a threshold, or AUTC where it is None."""
        scores = {
            model: self.area(model, kind, way)
            if threshold is None
            else self.pq(model, kind, way, threshold)
            for model in self.models
        }
        top = max(scores.values())
        return tuple(model for model, score in scores.items() if score >= top - TIE)

    def cells_led(self, kind: str) -> dict[str, int]:
        """Return in how many combinations of the grid each model is best, alone."""
        cells = [self.best(kind, way, tau) for way in self.ways for tau in THRESHOLDS]
        return {model: cells.count((model,)) for model in self.models}

    @cached_property
    def _series(self) -> dict[tuple[str, str, str], CaseSeries]:
        return {
            (one.model, one.setting.class_name, one.setting.label): one
            for one in self.result.series
        }

    def _curve(self, series: CaseSeries) -> pm.Curve:
        by_parts = self.has_parts(series.setting.class_name)
        curve = series.pooled_part_curve if by_parts else series.pooled_curve
        assert curve is not None
        return curve


def joined(leads: Iterable[Lead]) -> list[Lead]:
    """Return leads with neighbours of the same models taken together.

    Examples
    --------
    >>> joined([Lead(0.0, 0.2, ("a",)), Lead(0.2, 0.5, ("a",)), Lead(0.5, 1.0, ("b",))])
    [Lead(start=0.0, stop=0.5, models=('a',)), Lead(start=0.5, stop=1.0, models=('b',))]
    """
    found: list[Lead] = []
    for lead in leads:
        if found and found[-1].models == lead.models:
            lead = Lead(found.pop().start, lead.stop, lead.models)
        found.append(lead)
    return found


def _first(part: RankInterval) -> tuple[str, ...]:
    """Return the models that come first in a ranking, by name.

    Examples
    --------
    >>> _first(RankInterval(0.0, 0.3, ("b", "a", "c"), (1.5, 1.5, 3.0)))
    ('a', 'b')
    """
    ranks = zip(part.order, part.ranks, strict=True)
    return tuple(sorted(model for model, rank in ranks if rank == part.ranks[0]))
