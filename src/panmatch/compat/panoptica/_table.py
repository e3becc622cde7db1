"""Files with a row per subject: TSV and JSON lines, as panoptica writes them.

Each row is appended in one write while the file is locked, so several processes can share it.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal

import numpy as np

from panmatch.datasets import open_scores, original_text, plain_text
from panmatch.errors import FileError, MissingFileError, OptionError
from panmatch.formats import locked as held
from panmatch.formats import write_atomically
from panmatch.spec import SUBJECT, split_instance

FileType = Literal["tsv", "jsonl"]
FILE_TYPES: tuple[FileType, ...] = ("tsv", "jsonl")
INSTANCES, TIME = "reference_instances", "computation_time"
IN_TABLES = {"voxel_count": "instance_voxel_count_ref", "volume": "instance_volume_ref"}

Row = Mapping[str, Any]
Values = dict[str, dict[str, list[float | None]]]  # group, metric, one value per subject


def checked_subject(name: str) -> str:
    """Return a name without spaces around it, unless tables cannot hold it.

    Examples
    --------
    >>> checked_subject(" patient 7 ")
    'patient 7'
    """
    if not isinstance(name, str) or not name.strip() or "\n" in name or "\r" in name:
        raise OptionError(f"subject_name={name!r} must be a single line of text, and not empty.")
    if split_instance(name):
        raise OptionError(
            f"subject_name={name!r} looks like the row of an instance, '-GROUP_inst_NUMBER': pass "
            f"another name."
        )
    return name.strip()


def checked_path(path: str | Path, file_type: FileType) -> Path:
    """Return the path, with the ending of the file type if it has none."""
    found = Path(path)
    if not found.suffix:
        found = found.with_suffix(f".{file_type}")
    if found.suffix.lower().removeprefix(".") not in FILE_TYPES:
        raise OptionError(f"output_file={str(path)!r} must end with .tsv or .jsonl.")
    return found


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Lock a file for this process, if the system supports it."""
    try:
        stream = path.open("ab")
    except OSError as error:  # of the same type, as scripts for panoptica may catch it
        said = f"output_file cannot be written ({error.strerror}): pass another one"
        raise type(error)(error.errno, said, str(path)) from error
    with stream, held(stream):
        yield


