"""Scores over all cases, by model, class, way to match and threshold."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from panmatch.evaluation.groups import Key, scores_of

import panmatch as pm
from panmatch.datasets import compare
from panmatch.evaluation.wording import way_title
from panmatch.overlap import Floats
from studies.grid import THRESHOLDS

Averaging = Literal["pooled", "mean of cases"]

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
        self._rows = {
            (row.model, row.way[0], _title(row.way), row.threshold, row.measure, row.averaging):
            row.value for row in result.average_rows
            if row.measure in ("pq", "sq", "rq")
        }  # fmt: skip
        self._areas = {
            (row.model, row.way[0], _title(row.way), row.averaging): row.value
            for row in result.average_rows
            if row.measure == "autc"
        }

    @property
    def ways(self) -> tuple[str, ...]:
        """Titles of the ways to match, in the order of the spec."""
        return tuple(dict.fromkeys(_title(group.way) for group in self.result.groups))

    def pq(self, model: str, kind: str, way: str, threshold: float, measure: str = "pq") -> float:
        """Return the pooled PQ, SQ or RQ."""
        return self._rows[model, kind, way, threshold, measure, "pooled"]

    def area(self, model: str, kind: str, way: str, averaging: Averaging = "pooled") -> float:
        """Return the AUTC, pooled or as the mean of cases."""
        return self._areas[model, kind, way, averaging]

    def counts(self, model: str, kind: str, way: str, threshold: float) -> tuple[int, int, int]:
        """Return TP, FP and FN over all cases."""
        columns = self._groups[model, kind, way, threshold].columns
        tp, fp, fn = (int(columns[name].sum()) for name in ("tp", "fp", "fn"))
        return tp, fp, fn

    def half_life(self, model: str, kind: str, way: str) -> float:
        """Return the threshold from which on PQ is at most half of PQ at 0; NaN where that is 0."""
        thresholds, scores = self._curves[model, kind, way]
        low = np.flatnonzero(scores <= scores[0] / 2)
        return float(thresholds[low[0]]) if len(low) and scores[0] > 0 else float("nan")

    def leads(self, kind: str, way: str) -> list[Lead]:
        """Return who has the highest pooled PQ, from τ = 0 to 1, exactly."""
        return joined(self._intervals[kind, way])

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
        """Return in how many cells of the grid each model is best, alone."""
        cells = [self.best(kind, way, tau) for way in self.ways for tau in THRESHOLDS]
        return {model: cells.count((model,)) for model in self.models}

    @cached_property
    def _groups(self) -> dict[Key, pm.evaluation.groups.Group]:
        return {
            (one.model, one.way[0], _title(one.way), one.threshold): one
            for one in self.result.groups
        }

    @cached_property
    def _curves(self) -> dict[Key, tuple[Floats, Floats]]:
        return {
            (one.model, one.way[0], _title(one.way)): (one.thresholds, scores_of(one.summed())[0])
            for one in self.result.curve_groups
        }

    @cached_property
    def _intervals(self) -> dict[Key, list[Lead]]:
        found: dict[Key, list[Lead]] = {}
        for row in compare(self.result).over_threshold().to_dict("records"):
            way = _title(tuple(row[name] for name in pm.evaluation.groups.WAY))
            lead = Lead(row["start"], row["stop"], _first(row["order"]))
            found.setdefault((row["class"], way), []).append(lead)
        return found


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


def _title(way: Key) -> str:
    return way_title(way)


def _first(order: str) -> tuple[str, ...]:
    """Return the models that come first in a ranking such as ``"b = a > c"``, by name.

    Examples
    --------
    >>> _first("b = a > c")
    ('a', 'b')
    """
    return tuple(sorted(order.split(" > ")[0].split(" = ")))
