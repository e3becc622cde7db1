"""How far a score would move with other cases of the same kind: resampling cases (D3, D7, D11).

A resample draws as many cases as there are, with replacement. All scores of all models are
resampled with the same counts, so what they have in common cancels in comparisons.

>>> counts = resample(4, n_resamples=500, seed=1)
>>> spread = interval(bootstrap_mean([0.2, 0.4, 0.6, float("nan")], counts))
>>> round(spread.low, 3), round(spread.high, 3)
(0.2, 0.6)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from panmatch.errors import OptionError, ShapeError, check_choice, check_size
from panmatch.evaluation import resampled_means
from panmatch.matching import Weights
from panmatch.overlap import Floats

Undefined = Literal["skip", "zero", "one"]

# Fewer cases get no interval: it would contain the true score far less often than it claims.
# Below FEW_CASES, intervals come with a warning. benchmarks/coverage.py measures this.
FEWEST_CASES = 5
FEW_CASES = 20


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval; both ends are NaN where it is undefined.

    Examples
    --------
    >>> import panmatch as pm
    >>> pm.Interval(low=0.4, high=0.6).is_defined
    True
    """

    low: float  # the ends
    high: float
    level: float = 0.95  # the share of resamples between them

    @property
    def is_defined(self) -> bool:
        """Whether the interval is defined."""
        return not math.isnan(self.low)


def resample(n_cases: int, n_resamples: int = 2000, seed: int = 0) -> Weights:
    """Draw cases with replacement, and count how often each is drawn.

    Parameters
    ----------
    n_cases
        How many cases there are, and how many every resample draws; 0 gives no columns.
    n_resamples
        How many resamples.
    seed
        Seed of PCG64. Only integers are drawn, so every platform gives the same counts.

    Returns
    -------
    Weights
        Of shape (n_resamples, n_cases); every row adds up to n_cases.

    Examples
    --------
    >>> resample(5, n_resamples=2, seed=0)
    array([[0, 2, 1, 1, 1],
           [4, 0, 0, 0, 1]], dtype=int32)
    """
    check_size("n_cases", n_cases, 0)
    check_size("n_resamples", n_resamples, 1)
    if n_cases <= 1:  # nothing to draw
        return np.full((n_resamples, n_cases), n_cases, np.int32)
    generator = np.random.Generator(np.random.PCG64(seed))
    counts = np.zeros((n_resamples, n_cases), np.int32)
    for row in counts:
        row[:] = np.bincount(generator.integers(max(n_cases, 1), size=n_cases), minlength=n_cases)
    return counts


def interval(values: npt.ArrayLike, level: float = 0.95) -> Interval:
    """Return the percentile interval of resampled scores.

    Its ends are the (1 − level)/2 and (1 + level)/2 quantiles, interpolated linearly.

    Parameters
    ----------
    values
        The score of each resample; NaN is skipped. If all are NaN, so are both ends. The functions
        below return NaN if fewer than two cases have a score: there is nothing to resample then,
        and an interval without width would claim certainty.
    level
        Share of the resamples to cover, between 0 and 1.

    Examples
    --------
    >>> interval([0.0, 0.25, float("nan"), 0.75, 1.0, 0.5], level=0.5)
    Interval(low=0.25, high=0.75, level=0.5)
    """
    check_level(level)
    scores = as_scores("values", values)
    defined = scores[~np.isnan(scores)]
    if not len(defined):
        return Interval(float("nan"), float("nan"), level)
    shares = [(1 - level) / 2, (1 + level) / 2]
    with np.errstate(invalid="ignore"):
        ends = np.quantile(defined, shares)
    # Interpolating between a number and infinity, or two infinities, gives NaN in numpy.
    above = np.quantile(defined, shares, method="higher")
    low, high = np.where(np.isnan(ends), above, ends).tolist()
    return Interval(low, high, level)


def bootstrap_mean(values: npt.ArrayLike, counts: Weights, undefined: Undefined = "skip") -> Floats:
    """Return the mean of the cases' scores in every resample (D11, mean of cases).

    Parameters
    ----------
    values
        The score of each case, shape (n_cases,); NaN where it is undefined.
    counts
        What `resample` returns.
    undefined
        What NaN counts as in a mean: nothing (``"skip"``), 0 (``"zero"``) or 1 (``"one"``, for
        empty images in which nothing was predicted).

    Returns
    -------
    Floats
        Shape (n_resamples,). NaN for a resample with only undefined cases, and for all resamples
        if fewer than two cases are defined.

    Examples
    --------
    >>> bootstrap_mean([0.5, 1.0, float("nan")], np.array([[1, 1, 1], [0, 2, 1], [0, 0, 3]]))
    array([0.75, 1.  ,  nan])
    """
    check_choice("undefined", undefined, get_args(Undefined))
    scores = as_scores("values", values)
    check_counts(counts, len(scores))
    if undefined != "skip":
        scores = np.nan_to_num(scores, nan={"zero": 0.0, "one": 1.0}[undefined])
    return resampled_means(scores, _draws(counts, ~np.isnan(scores)))


def _draws(counts: Weights, defined: npt.NDArray[np.bool_]) -> Floats:
    """Return the counts as weights, all 0 if fewer than two cases are defined."""
    enough = np.count_nonzero(defined) >= 2
    return np.asarray(counts, np.float64) * enough


def as_scores(argument: str, values: npt.ArrayLike, ndim: int = 1) -> Floats:
    """Return `values` as float64 with `ndim` axes; NaN is undefined (D11).

    Examples
    --------
    >>> as_scores("first", [1, float("nan")])
    array([ 1., nan])
    """
    scores = np.asarray(values, np.float64)
    if scores.ndim != ndim:
        raise ShapeError(f"{argument} has shape {scores.shape}: pass an array with {ndim} axes.")
    return scores


def check_counts(counts: npt.ArrayLike, n_cases: int) -> None:
    """Raise a `ShapeError` unless `counts` has a column for every case."""
    shape = np.shape(counts)
    if len(shape) != 2 or shape[1] != n_cases:
        raise ShapeError(
            f"counts has shape {shape}, but there are {n_cases} cases: pass "
            f"resample({n_cases}), of shape (resamples, cases)."
        )


def check_level(level: float) -> None:
    """Raise an `OptionError` unless 0 < level < 1."""
    if not 0.0 < level < 1.0:
        raise OptionError(
            f"level={level!r} is not a confidence level: pass a number between 0 and 1, such as "
            f"0.95."
        )
