"""Tables on disk, as CSV and, with the extra `parquet`, as Parquet: complete or not at all."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING

from panmatch.datasets._score_files import plain_text
from panmatch.errors import FileError
from panmatch.formats import write_atomically

if TYPE_CHECKING:
    import pandas as pd

WHOLE = {"int64", "Int64"}
MANY_ROWS = 5_000  # to write at once


def write_table(folder: Path, name: str, table: pd.DataFrame) -> None:
    """Write a table as CSV and, with the extra `parquet`, as Parquet."""
    with TableFile(folder, name) as file:
        file.add(table)
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
        self._heads: list[pd.DataFrame] = []  # the first row of every block
        self._waiting: list[pd.DataFrame] = []  # similar blocks, to be written as one
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._texts = self._nameless_file()
            self._tables = None if find_spec("pyarrow") is None else self._nameless_file()
        except OSError as error:
            raise self._cannot_be_written(error) from error

    def _nameless_file(self) -> _Pieces:
        file: IO[bytes] = self.enter_context(TemporaryFile(dir=self._path.parent))  # noqa: SIM115
        return _Pieces(file)

    def add(self, block: pd.DataFrame) -> None:
        """Add rows."""
        waiting = self._waiting
        if waiting and (not _are_alike(waiting[-1], block) or sum(map(len, waiting)) >= MANY_ROWS):
            self._flush()
        self._waiting.append(block)

    def _flush(self) -> None:
        import pandas as pd

        block = pd.concat(self._waiting, ignore_index=True)
        self._waiting.clear()
        self._heads.append(block.iloc[:1].copy())  # a view would keep the block in memory
        text = without_formulas(block).to_csv(index=False, header=False, lineterminator="\n")
        try:
            self._texts.add(text.encode())
            if self._tables is not None:
                self._tables.add(_as_stream(block))
        except OSError as error:
            raise self._cannot_be_written(error) from error

    def finish(self) -> None:
        """Join the blocks and put the table in its place; there must be at least one block."""
        self._flush()
        names = merge_columns([list(head.columns) for head in self._heads])
        write_atomically(self._path.with_suffix(".csv"), self._csv(names))
        if self._tables is not None:
            write_atomically(self._path.with_suffix(".parquet"), self._parquet(names))

    def _csv(self, names: list[str]) -> Iterator[bytes]:
        import pandas as pd

        yield pd.DataFrame(columns=names).to_csv(index=False, lineterminator="\n").encode()
        for head, text in zip(self._heads, self._texts, strict=True):
            if list(head.columns) == names or not text:
                yield text
            else:  # as text, so every number stays exactly as written
                block = pd.read_csv(
                    io.BytesIO(text), names=list(head.columns), dtype=str, keep_default_na=False
                )
                block = block.reindex(columns=names, fill_value="")
                yield block.to_csv(index=False, header=False, lineterminator="\n").encode()

    def _parquet(self, names: list[str]) -> Iterator[bytes]:
        import pyarrow as pa
        import pyarrow.parquet as pq

        assert self._tables is not None
        types = _common_types(self._heads, names)
        schema = None
        with TemporaryFile(dir=self._path.parent) as whole, ExitStack() as stack:
            for piece in self._tables:
                block = pa.ipc.open_stream(piece).read_all().to_pandas()
                block = block.reindex(columns=names).astype(types)
                rows = pa.Table.from_pandas(block, preserve_index=False)
                if (
                    schema is None
                ):  # a column that is empty in the first block may be text in others
                    texts = [f.with_type(pa.string()) if pa.types.is_null(f.type) else f
                             for f in rows.schema]  # fmt: skip
                    schema = pa.schema(texts, rows.schema.metadata)
                    writer = stack.enter_context(pq.ParquetWriter(whole, schema))
                writer.write_table(rows.cast(schema))
            stack.close()
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


def _are_alike(one: pd.DataFrame, other: pd.DataFrame) -> bool:
    return list(one.columns) == list(other.columns) and list(one.dtypes) == list(other.dtypes)


def _as_stream(block: pd.DataFrame) -> bytes:
    import pyarrow as pa

    rows = pa.Table.from_pandas(block, preserve_index=False)
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, rows.schema) as stream:
        stream.write_table(rows)
    return sink.getvalue()


def _common_types(heads: Sequence[pd.DataFrame], names: Sequence[str]) -> dict[str, str]:
    """Return, for each column, the type that fits all blocks."""
    types = {}
    for name in names:
        kinds = {str(head[name].dtype) for head in heads if name in head}
        if kinds <= WHOLE:
            everywhere = all(name in head or head.empty for head in heads)
            types[name] = "int64" if kinds == {"int64"} and everywhere else "Int64"
        else:
            types[name] = kinds.pop() if len(kinds) == 1 else "object"
    return types


def without_formulas(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table whose texts are not taken for formulas by spreadsheets.

    A case may be called ``=1+1``, or worse. A leading apostrophe keeps it text.

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
