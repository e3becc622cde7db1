"""NPQ: recognition quality over all thresholds."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from panmatch.errors import check_choice
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


Integral = Literal["step", "trapezoid"]


def sorted_ap(overlap: Overlap, *, integral: Integral = "step") -> float:
    """Return ∫ TP/(TP+FP+FN) dτ under optimal one-to-one matching (D7).

    Parameters
    ----------
    overlap
        From `count_overlaps`.
    integral
        ``"step"``: exact, since the integrand is a step function. ``"trapezoid"``: straight lines
        from the value before one step to the value before the next, as the published program
        has it; at least as high.

    Returns
    -------
    float
        NaN if both sides are empty.

    References
    ----------
    Chen, Wu, Merhof: sortedAP, rethinking evaluation metrics for instance segmentation (2023).
    Its program also keeps pairs that are below the threshold matched; ours does not.

    Examples
    --------
    >>> ov = Overlap.from_dense([[1]], ref_sizes=[2], pred_sizes=[1])
    >>> sorted_ap(ov), sorted_ap(ov, integral="trapezoid")
    (0.5, 0.75)
    """
    check_choice("integral", integral, get_args(Integral))
    steps = curve(overlap, "one-to-one")
    if integral == "step" or not steps.tp[0] + steps.fp[0] + steps.fn[0]:
        return steps.sorted_ap
    before = np.concatenate(
        [steps.accuracy[:1], steps.accuracy]
    )  # the value that ends at each threshold
    at = np.concatenate([steps.thresholds, [1.0]])
    return float(np.sum((before[1:] + before[:-1]) * np.diff(at)) / 2)
