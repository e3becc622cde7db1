"""NPQ: recognition quality over all thresholds."""

from __future__ import annotations

from panmatch.overlap import Overlap
from panmatch.scoring import curve


def npq(overlap: Overlap) -> float:
    """Return ∫ RQ(τ) dτ under one-to-one matching (D7).

    No threshold is chosen: an object counts at every threshold that it passes. Without void it is
    at least PQ at τ = 0, and equal to it where every object overlaps at most one other;
    ``docs/related.md`` has the identities.

    Parameters
    ----------
    overlap
        From `count_overlaps`.

    Returns
    -------
    float
        NaN if both sides are empty.

    Examples
    --------
    >>> npq(Overlap.from_dense([[6]], ref_sizes=[10], pred_sizes=[6]))
    0.6
    """
    return curve(overlap, "one-to-one").npq
