"""Checks of the options that scenes and mistakes share; every refusal names the remedy."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence

import numpy as np

from panmatch.errors import OptionError

Radius = tuple[float, float]


def check_shape(shape: Sequence[int]) -> tuple[int, ...]:
    """Return `shape` as a tuple of two or three positive lengths, or raise an `OptionError`."""
    try:
        lengths = tuple(operator.index(length) for length in shape)
    except TypeError:
        lengths = ()
    if len(lengths) not in (2, 3) or min(lengths) < 1:
        raise OptionError(
            f"shape={shape!r} is no image; pass two or three positive whole numbers, "
            "such as (64, 64) or (32, 64, 64)."
        )
    return lengths


def check_count(argument: str, value: int, *, lowest: int = 0, highest: int | None = None) -> int:
    """Return `value` as an int in [lowest, highest], or raise an `OptionError`."""
    try:
        count = operator.index(value)
    except TypeError:
        raise OptionError(f"{argument}={value!r} is no whole number; pass an int.") from None
    if count < lowest or (highest is not None and count > highest):
        accepted = f"{lowest} or more" if highest is None else f"{lowest} to {highest}"
        raise OptionError(f"{argument}={count} is out of range; pass {accepted}.")
    return count


def check_distance(argument: str, value: float) -> float:
    """Return `value` as a float in [0, inf), or raise an `OptionError`."""
    distance = _as_float(value)
    if not 0 <= distance < math.inf:
        raise OptionError(
            f"{argument}={value!r} is no distance; pass a finite number of {_unit(argument)}, 0 "
            "or more."
        )
    return distance


def check_radius(radius: Radius, argument: str = "radius") -> Radius:
    """Return `radius` as (lowest, highest) with 0 <= lowest <= highest, or raise."""
    bounds = tuple(map(_as_float, radius)) if isinstance(radius, Sequence) else ()
    if len(bounds) != 2 or not all(0 <= bound < math.inf for bound in bounds):
        raise OptionError(
            f"{argument}={radius!r} is no range; pass two finite numbers of {_unit(argument)}, "
            "0 or more: (lowest, highest)."
        )
    low, high = bounds
    if low > high:
        raise OptionError(
            f"{argument}={radius!r} has its bounds in the wrong order; pass (lowest, highest): "
            f"({radius[1]!r}, {radius[0]!r})."
        )
    return low, high


def check_roughness(roughness: float) -> float:
    """Return `roughness` as a float in [0, 1), or raise an `OptionError`."""
    value = _as_float(roughness)
    if not 0 <= value < 1:
        raise OptionError(
            f"roughness={roughness!r} is out of range; pass 0 (round) up to, but below, 1."
        )
    return value


def check_probability(argument: str, value: float) -> float:
    """Return `value` as a float in [0, 1], or raise an `OptionError`."""
    probability = _as_float(value)
    if not 0 <= probability <= 1:
        raise OptionError(f"{argument}={value!r} is out of range; pass 0 to 1, both included.")
    return probability


def check_offset(offset: Sequence[int], ndim: int) -> tuple[int, ...]:
    """Return `offset` as one int per axis, or raise an `OptionError`."""
    try:
        steps = tuple(operator.index(step) for step in offset)
    except TypeError:
        raise OptionError(
            f"offset={offset!r} is no shift by whole voxels; pass one int per axis."
        ) from None
    if len(steps) != ndim:
        raise OptionError(
            f"offset={offset!r} has {len(steps)} numbers but labels has {ndim} axes; "
            "pass one int per axis."
        )
    return steps


def random_numbers(seed: int) -> np.random.Generator:
    """Return the generator that `seed` stands for: equal seeds give equal results."""
    return np.random.default_rng(check_count("seed", seed))


def _unit(argument: str) -> str:
    return "mm" if argument.endswith("_mm") else "voxels"


def _as_float(value: float) -> float:
    """Return NaN, which every range refuses, for what is no number."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.nan
