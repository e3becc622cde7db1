"""A table that says which files belong together."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from panmatch.datasets.case import Case, Source
from panmatch.errors import FileError

NEEDED = ("case", "reference", "prediction")


def read_manifest(path: Path) -> list[Case]:
    """Read a CSV file with the columns case, reference and prediction.

    A column model tells several models apart, reference_parts and prediction_parts name part
    images. Paths are relative to the folder of the file. Other columns are left alone.
    """
    rows = _rows(path)
    cases = [_case(path, line, row) for line, row in rows]
    seen: set[tuple[str, str]] = set()
    for (line, _), case in zip(rows, cases, strict=True):
        if (case.name, case.model) in seen:
            model = f" of model {case.model!r}" if case.model else ""
            raise FileError(
                f"{str(path)!r}, line {line}: case {case.name!r}{model} is there twice."
            )
        seen.add((case.name, case.model))
    return cases


def _rows(path: Path) -> list[tuple[int, dict[str, str]]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"path={str(path)!r} cannot be read as a manifest: {error}.") from error
    reader = csv.DictReader(io.StringIO(text))
    columns = [name.strip().lower() for name in reader.fieldnames or ()]
    missing = [name for name in NEEDED if name not in columns]
    if missing:
        raise FileError(
            f"path={str(path)!r} is no manifest: its first line must name the columns "
            f"{', '.join(NEEDED)} (and model, if there are several); {missing[0]!r} is missing."
        )
    rows = []
    for row in reader:
        values = [(row[name] or "").strip() for name in reader.fieldnames or ()]
        if any(values):
            rows.append((reader.line_num, dict(zip(columns, values, strict=True))))
    if not rows:
        raise FileError(f"path={str(path)!r} lists no case.")
    return rows


def _case(manifest: Path, line: int, row: dict[str, str]) -> Case:
    for name in NEEDED:
        if not row[name]:
            raise FileError(f"{str(manifest)!r}, line {line}: {name} is empty.")

    def source(side: str) -> Source:
        parts = row.get(f"{side}_parts")
        return Source(manifest.parent / row[side], manifest.parent / parts if parts else None)

    return Case(row["case"], row.get("model", ""), source("reference"), source("prediction"))
