"""Turn what users pass into label arrays that the native kernels can read in place (D1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from panmatch.errors import LabelError, OptionError, ShapeError
from panmatch.labels.device import is_on_device
from panmatch.labels.memory import check_fits, is_chunked

LabelArray = npt.NDArray[np.integer[Any]]


def as_labels(array: npt.ArrayLike, name: str) -> LabelArray:
    """Return `array` as an integer array, without a copy wherever memory allows.

    Parameters
    ----------
    array
        Integers or booleans of any dimension, dtype and memory order. 0 is background. An array
        that is stored in chunks is read as a whole.
    name
        What to call the argument in an error message.

    Raises
    ------
    LabelError
        For any other dtype. Floating-point labels are never converted silently.
    OptionError
        If a chunked array is too large to be held in memory, or an array is on a CUDA device.

    Examples
    --------
    >>> as_labels([[0, 1], [2, 2]], "reference").dtype.kind
    'i'
    """
    if is_on_device(array):
        raise OptionError(
            f"{name} is on a CUDA device, and this runs on the host: pass cupy.asnumpy({name}), or "
            f"{name}.cpu() of a tensor. Overlaps, parts and components are computed on the device."
        )
    if is_chunked(array):
        check_fits(array, name)
    values = np.asarray(array)
    if values.dtype == np.bool_:
        values = values.view(np.uint8)
    if values.size == 0 and values.dtype == np.float64:
        values = values.astype(np.int64)  # an empty list has no dtype of its own
    if values.dtype.kind not in "iu":
        raise LabelError(_why_not_labels(values, name))
    return _readable_in_place(values)


def as_mask(array: npt.ArrayLike, name: str) -> npt.NDArray[np.bool_]:
    """Return where `array` is not background; a negative value is an error, and no object.

    Examples
    --------
    >>> as_mask([0, 3, 1], "reference")
    array([False,  True,  True])
    """
    labels = as_labels(array, name)
    if labels.dtype.kind == "i" and labels.size and labels.min() < 0:
        raise negative_label(name, int(labels.min()), int(np.count_nonzero(labels < 0)))
    mask: npt.NDArray[np.bool_] = labels != 0
    return mask


def negative_label(name: str, label: int, voxels: int) -> LabelError:
    """Return the error about a label below 0 in a mask."""
    return LabelError(
        f"{name} holds the negative label {label} ({voxels} voxels below 0): labels are "
        f"0 (background) or positive ids. Set such voxels to 0, or leave them out as void."
    )


def refuse_beyond_int64(
    labels: npt.NDArray[np.int64],
    counts: npt.NDArray[np.int64],
    among: npt.NDArray[np.bool_],
    dtype: np.dtype[Any],
    name: str,
) -> None:
    """Raise a `LabelError` for labels that int64 cannot hold, among labels as int64 shows them.

    Parameters
    ----------
    labels, counts
        Distinct labels, and their numbers of voxels.
    among
        Which of them matter.
    dtype
        Of the image; what is below 0 in an unsigned one was too large.
    """
    bad = among & (labels < 0)
    if dtype.kind == "u" and bad.any():
        value = int(labels[bad].max()) + (1 << 64)
        raise LabelError(
            f"{name} holds label {value} ({int(counts[bad].sum())} voxels beyond 2**63 - 1): ids "
            f"must fit into int64. Relabel it first, for instance with "
            f"numpy.unique(…, return_inverse=True)."
        )


class Shaped(Protocol):
    """Whatever has a shape."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths along all axes."""
        ...


def check_same_shape(arrays: Mapping[str, Shaped]) -> None:
    """Raise a `ShapeError` that prints both shapes unless all arrays have one shape."""
    first_name, first = next(iter(arrays.items()))
    for name, other in arrays.items():
        if other.shape != first.shape:
            raise ShapeError(
                f"{first_name} has shape {first.shape} but {name} has shape {other.shape}; "
                f"both must lie on the same grid.{_shape_hint(first.shape, other.shape)}"
            )


def _shape_hint(first: tuple[int, ...], other: tuple[int, ...]) -> str:
    if [n for n in first if n != 1] == [n for n in other if n != 1]:
        return " They differ only in axes of length 1: drop those with numpy.squeeze."
    if sorted(first) == sorted(other):
        return " The axes look permuted: bring them into one order with numpy.transpose."
    return " Resample one of them with nearest-neighbour interpolation first."


def _why_not_labels(values: npt.NDArray[Any], name: str) -> str:
    problem = f"{name} has dtype {values.dtype}; labels must be integers or booleans."
    if values.dtype.kind != "f":
        return problem
    whole = np.isfinite(values) & (values == np.floor(values))
    if whole.all():
        return (
            f"{problem} All its values are whole numbers: if they are labels, "
            f"pass {name}.astype(numpy.int64)."
        )
    culprit = values[~whole][0]
    return (
        f"{problem} It holds {culprit}, which is no label: if it is a probability map, "
        f"threshold it first; if it was resampled, use nearest-neighbour interpolation."
    )


def _readable_in_place(values: LabelArray) -> LabelArray:
    """Copy only what native code cannot address: foreign byte order or odd strides."""
    native = values.dtype.newbyteorder("=")
    whole_steps = all(stride % values.itemsize == 0 for stride in values.strides)
    if values.dtype.isnative and values.flags.aligned and whole_steps:
        return values
    return values.astype(native, order="K")
