"""Spacings and their units of length (D14)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import Decimal
from typing import get_args

from panmatch.errors import Argument, OptionError, check_choice
from panmatch.labels import Unit, shortest_decimal

# As OME-XML and ImageJ abbreviate them, and as OME-Zarr spells them out.
MICROMETRES = {
    "pm": 1e-6,
    "picometer": 1e-6,
    "Å": 1e-4,
    "angstrom": 1e-4,
    "nm": 1e-3,
    "nanometer": 1e-3,
    "µm": 1.0,
    "μm": 1.0,
    "um": 1.0,
    "micron": 1.0,
    "microns": 1.0,
    "micrometer": 1.0,
    "mm": 1e3,
    "millimeter": 1e3,
    "cm": 1e4,
    "centimeter": 1e4,
    "inch": 25.4e3,
    "m": 1e6,
    "meter": 1e6,
}


def micrometres_per(unit: str) -> float | None:
    """Return the length of a unit; None if it is not a known length, such as 'pixel'.

    Examples
    --------
    >>> micrometres_per("mm")
    1000.0
    >>> micrometres_per("pixel") is None
    True
    """
    return MICROMETRES.get(unit.strip())


def convert_spacing(spacing: Iterable[float], unit: Unit, wanted: Unit) -> tuple[float, ...]:
    """Return a spacing in another unit of length.

    Parameters
    ----------
    spacing
        Distance between neighbouring voxels along each axis.
    unit, wanted
        The unit of `spacing`, and the unit of the result.

    Raises
    ------
    OptionError
        For a conversion from or to voxels: only the user knows how large a voxel is.

    Examples
    --------
    >>> convert_spacing((0.0003, 0.6), "mm", "µm")
    (0.3, 600.0)
    >>> convert_spacing((2, 0.5), "voxel", "mm")  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
        ...
    panmatch.errors.OptionError: the spacing (2, 0.5) has the unit 'voxel', which cannot be …
    """
    check_choice("unit", unit, get_args(Unit))
    check_choice("wanted", wanted, get_args(Unit))
    steps = tuple(spacing)
    if unit == wanted:
        return steps
    if "voxel" in (unit, wanted):
        raise OptionError(
            f"the spacing {steps} has the unit {unit!r}, which cannot be converted to {wanted!r}: "
            f"pass it in {wanted}, with ",
            Argument("spacing"),
            ".",
        )
    return shift_decimal_point(steps, 3 if unit == "mm" else -3)


def shift_decimal_point(values: Iterable[float], places: int) -> tuple[float, ...]:
    """Multiply by a power of ten, keeping short decimals short.

    Examples
    --------
    >>> 0.0041 * 1000
    4.1000000000000005
    >>> shift_decimal_point([0.0041], 3)
    (4.1,)
    """
    return tuple(float(Decimal(repr(float(value))).scaleb(places)) for value in values)


def in_micrometres(length: float, unit: float) -> float:
    """Return a length from a header in micrometres, given the length of its unit.

    The header may have been written from float32. So the intended decimal is converted (D8),
    without the noise of binary fractions.

    Examples
    --------
    >>> in_micrometres(0.004100000020116568, 1000.0)
    4.1
    """
    return float(Decimal(repr(shortest_decimal(length))) * Decimal(repr(unit)))


def usable_spacing(steps: Iterable[float | None]) -> tuple[float, ...] | None:
    """Return the steps as a spacing; None unless each is known, positive and finite.

    Examples
    --------
    >>> usable_spacing([2, 0.5])
    (2.0, 0.5)
    >>> usable_spacing([0, 0.5]) is None
    True
    """
    known = [math.nan if step is None else float(step) for step in steps]
    return tuple(known) if all(math.isfinite(step) and step > 0 for step in known) else None
