"""Numbers as JSON has them: nothing of numpy, and null for what is undefined (D11)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from panmatch.overlap import Areas

Message = dict[str, Any]


def number(value: float) -> float | None:
    """Return the number, or None where it is NaN.

    Examples
    --------
    >>> number(0.5), number(float("nan"))
    (0.5, None)
    """
    return None if math.isnan(value) else float(value)


def numbers(values: Areas) -> list[Any]:
    """Return an array as a list, with None for NaN.

    Examples
    --------
    >>> numbers(np.array([0.5, np.nan])), numbers(np.array([1, 2]))
    ([0.5, None], [1, 2])
    """
    listed: list[Any] = values.tolist()
    if values.dtype.kind == "f" and np.isnan(values).any():
        return [number(value) for value in listed]
    return listed
