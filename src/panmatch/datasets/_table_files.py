"""Tables on disk, as CSV and, with the extra `parquet`, as Parquet: complete or not at all."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from panmatch.datasets._score_files import plain_text
from panmatch.errors import FileError
from panmatch.evaluation import Cell, Kind, Table, is_undefined
from panmatch.formats import write_atomically

MANY_ROWS = 5_000  # to write at once
LONGEST_TEXTS = 2**31 - 1  # bytes of a column of text

Cells = npt.NDArray[Any] | list[Cell]


def write_table(folder: Path, name: str, table: Table) -> None:
    """Write a table as CSV and, with the extra `parquet`, as Parquet."""
    with TableFile(folder, name) as file:
        file.add(Rows.of(table))
        file.finish()


class TableFile(ExitStack):
    """A table that is written block by block, so it is never in memory as a whole.

    All columns are known only once the last block is there. Until then, blocks wait in unnamed
    files, which disappear with the process. If a block lacks a column, its cells are empty.

    Parameters
    ----------
    folder
        Folder for the table.
    name
        Name of the table, without ``.csv``.
    """

    def __init__(self, folder: Path, name: str) -> None:
        super().__init__()
        self._path = folder / name
        self._heads: list[_Head] = []
        self._waiting: list[Rows] = []  # similar blocks, to be written as one
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._texts = self._nameless_file()
            self._tables = None if find_spec("pyarrow") is None else self._nameless_file()
        except OSError as error:
            raise self._cannot_be_written(error) from error

    def _nameless_file(self) -> _Pieces:
        file: IO[bytes] = self.enter_context(TemporaryFile(dir=self._path.parent))  # noqa: SIM115
        return _Pieces(file)

    def add(self, block: Rows) -> None:
        """Add rows."""
        waiting = self._waiting
        if waiting and (waiting[-1].names != block.names or sum(map(len, waiting)) >= MANY_ROWS):
            self._flush()
        self._waiting.append(block)

    def _flush(self) -> None:
        block = Rows.joined(self._waiting)
        self._waiting.clear()
        self._heads.append(_Head.of(block))
        try:
            self._texts.add(block.text)
            if self._tables is not None:
                self._tables.add(_as_stream(block))
        except OSError as error:
            raise self._cannot_be_written(error) from error

    def finish(self) -> None:
        """Join the blocks and put the table in its place; there must be at least one block."""
        self._flush()
        names = merge_columns([head.names for head in self._heads])
        write_atomically(self._path.with_suffix(".csv"), self._csv(names))
        if self._tables is not None:
            write_atomically(self._path.with_suffix(".parquet"), self._parquet(names))

    def _csv(self, names: list[str]) -> Iterator[bytes]:
        yield _lines([names]).encode()
        for head, text in zip(self._heads, self._texts, strict=True):
            if head.names == names or not text:
                yield text
            else:  # as text, so every number stays exactly as written
                place = {name: i for i, name in enumerate(head.names)}
                rows = csv.reader(io.StringIO(text.decode(), newline=""))
                order = [place.get(name) for name in names]
                yield _lines(["" if i is None else row[i] for i in order] for row in rows).encode()

    def _parquet(self, names: list[str]) -> Iterator[bytes]:
        import pyarrow as pa
        import pyarrow.parquet as pq

        assert self._tables is not None
        schema = _schema(self._heads, names)
        with TemporaryFile(dir=self._path.parent) as whole:
            with pq.ParquetWriter(whole, schema) as writer:
                for piece in self._tables:
                    rows = pa.ipc.open_stream(piece).read_all()
                    there = set(rows.column_names)
                    cells = [
                        _as_type(rows[field.name], field.type)
                        if field.name in there
                        else pa.nulls(len(rows), field.type)
                        for field in schema
                    ]
                    writer.write_table(pa.Table.from_arrays(cells, schema=schema))
            whole.seek(0)
            yield from iter(lambda: whole.read(1 << 20), b"")

    def _cannot_be_written(self, error: OSError) -> FileError:
        return FileError(f"path={str(self._path.parent)!r} cannot be written: {error}.")


class _Pieces:
    """Pieces of bytes in a file."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._lengths: list[int] = []

    def add(self, piece: bytes) -> None:
        self._file.write(piece)
        self._lengths.append(len(piece))

    def __iter__(self) -> Iterator[bytes]:
        self._file.seek(0)
        return map(self._file.read, self._lengths)


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of a table that are ready to be written: the work is done wherever they are made.

    Attributes
    ----------
    kinds
        What the cells of each column are.
    whole
        Columns of whole numbers, as for `Table`.
    cells
        The cells of each column: arrays of whole numbers, arrays of numbers with NaN where they
        are undefined, or lists of anything.
    text
        The rows as CSV.
    length
        The number of rows.
    """

    kinds: dict[str, Kind]
    whole: frozenset[str]
    cells: dict[str, Cells]
    text: bytes
    length: int

    @classmethod
    def of(cls, table: Table) -> Rows:
        """Prepare the rows of a table."""
        cells = {name: _packed(cells, table.kinds[name]) for name, cells in table.columns.items()}
        text = csv_text(table).encode()
        return cls(table.kinds, frozenset(table.whole), cells, text, len(table))

    @classmethod
    def joined(cls, blocks: Sequence[Rows]) -> Rows:
        """Return the rows of blocks with the same columns."""
        if len(blocks) == 1:
            return blocks[0]
        whole = frozenset().union(*(one.whole for one in blocks))
        filled = [one for one in blocks if len(one)] or blocks
        kinds = {
            name: _joined_kind({one.kinds[name] for one in filled}, name in whole)
            for name in blocks[0].kinds
        }
        cells = {name: _joined_cells([one.cells[name] for one in filled]) for name in kinds}
        if all(one.reads_as(kinds) for one in filled):
            text = b"".join(one.text for one in filled)
        else:
            plain = {name: _as_list(column) for name, column in cells.items()}
            text = csv_text(Table(plain, whole)).encode()
        return cls(kinds, whole, cells, text, sum(map(len, blocks)))

    def reads_as(self, kinds: Mapping[str, Kind]) -> bool:
        """Return whether the text is the same if the columns are of other kinds."""
        return all(kind in (kinds[name], "nothing") for name, kind in self.kinds.items())

    def __len__(self) -> int:
        return self.length

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return list(self.kinds)


def _packed(cells: Sequence[Cell], kind: Kind) -> Cells:
    """Return the cells of a column as an array if that loses nothing but None for NaN."""
    types = set(map(type, cells))
    if kind == "whole" and types == {int}:
        return np.array(cells, np.int64)
    if kind == "number" and types <= {float, type(None)}:
        return np.array(cells, np.float64)
    return list(cells)


def _joined_cells(blocks: Sequence[Cells]) -> Cells:
    arrays = [one for one in blocks if isinstance(one, np.ndarray)]
    if len(arrays) == len(blocks) and len({one.dtype for one in arrays}) == 1:
        return np.concatenate(arrays)
    return [cell for one in blocks for cell in _as_list(one)]


def _as_list(cells: Cells) -> list[Cell]:
    return cells.tolist() if isinstance(cells, np.ndarray) else cells


def _joined_kind(kinds: set[Kind], whole: bool) -> Kind:
    """Return what the cells of a column are, given what they are in each block."""
    if "text" in kinds:
        return "text"
    if whole or kinds == {"whole"}:
        return "whole"
    return "nothing" if kinds == {"nothing"} else "number"


@dataclass(frozen=True, slots=True)
class _Head:
    """What is known of a block after it was written."""

    kinds: dict[str, Kind]  # by name of the column
    gaps: set[str]  # columns of whole numbers with empty cells
    length: int

    @classmethod
    def of(cls, block: Rows) -> _Head:
        gaps = {
            name
            for name, kind in block.kinds.items()
            if kind == "whole"
            and not isinstance(block.cells[name], np.ndarray)
            and any(map(is_undefined, block.cells[name]))
        }
        return cls(block.kinds, gaps, len(block))

    @property
    def names(self) -> list[str]:
        return list(self.kinds)


def merge_columns(tables: Sequence[Sequence[str]]) -> list[str]:
    """Return the columns of all tables, each after those that precede it in its own table.

    Examples
    --------
    >>> merge_columns([["case", "why"], ["case", "pq", "part_pq", "why"], ["case", "pq", "sq"]])
    ['case', 'pq', 'sq', 'part_pq', 'why']
    """
    longest: Sequence[str] = max(tables, key=len)
    merged = list(longest)
    for names in tables:
        place = 0
        for name in names:
            if name not in merged:
                merged.insert(place, name)
            place = merged.index(name) + 1
    return merged


def csv_text(table: Table, delimiter: str = ",", *, head: bool = False) -> str:
    r"""Return the rows of a table as CSV; undefined cells are empty.

    A case may be called ``=1+1``, or worse. A leading apostrophe keeps spreadsheets from taking it
    for a formula.

    Examples
    --------
    >>> csv_text(Table({"case": ["=1+1", "a"], "pq": [-1.0, None]}))
    "'=1+1,-1.0\na,\n"
    """
    names = _lines([table.names], delimiter) if head else ""
    columns = [_cells(cells, table.kinds[name], delimiter) for name, cells in table.columns.items()]
    if len(columns) == 1:  # an empty line would not be a row
        columns = [[cell or '""' for cell in columns[0]]]
    rows = "\n".join(map(delimiter.join, zip(*columns, strict=True)))
    return f"{names}{rows}\n" if len(table) else names


def _cells(cells: Sequence[Cell], kind: Kind, delimiter: str) -> list[str]:
    """Return the cells of a column as CSV; the same few occur again and again."""
    if kind == "text":
        texts = {one: _quoted(one, delimiter) for one in set(cells)}
        return [texts[one] for one in cells]
    if kind == "whole":
        if set(map(type, cells)) == {int}:
            return list(map(str, cells))
        return ["" if is_undefined(one) else str(int(one or 0)) for one in cells]
    values = _numbers(cells) + 0.0  # there is no −0 in a table
    numbers: list[float] = values.tolist()
    written = {one: repr(one) for one in set(numbers)}
    found = [written[one] for one in numbers]
    for place in np.flatnonzero(np.isnan(values)).tolist():
        found[place] = ""
    return found


def _quoted(cell: Cell, delimiter: str) -> str:
    """Return a text in quotes if it needs some; anything else is undefined."""
    text = plain_text(cell) if isinstance(cell, str) else ""
    return text if text.isalnum() else _lines([[text, ""]], delimiter)[: -len(delimiter) - 1]


def _numbers(cells: Sequence[Cell]) -> npt.NDArray[np.float64]:
    """Return the cells of a column of numbers, NaN for those that are undefined."""
    return np.array(cells, np.float64)


def _lines(rows: Iterable[Iterable[object]], delimiter: str = ",") -> str:
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return text.getvalue()


def _as_stream(block: Rows) -> bytes:
    import pyarrow as pa

    arrays = [_arrow_array(cells, block.kinds[name]) for name, cells in block.cells.items()]
    rows = pa.Table.from_arrays(arrays, names=block.names)
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, rows.schema) as stream:
        stream.write_table(rows)
    return sink.getvalue()


def _arrow_array(cells: Cells, kind: Kind) -> Any:
    """Return a column for pyarrow, from buffers: `pyarrow.array` would import pandas for a list."""
    import pyarrow as pa

    if kind == "nothing":
        return pa.nulls(len(cells))
    if kind == "text":
        return _arrow_texts(_as_list(cells))
    if kind == "number":
        values = np.asarray(cells, np.float64)
        there = ~np.isnan(values)
        values = np.where(there, values, 0.0)
    elif isinstance(cells, np.ndarray):
        values, there = cells, np.ones(len(cells), np.bool_)
    else:
        there = _defined(cells)
        values = np.array(
            [one if given else 0 for one, given in zip(cells, there, strict=True)], np.int64
        )
    defined = pa.py_buffer(np.packbits(there, bitorder="little"))
    return pa.Array.from_buffers(_arrow_type(kind), len(cells), [defined, pa.py_buffer(values)])


def _arrow_texts(cells: list[Cell]) -> Any:
    import pyarrow as pa

    if set(map(type, cells)) == {str}:
        there = np.ones(len(cells), np.bool_)
        encoded = {one: str(one).encode() for one in set(cells)}
        texts = [encoded[one] for one in cells]
    else:
        there = _defined(cells)
        texts = [
            str(one).encode() if given else b"" for one, given in zip(cells, there, strict=True)
        ]
    # Not a `cast` from large_string, which imports pyarrow.compute and so takes 30 ms.
    ends = np.cumsum([0, *map(len, texts)], dtype=np.int64)
    if ends[-1] > LONGEST_TEXTS:
        raise OverflowError(f"a column of text has {ends[-1]} bytes, which do not fit")
    defined = pa.py_buffer(np.packbits(there, bitorder="little"))
    buffers = [defined, pa.py_buffer(ends.astype(np.int32)), pa.py_buffer(b"".join(texts))]
    return pa.Array.from_buffers(pa.string(), len(cells), buffers)


def _defined(cells: Sequence[Cell]) -> npt.NDArray[np.bool_]:
    return np.array([not is_undefined(one) for one in cells], np.bool_)


def _as_type(column: Any, wanted: Any) -> Any:
    import pyarrow as pa

    if column.type == wanted:
        return column
    if pa.types.is_null(column.type):  # a cast would import pyarrow.compute
        return pa.nulls(len(column), wanted)
    return column.cast(wanted)


def _arrow_type(kind: Kind) -> Any:
    import pyarrow as pa

    types = {"whole": pa.int64(), "number": pa.float64(), "text": pa.string()}
    return types.get(kind, pa.null())


def _schema(heads: Sequence[_Head], names: Sequence[str]) -> Any:
    """Return the types that fit all blocks; pandas learns which whole numbers have gaps."""
    import pyarrow as pa

    kinds = {
        name: _common_kind({h.kinds[name] for h in heads if name in h.kinds}) for name in names
    }
    fields = [pa.field(name, _arrow_type(kinds[name])) for name in names]
    columns = [_for_pandas(name, kinds[name], heads) for name in names]
    about = {"index_columns": [], "column_indexes": [], "columns": columns, "pandas_version": "2.1"}
    return pa.schema(fields, {"pandas": json.dumps(about)})


def _common_kind(kinds: set[Kind]) -> Kind:
    """Return the kind of a column whose blocks have these kinds."""
    order: tuple[Kind, ...] = ("text", "number", "whole")
    return next((kind for kind in order if kind in kinds), "number")


def _for_pandas(name: str, kind: Kind, heads: Sequence[_Head]) -> dict[str, object]:
    """Return how pandas reads a column back."""
    gaps = any(name in h.gaps or (name not in h.kinds and h.length) for h in heads)
    types = {
        "whole": ("int64", "Int64" if gaps else "int64"),
        "number": ("float64", "float64"),
        "text": ("unicode", "object"),
    }
    pandas_type, numpy_type = types[kind]
    return {
        "name": name,
        "field_name": name,
        "pandas_type": pandas_type,
        "numpy_type": numpy_type,
        "metadata": None,
    }
