"""Parts of a result that reports show: mistakes, and objects under the first way to match."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from panmatch.evaluation import Result
from panmatch.evaluation.columns import Columns
from panmatch.evaluation.rows import matcher_block
from panmatch.overlap import Floats

MISTAKES = {"splits": "split", "merges": "merged", "misses": "missed", "hallucinations": "made up"}


def mistakes(result: Result, model: str, kind: str) -> dict[str, int]:
    """Return the number of objects with each kind of mistake over all cases."""
    sums = dict.fromkeys(MISTAKES, 0)
    for one in result.evaluated(model):
        for row, name in enumerate(one.diagnosis.get("class", ())):
            if name == kind:
                for mistake in MISTAKES:
                    sums[mistake] += len(one.diagnosis[f"{mistake}_ids"][row].split())
    return sums


def metric_values(result: Result, model: str, kind: str, metric: str) -> Floats:
    """Return a metric of all matched objects, under the first strategy and threshold."""
    first = first_rows(result, kind)
    values = [
        one.instances[metric][row]
        for one in result.evaluated(model)
        for row in first(one.instances)
        if one.instances["status"][row] == "matched"
    ]
    found = np.array(values, np.float64)
    return found[~np.isnan(found)]


def reference_sizes(result: Result, model: str, kind: str) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Return the volume of every reference, and whether it is found, as `metric_values` does."""
    first = first_rows(result, kind)
    rows = [
        (one.instances["ref_volume"][row], one.instances["status"][row])
        for one in result.evaluated(model)
        for row in first(one.instances)
        if one.instances["status"][row] != "false positive"
    ]
    found = np.array([status == "matched" for _, status in rows], np.bool_)
    return np.array([volume for volume, _ in rows], np.float64), found


def first_rows(result: Result, kind: str) -> Callable[[Columns], list[int]]:
    """Return what finds the rows of a class under the first strategy and threshold."""
    wanted = matcher_block(result.spec.matching[0]) | {
        "class": kind,
        "threshold": result.spec.thresholds[0],
    }

    def rows(columns: Columns) -> list[int]:
        names = list(wanted)
        keys = zip(*(columns.get(name, ()) for name in names), strict=True)
        chosen = tuple(wanted.values())
        return [at for at, key in enumerate(keys) if key == chosen]

    return rows
