"""Units of length in image headers."""

from __future__ import annotations

import math
from collections.abc import Iterable

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
    """Return the length of one unit; None for what is no known length, such as 'pixel'.

    Examples
    --------
    >>> micrometres_per("mm")
    1000.0
    >>> micrometres_per("pixel") is None
    True
    """
    return MICROMETRES.get(unit.strip())


def usable_spacing(steps: Iterable[float | None]) -> tuple[float, ...] | None:
    """Return the steps as a spacing; None unless each is known, positive and finite.

    Examples
    --------
    >>> usable_spacing([2, 0.5])
    (2.0, 0.5)
    >>> usable_spacing([0, 0.5]) is None
    True
    """
    known = [float("nan") if step is None else float(step) for step in steps]
    return tuple(known) if all(math.isfinite(step) and step > 0 for step in known) else None
