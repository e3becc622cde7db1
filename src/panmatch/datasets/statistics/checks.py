"""What the statistics accept: scores by case, counts of resamples."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from panmatch.errors import OptionError, ShapeError
from panmatch.overlap import Floats


def as_scores(argument: str, values: npt.ArrayLike, ndim: int = 1) -> Floats:
    """Return `values` as float64 with `ndim` axes; NaN is undefined (D11), infinity an error.

    Examples
    --------
    >>> as_scores("first", [1, float("nan")])
    array([ 1., nan])
    """
    scores = np.asarray(values, np.float64)
    if scores.ndim != ndim:
        raise ShapeError(f"{argument} has shape {scores.shape}: pass an array with {ndim} axes.")
    if np.isinf(scores).any():
        raise OptionError(
            f"{argument} holds an infinity, with which neither means nor differences are defined: "
            f"pass NaN for an undefined score, or a finite penalty."
        )
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
            f"level={level!r} is no confidence level: pass a number between 0 and 1, such as 0.95."
        )


def check_size(argument: str, size: int, least: int) -> None:
    """Raise an `OptionError` unless size ≥ least."""
    if size < least:
        raise OptionError(f"{argument}={size!r} is too small: pass {least} or more.")
