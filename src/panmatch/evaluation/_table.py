"""A table as plain columns, which becomes a pandas table only for people who ask for one."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from panmatch.errors import needs_extra
from panmatch.evaluation._setting import Cell, Row

if TYPE_CHECKING:
    import pandas as pd

# What the cells of a column are: "nothing" where all of them are undefined.
Kind = Literal["whole", "number", "text", "nothing"]


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of equal length, in order; None and NaN are undefined.

    Attributes
    ----------
    columns
        The cells of each column.
    whole
        Columns of whole numbers, which stay whole where some are undefined.

    Examples
    --------
    >>> table = Table.of_rows([{"case": "a", "tp": 3}, {"case": "b", "pq": 0.5}], whole={"tp"})
    >>> table.kinds
    {'case': 'text', 'tp': 'whole', 'pq': 'number'}
    >>> table.frame()
      case    tp   pq
    0    a     3  NaN
    1    b  <NA>  0.5
    """

    columns: Mapping[str, Sequence[Cell]]
    whole: Collection[str] = ()

    @classmethod
    def of_rows(
        cls, rows: Sequence[Row], names: Iterable[str] = (), whole: Collection[str] = ()
    ) -> Table:
        """Make a table of rows, which may lack cells; `names` come first."""
        order = dict.fromkeys([*names, *(name for row in rows for name in row)])
        return cls({name: [row.get(name) for row in rows] for name in order}, whole)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return list(self.columns)

    @cached_property
    def kinds(self) -> dict[str, Kind]:
        """What the cells of each column are."""
        return {name: _kind(cells, name in self.whole) for name, cells in self.columns.items()}

    def rows(self) -> list[Row]:
        """Return the rows, each with all columns."""
        cells = zip(*self.columns.values(), strict=True)
        return [dict(zip(self.columns, row, strict=True)) for row in cells]

    def frame(self) -> pd.DataFrame:
        """Return a pandas table; whole numbers are Int64 where some are undefined."""
        with needs_extra("cli", "Tables"):
            import pandas as pd

        return pd.DataFrame(
            {
                name: pd.Series(cells, dtype=self._dtype(name))
                for name, cells in self.columns.items()
            }
        )

    def _dtype(self, name: str) -> str | None:
        """Return what pandas calls the kind of a column; texts are its own business."""
        kind = self.kinds[name]
        if kind == "whole":
            return "Int64" if any(map(is_undefined, self.columns[name])) else "int64"
        return None if kind == "text" else "float64"


def is_undefined(cell: Cell) -> bool:
    """Return whether a cell is None or NaN."""
    return cell is None or (isinstance(cell, float) and math.isnan(cell))


def _kind(cells: Sequence[Cell], whole: bool) -> Kind:
    types = set(map(type, cells))
    if str in types:
        return "text"
    if whole or types == {int}:
        return "whole"
    return "nothing" if all(map(is_undefined, cells)) else "number"
