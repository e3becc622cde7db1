"""The one rule for thresholds (D2)."""

from __future__ import annotations

from panmatch.errors import ThresholdError


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
