"""Checks of options; every error names the argument, its value and what to pass instead."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from panmatch.errors import OptionError
from panmatch.labels import Floats, as_spacing

Shape = Sequence[int]
Radius = tuple[float, float]


def as_ints(values: Iterable[int]) -> tuple[int, ...] | None:
    """Return `values` as ints, or None if they are not whole numbers."""
    try:
        return tuple(map(operator.index, values))
    except TypeError:
        return None


def as_float(value: float) -> float:
    """Return `value` as a float; NaN, which is in no range, if it is not a number."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.nan


def check_shape(shape: Shape) -> tuple[int, ...]:
    """Return `shape` as two or three positive ints, or raise an `OptionError`."""
    lengths = as_ints(shape)
    if lengths is None or len(lengths) not in (2, 3) or min(lengths) < 1:
        raise OptionError(
            f"shape={shape!r} is not an image shape; pass two or three positive whole "
            "numbers, such as (64, 64) or (32, 64, 64)."
        )
    return lengths


def check_count(argument: str, value: int, *, lowest: int = 0, highest: int | None = None) -> int:
    """Return `value` as an int in [lowest, highest], or raise an `OptionError`."""
    count = as_ints([value])
    if count is None:
        raise OptionError(f"{argument}={value!r} is not a whole number; pass an int.")
    if count[0] < lowest or (highest is not None and count[0] > highest):
        accepted = f"{lowest} or more" if highest is None else f"{lowest} to {highest}"
        raise OptionError(f"{argument}={value} is out of range; pass {accepted}.")
    return count[0]


def check_distance(argument: str, value: float) -> float:
    """Return `value` as a float in [0, inf), or raise an `OptionError`."""
    distance = as_float(value)
    if not 0 <= distance < math.inf:
        raise OptionError(
            f"{argument}={value!r} is not a distance; pass a finite number of {_unit(argument)}, "
            "0 or more."
        )
    return distance


def check_radius(radius: Radius, argument: str = "radius") -> Radius:
    """Return `radius` as (lowest, highest) with 0 <= lowest <= highest, or raise."""
    bounds = tuple(map(as_float, radius)) if isinstance(radius, Sequence) else ()
    if len(bounds) != 2 or not all(0 <= bound < math.inf for bound in bounds):
        raise OptionError(
            f"{argument}={radius!r} is not a range; pass two finite numbers of {_unit(argument)}, "
            "0 or more: (lowest, highest)."
        )
    if bounds[0] > bounds[1]:
        raise OptionError(
            f"{argument}={radius!r} has its bounds in the wrong order; pass (lowest, highest): "
            f"({radius[1]!r}, {radius[0]!r})."
        )
    return bounds[0], bounds[1]


def check_probability(argument: str, value: float) -> float:
    """Return `value` as a float in [0, 1], or raise an `OptionError`."""
    probability = as_float(value)
    if not 0 <= probability <= 1:
        raise OptionError(f"{argument}={value!r} is out of range; pass 0 to 1, both included.")
    return probability


def random_numbers(seed: int) -> np.random.Generator:
    """Return the random generator of a seed."""
    return np.random.default_rng(check_count("seed", seed))


def check_grid(
    shape: Shape, spacing: npt.ArrayLike | None, seed: int
) -> tuple[tuple[int, ...], Floats, np.random.Generator]:
    """Return the shape and the spacing of an image, and the random generator of a seed."""
    lengths, rng = check_shape(shape), random_numbers(seed)
    return lengths, as_spacing(spacing, len(lengths)), rng


def _unit(argument: str) -> str:
    return "mm" if argument.endswith("_mm") else "voxels"
