"""Sums that depend neither on the order nor on the grouping of their terms (D13).

Floating-point addition rounds after every term, so the same objects in another order would give
sums that differ in the last digits. We therefore round a term once, to a whole multiple of 2**-62,
and add whole numbers from then on: Python integers for a single sum, and for arrays three int64
limbs that count multiples of 1, 2**-31 and 2**-62.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from panmatch.overlap import Floats, Ints

LIMBS = 3
_BITS = 31
_MASK = (1 << _BITS) - 1

Number = TypeVar("Number", float, Floats)


def to_limbs(values: Floats) -> Ints:
    """Return finite values as whole numbers, shape (…, 3); limbs add without rounding.

    Examples
    --------
    >>> to_limbs(np.array([2.5, -0.25])).tolist()
    [[2, 1073741824, 0], [-1, 1610612736, 0]]
    """
    whole = np.trunc(values)
    middle = np.ldexp(values - whole, _BITS)
    low = np.ldexp(middle - np.trunc(middle), _BITS)
    limbs = np.empty((*np.shape(values), LIMBS), np.int64)
    limbs[..., 0], limbs[..., 1], limbs[..., 2] = whole, np.trunc(middle), np.rint(low)
    return carry(limbs)


def carry(limbs: Ints) -> Ints:
    """Return the one way to write the same sums with lower limbs in [0, 2**31)."""
    carried = np.empty_like(limbs)
    low = limbs[..., 2]
    middle = limbs[..., 1] + (low >> _BITS)
    carried[..., 0] = limbs[..., 0] + (middle >> _BITS)
    carried[..., 1], carried[..., 2] = middle & _MASK, low & _MASK
    return carried


def limbs_to_floats(limbs: Ints) -> Floats:
    """Return sums as floats; equal sums give equal bits.

    Examples
    --------
    >>> limbs_to_floats(to_limbs(np.full(10, 0.1)).sum(axis=0))
    array(1.)
    """
    sign = np.where(carry(limbs)[..., 0] < 0, -1, 1)
    positive = carry(limbs * sign[..., np.newaxis])
    whole, middle, low = (positive[..., limb].astype(np.float64) for limb in range(LIMBS))
    size = _joined(whole, middle, low)
    return np.asarray(sign * size)


def sum_of_shares(values: Floats) -> int:
    """Return the sum of values from 0 to 1 as a whole multiple of 2**-62.

    Each is rounded as `to_limbs` rounds it, which takes longer and knows all finite values.

    Examples
    --------
    >>> sum_of_shares(np.full(10, 0.1)) == limbs_to_units(to_limbs(np.full(10, 0.1)).sum(axis=0))
    True
    """
    units = np.rint(values * 2.0 ** (2 * _BITS)).astype(np.int64)
    return (int((units >> _BITS).sum()) << _BITS) + int((units & _MASK).sum())


def to_units(value: float) -> int:
    """Return a finite value as a whole multiple of 2**-62."""
    return limbs_to_units(to_limbs(np.array(value, np.float64)))


def limbs_to_units(limbs: Ints) -> int:
    """Return a single sum, shape (3,), as a whole multiple of 2**-62; limbs need not be carried."""
    whole, middle, low = limbs.tolist()
    units: int = (whole << 2 * _BITS) + (middle << _BITS) + low
    return units


def units_to_limbs(units: int) -> tuple[int, int, int]:
    """Return a whole multiple of 2**-62 as limbs."""
    return units >> 2 * _BITS, (units >> _BITS) & _MASK, units & _MASK


def units_to_float(units: int) -> float:
    """Return a whole multiple of 2**-62 as a float, with the bits that `limbs_to_floats` gives."""
    size = float(_joined(*map(float, units_to_limbs(abs(units)))))
    return -size if units < 0 else size


def _joined(whole: Number, middle: Number, low: Number) -> Number:
    return whole + (middle * 2.0**-_BITS + low * 2.0 ** (-2 * _BITS))
