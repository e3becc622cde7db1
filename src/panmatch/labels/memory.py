"""Arrays that are stored in chunks, and whether one may be held in memory as a whole."""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np

from panmatch.errors import OptionError

LARGEST_SHARE = 0.25  # of this machine's memory, for an array that is needed as a whole
ASSUMED_BYTES = 8 << 30  # where the system does not say how much memory there is


def is_chunked(array: object) -> bool:
    """Return whether an array is stored in chunks: those of Zarr, Dask and HDF5, and our own.

    They are known by what they have, so none of these libraries is imported for it.

    Examples
    --------
    >>> import zarr
    >>> is_chunked(zarr.zeros((4, 4), chunks=(2, 2))), is_chunked(np.zeros((4, 4)))
    (True, False)
    """
    if isinstance(array, np.ndarray) or not hasattr(array, "__getitem__"):
        return False
    return all(getattr(array, name, None) is not None for name in ("shape", "dtype", "chunks"))


def bytes_of(array: Any) -> int:
    """Return how many bytes an array takes in memory."""
    return int(math.prod(array.shape) * np.dtype(array.dtype).itemsize)


def memory_bytes() -> int:
    """Return how much memory this machine has."""
    try:
        return int(os.sysconf("SC_PAGE_SIZE")) * int(os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        return ASSUMED_BYTES


def fits(size: int) -> bool:
    """Return whether that many bytes are at most a quarter of this machine's memory."""
    return size <= LARGEST_SHARE * memory_bytes()


def check_fits(array: Any, name: str) -> None:
    """Raise an `OptionError` if a chunked array is too large to be held as a whole."""
    size = bytes_of(array)
    if not fits(size):
        raise OptionError(
            f"{name} takes {in_gigabytes(size)}, more than a quarter of this machine's "
            f"{in_gigabytes(memory_bytes())}, and is needed as a whole here. What goes chunk by "
            f"chunk: overlaps, also with parts and in regions, components, and the metrics of "
            f"objects that are made of counts, centres and boxes."
        )


def in_gigabytes(size: int) -> str:
    """Return a number of bytes in words.

    Examples
    --------
    >>> in_gigabytes(34_359_738_368)
    '34.4 GB'
    """
    return f"{size / 1e9:.1f} GB"
