"""What belongs together across cases: one class under one way to match, at one threshold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from panmatch.evaluation.columns import Columns, height
from panmatch.overlap import Floats, Ints

WAY = ("class", "kind", "strategy", "solver", "gate", "edge_score", "regions")
COUNTS = ("tp", "fp", "fn", "quality")
AREAS = ("autc", "autc_sq", "autc_rq")
PLAIN = ("pq", "sq", "rq", "precision", "recall")

Key = tuple[Any, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """The scores of all cases of a model for one class, way to match and threshold.

    Attributes
    ----------
    model, way, threshold
        What the cases have in common; `way` has the columns `WAY`.
    columns
        What is summed over cases, shape (cases,) each: tp, fp, fn, quality, true positives near
        the threshold, and for every metric its sum over matched objects and their number; 0 in a
        case without the class.
    values
        Scores by name, shape (cases,); NaN where a case has none.
    """

    model: str
    way: Key
    threshold: float
    columns: dict[str, Floats]
    values: dict[str, Floats]

    @property
    def occurs(self) -> npt.NDArray[np.bool_]:
        """In which cases there is an object of the class on either side."""
        there: npt.NDArray[np.bool_] = sum(self.columns[name] for name in COUNTS[:3]) > 0  # type: ignore[assignment]
        return there

    @property
    def metrics(self) -> list[str]:
        """Metrics that were measured."""
        return [name[3:] for name in self.values if name.startswith("sq_")]


@dataclass(frozen=True, slots=True, eq=False)
class CurveGroup:
    """The curves of all cases of a model for one class and way to match.

    Attributes
    ----------
    model, way
        As in `Group`.
    thresholds
        Where any of the curves has a step, rising.
    case, step, changes
        Change i belongs to a case and a step, and adds to tp, fp, fn and quality; shape (n, 4).
    n_cases
        Number of cases of the model, with or without the class.
    """

    model: str
    way: Key
    thresholds: Floats
    case: Ints
    step: Ints
    changes: Floats
    n_cases: int

    def summed(self) -> Floats:
        """Return tp, fp, fn and quality of all cases together at every step, shape (4, steps)."""
        total = np.zeros((4, len(self.thresholds)))
        for row, change in zip(total, self.changes.T, strict=True):
            np.add.at(row, self.step, change)
        return _settled(np.cumsum(total, axis=1))

    def weighted(self, thresholds: Floats, weights: Floats) -> Floats:
        """Return tp, fp, fn and quality at thresholds, every case counted so many times.

        Parameters
        ----------
        thresholds
            Rising; shape (n,).
        weights
            Shape (resamples, cases).

        Returns
        -------
        Floats
            Shape (4, resamples, n).
        """
        from scipy.sparse import coo_array

        place = np.searchsorted(thresholds, self.thresholds[self.step])
        kept, shape = place < len(thresholds), (len(thresholds), self.n_cases)
        at = place[kept], self.case[kept]
        sums = [
            (coo_array((change[kept], at), shape).tocsr() @ weights.T).T
            for change in self.changes.T
        ]
        return _settled(np.cumsum(np.stack(sums), axis=2))


def scores_of(counts: Floats) -> tuple[Floats, Floats, Floats]:
    """Return PQ, SQ and RQ of tp, fp, fn and quality, shape (4, …); NaN of nothing (D3, D7)."""
    tp, fp, fn, quality = counts
    whole = tp + 0.5 * (fp + fn)
    undefined = np.full(tp.shape, np.nan)
    pq = np.divide(quality, whole, out=undefined.copy(), where=whole > 0)
    rq = np.divide(tp, whole, out=undefined, where=whole > 0)
    sq = np.divide(quality, tp, out=np.where(whole > 0, 0.0, np.nan), where=tp > 0)
    return pq, sq, rq


def group_scores(model: str, tables: list[tuple[Columns, Columns]]) -> list[Group]:
    """Group the score and instance tables of a model's cases."""
    found: dict[Key, Group] = {}
    n = len(tables)
    for at, (scores, instances) in enumerate(tables):
        names = [name for name in scores if name.startswith(("pq_", "sq_"))]
        values = [*PLAIN, *(name for name in AREAS if name in scores), *names]
        metrics = [name[3:] for name in names if name.startswith("sq_")]
        sums = {name: scores[name] for name in (*COUNTS, "near_threshold") if scores}
        sums |= _metric_sums(scores, instances, metrics)
        for row, key in enumerate(_keys(scores, (*WAY, "threshold"))):
            group = found.setdefault(key, Group(model, key[:-1], float(key[-1]), {}, {}))
            for name, column in sums.items():
                group.columns.setdefault(name, np.zeros(n))[at] = column[row]
            for name in values:
                value = _number(scores[name][row])
                group.values.setdefault(name, np.full(n, np.nan))[at] = value
    return list(found.values())


def group_curves(model: str, tables: list[Columns]) -> list[CurveGroup]:
    """Group the curve tables of a model's cases."""
    blocks: dict[Key, list[npt.NDArray[Any]]] = {}
    for at, curves in enumerate(tables):
        if not height(curves):
            continue
        values = np.array([curves[name] for name in ("threshold", *COUNTS)], np.float64)
        keys = list(_keys(curves, WAY))
        starts = np.flatnonzero(values[0] == 0).tolist()  # every curve begins there
        for first, stop in zip(starts, [*starts[1:], len(keys)], strict=True):
            changes = np.diff(values[1:, first:stop], axis=1, prepend=0.0)
            case = np.full((1, stop - first), float(at))
            block = np.concatenate([case, values[:1, first:stop], changes])
            blocks.setdefault(keys[first], []).append(block)
    return [
        _curve_group(model, key, np.concatenate(found, axis=1), len(tables))
        for key, found in blocks.items()
    ]


def _curve_group(model: str, way: Key, table: npt.NDArray[Any], n_cases: int) -> CurveGroup:
    thresholds, step = np.unique(table[1], return_inverse=True)
    case = table[0].astype(np.int64)
    return CurveGroup(model, way, thresholds, case, step, table[2:].T, n_cases)


def _metric_sums(scores: Columns, instances: Columns, metrics: list[str]) -> dict[str, list[float]]:
    """Return for every row of the scores the sum and number of each metric over matched objects.

    Objects stand in the order of the rows of the scores: tp + fn references, then fp others.
    """
    if not metrics:
        return {}
    rows = [sum(counts) for counts in zip(scores["tp"], scores["fp"], scores["fn"], strict=True)]
    row = np.repeat(np.arange(len(rows)), rows)
    matched = np.array(instances.get("status", []), dtype=np.str_) == "matched"
    found: dict[str, list[float]] = {}
    for metric in metrics:
        column = np.array(instances.get(metric, []), np.float64)  # None becomes NaN
        some = matched & ~np.isnan(column)
        found[f"total_{metric}"] = np.bincount(row[some], column[some], len(rows)).tolist()
        found[f"count_{metric}"] = np.bincount(row[some], minlength=len(rows)).tolist()
    return found


def _keys(columns: Columns, names: tuple[str, ...]) -> Iterator[Key]:
    return zip(*(columns[name] for name in names), strict=True) if columns else iter(())


def _number(value: Any) -> float:
    return float("nan") if value is None else float(value)


def _settled(steps: Floats) -> Floats:
    """Return counts as whole numbers again, and no quality where nothing is matched."""
    steps[:3] = np.rint(steps[:3])
    steps[3] = np.where(steps[0] > 0, steps[3], 0.0)
    return steps
