"""What a report shows first: one way to match, one threshold, and every class with its rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from panmatch.datasets.intervals import averages_with_samples, spread
from panmatch.evaluation import Result
from panmatch.evaluation.averages import AverageRow, AveragingName
from panmatch.evaluation.groups import Key


@dataclass(frozen=True, slots=True)
class Value:
    """A score with its interval."""

    value: float
    low: float
    high: float


class Summary:
    """All averages of a result with their intervals, looked up by what they are."""

    def __init__(self, result: Result) -> None:
        self._rows: dict[tuple[str, Key, float | str, str, str], AverageRow] = {}
        for model in result.models:
            for row in averages_with_samples(result, model):
                level = "area" if math.isnan(row.threshold) else row.threshold
                self._rows[model, row.way, level, row.measure, row.averaging] = row

    @property
    def ways(self) -> list[Key]:
        """All ways to match, of every class and of the means over classes."""
        return list(dict.fromkeys(way for _, way, _, _, _ in self._rows))

    @property
    def classes(self) -> list[str]:
        """Names of the classes, and of means over classes where there are any."""
        return list(dict.fromkeys(str(way[0]) for way in self.ways))

    def ways_of(self, kind: str) -> list[Key]:
        """Return the ways to match of a class."""
        return [way for way in self.ways if way[0] == kind]

    def value(
        self,
        model: str,
        way: Key,
        threshold: float | None,
        measure: str,
        averaging: AveragingName = "pooled",
    ) -> Value:
        """Return a score; NaN where it is not there. Areas have no threshold."""
        level: float | str = "area" if threshold is None else threshold
        row = self._rows.get((model, way, level, measure, averaging))
        if row is None:
            return Value(math.nan, math.nan, math.nan)
        found = spread(row)
        return Value(row.value, found.low, found.high)

    def measures(self) -> Sequence[str]:
        """Return the names of all scores."""
        return list(dict.fromkeys(measure for _, _, _, measure, _ in self._rows))
