"""Averages over cases with bootstrap intervals."""

from __future__ import annotations

import io
import json
import platform
from collections.abc import Mapping
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from panmatch.datasets._phases import Stopwatch
from panmatch.datasets._score_files import plain_text
from panmatch.datasets._statistics import (
    FEWEST_CASES,
    Interval,
    interval_over_cases,
    resample,
)
from panmatch.errors import FileError, needs_extra
from panmatch.evaluation import (
    AverageScore,
    Json,
    Result,
    average_all,
    average_row,
    matcher_of,
)
from panmatch.formats import write_atomically
from panmatch.labels import Unit
from panmatch.matching import Matcher
from panmatch.spec import Spec

if TYPE_CHECKING:
    import pandas as pd

RESAMPLES = 2000
EVERY = "every matcher"
SEED = 0


def summary_table(result: Result) -> pd.DataFrame:
    """Return pooled scores and means of cases with 95 % bootstrap intervals over cases.

    Every model is resampled with the same seed, so that models with the same cases see the same
    resamples. Of fewer than 5 cases there is no interval: it would claim more than it can hold.
    """
    with needs_extra("cli", "Tables"):
        import pandas as pd

    # Matcher by matcher: the samples of all scores of hundreds of classes would take gigabytes.
    rows = [
        _row(average, result.unit)
        for model in result.models
        for matcher in (*result.spec.matching, None)
        for average in averages_with_samples(result, model, matcher)
    ]
    return pd.DataFrame(rows)


def averages_with_samples(
    result: Result, model: str, matcher: Matcher | str | None = EVERY, *, areas: bool = True
) -> list[AverageScore]:
    """Return the averages of a model with their resamples, by one matcher, by none, or by all."""
    n = len(result.evaluated(model))
    weights = resample(n, RESAMPLES, SEED) if n >= FEWEST_CASES else None
    series = [
        one
        for one in result.all_series
        if one.model == model and matcher in (EVERY, matcher_of(one.setting))
    ]
    return average_all(series, result.spec.averaging.undefined, weights, areas=areas)


def spread(average: AverageScore) -> Interval:
    """Return the interval of an average; of fewer than 5 cases there is none."""
    return interval_over_cases(average.samples, average.cases)


def _row(average: AverageScore, unit: Unit | None) -> dict[str, object]:
    row: dict[str, object] = {}
    for name, value in average_row(average, unit).items():
        row[name] = value
        if name == "value":
            ends = spread(average)
            row |= {"low": ends.low, "high": ends.high}
    return row


FORMAT = "panmatch-run-3"
LIBRARIES = ("panmatch", "numpy", "scipy", "pandas", "connected-components-3d", "nibabel")


def write_tables(folder: Path, result: Result, clock: Stopwatch) -> None:
    """Write scores, instances, curves, diagnosis, budget and summary, each whole or not at all."""
    with clock.phase("bootstrap"):
        summary = summary_table(result)
    with clock.phase("tables"):
        for name in ("scores", "instances", "curves", "diagnosis", "budget"):
            write_table(folder, name, getattr(result, name))
        write_table(folder, "summary", summary)


def write_table(folder: Path, name: str, table: pd.DataFrame) -> None:
    """Write a table as CSV and, with the extra `parquet`, as Parquet."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"path={str(folder)!r} cannot be made: {error}.") from error
    text = without_formulas(table).to_csv(index=False)
    write_atomically(folder / f"{name}.csv", text.encode())
    if (content := _parquet(table)) is not None:
        write_atomically(folder / f"{name}.parquet", content)


def without_formulas(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table in which no spreadsheet takes a text for a formula.

    A case may be called ``=1+1``, or worse. An apostrophe in front keeps it a text.

    Examples
    --------
    >>> import pandas as pd
    >>> without_formulas(pd.DataFrame({"case": ["=1+1", "a"], "pq": [-1.0, 1.0]})).values.tolist()
    [["'=1+1", -1.0], ['a', 1.0]]
    """

    def plain(value: object) -> object:
        return plain_text(value) if isinstance(value, str) else value

    texts = table.select_dtypes(exclude=["number", "bool"]).columns
    return table.assign(**{name: table[name].map(plain) for name in texts})


def write_run(folder: Path, spec: Spec, **facts: object) -> None:
    """Write run.json: the spec, versions, and whatever else is known about the run."""
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
    """Write times into run.json, in place of those that it has."""
    content = read_run(folder) | {"seconds": dict(seconds)}
    text = json.dumps(content, indent=2, allow_nan=False)
    write_atomically(folder / "run.json", f"{text}\n".encode())


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
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise FileError(
            f"path={str(folder)!r} is not an output of `panmatch evaluate`: {error}."
        ) from error
    return content


def _parquet(table: pd.DataFrame) -> bytes | None:
    """Return a table as Parquet; None without the extra `parquet`."""
    if find_spec("pyarrow") is None:
        return None
    buffer = io.BytesIO()
    table.to_parquet(buffer, index=False, engine="pyarrow")
    return buffer.getvalue()
