"""The tables of a run as files: CSV to look at, Parquet to compute with, and how it was made."""

from __future__ import annotations

import io
import json
import platform
from collections.abc import Mapping
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from panmatch.datasets._summary import RESAMPLES, SEED, summary_table
from panmatch.errors import FileError
from panmatch.evaluation import Result
from panmatch.formats import write_atomically
from panmatch.spec import Spec

if TYPE_CHECKING:
    import pandas as pd

FORMAT = "panmatch-run-2"
LIBRARIES = ("panmatch", "numpy", "scipy", "pandas", "connected-components-3d", "nibabel")


def write_tables(folder: Path, result: Result) -> None:
    """Write scores, instances, curves, diagnosis and summary, each whole or not at all."""
    tables = {
        "scores": result.scores,
        "instances": result.instances,
        "curves": result.curves,
        "diagnosis": result.diagnosis,
        "summary": summary_table(result),
    }
    for name, table in tables.items():
        write_table(folder, name, table)


def write_table(folder: Path, name: str, table: pd.DataFrame) -> None:
    """Write a table as CSV and, with the extra `parquet`, as Parquet."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"path={str(folder)!r} cannot be made: {error}.") from error
    write_atomically(folder / f"{name}.csv", table.to_csv(index=False).encode())
    if (content := _parquet(table)) is not None:
        write_atomically(folder / f"{name}.parquet", content)


def write_run(folder: Path, spec: Spec, **facts: Any) -> None:
    """Write run.json: the spec, versions, and whatever else is known about the run."""
    content = {
        "format": FORMAT,
        "spec": spec.model_dump(mode="json"),
        "versions": _versions() | {"python": platform.python_version()},
        "bootstrap": {"resamples": RESAMPLES, "seed": SEED, "level": 0.95},
        **facts,
    }
    text = json.dumps(content, indent=2, allow_nan=False, default=str)
    write_atomically(folder / "run.json", f"{text}\n".encode())


def _versions() -> dict[str, str]:
    found = {}
    for name in LIBRARIES:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def read_run(folder: Path) -> Mapping[str, Any]:
    """Read run.json."""
    path = folder / "run.json"
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["format"] != FORMAT:
            raise ValueError(f"its format is {content['format']!r}, not {FORMAT!r}")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise FileError(
            f"path={str(folder)!r} is not an output of `panmatch evaluate`: {error}."
        ) from error
    found: Mapping[str, Any] = content
    return found


def _parquet(table: pd.DataFrame) -> bytes | None:
    """Return a table as Parquet; None without the extra `parquet`."""
    if find_spec("pyarrow") is None:
        return None
    buffer = io.BytesIO()
    table.to_parquet(buffer, index=False, engine="pyarrow")
    return buffer.getvalue()
