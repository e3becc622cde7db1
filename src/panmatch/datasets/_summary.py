"""Averages over cases with bootstrap intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from panmatch.datasets._statistics import Interval, interval, resample
from panmatch.errors import needs_extra
from panmatch.evaluation import AverageScore, Result, average_all, average_row
from panmatch.labels import Unit

if TYPE_CHECKING:
    import pandas as pd

RESAMPLES = 2000
SEED = 0


def summary_table(result: Result) -> pd.DataFrame:
    """Return pooled scores and means of cases with 95 % bootstrap intervals over cases.

    Every model is resampled with the same seed, so that models with the same cases see the same
    resamples. With a single case there is nothing to resample, and no interval.
    """
    with needs_extra("cli", "Tables"):
        import pandas as pd

    averages = [one for model in result.models for one in averages_with_samples(result, model)]
    return pd.DataFrame([_row(average, result.unit) for average in averages])


def averages_with_samples(result: Result, model: str) -> list[AverageScore]:
    """Return the averages of a model with their resamples."""
    n = len(result.evaluated(model))
    weights = resample(n, RESAMPLES, SEED) if n > 1 else None
    series = [one for one in result.series if one.model == model]
    return average_all(series, result.spec.averaging.undefined, weights)


def spread(average: AverageScore) -> Interval:
    """Return the interval of an average; of a single case there is none."""
    return interval(average.samples if average.cases > 1 else [])


def _row(average: AverageScore, unit: Unit | None) -> dict[str, object]:
    row: dict[str, object] = {}
    for name, value in average_row(average, unit).items():
        row[name] = value
        if name == "value":
            ends = spread(average)
            row |= {"low": ends.low, "high": ends.high}
    return row
