"""Values as a file stores them, turned into labels (D1)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from panmatch.errors import FileError
from panmatch.labels import LabelArray

# Above this, floating-point numbers no longer tell neighbouring whole numbers apart.
LARGEST_WHOLE = 2.0**53


def as_stored_labels(values: npt.NDArray[Any], path: Path) -> LabelArray:
    """Return the values of a file as integers, in the memory order of the file.

    Parameters
    ----------
    values
        What the file stores. Booleans become uint8 and integers stay as they are, both without
        a copy. Floating-point numbers that are all whole, as many programs write their label
        maps, become int32, or int64 where int32 is too small.
    path
        What to call the file in an error message.

    Raises
    ------
    FileError
        For fractions, infinities, NaN, magnitudes of 2**53 and above, and for values that are
        no numbers.

    Examples
    --------
    >>> as_stored_labels(np.array([0.0, 2.0]), Path("a.nii"))
    array([0, 2], dtype=int32)
    >>> as_stored_labels(np.array([0.0, 0.5]), Path("a.nii"))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    panmatch.errors.FileError: path='a.nii' holds 0.5 at voxel (1,), which is no label. ...
    """
    if values.dtype == np.bool_:
        return values.view(np.uint8)
    if values.dtype.kind in "iu":
        return values
    if values.dtype.kind == "f":
        return _whole_numbers(values, path)
    raise FileError(
        f"path={str(path)!r} stores values of dtype {values.dtype}; labels must be integers, "
        f"booleans, or whole floating-point numbers."
    )


def _whole_numbers(values: npt.NDArray[np.floating[Any]], path: Path) -> LabelArray:
    if values.size == 0:
        return values.astype(np.int32)
    largest = max(abs(float(values.min())), abs(float(values.max())))
    if not largest < LARGEST_WHOLE:  # NaN is never less
        raise FileError(_why_not_labels(values, path))
    fits = np.iinfo(np.int32).min <= values.min() and values.max() <= np.iinfo(np.int32).max
    labels: LabelArray = values.astype(np.int32 if fits else np.int64, order="K")
    if not (labels == values).all():
        raise FileError(_why_not_labels(values, path))
    return labels


def _why_not_labels(values: npt.NDArray[np.floating[Any]], path: Path) -> str:
    whole = (values == np.floor(values)) & (np.abs(values) < LARGEST_WHOLE)
    index = np.unravel_index(np.argmin(whole), values.shape)
    voxel = tuple(int(i) for i in index)
    return (
        f"path={str(path)!r} holds {values[index]} at voxel {voxel}, which is no label. If it is "
        f"a probability map, threshold it; if it was resampled, use nearest-neighbour "
        f"interpolation; if its header scales the values, store whole numbers instead."
    )
