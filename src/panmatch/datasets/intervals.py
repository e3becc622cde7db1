"""Averages over cases with bootstrap intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from panmatch.datasets.statistics import Interval, interval, resample
from panmatch.evaluation import Result
from panmatch.evaluation.averages import AverageRow, average_all
from panmatch.evaluation.result import average_columns

if TYPE_CHECKING:
    import pandas as pd

RESAMPLES = 2000
SEED = 0


def summary_table(result: Result) -> pd.DataFrame:
    """Return pooled scores and means of cases with 95 % bootstrap intervals over cases.

    Every model is resampled with the same seed, so that models with the same cases see the same
    resamples. With a single case there is nothing to resample, and no interval.
    """
    import pandas as pd

    averages = (averages_with_samples(result, model) for model in result.models)
    return pd.DataFrame([_columns(row) for rows in averages for row in rows])


def averages_with_samples(result: Result, model: str) -> list[AverageRow]:
    """Return the averages of a model with their resamples."""
    n = len(result.evaluated(model))
    weights = resample(n, RESAMPLES, SEED).astype(float) if n > 1 else None
    return average_all(
        [group for group in result.groups if group.model == model],
        [group for group in result.curve_groups if group.model == model],
        result.spec.averaging.undefined,
        weights,
    )


def spread(row: AverageRow) -> Interval:
    """Return the interval of an average; of a single case there is none."""
    return interval(row.samples if row.cases > 1 else [])


def _columns(row: AverageRow) -> dict[str, Any]:
    columns = average_columns(row)
    found = spread(row)
    at = list(columns).index("value") + 1
    items = list(columns.items())
    return dict([*items[:at], ("low", found.low), ("high", found.high), *items[at:]])
