"""Averages over cases with bootstrap intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from panmatch.datasets.statistics import interval, resample
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

    rows = [_columns(row) for model in result.models for row in _averages(result, model)]
    return pd.DataFrame(rows)


def _averages(result: Result, model: str) -> list[AverageRow]:
    n = len(result.evaluated(model))
    weights = resample(n, RESAMPLES, SEED).astype(float) if n > 1 else None
    return average_all(
        [group for group in result.groups if group.model == model],
        [group for group in result.curve_groups if group.model == model],
        result.spec.averaging.undefined,
        weights,
    )


def _columns(row: AverageRow) -> dict[str, Any]:
    columns = average_columns(row)
    found = interval(row.samples if row.cases > 1 else [])
    at = list(columns).index("value") + 1
    items = list(columns.items())
    return dict([*items[:at], ("low", found.low), ("high", found.high), *items[at:]])
