"""Sums of qualities that do not depend on the order of the terms.

Floating-point addition rounds after every term, so the same objects numbered differently would
give sums that differ in the last digits. Qualities lie in [0, 1]; as whole multiples of 2**-62
they add exactly, in two int64 halves that hold four billion objects.
"""

from __future__ import annotations

import numpy as np

from panmatch.overlap import Floats, Ints

_BITS = 31


def to_units(quality: Floats) -> Ints:
    """Return qualities as whole multiples of 2**-62."""
    return np.rint(np.ldexp(quality, 2 * _BITS)).astype(np.int64)


def sum_units(units: Ints) -> float:
    """Return the sum of `units` as a float, rounded once.

    Examples
    --------
    >>> sum_units(to_units(np.array([0.1] * 10)))
    1.0
    """
    high, low = split(units)
    return float(from_halves(high.sum(keepdims=True), low.sum(keepdims=True))[0])


def split(units: Ints) -> tuple[Ints, Ints]:
    """Return the high and low halves, whose sums cannot overflow."""
    high = units >> _BITS
    return high, units - (high << _BITS)


def to_halves(sums: Floats) -> tuple[Ints, Ints]:
    """Return summed qualities as halves, to be added further without rounding.

    Sums from `sum_units` and `from_halves` are whole multiples of 2**-62, so nothing is lost.

    Examples
    --------
    >>> tenths = np.array([sum_units(to_units(np.array([0.1, 0.1])))])
    >>> from_halves(*to_halves(tenths)) == tenths
    array([ True])
    """
    high = np.floor(np.ldexp(sums, _BITS))
    low = np.rint(np.ldexp(sums, 2 * _BITS) - np.ldexp(high, _BITS))
    return high.astype(np.int64), low.astype(np.int64)


def from_halves(high: Ints, low: Ints) -> Floats:
    """Return summed halves as floats."""
    return np.ldexp(high.astype(np.float64), -_BITS) + np.ldexp(low.astype(np.float64), -2 * _BITS)
