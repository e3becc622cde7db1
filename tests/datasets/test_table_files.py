"""Tables on disk are what pandas would write and read."""

from __future__ import annotations

import csv
import io
import math
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from panmatch.datasets._score_files import plain_text
from panmatch.datasets._table_files import (
    Rows,
    TableFile,
    _arrow_array,
    csv_text,
    write_table,
)
from panmatch.evaluation import Cell, Table
from tests.datasets.folders import make_folders

NUMBERS = st.one_of(st.none(), st.floats(allow_nan=True, allow_infinity=True))
WHOLE = st.one_of(st.none(), st.integers(-(2**53), 2**53))
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0"), max_size=8).filter(
    lambda text: not text.startswith(("=", "+", "-", "@", "\t", "'"))
)

ANYTHING = st.text("ab ,;\t\r\n\"'é²٣", max_size=5)


@st.composite
def tables(draw: st.DrawFn) -> Table:
    """Draw a table with a column of each kind."""
    n = draw(st.integers(1, 6))
    columns: dict[str, list[Cell]] = {
        name: draw(st.lists(cells, min_size=n, max_size=n))
        for name, cells in {"text": TEXTS, "number": NUMBERS, "whole": WHOLE}.items()
    }
    return Table(columns | {"nothing": [None] * n, "all": list(range(n))}, whole={"whole"})


@given(tables())
def test_csv_has_the_bytes_of_pandas(table: Table) -> None:
    expected = table.frame().to_csv(index=False, lineterminator="\n")
    assert csv_text(table, head=True) == expected


@given(st.lists(st.tuples(ANYTHING, ANYTHING), min_size=1, max_size=4), st.sampled_from(",;\t"))
def test_csv_is_quoted_as_python_does(rows: list[tuple[str, str]], delimiter: str) -> None:
    for columns in (("a", "b"), ("a",)):
        cells: dict[str, list[Cell]] = {name: [row[i] for row in rows]
                                        for i, name in enumerate(columns)}  # fmt: skip
        expected = io.StringIO(newline="")
        writer = csv.writer(expected, delimiter=delimiter, lineterminator="\n")
        writer.writerows([plain_text(text) for text in row[: len(columns)]] for row in rows)
        assert csv_text(Table(cells), delimiter) == expected.getvalue()


@given(tables())
def test_parquet_is_read_back_as_the_same_table(
    tmp_path_factory: pytest.TempPathFactory, table: Table
) -> None:
    folder = tmp_path_factory.mktemp("tables")
    write_table(folder, "t", table)
    stored = pd.read_parquet(folder / "t.parquet")
    pd.testing.assert_frame_equal(stored, table.frame())


def test_a_table_takes_blocks_with_other_columns_and_types(tmp_path: Path) -> None:
    blocks = [
        Table({"case": ["=a", "b,c"], "tp": [1, 2], "why": ["x", 'say "y"']}),
        Table({"case": ["d"], "tp": [None], "pq": [0.1], "why": [None]}, whole={"tp"}),
        Table({"case": ["e"], "tp": [4], "pq": [1 / 3], "n": [5], "why": ["z"]}),
    ]
    with TableFile(tmp_path, "table") as file:
        for block in blocks:
            file.add(Rows.of(block))
        file.finish()
    assert (tmp_path / "table.csv").read_text() == (
        "case,tp,pq,n,why\n'=a,1,,,x\n"
        '"b,c",2,,,"say ""y"""\n'
        "d,,0.1,,\ne,4,0.3333333333333333,5,z\n"
    )
    stored = pd.read_parquet(tmp_path / "table.parquet")
    assert stored["case"].tolist() == ["=a", "b,c", "d", "e"]
    assert stored["tp"].tolist() == [1, 2, pd.NA, 4]
    assert stored["n"].tolist() == [pd.NA, pd.NA, pd.NA, 5]
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["table.csv", "table.parquet"]


CELLS = st.one_of(st.none(), st.integers(-9, 9), st.floats(), st.sampled_from(["", "a", "=b"]))


@given(
    st.lists(st.lists(st.tuples(CELLS, NUMBERS, WHOLE), max_size=3), min_size=1, max_size=4),
    st.sampled_from([set(), {"c"}]),
)
def test_rows_that_are_joined_are_those_of_the_whole_table(
    blocks: list[list[tuple[Cell, ...]]], whole: set[str]
) -> None:
    def rows(of: list[tuple[Cell, ...]]) -> Rows:
        columns = {name: [row[i] for row in of] for i, name in enumerate("abc")}
        return Rows.of(Table(columns, whole))

    joined = Rows.joined([rows(one) for one in blocks])
    expected = rows([row for one in blocks for row in one])
    assert (joined.text, joined.kinds, len(joined)) == (
        expected.text, expected.kinds, len(expected)
    )  # fmt: skip
    for name, kind in expected.kinds.items():
        columns = [_arrow_array(one.cells[name], kind) for one in (joined, expected)]
        assert columns[0].equals(columns[1])


def test_a_table_that_is_not_finished_leaves_nothing(tmp_path: Path) -> None:
    with TableFile(tmp_path, "table") as file:
        file.add(Rows.of(Table({"a": [1]})))
    assert not list(tmp_path.iterdir())


def test_whole_numbers_become_floats_where_another_block_has_them(tmp_path: Path) -> None:
    with TableFile(tmp_path, "t") as file:
        file.add(Rows.of(Table({"value": [3], "a": ["x"]})))
        file.add(Rows.of(Table({"value": [0.5]})))
        file.finish()
    assert pd.read_parquet(tmp_path / "t.parquet")["value"].tolist() == [3.0, 0.5]


def test_a_table_says_what_its_cells_are() -> None:
    table = Table(
        {"a": ["x", None], "b": [1, None], "c": [math.nan, None], "d": [1, 2], "e": [1, 0.5]}
    )
    assert list(table.kinds.values()) == ["text", "number", "nothing", "whole", "number"]
    assert list(table.frame().dtypes[1:].astype(str)) == ["float64", "float64", "int64", "float64"]
    assert table.rows()[1] == {"a": None, "b": None, "c": None, "d": 2, "e": 0.5}
    assert len(Table({})) == 0


def test_a_run_writes_all_tables_without_pandas(tmp_path: Path) -> None:
    """It takes a third of a second to import, which a small case need not wait for."""
    make_folders(tmp_path, 1)
    code = (
        "import sys; sys.modules['pandas'] = None; from panmatch.cli import main; "
        "sys.argv[1:] = ['evaluate', 'ref', 'model', '-o', 'out', '--wide']; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert len(pd.read_parquet(tmp_path / "out" / "scores.parquet")) > 0
