"""Files with a row per subject: TSV and JSON lines, as panoptica writes them.

Rows are appended in one write each while the file is locked, so that processes may share it.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import numpy as np

from panmatch.errors import FileError, OptionError
from panmatch.formats import write_atomically

FileType = Literal["tsv", "jsonl"]
FILE_TYPES: tuple[FileType, ...] = ("tsv", "jsonl")
SUBJECT, INSTANCES, TIME = "subject_name", "reference_instances", "computation_time"
INSTANCE_ROW = re.compile(r"(.+)-(.+)_inst_(\d+)")
IN_TABLES = {"voxel_count": "instance_voxel_count_ref", "volume": "instance_volume_ref"}

Row = Mapping[str, Any]
Values = dict[str, dict[str, list[float | None]]]  # group, metric, one value per subject


def parse_instance_name(name: str) -> tuple[str, str, int] | None:
    """Return subject, group and number of a row of one instance; None for any other row.

    Examples
    --------
    >>> parse_instance_name("patient-7-bone_inst_2")
    ('patient-7', 'bone', 2)
    """
    found = INSTANCE_ROW.fullmatch(name)
    return None if found is None else (found[1], found[2], int(found[3]))


def checked_subject(name: str) -> str:
    """Return the name of a subject, unless tables would take it for an instance."""
    if not name.strip() or parse_instance_name(name):
        raise OptionError(
            f"subject_name={name!r} must have a character, and not end like the row of an "
            f"instance, '-GROUP_inst_NUMBER'."
        )
    return name


def checked_path(path: str | Path, file_type: FileType) -> Path:
    """Return the path, with the ending of the file type where it has none."""
    found = Path(path)
    if not found.suffix:
        found = found.with_suffix(f".{file_type}")
    if found.suffix.lower().removeprefix(".") not in FILE_TYPES:
        raise OptionError(f"output_file={str(path)!r} must end with .tsv or .jsonl.")
    return found


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a file for this process, where the system offers that."""
    with path.open("a") as stream:
        try:
            import fcntl
        except ImportError:
            yield
            return
        fcntl.flock(stream, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(stream, fcntl.LOCK_UN)


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

    def begin(self, groups: Sequence[str], names: Sequence[str]) -> list[str]:
        """Write the head of a new file, check that of an old one, and return its subjects."""
        with locked(self.path):
            text = self.path.read_text(encoding="utf-8")
            if not text.strip():
                if self.is_tsv:
                    self._append(_tsv([_header(groups, names)]))
                return []
            return self._continued(text, groups, names)

    def _continued(self, text: str, groups: Sequence[str], names: Sequence[str]) -> list[str]:
        if self.is_tsv:
            rows = _rows(text)
            self._check_same(rows[0], _header(groups, names))
            found = [row[0] for row in rows[1:]]
        else:
            found = []
            for record in self._records(text):
                of_groups = record.get("groups", {})
                self._check_same(sorted(of_groups), sorted(groups))
                for group, numbers in of_groups.items():
                    own = [name for name in numbers if name != INSTANCES]
                    self._check_same(sorted(own), sorted(names))
                    count = len(numbers.get(INSTANCES, ()))
                    found += [
                        instance_name(record[SUBJECT], group, index) for index in range(count)
                    ]
                found.append(record[SUBJECT])
        if len(found) != len({*found}):
            raise FileError(f"path={str(self.path)!r} has a subject twice: remove one of the rows.")
        return found

    def _check_same(self, found: list[str], expected: list[str]) -> None:
        if found != expected:
            other = next(iter({*found} ^ {*expected}), "their order")
            raise FileError(
                f"path={str(self.path)!r}: Header does not match this evaluator, they differ in "
                f"{other!r}. Pass another output_file."
            )

    def append(self, subject: str, results: Mapping[str, Row], names: Sequence[str]) -> None:
        """Add one subject: numbers by group, with a list of instances if there is one."""
        if not self.is_tsv:
            self._append(_json_line(subject, results, names))
            return
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
        self._append(_tsv(rows))

    def _append(self, text: str) -> None:
        with self.path.open("ab") as stream:
            stream.write(text.encode())

    def read(self) -> tuple[list[str], Values]:
        """Return subjects, rows of instances included, and all values."""
        try:
            text = self.path.read_text(encoding="utf-8")
        except OSError as error:
            raise FileError(f"path={str(self.path)!r} cannot be read: {error}.") from error
        subjects, values = self._read_tsv(text) if self.is_tsv else self._read_lines(text)
        if not subjects:
            raise FileError(f"path={str(self.path)!r} has no records.")
        return subjects, values

    def _read_tsv(self, text: str) -> tuple[list[str], Values]:
        rows = _rows(text)
        if not rows or rows[0][0] != SUBJECT:
            raise FileError(f"path={str(self.path)!r}: the first column must be {SUBJECT!r}.")
        keys = [("ungrouped", *name.split("-", 1))[-2:] for name in rows[0][1:]]
        names = list(dict.fromkeys(name for _, name in keys))
        values: Values = {group: {name: [] for name in names} for group, _ in keys}
        for row in rows[1:]:
            for (group, name), cell in zip(keys, row[1:], strict=True):
                values[group][name].append(self._number(cell or None, row[0], name))
        return [row[0] for row in rows[1:]], values

    def _read_lines(self, text: str) -> tuple[list[str], Values]:
        subjects: list[str] = []
        values: Values = {}
        for record in self._records(text):
            groups = record["groups"]
            rows = [(record[SUBJECT], groups)]
            for group, numbers in groups.items():
                rows += [
                    (instance_name(record[SUBJECT], group, index), {group: row})
                    for index, row in enumerate(numbers.get(INSTANCES, ()))
                ]
            if not values:
                names = dict.fromkeys(n for row in groups.values() for n in row if n != INSTANCES)
                values = {group: {name: [] for name in names} for group in groups}
            self._check_same(sorted(groups), sorted(values))
            for subject, of_groups in rows:
                subjects.append(subject)
                for group, columns in values.items():
                    own = of_groups.get(group, {})
                    for name, column in columns.items():
                        column.append(self._number(own.get(name), subject, name))
        return subjects, values

    def _number(self, value: object, subject: str, name: str) -> float | None:
        try:
            number = math.nan if value is None else float(value)  # type: ignore[arg-type]
        except (TypeError, ValueError) as error:
            raise FileError(
                f"path={str(self.path)!r}: {value!r} of {subject!r}, {name!r}, is not a number."
            ) from error
        return number if math.isfinite(number) else None

    def write(self, subjects: Sequence[str], values: Values) -> None:
        """Write all subjects, whole or not at all."""
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

    def _records(self, text: str) -> Iterator[dict[str, Any]]:
        for number, line in enumerate(text.splitlines(), 1):
            if line.strip():
                try:
                    yield json.loads(line)
                except json.JSONDecodeError as error:
                    raise FileError(
                        f"path={str(self.path)!r}, line {number}: malformed JSON, {error.msg}."
                    ) from error


def instance_name(subject: str, group: str, index: int) -> str:
    """Return the name of the row of one instance."""
    return f"{subject}-{group}_inst_{index}"


def in_tables(instance: Row) -> dict[str, Any]:
    """Return the numbers of an instance under the names that tables have."""
    return {IN_TABLES.get(name, name): value for name, value in instance.items()}


def _header(groups: Sequence[str], names: Sequence[str]) -> list[str]:
    return [SUBJECT, *(f"{group}-{name}" for group in groups for name in names)]


def _rows(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline=""), delimiter="\t"))


def _tsv(rows: Sequence[Sequence[object]]) -> str:
    text = io.StringIO(newline="")
    csv.writer(text, delimiter="\t", lineterminator="\n").writerows(rows)
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
    parsed = {i: parse_instance_name(subject) for i, subject in enumerate(subjects)}
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
