"""Three bootstrap intervals: percentile, BCa and studentised.

All three start from the same numbers: the score of every resample, the score itself, and the score
without each unit (a case, or a cluster of cases). ``make coverage`` measures how often each of them
contains the true score.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from panmatch.datasets._statistics._ranking import TIE
from panmatch.matching import Weights
from panmatch.overlap import Floats

IntervalMethod = Literal["studentised", "bca", "percentile"]

# A resample whose spread is this share of the usual one, or less, has none: the rest is rounding.
FLAT = 1e-6

Bools = npt.NDArray[np.bool_]
Ends = tuple[Floats, Floats]


@dataclass(frozen=True, slots=True, eq=False)
class ResampledScores:
    """Scores to build intervals from, a row for each score.

    Attributes
    ----------
    samples
        The score of every resample, shape (scores, resamples); NaN is skipped.
    values
        The scores themselves, shape (scores,).
    left_out
        The score without each unit, shape (scores, units).
    counts
        How often each unit was drawn, shape (resamples, units); floats are not converted again.
    """

    samples: Floats
    values: Floats
    left_out: Floats
    counts: Weights | Floats

    @property
    def can_be_corrected(self) -> Bools:
        """Whether all numbers are finite, so that they have a spread."""
        finite = np.isfinite(self.values) & np.isfinite(self.left_out).all(axis=1)
        known: Bools = finite & ~np.isinf(self.samples).any(axis=1)
        return known

    def only(self, rows: Bools) -> ResampledScores:
        """Return the same with zeros in all other rows."""
        kept = rows[:, np.newaxis]
        return ResampledScores(
            np.where(kept, self.samples, 0.0),
            np.where(rows, self.values, 0.0),
            np.where(kept, self.left_out, 0.0),
            self.counts,
        )


def interval_ends(scores: ResampledScores, method: IntervalMethod, level: float) -> Ends:
    """Return the lower and upper ends of the intervals, NaN where no resample has a score.

    Scores that are infinite, or undefined without one of the units, get the percentile interval.

    Examples
    --------
    >>> counts = np.array([[2, 0, 0], [0, 2, 1], [1, 1, 1], [0, 0, 3]])
    >>> values = np.array([[0.2, 0.4, 0.9]])
    >>> rest = (values.sum() - values) / 2
    >>> scores = ResampledScores(values @ counts.T / 3, values.mean(axis=1), rest, counts)
    >>> low, high = interval_ends(scores, "percentile", 0.5)
    >>> low.round(3), high.round(3)
    (array([0.408]), array([0.65]))
    """
    plain = _percentile(scores, level)
    if method == "percentile":
        return plain
    known = scores.can_be_corrected
    finite = scores.only(known)
    corrected = _bca(finite, level) if method == "bca" else _studentised(finite, level)
    low, high = (np.where(known, one, other) for one, other in zip(corrected, plain, strict=True))
    return low, high


def quantiles(samples: Floats, shares: Floats) -> Floats:
    """Return one quantile of each row, interpolated linearly; NaN is skipped.

    Examples
    --------
    >>> quantiles(np.array([[3.0, 1.0, 2.0], [np.nan, 5.0, 7.0]]), np.array([0.25, 0.5]))
    array([1.5, 6. ])
    """
    rising = np.sort(samples, axis=1)  # NaN last
    last = np.count_nonzero(~np.isnan(rising), axis=1) - 1
    place = np.clip(shares, 0.0, 1.0) * np.maximum(last, 0)
    below = np.floor(place).astype(np.int64)
    rows = np.arange(len(rising))
    start, stop = rising[rows, below], rising[rows, np.minimum(below + 1, np.maximum(last, 0))]
    with np.errstate(invalid="ignore"):  # ∞ − ∞, and 0 · ∞
        found = start + (stop - start) * (place - below)
    # Between a number and infinity there is only infinity, on both sides alike.
    at_start = (place == below) | (start == stop) | np.isneginf(start)
    interpolated: Floats = np.where(at_start, start, found)
    return interpolated


def _percentile(scores: ResampledScores, level: float) -> Ends:
    """Take the quantiles of the resampled scores."""
    rows = np.ones(len(scores.samples))
    tail = (1 - level) / 2
    return quantiles(scores.samples, tail * rows), quantiles(scores.samples, (1 - tail) * rows)


def _bca(scores: ResampledScores, level: float) -> Ends:
    """Shift the quantiles for bias and skewness (bias-corrected and accelerated; Efron 1987)."""
    from scipy.special import ndtr, ndtri

    samples, values = scores.samples, scores.values[:, np.newaxis]
    n = np.maximum(np.count_nonzero(~np.isnan(samples), axis=1), 1)
    below = np.count_nonzero(samples < values - TIE, axis=1)
    equal = np.count_nonzero(np.abs(samples - values) <= TIE, axis=1)
    # A score beyond all resamples would shift the interval to infinity.
    bias = ndtri(np.clip((below + equal / 2) / n, 0.5 / n, 1 - 0.5 / n))
    skewness = _acceleration(scores.left_out)

    def shifted(tail: float) -> Floats:
        z = bias + ndtri(tail)
        shares: Floats = ndtr(bias + z / (1 - skewness * z))
        return quantiles(samples, shares)

    return shifted((1 - level) / 2), shifted((1 + level) / 2)


def _acceleration(left_out: Floats) -> Floats:
    """Return a sixth of the skewness of the influence of units; 0 if they have none."""
    influence = left_out.mean(axis=1, keepdims=True) - left_out
    squares = (influence**2).sum(axis=1)
    some = squares > TIE**2
    cubes = (influence**3).sum(axis=1)
    return np.where(some, cubes / (6 * np.where(some, squares, 1.0) ** 1.5), 0.0)


def _studentised(scores: ResampledScores, level: float) -> Ends:
    """Take quantiles of (resample − score) / (standard error of the resample).

    The standard error of a resample is that of its units' influence on the score. For a mean of
    cases, this is the textbook bootstrap-t; for other scores, it is right to first order. If units
    are alike, many resamples have no spread, and an end of the interval is infinite. Student's t
    then takes its place.
    """
    from scipy.special import stdtrit

    n = scores.left_out.shape[1]
    values = scores.values[:, np.newaxis]
    influence = (n - 1) * (values - scores.left_out)
    off = scores.samples - values
    error = _spread(influence, np.ones((1, n), np.int64))[:, 0]
    errors = _spread(influence, scores.counts)
    flat = errors <= FLAT * error[:, np.newaxis]
    with np.errstate(invalid="ignore", divide="ignore"):
        t = np.where(flat & (np.abs(off) <= TIE), 0.0, off / np.where(flat, 0.0, errors))
        tail = (1 - level) / 2 * np.ones(len(t))
        low = scores.values - quantiles(t, 1 - tail) * error
        high = scores.values - quantiles(t, tail) * error
    margin = stdtrit(n - 1, (1 + level) / 2) * error / np.sqrt(n - 1)
    low = np.where(np.isfinite(low), low, scores.values - margin)
    high = np.where(np.isfinite(high), high, scores.values + margin)
    return low, high


def _spread(influence: Floats, counts: Weights | Floats) -> Floats:
    """Return the standard deviation of the units' influence in each resample."""
    drawn = counts.T.astype(np.float64, copy=False)
    n = np.maximum(drawn.sum(axis=0), 1.0)
    mean, square = influence @ drawn / n, influence**2 @ drawn / n
    deviation: Floats = np.sqrt(np.maximum(square - mean**2, 0.0))
    return deviation
