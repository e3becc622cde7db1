"""Reading panoptica's TSV files: one row per subject, one column per group and metric."""

from __future__ import annotations

import csv
import math
import re
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import numpy as np

from panmatch.errors import FileError, MissingFileError
from panmatch.overlap import Floats
from panmatch.spec import (
    SUBJECT,
    PanopticaColumn,
    panoptica_column,
    split_column,
    split_instance,
)

MOST_BYTES = 256 << 20  # tables of cases are much smaller
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|nan|[+-]?inf(inity)?", re.IGNORECASE)
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")

Key = tuple[str, PanopticaColumn]  # group and metric
Header = tuple[tuple[str, str], ...]  # group and metric of each column


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """A row of the file, unparsed.

    Attributes
    ----------
    path, line
        Where it is.
    subject
        The subject, or the single object, that it is about.
    cells
        One text per column; empty if the number is undefined.
    """

    path: Path
    line: int
    subject: str
    cells: Sequence[str]

    def number(self, at: int, column: str) -> float:
        """Return the number in a cell, NaN if it is empty; errors name the column."""
        text = self.cells[at].strip()
        if not text:
            return math.nan
        if not NUMBER.fullmatch(text):
            raise FileError(
                f"{str(self.path)!r}, line {self.line}, column {column!r}: {text[:40]!r} is not a "
                f"number. Write it with a decimal point, or leave the cell empty if it is "
                f"undefined."
            )
        return float(text)


@dataclass(frozen=True, slots=True, eq=False)
class ScoreFile:
    """The contents of a panoptica file.

    Attributes
    ----------
    path
        The file.
    subjects
        The subjects, in the order of the file.
    values
        One value per subject, by group and metric; NaN if undefined.
    others
        Columns that are not panoptica's.
    n_instances
        Number of rows about single objects, which are left out.
    n_infinite
        Number of infinite values, which count as undefined.
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
        If a row cannot be read. The message names the line, the column and the remedy. Rows are
        never skipped, except for those about single objects, which are counted.
    """
    if path.suffix.lower() == ".jsonl":
        raise FileError(
            f"path={str(path)!r} is a JSONL file, but must be TSV: convert it with panoptica, "
            f"Panoptica_Statistic.from_file({path.name!r}).to_file({path.stem + '.tsv'!r})."
        )
    with open_scores(path) as (header, rows):
        return _read(path, header, rows)


@contextmanager
def open_scores(path: Path) -> Iterator[tuple[Header, Iterator[ScoreRow]]]:
    """Read a TSV file from panoptica, unparsed: the group and metric of each column, then rows.

    Raises
    ------
    MissingFileError, FileError
        If there is no such file, or a line cannot be read. The message names the line.
    """
    _check_place(path)
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            lines = _lines(path, stream)
            header = _header(path, next(lines, (1, []))[1])
            yield header, _rows(path, len(header), lines)
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(
            f"path={str(path)!r} cannot be read as a TSV file: {error}. Save it as text in UTF-8, "
            f"with tabs between columns."
        ) from error


def _check_place(path: Path) -> None:
    try:
        size = path.stat().st_size
    except FileNotFoundError as error:
        raise MissingFileError(f"path={str(path)!r} does not exist.") from error
    except OSError as error:
        raise FileError(f"path={str(path)!r} cannot be read: {error}.") from error
    if size > MOST_BYTES:
        raise FileError(
            f"path={str(path)!r} has {size / 2**20:.0f} MiB, but tables of subjects may have at "
            f"most {MOST_BYTES >> 20}: is it the right file? If so, remove columns, or rows about "
            f"single instances."
        )


def _rows(path: Path, width: int, lines: Iterator[tuple[int, list[str]]]) -> Iterator[ScoreRow]:
    for line, (first, *cells) in lines:
        if len(cells) != width:
            raise FileError(
                f"{str(path)!r}, line {line} has {len(cells) + 1} cells, but the first line has "
                f"{width + 1}. Was the line cut off, or a tab lost? Fix or remove the line."
            )
        yield ScoreRow(path, line, original_text(first.strip()), cells)


def _read(path: Path, header: Header, rows: Iterator[ScoreRow]) -> ScoreFile:
    columns = [panoptica_column(name) for _, name in header]
    groups = {group for group, _ in header}
    seen: dict[str, int] = {}
    numbers = array("d")
    n_instances = 0
    for row in rows:
        if _is_instance(row.subject, groups):
            n_instances += 1
            continue
        _check_subject(path, row.line, row.subject, seen)
        seen[row.subject] = row.line
        numbers.extend(
            row.number(i, "-".join(header[i])) for i, one in enumerate(columns) if one is not None
        )
    if not seen:
        raise FileError(f"path={str(path)!r} lists no subjects, so there is nothing to compare.")
    table = np.asarray(numbers, np.float64).reshape(len(seen), -1)
    named = list(zip(header, columns, strict=True))
    keys = [(group, column) for (group, _), column in named if column is not None]
    return ScoreFile(
        path,
        tuple(seen),
        {
            key: np.where(np.isfinite(values), values, math.nan)
            for key, values in zip(keys, table.T, strict=True)
        },
        tuple("-".join(name) for name, column in named if column is None),
        n_instances,
        int(np.isinf(table).sum()),
    )


def _lines(path: Path, stream: TextIO) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the cells of each line that is not empty."""
    reader = csv.reader(stream, delimiter="\t", strict=True)
    last = 0
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield reader.line_num, cells
            last = reader.line_num
    except csv.Error as error:
        raise FileError(
            f"{str(path)!r}, line {last + 1}: {error}. Remove any quotation mark left open."
        ) from error


def _header(path: Path, cells: Sequence[str]) -> Header:
    """Return group and metric of each column but the first, which names the subjects."""
    if not cells or cells[0].strip() != SUBJECT:
        first = repr(cells[0][:40]) if cells else "nothing"
        hint = ""
        if len(cells) == 1 and cells[0].startswith((f"{SUBJECT},", f"{SUBJECT};")):
            hint = " Its columns are not separated by tabs: save it as TSV."
        raise FileError(
            f"path={str(path)!r} is not a TSV file from panoptica: its first line must start with "
            f"{SUBJECT!r} and a tab, but starts with {first}.{hint}"
        )
    names = [original_text(cell.strip()) for cell in cells]
    repeated = [name for i, name in enumerate(names) if name in names[:i]]
    if repeated:
        raise FileError(f"{str(path)!r}, line 1: column {repeated[0]!r} appears twice: remove one.")
    return tuple(map(split_column, names[1:]))


def _is_instance(subject: str, groups: set[str]) -> bool:
    """Return whether a row is about a single object, such as ``p7-ungrouped_inst_0``."""
    named = split_instance(subject)
    return named is not None and named[1] in groups


def _check_subject(path: Path, line: int, subject: str, seen: Mapping[str, int]) -> None:
    if not subject:
        raise FileError(
            f"{str(path)!r}, line {line}, column {SUBJECT!r}: the name is missing. Fill it in."
        )
    if subject in seen:
        raise FileError(
            f"{str(path)!r}, line {line}: subject {subject!r} is also on line {seen[subject]}: "
            f"remove one of them."
        )


def plain_text(text: str) -> str:
    """Return a text that spreadsheets do not take for a formula."""
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text


def original_text(text: str) -> str:
    """Return a text as it was before `plain_text`.

    Examples
    --------
    >>> original_text(plain_text("=1+1")), original_text("'quoted'")
    ('=1+1', "'quoted'")
    """
    return text[1:] if text.startswith("'") and text[1:].startswith(FORMULA_STARTS) else text
