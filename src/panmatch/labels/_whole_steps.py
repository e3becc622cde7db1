"""Spacings as whole numbers, to compare and measure distances without rounding (D8).

A spacing is read as the decimal of at most 15 digits that its float64 represents: 0.1 is one tenth.
The spacings of all axes are then whole multiples of one unit, and every squared distance is a whole
number of squared units, which float64 holds exactly up to 2⁵³.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import gcd

import numpy as np
import numpy.typing as npt

from panmatch.labels._arrays import Array, Floats, check_axes, memory_axes
from panmatch.labels._spacing import as_spacing

DIGITS = 15  # every decimal of so many digits has a float64 of its own
EXACT = 1 << 53  # whole numbers up to here are exact in float64
USUAL_LENGTH = 1024  # of an axis: rounded weights are the same for all images up to that size


@dataclass(frozen=True, slots=True)
class WholeSteps:
    """Distances between voxels in whole multiples of a unit, which is a fraction.

    Examples
    --------
    >>> WholeSteps.of([0.6, 0.6, 3])
    WholeSteps(steps=(1, 1, 5), numerator=3, denominator=5)
    """

    steps: tuple[int, ...]  # without a common factor
    numerator: int
    denominator: int

    @classmethod
    def of(cls, spacing: npt.ArrayLike) -> WholeSteps:
        """Return the steps of a spacing, in decimals of 15 digits."""
        written = (f"{step:.{DIGITS - 1}e}".split("e") for step in np.asarray(spacing).tolist())
        decimals = [(int(digits.replace(".", "")), int(power)) for digits, power in written]
        lowest = min(power for _, power in decimals)
        whole = [digits * 10 ** (power - lowest) for digits, power in decimals]
        shared, places = gcd(*whole), lowest - (DIGITS - 1)
        numerator, denominator = shared * 10 ** max(places, 0), 10 ** max(-places, 0)
        common = gcd(numerator, denominator)
        steps = tuple(step // shared for step in whole)
        return cls(steps, numerator // common, denominator // common)

    def are_exact(self, shape: Sequence[int]) -> bool:
        """Return whether float64 holds all squared distances of an image, and the unit."""
        largest = largest_square([step**2 for step in self.steps], shape)
        return max(largest, self.numerator, self.denominator) <= EXACT


def largest_square(weights: Sequence[int], shape: Sequence[int]) -> int:
    """Return an upper bound on the squared distance between voxels in and around an image."""
    return sum(weight * (n + 1) ** 2 for weight, n in zip(weights, shape, strict=True))


def layout_to_measure(
    array: Array, spacing: npt.ArrayLike | None
) -> tuple[tuple[int, ...], Floats, tuple[float, float]]:
    """Return in which order to go through the axes, their steps in that order, and the unit.

    If all squared distances are exact, the order is that of memory: it does not change the result.
    Otherwise it is that of the axes, so that sums are rounded the same way whatever the memory
    order, and the steps are the spacing itself.
    """
    check_axes(array.ndim, "distances between boundaries")
    sizes = as_spacing(spacing, array.ndim)
    whole = WholeSteps.of(sizes)
    if whole.are_exact(array.shape):
        axes = memory_axes(array)
        steps = np.array([whole.steps[axis] for axis in axes], np.float64)
        return axes, steps, (float(whole.numerator), float(whole.denominator))
    return tuple(range(array.ndim)), sizes, (1.0, 1.0)


def comparison_weights(shape: Sequence[int], spacing: Floats) -> Floats:
    """Return a weight per axis with which squared distances are compared without rounding (D8).

    Weights are whole numbers such that no sum of squares in the image exceeds 2⁵³. They are the
    squared spacings in a common unit if these are short enough, and otherwise smaller numbers that
    sort all distances in the same order, ties included. Such numbers exist for two different
    spacings, and for more if the spacings fall into two families of simple ratios. Other spacings
    with too many digits are rounded, to about 30 bits.

    Examples
    --------
    >>> comparison_weights((100, 100), np.array([0.1, 0.5]))
    array([ 1., 25.])
    >>> comparison_weights((1000, 1000), np.array([0.742188, 1.00001]))
    array([ 654866., 1188867.])
    """
    squares = [step**2 for step in WholeSteps.of(spacing).steps]
    if largest_square(squares, shape) > EXACT:
        squares = _in_same_order(squares, shape) or _rounded(squares, shape)
    return np.array(squares, np.float64)


def _in_same_order(squares: list[int], shape: Sequence[int]) -> list[int] | None:
    """Return smaller weights that sort all distances the same way, if two families allow it."""
    distinct = sorted(set(squares))
    families = (
        [int(square in family) for square in squares]
        for size in range(1, len(distinct))
        for family in combinations(distinct, size)
    )
    candidates = (_with_smaller_ratio(squares, shape, family) for family in families)
    return next((found for found in candidates if largest_square(found, shape) <= EXACT), None)


def _with_smaller_ratio(squares: list[int], shape: Sequence[int], family: list[int]) -> list[int]:
    """Return weights in the ratios of the squares within each family, 0 and 1.

    Let a and b be the greatest common divisors of the two families. Which of two distances is
    longer depends on the sign of a · x + b · y, for whole numbers x and y that the shape bounds:
    that is, on which side of the fraction −y / x the ratio a / b lies. So any ratio will do if no
    such fraction separates it from a / b.
    """
    axes = list(zip(squares, family, strict=True))
    a, b = (gcd(*(square for square, which in axes if which == one)) for one in (0, 1))
    multiples = [square // (a, b)[which] for square, which in axes]
    most_x, most_y = (
        largest_square([square // divisor * (which == one) for square, which in axes], shape)
        for one, divisor in enumerate((a, b))
    )
    ratio = _inseparable(a, b, most_y, most_x)
    return [multiple * ratio[which] for multiple, which in zip(multiples, family, strict=True)]


def _inseparable(
    numerator: int, denominator: int, most_above: int, most_below: int
) -> tuple[int, int]:
    """Return a fraction that no simple fraction separates from a given one, or that one if simple.

    A fraction is simple if numerator and denominator are within bounds. The search goes down the
    Stern–Brocot tree of all fractions, several steps at a time: everything between the two ends is
    less simple than their mediant.

    Examples
    --------
    >>> _inseparable(314159, 100000, 30, 30)  # between 25/8 and 22/7
    (47, 15)
    """
    low, high = (0, 1), (1, 0)
    while low[0] + high[0] <= most_above and low[1] + high[1] <= most_below:
        below = numerator * low[1] - low[0] * denominator
        above = high[0] * denominator - numerator * high[1]
        low = _step_towards(high, low, below // above, most_above, most_below)
        below = numerator * low[1] - low[0] * denominator
        if below == 0:
            return low
        high = _step_towards(low, high, above // below, most_above, most_below)
        if high[0] * denominator == numerator * high[1]:
            return high
    return low[0] + high[0], low[1] + high[1]


def _step_towards(
    end: tuple[int, int], start: tuple[int, int], steps: int, most_above: int, most_below: int
) -> tuple[int, int]:
    """Return the fraction some mediants further towards an end, or the last simple one."""
    for at, by, most in zip(start, end, (most_above, most_below), strict=True):
        steps = min(steps, (most - at) // by) if by else steps
    return start[0] + steps * end[0], start[1] + steps * end[1]


def _rounded(squares: list[int], shape: Sequence[int]) -> list[int]:
    """Return weights close to the squares, the same for all images that are not unusually long."""
    largest = largest_square(squares, [max(n, USUAL_LENGTH) for n in shape])
    room = EXACT // 2  # a weight is at least 1, and may be rounded up
    return [max(1, (2 * square * room + largest) // (2 * largest)) for square in squares]
