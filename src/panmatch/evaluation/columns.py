"""Tables as plain columns: what is computed far from any table library, and stored as JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

Columns = dict[str, list[Any]]


def append_block(columns: Columns, block: Mapping[str, Any], n: int) -> None:
    """Add n rows: lists as they are, anything else repeated.

    A column that one of the two lacks is None there.

    Examples
    --------
    >>> columns: Columns = {"a": [1]}
    >>> append_block(columns, {"a": [2, 3], "b": "x"}, 2)
    >>> columns
    {'a': [1, 2, 3], 'b': [None, 'x', 'x']}
    """
    before = height(columns)
    for name, values in block.items():
        column = columns.setdefault(name, [None] * before)
        column.extend(values if isinstance(values, list) else [values] * n)
    for column in columns.values():
        column.extend([None] * (before + n - len(column)))


def height(columns: Columns) -> int:
    """Return the number of rows."""
    return len(next(iter(columns.values()), ()))


def without_nan(columns: Columns) -> Columns:
    """Return the columns with None for NaN and for infinities, which JSON has not."""
    return {
        name: [None if isinstance(v, float) and not math.isfinite(v) else v for v in values]
        for name, values in columns.items()
    }
