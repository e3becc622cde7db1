"""Physical size of a voxel."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from panmatch.errors import OptionError

Unit = Literal["mm", "µm", "voxel"]


def as_spacing(spacing: npt.ArrayLike | None, ndim: int) -> npt.NDArray[np.float64]:
    """Return the distance between neighbouring voxels along every axis.

    Parameters
    ----------
    spacing
        One number per axis, in the order of the array's axes; one number for all of them; or
        None for voxel units.
    ndim
        Number of axes.

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
    """
    if spacing is None:
        return np.ones(ndim)
    try:
        sizes = np.asarray(spacing, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise OptionError(f"spacing={spacing!r} is not a list of numbers.") from error
    if sizes.ndim == 0:
        sizes = np.full(ndim, sizes)
    if sizes.shape != (ndim,):
        raise OptionError(
            f"spacing={spacing!r} has {sizes.size} numbers, but the image has {ndim} axes: give "
            f"one number per axis, in the order of the axes."
        )
    if not (np.isfinite(sizes).all() and (sizes > 0).all()):
        raise OptionError(f"spacing={spacing!r} must be positive and finite along every axis.")
    return np.ascontiguousarray(sizes)
