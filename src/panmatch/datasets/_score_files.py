"""Reading panoptica's TSV files: one row per subject, one column per group and metric."""

from __future__ import annotations

import csv
import math
import re
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import numpy as np

from panmatch.datasets._outputs import original_text
from panmatch.errors import FileError
from panmatch.overlap import Floats
from panmatch.spec import SUBJECT, UNGROUPED, PanopticaColumn, panoptica_column

MOST_BYTES = 256 << 20  # a table of cases is much smaller
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|nan|[+-]?inf(inity)?", re.IGNORECASE)

Key = tuple[str, PanopticaColumn]  # group and metric


@dataclass(frozen=True, slots=True, eq=False)
class ScoreFile:
    """What a file of panoptica holds.

    Attributes
    ----------
    path
        The file.
    subjects
        In the order of the file.
    values
        One value per subject, NaN where it is undefined, by group and metric.
    others
        Columns that are not panoptica's.
    n_instances
        Rows about single objects, which are left out.
    n_infinite
        Values that are infinite in the file, and undefined here.
    """

    path: Path
    subjects: tuple[str, ...]
    values: Mapping[Key, Floats]
    others: tuple[str, ...] = ()
    n_instances: int = 0
    n_infinite: int = 0


def read_score_file(path: Path) -> ScoreFile:
    """Read a TSV file that panoptica's aggregator or ``panmatch evaluate --wide`` wrote.

    Raises
    ------
    FileError
        If a row cannot be read; it names the line, the column and what to do. Rows are never
        skipped, except for those about single objects, which are counted.
    """
    _check_place(path)
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            return _read(path, stream)
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(
            f"path={str(path)!r} cannot be read as a TSV file: {error}. Save it as text in UTF-8, "
            f"with tabs between columns."
        ) from error


def _check_place(path: Path) -> None:
    if path.suffix.lower() == ".jsonl":
        raise FileError(
            f"path={str(path)!r} is a JSONL file, and TSV is needed: convert it with panoptica, "
            f"Panoptica_Statistic.from_file({path.name!r}).to_file({path.stem + '.tsv'!r})."
        )
    try:
        size = path.stat().st_size
    except OSError as error:
        raise FileError(f"path={str(path)!r} cannot be read: {error}.") from error
    if size > MOST_BYTES:
        raise FileError(
            f"path={str(path)!r} has {size / 2**20:.0f} MiB, and a table of subjects at most "
            f"{MOST_BYTES >> 20}: is it the right file? If so, drop columns or rows about single "
            f"instances."
        )


def _read(path: Path, stream: TextIO) -> ScoreFile:
    lines = _lines(path, stream)
    header = _header(path, next(lines, (1, []))[1])
    columns = [None if i == 0 else panoptica_column(name) for i, (_, name) in enumerate(header)]
    groups = {group for group, _ in header[1:]}
    seen: dict[str, int] = {}
    numbers = array("d")
    n_instances = 0
    for line, cells in lines:
        if len(cells) != len(header):
            raise FileError(
                f"{str(path)!r}, line {line}: it has {len(cells)} cells, and the first line "
                f"{len(header)}. Is the line cut off, or a tab lost? Mend or remove it."
            )
        subject = original_text(cells[0].strip())
        if _is_instance(subject, groups):
            n_instances += 1
            continue
        _check_subject(path, line, subject, seen)
        seen[subject] = line
        numbers.extend(
            _number(path, line, "-".join(header[i]), cells[i])
            for i, column in enumerate(columns)
            if column is not None
        )
    if not seen:
        raise FileError(f"path={str(path)!r} lists no subject: there is nothing to compare.")
    table = np.asarray(numbers, np.float64).reshape(len(seen), -1)
    keys = [
        (group, column)
        for (group, _), column in zip(header, columns, strict=True)
        if column is not None
    ]
    return ScoreFile(
        path,
        tuple(seen),
        {
            key: np.where(np.isfinite(values), values, math.nan)
            for key, values in zip(keys, table.T, strict=True)
        },
        tuple(
            "-".join(name)
            for name, column in zip(header[1:], columns[1:], strict=True)
            if column is None
        ),
        n_instances,
        int(np.isinf(table).sum()),
    )


def _lines(path: Path, stream: TextIO) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the cells of every line that is not empty."""
    reader = csv.reader(stream, delimiter="\t", strict=True)
    last = 0
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield reader.line_num, cells
            last = reader.line_num
    except csv.Error as error:
        raise FileError(
            f"{str(path)!r}, line {last + 1}: {error}. Is a quotation mark left open? Remove it."
        ) from error


def _header(path: Path, cells: Sequence[str]) -> list[tuple[str, str]]:
    """Return group and metric of every column; the first one names the subjects."""
    if not cells or cells[0].strip() != SUBJECT:
        first = repr(cells[0][:40]) if cells else "nothing"
        hint = ""
        if len(cells) == 1 and cells[0].startswith((f"{SUBJECT},", f"{SUBJECT};")):
            hint = " Its columns are not separated by tabs: save it as TSV."
        raise FileError(
            f"path={str(path)!r} is not a TSV file of panoptica: its first line must begin with "
            f"{SUBJECT!r} and a tab, and begins with {first}.{hint}"
        )
    names = [original_text(cell.strip()) for cell in cells]
    repeated = [name for i, name in enumerate(names) if name in names[:i]]
    if repeated:
        raise FileError(
            f"{str(path)!r}, line 1: column {repeated[0]!r} is there twice: remove one."
        )
    found = [("", SUBJECT)]
    for name in names[1:]:
        group, hyphen, metric = name.partition("-")
        found.append((group, metric) if hyphen else (UNGROUPED, name))
    return found


def _is_instance(subject: str, groups: set[str]) -> bool:
    """Return whether a row is about a single object, such as ``p7-ungrouped_inst_0``."""
    named = re.fullmatch(r".+-(.+)_inst_\d+", subject)
    return named is not None and named[1] in groups


def _check_subject(path: Path, line: int, subject: str, seen: Mapping[str, int]) -> None:
    if not subject:
        raise FileError(
            f"{str(path)!r}, line {line}, column {SUBJECT!r}: the name is missing. Write it."
        )
    if subject in seen:
        raise FileError(
            f"{str(path)!r}, line {line}: subject {subject!r} is on line {seen[subject]} too: "
            f"remove one of them."
        )


def _number(path: Path, line: int, column: str, cell: str) -> float:
    text = cell.strip()
    if not text:
        return math.nan
    if not NUMBER.fullmatch(text):
        raise FileError(
            f"{str(path)!r}, line {line}, column {column!r}: {text[:40]!r} is not a number. Write "
            f"it with a decimal point, or leave the cell empty where it is undefined."
        )
    return float(text)
