"""The tables that have rows for each case, made block by block, perhaps by several workers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from panmatch.datasets._table_files import Rows, TableFile
from panmatch.evaluation import (
    Each,
    Result,
    ScoreColumns,
    Table,
    TableName,
    Totals,
    budget_table,
    costly_mistakes,
    mistake_table,
    pooled_tallies,
    score_table,
    structure_table,
)
from panmatch.spec import Spec

# Tables that have rows for each case.
BY_CASE: tuple[TableName, ...] = (
    "scores",
    "instances",
    "curves",
    "diagnosis",
    "structure",
    "mistakes",
    "budget",
)


def write_case_tables(folder: Path, result: Result, each: Each) -> None:
    """Write the tables that have rows for each case.

    Cases are read block by block, so memory does not grow with their number.

    Parameters
    ----------
    each
        Calls a function with every block.
    """
    with ExitStack() as stack:
        names = tables_of(result.spec)
        files = {name: stack.enter_context(TableFile(folder, name)) for name in names}
        if "budget" in files:
            files["budget"].add(Rows.of(budget_table((), result.series)))
        files["structure"].add(Rows.of(structure_table((), result.structures)))
        for rows in each(_rows_of_block, _blocks(result)):
            for name, file in files.items():
                file.add(rows[name])
        for file in files.values():
            file.finish()


def tables_of(spec: Spec) -> list[TableName]:
    """Return the tables with rows for each case; masks that share voxels have no repairs (D16)."""
    without = ("budget", "mistakes") if spec.encoding == "coco-instances" else ()
    return [name for name in BY_CASE if name not in without]


@dataclass(frozen=True, slots=True)
class _Block:
    """A few cases, and what their tables say about all cases."""

    result: Result
    scores: ScoreColumns  # of these cases
    totals: Totals


def _blocks(result: Result) -> Iterator[_Block]:
    totals = pooled_tallies(result.series, result.spec)
    scores = ScoreColumns.of(result.series, result.class_series)
    seen: dict[str, int] = {}  # number of evaluated cases of each model
    for block in result.in_blocks():
        places = {}
        for model in block.models:
            start = seen.get(model, 0)
            seen[model] = start + len(block.evaluated(model))
            places[model] = slice(start, seen[model])
        yield _Block(block, scores.part(places), totals)


def _rows_of_block(block: _Block) -> dict[TableName, Rows]:
    """Read the findings of a few cases, and return their rows in every table."""
    cases = tuple(replace(case, found=case.findings) for case in block.result.cases)
    result = Result(block.result.spec, cases)
    return {name: Rows.of(_table(result, name, block)) for name in tables_of(result.spec)}


def _table(result: Result, name: TableName, block: _Block) -> Table:
    if name == "scores":
        return score_table(result.cases, block.scores)
    if name == "budget":
        return budget_table(result.cases, ())
    if name == "structure":
        return structure_table(result.cases)
    if name == "mistakes":
        return mistake_table(costly_mistakes(result.cases, block.totals), result.cases)
    return result.plain(name)
