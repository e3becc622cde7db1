"""Adding up values by place."""

from __future__ import annotations

import numpy as np

from panmatch.overlap.types import Areas, Ints


def sum_by(places: Ints, values: Areas, n: int) -> Areas:
    """Return n sums, of the values at each place, in the dtype of `values`.

    The sums run in float64, which is exact for whole numbers below 2**53.

    Examples
    --------
    >>> sum_by(np.array([0, 2, 0]), np.array([5, 1, 2]), 3)
    array([7, 0, 1])
    """
    sums: Areas = np.bincount(places, values, n).astype(values.dtype)
    return sums
