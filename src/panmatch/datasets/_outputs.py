"""Averages over cases with bootstrap intervals."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from panmatch.datasets._phases import Stopwatch
from panmatch.datasets._statistics import (
    FEWEST_CASES,
    Interval,
    interval_over_cases,
    resample,
)
from panmatch.datasets._table_files import TableFile, write_table
from panmatch.errors import FileError
from panmatch.evaluation import (
    AverageScore,
    Json,
    Result,
    Row,
    Table,
    TableName,
    Totals,
    average_all,
    average_row,
    budget_table,
    costly_mistakes,
    matcher_of,
    mistake_table,
    pooled_tallies,
    structure_table,
)
from panmatch.formats import write_atomically
from panmatch.labels import Unit
from panmatch.matching import Matcher
from panmatch.spec import Spec

RESAMPLES = 2000
EVERY = "every matcher"
SEED = 0
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


def summary_table(result: Result) -> Table:
    """Return pooled scores and means of cases with 95 % bootstrap intervals over cases.

    Every model is resampled with the same seed, so models with the same cases see the same
    resamples. Fewer than 5 cases get no interval: it would promise too much.
    """
    # One matcher at a time: samples of all scores of hundreds of classes would take gigabytes.
    rows = [
        _row(average, result.unit)
        for model in result.models
        for matcher in (*result.spec.matching, None)
        for average in averages_with_samples(result, model, matcher)
    ]
    return Table.of_rows(rows)


def averages_with_samples(
    result: Result, model: str, matcher: Matcher | str | None = EVERY, *, areas: bool = True
) -> list[AverageScore]:
    """Return the averages of a model with their resamples: for one matcher, for none, or all."""
    n = len(result.evaluated(model))
    weights = resample(n, RESAMPLES, SEED) if n >= FEWEST_CASES else None
    series = [
        one
        for one in result.all_series
        if one.model == model and matcher in (EVERY, matcher_of(one.setting))
    ]
    return average_all(series, result.spec.averaging.undefined, weights, areas=areas)


def spread(average: AverageScore) -> Interval:
    """Return the interval of an average, which is undefined for fewer than 5 cases."""
    return interval_over_cases(average.samples, average.cases)


def _row(average: AverageScore, unit: Unit | None) -> Row:
    row: Row = {}
    for name, value in average_row(average, unit).items():
        row[name] = value
        if name == "value":
            ends = spread(average)
            row |= {"low": ends.low, "high": ends.high}
    return row


FORMAT = "panmatch-run-3"
LIBRARIES = ("panmatch", "numpy", "scipy", "pandas", "connected-components-3d", "nibabel")


def write_tables(folder: Path, result: Result, clock: Stopwatch) -> None:
    """Write all tables: those with rows for each case, and the summary.

    Cases are read block by block, so memory does not grow with their number.
    """
    with clock.phase("tables"), ExitStack() as stack:
        files = {name: stack.enter_context(TableFile(folder, name)) for name in BY_CASE}
        files["budget"].add(budget_table((), result.series))
        files["structure"].add(structure_table((), result.structures))
        totals = pooled_tallies(result.series, result.spec)
        for block in result.in_blocks():
            for name, file in files.items():
                file.add(_rows_of_cases(block, name, totals))
        for file in files.values():
            file.finish()
    with clock.phase("bootstrap"):
        summary = summary_table(result)
    write_table(folder, "summary", summary)


def _rows_of_cases(block: Result, name: TableName, totals: Totals) -> Table:
    if name == "budget":
        return budget_table(block.cases, ())
    if name == "structure":
        return structure_table(block.cases)
    if name == "mistakes":
        return mistake_table(costly_mistakes(block.cases, totals), block.cases)
    return block.plain(name)


def write_run(folder: Path, spec: Spec, **facts: object) -> None:
    """Write run.json: the spec, the versions, and other facts about the run."""
    content = {
        "format": FORMAT,
        "spec": spec.model_dump(mode="json"),
        "versions": _versions() | {"python": platform.python_version()},
        "bootstrap": {
            "resamples": RESAMPLES,
            "seed": SEED,
            "level": 0.95,
            "fewest_cases": FEWEST_CASES,
        },
        **facts,
    }
    text = json.dumps(content, indent=2, allow_nan=False, default=str)
    write_atomically(folder / "run.json", f"{text}\n".encode())


def note_seconds(folder: Path, seconds: Mapping[str, float]) -> None:
    """Replace the times in run.json."""
    _note(folder, {"seconds": dict(seconds)})


def note_protocol(folder: Path, facts: Mapping[str, str]) -> None:
    """Write into run.json which program's numbers the run reproduces."""
    _note(folder, {"protocol": dict(facts)})


def _note(folder: Path, facts: Json) -> None:
    content = read_run(folder) | facts
    text = json.dumps(content, indent=2, allow_nan=False)
    write_atomically(folder / "run.json", f"{text}\n".encode())


@cache
def _versions() -> dict[str, str]:
    found = {}
    for name in LIBRARIES:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def read_run(folder: Path) -> Json:
    """Read run.json."""
    path = folder / "run.json"
    try:
        content: Json = json.loads(path.read_text(encoding="utf-8"))
        if content["format"] != FORMAT:
            raise ValueError(f"its format is {content['format']!r}, not {FORMAT!r}")
    except FileNotFoundError as error:
        why = "it has no run.json" if folder.exists() else "there is no such folder"
        raise FileError(
            f"path={str(folder)!r} is not an output folder of `panmatch evaluate`: {why}."
        ) from error
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise FileError(
            f"path={str(folder)!r} is not an output folder of `panmatch evaluate`: {error}."
        ) from error
    return content
