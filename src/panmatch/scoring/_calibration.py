"""Whether confidences are what they claim: the share of matched predictions at each confidence."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from panmatch.errors import OptionError, OverlapError, check_size
from panmatch.matching import Matching, carry, limbs_to_floats, ratio, to_limbs
from panmatch.overlap import Floats, Ints, needed_confidence


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """Predictions in bins of equal width by their confidence; those of several cases add exactly.

    Attributes
    ----------
    edges
        Of the bins, from 0 to 1. A bin holds confidences from its lower edge up to, but without,
        its upper one; the last one also holds 1.
    counts, matched
        Predictions in each bin, and those of them that are matched.
    limbs
        Summed confidence in each bin, in whole numbers (D13).

    Examples
    --------
    >>> import panmatch as pm
    >>> ov = pm.count_overlaps([1, 1, 0, 2], [4, 4, 7, 8]).with_confidence([0.9, 0.2, 0.8])
    >>> found = pm.calibration(pm.match(ov), bins=2)
    >>> found.counts.tolist(), found.reliability.tolist(), found.confidence.round(2).tolist()
    ([1, 2], [0.0, 1.0], [0.2, 0.85])
    >>> round(found.ece, 4), round(found.mce, 4)
    (0.1667, 0.2)
    """

    edges: Floats
    counts: Ints
    matched: Ints
    limbs: Ints

    @property
    def reliability(self) -> Floats:
        """Share of the predictions in each bin that are matched; NaN for an empty bin."""
        return ratio(self.matched.astype(np.float64), self.counts)

    @property
    def confidence(self) -> Floats:
        """Mean confidence in each bin; NaN for an empty bin."""
        return ratio(limbs_to_floats(self.limbs), self.counts)

    @property
    def ece(self) -> float:
        """Expected calibration error: mean of |reliability − confidence| over predictions."""
        gaps = np.abs(self.matched - limbs_to_floats(self.limbs))
        return ratio(math.fsum(gaps.tolist()), int(self.counts.sum()))

    @property
    def mce(self) -> float:
        """Maximum calibration error: the largest |reliability − confidence| of a bin."""
        filled = self.counts > 0
        if not filled.any():
            return math.nan
        return float(np.abs(self.reliability - self.confidence)[filled].max())

    def __add__(self, other: Calibration) -> Calibration:
        if not isinstance(other, Calibration):
            return NotImplemented
        if len(self.counts) != len(other.counts):
            raise OptionError(
                f"calibrations can only be added if they have the same bins, but one has "
                f"{len(self.counts)} and the other {len(other.counts)}."
            )
        return Calibration(
            self.edges,
            self.counts + other.counts,
            self.matched + other.matched,
            carry(self.limbs + other.limbs),
        )

    def __radd__(self, other: object) -> Calibration:
        return self if other == 0 else NotImplemented  # sum() starts with 0

    def __repr__(self) -> str:
        return f"Calibration({int(self.counts.sum())} predictions, ECE={self.ece:.4f})"


def calibration(matching: Matching, *, bins: int = 10) -> Calibration:
    """Compare the confidence of predictions with the share of them that is matched.

    Predictions that are dismissed (D10) are neither right nor wrong, so they are left out.

    Parameters
    ----------
    matching
        Of an overlap with confidences from 0 to 1.
    bins
        How many bins of equal width.

    Examples
    --------
    >>> import panmatch as pm
    >>> ov = pm.count_overlaps([1, 1, 0, 2], [4, 4, 5, 0]).with_confidence([0.9, 0.4])
    >>> found = pm.calibration(pm.match(ov), bins=2)
    >>> found.counts.tolist(), found.matched.tolist()
    ([1, 1], [0, 1])
    """
    check_size("bins", bins, 1)
    overlap = matching.overlap
    predictions = overlap.predictions
    values = needed_confidence(overlap)
    wrong = np.flatnonzero((values < 0) | (values > 1))
    if len(wrong):
        raise OverlapError(
            f"the confidence of prediction {predictions.ids[wrong[0]]} is {values[wrong[0]]}; "
            f"calibration compares confidences with shares, so they must be from 0 to 1."
        )
    found = predictions.touched(overlap.edges.pred[matching.edges])
    judged = found | ~predictions.dismissible
    edges = np.linspace(0.0, 1.0, bins + 1)
    place = np.minimum(np.searchsorted(edges, values[judged], side="right") - 1, bins - 1)
    limbs = np.zeros((bins, 3), np.int64)
    np.add.at(limbs, place, to_limbs(values[judged]))
    counts = np.bincount(place, minlength=bins)
    matched = np.bincount(place[found[judged]], minlength=bins)
    return Calibration(edges, counts, matched, carry(limbs))