class ResultFile:
    """Subjects by row, or by line; numbers of every group.

    Parameters
    ----------
    path
        Ends with ``.tsv`` or ``.jsonl``.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.is_tsv = path.suffix.lower() == ".tsv"
        self._end = 0  # up to here, the file was read or written by this object
        self._others: set[str] = set()  # subjects that other processes added since

    def begin(self, groups: Sequence[str], names: Sequence[str]) -> list[str]:
        """Write the head of a new file, check that of an old one, and return its subjects."""
        with locked(self.path):
            if self.path.read_bytes().strip():
                found = self._continued(groups, names)
            else:
                found = []
                if self.is_tsv:
                    self.path.write_bytes(_tsv([_header(groups, names)]).encode())
            self._end = self.path.stat().st_size
            return found

    def _continued(self, groups: Sequence[str], names: Sequence[str]) -> list[str]:
        found: list[str] = []
        if self.is_tsv:
            with open_scores(self.path) as (header, rows):
                expected = [f"{group}-{name}" for group in groups for name in names]
                self._check_same(list(map("-".join, header)), expected)
                found = [row.subject for row in rows]
        else:
            for subject, of_groups in self._records():
                self._check_same(sorted(of_groups), sorted(groups))
                for group, numbers in of_groups.items():
                    own = [name for name in numbers if name != INSTANCES]
                    self._check_same(sorted(own), sorted(names))
                    count = len(numbers.get(INSTANCES, ()))
                    found += [instance_name(subject, group, index) for index in range(count)]
                found.append(subject)
        return found

    def check_subjects(self, subjects: Sequence[str]) -> None:
        """Raise an error if a subject is there twice."""
        if twice := [name for name, times in Counter(subjects).items() if times > 1]:
            raise FileError(
                f"path={str(self.path)!r} lists the subject {twice[0]!r} twice: remove one of the "
                f"rows, or pass continue_file=False."
            )

    def _check_same(self, found: list[str], expected: list[str]) -> None:
        if found != expected:
            other = next(iter({*found} ^ {*expected}), "their order")
            raise FileError(
                f"path={str(self.path)!r}: Header does not match this evaluator, they differ in "
                f"{other!r}. Pass another output_file."
            )

    def append(self, subject: str, results: Mapping[str, Row], names: Sequence[str]) -> bool:
        """Add one subject: numbers by group, with a list of instances if there is one.

        Another process may have added it in the meantime: then nothing is written, and the result
        is False. The caller holds the lock.
        """
        if self.path.stat().st_size < self._end:
            raise FileError(
                f"path={str(self.path)!r} has lost rows since the aggregator was created, so "
                f"{subject!r} is not written: create a new aggregator."
            )
        with self.path.open("r+b") as stream:
            stream.seek(self._end)
            added = stream.read()
            self._others |= self._subjects_in(added.decode(errors="replace"))
            if subject not in self._others:
                stream.seek(max(stream.tell() - 1, 0))
                cut = stream.read(1) not in (b"", b"\n")  # somebody has edited the file
                stream.write(b"\n" * cut + self._text(subject, results, names).encode())
            self._end = stream.tell()
        return subject not in self._others

    def _subjects_in(self, text: str) -> set[str]:
        if self.is_tsv:
            rows = csv.reader(io.StringIO(text, newline=""), delimiter="\t")
            return {original_text(row[0]) for row in rows if row}
        found = set()
        for line in text.split("\n"):
            with suppress(ValueError, KeyError, TypeError):  # reading the file names such a line
                found.add(str(json.loads(line)[SUBJECT]))
        return found

    def _text(self, subject: str, results: Mapping[str, Row], names: Sequence[str]) -> str:
        if not self.is_tsv:
            return _json_line(subject, results, names)
        rows = [[subject, *(_text(row.get(n)) for row in results.values() for n in names)]]
        for group, row in results.items():
            for index, instance in enumerate(row.get(INSTANCES, ())):
                own = in_tables(instance)
                cells = [
                    _text(own.get(name)) if other == group else ""
                    for other in results
                    for name in names
                ]
                rows.append([instance_name(subject, group, index), *cells])
        return _tsv(rows)

    def read(self) -> tuple[list[str], Values]:
        """Return subjects, rows of instances included, and all values."""
        subjects, values = self._read_tsv() if self.is_tsv else self._read_lines()
        if not subjects:
            raise FileError(f"path={str(self.path)!r} has no records.")
        return subjects, values

    def _read_tsv(self) -> tuple[list[str], Values]:
        subjects: list[str] = []
        with open_scores(self.path) as (header, rows):
            names = dict.fromkeys(name for _, name in header)
            values: Values = {group: {name: [] for name in names} for group, _ in header}
            for row in rows:
                subjects.append(row.subject)
                for at, (group, name) in enumerate(header):
                    values[group][name].append(_finite(row.number(at, f"{group}-{name}")))
        return subjects, values

    def _read_lines(self) -> tuple[list[str], Values]:
        subjects: list[str] = []
        values: Values = {}
        for subject, groups in self._records():
            rows = [(subject, groups)]
            for group, numbers in groups.items():
                rows += [
                    (instance_name(subject, group, index), {group: row})
                    for index, row in enumerate(numbers.get(INSTANCES, ()))
                ]
            if not values:
                names = dict.fromkeys(n for row in groups.values() for n in row if n != INSTANCES)
                values = {group: {name: [] for name in names} for group in groups}
            self._check_same(sorted(groups), sorted(values))
            for one, of_groups in rows:
                subjects.append(one)
                for group, columns in values.items():
                    own = of_groups.get(group, {})
                    for name, column in columns.items():
                        column.append(self._number(own.get(name), one, name))
        return subjects, values

    def _number(self, value: object, subject: str, name: str) -> float | None:
        if value is not None and not isinstance(value, int | float):
            raise FileError(
                f"path={str(self.path)!r}: {value!r} of {subject!r}, {name!r}, is not a number."
            )
        return _finite(value)

    def write(self, subjects: Sequence[str], values: Values) -> None:
        """Write all subjects, completely or not at all."""
        names = list(next(iter(values.values())))
        if self.is_tsv:
            rows: list[list[object]] = [[*_header(list(values), names)]]
            for i, subject in enumerate(subjects):
                cells = [_text(values[group][name][i]) for group in values for name in names]
                rows.append([subject, *cells])
            text = _tsv(rows)
        else:
            text = "".join(_lines(subjects, values, names))
        write_atomically(self.path, text.encode())

    def _records(self) -> Iterator[tuple[str, dict[str, dict[str, Any]]]]:
        """Yield subject and groups of every line."""
        try:
            lines = self.path.read_bytes().decode("utf-8-sig").split("\n")
        except FileNotFoundError as error:
            raise MissingFileError(f"path={str(self.path)!r} does not exist.") from error
        except (OSError, UnicodeDecodeError) as error:
            raise FileError(f"path={str(self.path)!r} cannot be read: {error}.") from error
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            place = f"path={str(self.path)!r}, line {number}"
            try:
                record = json.loads(line)
            except json.JSONDecodeError as error:
                raise FileError(
                    f"{place}: malformed JSON, {error.msg}. Fix or remove the line."
                ) from error
            if not _is_record(record):
                raise FileError(
                    f"{place}: it must be an object with {SUBJECT!r} and 'groups'. Fix or remove "
                    f"the line."
                )
            yield record[SUBJECT], record["groups"]


def _is_record(record: object) -> bool:
    if not isinstance(record, dict) or not isinstance(record.get(SUBJECT), str):
        return False
    groups = record.get("groups")
    return isinstance(groups, dict) and all(isinstance(one, dict) for one in groups.values())


def instance_name(subject: str, group: str, index: int) -> str:
    """Return the name of the row of one instance."""
    return f"{subject}-{group}_inst_{index}"


def in_tables(instance: Row) -> dict[str, Any]:
    """Return the numbers of an instance under the names that tables have."""
    return {IN_TABLES.get(name, name): value for name, value in instance.items()}


def _header(groups: Sequence[str], names: Sequence[str]) -> list[str]:
    return [SUBJECT, *(f"{group}-{name}" for group in groups for name in names)]


def _tsv(rows: Sequence[Sequence[object]]) -> str:
    """Return rows as text, escaped so that no spreadsheet reads a name as a formula."""
    text = io.StringIO(newline="")
    plain = [[plain_text(cell) if isinstance(cell, str) else cell for cell in row] for row in rows]
    csv.writer(text, delimiter="\t", lineterminator="\n").writerows(plain)
    return text.getvalue()


def _finite(value: object) -> float | None:
    if isinstance(value, int | float | np.integer | np.floating) and math.isfinite(value):
        return float(value)
    return None


def _text(value: object) -> object:
    number = _finite(value)
    return "" if number is None else number


def _json_line(subject: str, results: Mapping[str, Row], names: Sequence[str]) -> str:
    groups = {}
    for group, row in results.items():
        groups[group] = {name: _finite(row.get(name)) for name in names}
        instances = [in_tables(one) for one in row.get(INSTANCES, ())]
        if instances:
            groups[group][INSTANCES] = [  # type: ignore[assignment]
                {name: _finite(one[name]) for name in names if one.get(name) is not None}
                for one in instances
            ]
    record = {SUBJECT: subject, "groups": groups}
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n"


def _lines(subjects: Sequence[str], values: Values, names: Sequence[str]) -> Iterator[str]:
    """Yield the line of every subject, its instances within."""
    parsed = {i: split_instance(subject) for i, subject in enumerate(subjects)}
    for i, subject in enumerate(subjects):
        if parsed[i] is not None:
            continue
        rows: dict[str, dict[str, Any]] = {}
        for group, columns in values.items():
            rows[group] = {name: columns[name][i] for name in names}
            own = sorted(
                (found[2], at)
                for at, found in parsed.items()
                if found is not None and found[:2] == (subject, group)
            )
            if own:
                rows[group][INSTANCES] = [
                    {name: columns[name][at] for name in names} for _, at in own
                ]
        yield _json_line(subject, rows, names)
