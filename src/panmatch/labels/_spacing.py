"""Physical size of a voxel."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from panmatch.errors import Argument, OptionError

# The unit of a spacing (D14); voxel if it is not known.
Unit = Literal["mm", "µm", "voxel"]


def as_spacing(
    spacing: npt.ArrayLike | None, ndim: int, *, argument: str = "spacing"
) -> npt.NDArray[np.float64]:
    """Return the distance between neighbouring voxels along every axis.

    Parameters
    ----------
    spacing
        One number per axis, in the order of the array's axes; one number for all of them; or
        None for voxel units. Numbers in float32 are read as their shortest decimals.
    ndim
        Number of axes.
    argument
        What to call it in an error message.

    Raises
    ------
    OptionError
        If a number is missing, or is not positive and finite.

    Examples
    --------
    >>> as_spacing((3, 1, 0.5), 3)
    array([3. , 1. , 0.5])
    >>> as_spacing(None, 2)
    array([1., 1.])
    >>> as_spacing(np.array([0.6, 0.1], np.float32), 2)
    array([0.6, 0.1])
    """
    if spacing is None:
        return np.ones(ndim)
    given_as = Argument(argument, spacing)
    try:
        given = np.asarray(spacing)
        sizes = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise OptionError(given_as, " is not a list of numbers.") from error
    if given.dtype.type is np.float32:
        sizes = np.vectorize(shortest_decimal, otypes=[np.float64])(sizes)
    if sizes.ndim == 0:
        sizes = np.full(ndim, sizes)
    if sizes.shape != (ndim,):
        raise OptionError(
            given_as,
            f" has {sizes.size} numbers, but the image has {ndim} axes: give one number per axis, "
            f"in the order of the axes.",
        )
    if not (np.isfinite(sizes).all() and (sizes > 0).all()):
        raise OptionError(given_as, " must be positive and finite along every axis.")
    return np.ascontiguousarray(sizes)


def shortest_decimal(value: float) -> float:
    """Return the shortest decimal that rounds to the same float32 (D8).

    A value with more digits than float32 can hold is returned as it is.

    Examples
    --------
    >>> float(np.float32(0.6))
    0.6000000238418579
    >>> shortest_decimal(0.6000000238418579)
    0.6
    >>> shortest_decimal(0.600000024)
    0.600000024
    """
    with np.errstate(over="ignore"):
        rounded = np.float32(value)
    return float(str(rounded)) if float(rounded) == value else float(value)
