"""Which thresholds there are, and which scores pass one (D2)."""

from __future__ import annotations

import numpy as np

from panmatch.errors import ThresholdError


def lowest_above(threshold: float, *, strict: bool) -> float:
    """Return a threshold such that exactly the scores strictly above it count.

    With `strict` that is the threshold itself. Otherwise scores equal to it count, too, so it is
    the next smaller number, and 1 is an allowed threshold.

    Examples
    --------
    >>> 0.5 > lowest_above(0.5, strict=True), 0.5 > lowest_above(0.5, strict=False)
    (False, True)
    """
    if strict:
        return check_threshold(threshold)
    value = 1.0 if threshold == 1 else check_threshold(threshold)
    return float(np.nextafter(value, 0.0))


def check_threshold(threshold: float) -> float:
    """Return `threshold` as a float, or raise a `ThresholdError` unless 0 ≤ threshold < 1.

    Examples
    --------
    >>> check_threshold(0.5)
    0.5
    """
    try:
        value = float(threshold)
    except (TypeError, ValueError):
        value = float("nan")
    if not 0.0 <= value < 1.0:
        raise ThresholdError(
            f"threshold={threshold!r} is outside [0, 1): an edge needs a score strictly greater "
            f"than the threshold, and no score exceeds 1. Pass a number such as 0.5, or 0 for "
            f"'any overlap'."
        )
    return value
