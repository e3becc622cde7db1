"""Results as tables: views for people and other programs, made at the very end.

Nothing is computed from a table, and none is read back. To add a column, add a line to one of the
functions here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from panmatch.evaluation._averages import AverageScore
from panmatch.evaluation._case_result import CaseResult, Entry, Level
from panmatch.evaluation._costly_mistakes import CostlyMistake
from panmatch.evaluation._diagnosis import MISTAKES, Diagnosis
from panmatch.evaluation._series import CaseSeries
from panmatch.evaluation._setting import Cell, Row, Score
from panmatch.evaluation._table import Table
from panmatch.labels import Unit
from panmatch.matching import Tallies, Tally
from panmatch.overlap import Floats, Ints
from panmatch.scoring import CHOICES, REPAIRS, ObjectTable, RepairGains

Columns = dict[str, list[Cell]]

Block = Mapping[str, Cell | list[Cell]]

SIDES = ("ref", "pred")
WHOLE = ["tp", "fp", "fn", *MISTAKES, "near_threshold", "ref_id", "ref_voxels", "pred_voxels",
         "cases", "skipped", "slice_axis", "slice", "components", "references", "predictions",
         "shared_voxels", "matched", "resamples"]  # fmt: skip
CORNER = re.compile(r"((ref|pred)_)?(start|stop)_\d+")


def instance_table(cases: Sequence[CaseResult]) -> Table:
    """Return one row per reference and per false positive; several if settings differ on it.

    ``settings`` lists the strategies and thresholds to which a row applies.
    """
    columns: Columns = {}
    for case in cases:
        classes: dict[str, list[Entry]] = {}
        for entry in case.entries:
            classes.setdefault(entry.setting.class_name, []).append(entry)
        for name, entries in classes.items():
            who: Row = {"case": case.case, "model": case.model, "class": name}
            kind = entries[0].setting.kind
            _append(columns, {**who, "kind": kind, **_distinct_rows(entries), "unit": case.unit})
    return finished(columns, cases, first=("case", "model"), last=("unit",))


def setting_table(cases: Sequence[CaseResult]) -> Table:
    """Return one row per reference and per false positive, for each strategy and threshold."""
    columns: Columns = {}
    for case in cases:
        for entry in case.entries:
            for level in entry.levels:
                block = {**_instance_columns(level), "unit": case.unit}
                who: Row = {"case": case.case, "model": case.model, **entry.setting.columns}
                _append(columns, {**who, "threshold": level.threshold, **block})
    return finished(columns, cases, first=("case", "model"), last=("unit",))


def curve_table(cases: Sequence[CaseResult]) -> Table:
    """Return the exact steps of each curve; each applies from its threshold up to the next."""
    who: list[Row] = []
    steps: list[Floats] = []
    counts: list[Ints] = []
    part_counts: list[Ints] = []  # zeros, which score as undefined, if a class has no parts
    for case in cases:
        for entry in case.entries:
            if entry.curve is None:
                continue
            who.append({"case": case.case, "model": case.model, **entry.setting.columns})
            at = entry.curve.thresholds
            if entry.part_curve is not None:
                at = np.union1d(at, entry.part_curve.thresholds)
            steps.append(at)
            counts.append(entry.curve.sampled(at).counts)
            by_parts = None if entry.part_curve is None else entry.part_curve.sampled(at).counts
            part_counts.append(np.zeros_like(counts[-1]) if by_parts is None else by_parts)
    if not who:
        return finished({}, cases, first=("case", "model"))
    lengths = [len(one) for one in steps]
    columns: Columns = {
        name: [one[name] for one, n in zip(who, lengths, strict=True) for _ in range(n)]
        for name in who[0]
    }
    tallies, parts = Tallies(np.concatenate(counts)), Tallies(np.concatenate(part_counts))
    columns["threshold"] = np.concatenate(steps).tolist()
    for name in ("tp", "fp", "fn", "quality", "pq", "sq", "rq"):
        columns[name] = getattr(tallies, name).tolist()
    if parts.occurs.any():
        for name in ("quality", "pq", "sq"):
            values = np.where(parts.occurs, getattr(parts, name), np.nan)
            columns[f"part_{name}"] = values.tolist()
    return finished(columns, cases, first=("case", "model"))


def diagnosis_table(cases: Sequence[CaseResult]) -> Table:
    """Return the ids of split, merged, missed and spurious objects, per case and class."""
    rows: dict[tuple[str, str, str], Row] = {}
    for case in cases:
        for entry in case.entries:
            ids = {f"{name}_ids": _text(getattr(entry.diagnosis, name)) for name in MISTAKES}
            rows[case.model, case.case, entry.setting.class_name] = {
                "case": case.case,
                "model": case.model,
                "class": entry.setting.class_name,
                "kind": entry.setting.kind,
                **ids,
            }
    return finished(list(rows.values()), cases, first=("case", "model"))


def budget_table(cases: Sequence[CaseResult], series: Sequence[CaseSeries]) -> Table:
    """Return what each kind of mistake costs: pooled over the cases of each model, then per case.

    Parameters
    ----------
    series
        Each model under each setting, for the pooled rows; empty for only the rows of cases.
    """
    rows: list[Row] = []
    tallies: list[Tally] = []
    for one in series:
        for threshold, level in one.levels.items():
            if level.budget.occurs.any():
                who: Row = {"case": "", "model": one.model, **one.setting.columns}
                rows.append({**who, "threshold": threshold, "averaging": "pooled"})
                tallies += [level.budget.tally(i) for i in range(len(CHOICES))]
    for case in cases:
        for entry in case.entries:
            for found in entry.levels:
                counted = found.budget.tally  # of nothing where masks may share voxels
                if counted.tp + counted.fp + counted.fn:
                    who = {"case": case.case, "model": case.model, **entry.setting.columns}
                    rows.append({**who, "threshold": found.threshold, "averaging": "case"})
                    tallies += found.budget.tallies
    columns: Columns = {name: [row[name] for row in rows] for name in (rows[0] if rows else ())}
    if rows:
        every = Tallies.of(tallies).counts.reshape(len(rows), len(CHOICES), -1)
        columns |= _gains(RepairGains(Tallies(every)))
    return finished(columns, cases, first=("case", "model"))


def _gains(gains: RepairGains) -> dict[str, list[Cell]]:
    kinds = {"pq_after": gains.repaired, "last": gains.last, "share": gains.shares}
    return {"pq": gains.pq_after([]).tolist()} | {
        f"{kind}_{repair}": values[repair].tolist()
        for repair in REPAIRS
        for kind, values in kinds.items()
    }


def mistake_table(mistakes: Iterable[CostlyMistake], cases: Sequence[CaseResult]) -> Table:
    """Return the costliest mistakes of each class and case, one row for each."""
    return finished([one.columns for one in mistakes], cases, first=("case", "model"))


def average_table(averages: Iterable[AverageScore], cases: Sequence[CaseResult]) -> Table:
    """Return pooled scores and means of cases, one row for each (D11)."""
    unit = common_unit(cases)
    rows = [average_row(average, unit) for average in averages]
    return finished(rows, cases, first=("model",))


def average_row(average: AverageScore, unit: Unit | None) -> Row:
    """Return an average as a row of a table."""
    return {
        "model": average.model,
        **average.setting.columns,
        "threshold": np.nan if average.threshold is None else average.threshold,
        "measure": average.score.name,
        "quality": average.score.quality,
        "averaging": average.averaging,
        "value": average.value,
        "unit": unit_text(average.score, unit),
        "cases": average.cases,
        "skipped": average.skipped,
    }


def common_unit(cases: Iterable[CaseResult]) -> Unit | None:
    """Return the unit that all cases share, or None if it differs between cases (D14)."""
    units = {case.unit for case in cases if case.status == "ok"}
    return units.pop() if len(units) == 1 else None


def unit_text(score: Score, unit: Unit | None) -> str:
    """Return the unit of a score over several cases."""
    if not score.dimension:
        return ""
    return "mixed" if unit is None else score.unit(unit)


def _distinct_rows(entries: Sequence[Entry]) -> Block:
    """Return the distinct rows of a class, references first, and the settings of each.

    All measurements of a row follow from the predictions matched to its reference, and from how
    many of their voxels count, because regions may cut them.
    """
    levels = [level for entry in entries for level in entry.levels]
    names = [
        f"{entry.setting.label} at {level.threshold:g}"
        for entry in entries
        for level in entry.levels
    ]
    where: dict[tuple[int, str, int], list[int]] = {}
    firsts: list[list[int]] = [[] for _ in levels]  # rows of each level that no earlier one has
    keys_of = {table: list(_keys(table)) for table in {_objects(level) for level in levels}}
    for at, level in enumerate(levels):
        keys = keys_of[_objects(level)]
        for row, number in enumerate(level.measurements.columns.rows.tolist()):
            key = keys[number]
            if key not in where:
                where[key] = []
                firsts[at].append(row)
            where[key].append(at)
    block: dict[str, list[Cell]] = {}
    # Most levels add no row; the first one has all columns even if there is none.
    for level, rows in [
        one for i, one in enumerate(zip(levels, firsts, strict=True)) if one[1] or not i
    ]:
        for name, values in _instance_columns(level, rows).items():
            block.setdefault(name, []).extend(values)
    order = sorted(range(len(where)), key=[_place_of(*key) for key in where].__getitem__)
    texts = ["all" if len(at) == len(names) else "; ".join(names[i] for i in at)
             for at in where.values()]  # fmt: skip
    mistakes = _mistakes_of(entries[0].diagnosis, [(ref, pred) for ref, pred, _ in where])
    block |= {"mistake": [*mistakes], "settings": [*texts]}
    ordered = {name: [values[i] for i in order] for name, values in block.items()}
    front = {name: ordered.pop(name) for name in ("status", "mistake", "ref_id", "pred_ids")}
    return {**front, "settings": ordered.pop("settings"), **ordered}


def _objects(level: Level) -> ObjectTable:
    return level.measurements.columns.table


def _keys(table: ObjectTable) -> Iterable[tuple[int, str, int]]:
    columns = [table.columns[name].tolist() for name in ("ref_id", "pred_ids", "pred_voxels")]
    return zip(*columns, strict=True)


def _place_of(ref_id: int, pred_ids: str, _: int) -> tuple[bool, int]:
    """Return the sort key of a row: references by id, then false positives by id."""
    return ref_id == 0, ref_id or int(pred_ids.split()[0])


def _mistakes_of(diagnosis: Diagnosis, rows: Sequence[tuple[int, str]]) -> list[str]:
    """Return what is wrong with the reference or the predictions of each row."""
    ids = {name: set(getattr(diagnosis, name).tolist()) for name in MISTAKES}
    found = []
    for ref, pred_ids in rows:
        preds = set(map(int, pred_ids.split()))
        kinds = {
            "split": ref in ids["split"],
            "merged": not preds.isdisjoint(ids["merged"]),
            "missed": ref in ids["missed"],
            "spurious": not preds.isdisjoint(ids["spurious"]),
        }
        found.append(" ".join(kind for kind, holds in kinds.items() if holds))
    return found


def _instance_columns(level: Level, rows: Sequence[int] | None = None) -> dict[str, list[Cell]]:
    """Return the rows of a matching, or some of them, as columns."""
    chosen = slice(None) if rows is None else np.array(rows, np.int64)
    table, numbers = _objects(level), level.measurements.columns.rows[chosen]
    columns = {name: column[numbers] for name, column in table.columns.items()}
    block: dict[str, list[Cell]] = {
        name: columns[name].tolist() for name in ("status", "ref_id", "pred_ids")
    }
    block["iou"] = level.quality[chosen].tolist()
    if level.part_quality is not None:
        block["part_quality"] = level.part_quality[chosen].tolist()
    for side in SIDES:
        block[f"{side}_voxels"] = columns[f"{side}_voxels"].tolist()
        block[f"{side}_volume"] = columns[f"{side}_volume"].tolist()
    for metric in level.measurements.metrics:
        if metric.name != "iou":
            block[metric.name] = columns[metric.name].tolist()
    for side in SIDES:
        there = columns[f"{side}_voxels"] > 0
        for name, column in (
            (f"{side}_centre", columns[f"{side}_centroid"].round(3)),
            (f"{side}_start", columns[f"{side}_start"]),
            (f"{side}_stop", columns[f"{side}_stop"]),
        ):
            for axis in range(column.shape[1] if len(column) else 0):
                values = column[:, axis].astype(object)
                values[~there] = None
                block[f"{name}_{axis}"] = values.tolist()
    return block


def _text(ids: Ints) -> str:
    return " ".join(map(str, ids.tolist()))


def _append(columns: Columns, block: Block) -> None:
    """Add rows. Single values are repeated, and a column that either side lacks is None there.

    Examples
    --------
    >>> columns: Columns = {"a": [1]}
    >>> _append(columns, {"a": [2, 3], "b": "x"})
    >>> columns
    {'a': [1, 2, 3], 'b': [None, 'x', 'x']}
    """
    before = len(next(iter(columns.values()), ()))
    n = max((len(values) for values in block.values() if isinstance(values, list)), default=1)
    for name, values in block.items():
        column = columns.setdefault(name, [None] * before)
        column.extend(values if isinstance(values, list) else [values] * n)
    for column in columns.values():
        column.extend([None] * (before + n - len(column)))


def finished(
    content: Columns | list[Row],
    cases: Sequence[CaseResult],
    first: Sequence[str],
    last: Sequence[str] = (),
) -> Table:
    """Return a table in its final order, without the columns that need not be said."""
    columns = Table.of_rows(content).columns if isinstance(content, list) else content
    named = any(case.model for case in cases) or any(columns.get("model", ()))
    unsaid = [] if named else ["model"]
    unsaid += [] if any(columns.get("objective", ())) else ["objective"]
    names = [one for one in dict.fromkeys([*first, *columns]) if one not in unsaid]
    order = [one for one in names if one not in last] + [one for one in last if one in names]
    whole = {one for one in order if one in WHOLE or CORNER.fullmatch(one)}
    empty = [None] * len(next(iter(columns.values()), ()))
    return Table({name: columns.get(name, empty) for name in order}, whole)
