"""What every reader needs: errors that name the file, and stored values as labels (D1)."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from panmatch.errors import FileError, PanmatchError
from panmatch.labels import LabelArray, free_bytes, in_gigabytes

LONGEST_CAUSE = 200

# Asking how much memory is free takes longer than decoding a small image, and a process that lacks
# this little fails anyway.
ALWAYS_FIT = 1 << 25

# Where values come from: a file, or an image with another name, such as 'reference'.
Origin = Path | str

# Converts the values of a file, or raises a `FileError`.
Decode = Callable[[npt.NDArray[Any], Origin], LabelArray]

# Above this, floating-point numbers cannot represent every whole number.
LARGEST_WHOLE = 2.0**53


def name_of(origin: Origin) -> str:
    """Return the name of a file, or an image, for the start of an error message."""
    return origin if isinstance(origin, str) else f"path={str(origin)!r}"


@contextmanager
def reading_as(origin: Origin, kind: str) -> Iterator[None]:
    """Turn every exception in the block into a `FileError`, and silence its warnings.

    Running out of memory is not the file's fault, so that error is passed on.

    Examples
    --------
    >>> with reading_as(Path("a.nii"), "a NIfTI image"):
    ...     raise EOFError("no header")
    Traceback (most recent call last):
        ...
    panmatch.errors.FileError: path='a.nii' cannot be read as a NIfTI image: no header.
    """
    try:
        with _no_warnings:
            yield
    except (PanmatchError, MemoryError):
        raise
    # For damaged files, libraries raise almost any exception: struct.error, IndexError …
    except Exception as error:
        cause = _cause(error)
        if isinstance(origin, Path):
            cause = cause.replace(str(origin), origin.name)
        raise FileError(f"{name_of(origin)} cannot be read as {kind}: {cause}.") from error


def _cause(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    if isinstance(error, LookupError):
        return repr(error)
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0].strip().rstrip(".:")[:LONGEST_CAUSE]


class _NoWarnings:
    """Ignore warnings for as long as any thread reads.

    If blocks of `warnings.catch_warnings` overlap in several threads, they restore the filters in
    the wrong order, and warnings stay off for good. A block that all readers share avoids that.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._readers = 0
        self._block = warnings.catch_warnings(action="ignore")

    def __enter__(self) -> None:
        with self._lock:
            if self._readers == 0:
                self._block = warnings.catch_warnings(action="ignore")
                self._block.__enter__()
            self._readers += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._readers -= 1
            if self._readers == 0:
                self._block.__exit__(None, None, None)


_no_warnings = _NoWarnings()


def check_fits_in_memory(n_bytes: int, origin: Origin) -> None:
    """Raise a `FileError` for an image that needs more memory than there is.

    A compressed file of a few kilobytes may contain terabytes of zeros. Unpacking them would end
    not only this case, but the whole process.
    """
    if n_bytes <= ALWAYS_FIT:
        return
    free = free_bytes()
    if n_bytes > free:
        raise FileError(
            f"{name_of(origin)} takes {in_gigabytes(n_bytes)} when unpacked, but only "
            f"{in_gigabytes(free)} of memory are free. Convert it to Zarr, which is read in chunks."
        )


def as_stored_labels(values: npt.NDArray[Any], origin: Origin) -> LabelArray:
    """Return the values of a file as integers, in the memory order of the file.

    Booleans become uint8 and integers stay as they are, both without a copy. Many programs write
    label maps as floating-point numbers; if all are whole, they become int32, or int64 if needed.
    Other numbers are an error, and so are magnitudes of 2**53 and above.

    Examples
    --------
    >>> as_stored_labels(np.array([0.0, 2.0]), Path("a.nii"))
    array([0, 2], dtype=int32)
    >>> as_stored_labels(np.array([0.0, 0.5]), Path("a.nii"))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    panmatch.errors.FileError: path='a.nii' holds 0.5 at voxel (1,), which is not a label. ...
    """
    if values.dtype == np.bool_:
        return values.view(np.uint8)
    if values.dtype.kind in "iu":
        return values
    if values.dtype.kind == "f":
        return _whole_numbers(values, origin)
    raise FileError(
        f"{name_of(origin)} stores values of dtype {values.dtype}; labels must be integers, "
        f"booleans, or whole floating-point numbers."
    )


def _whole_numbers(values: npt.NDArray[np.floating], origin: Origin) -> LabelArray:
    if values.size == 0:
        return values.astype(np.int32)
    largest = max(abs(float(values.min())), abs(float(values.max())))
    if not largest < LARGEST_WHOLE:  # NaN is never less
        raise FileError(_why_not_labels(values, origin))
    fits = np.iinfo(np.int32).min <= values.min() and values.max() <= np.iinfo(np.int32).max
    labels: LabelArray = values.astype(np.int32 if fits else np.int64, order="K")
    if not (labels == values).all():
        raise FileError(_why_not_labels(values, origin))
    return labels


def _why_not_labels(values: npt.NDArray[np.floating], origin: Origin) -> str:
    whole = (values == np.floor(values)) & (np.abs(values) < LARGEST_WHOLE)
    index = np.unravel_index(np.argmin(whole), values.shape)
    voxel = tuple(int(i) for i in index)
    return (
        f"{name_of(origin)} holds {values[index]} at voxel {voxel}, which is not a label. If it "
        f"is a probability map, threshold it; if it was resampled, use nearest-neighbour "
        f"interpolation; if its header scales the values, store whole numbers instead."
    )
