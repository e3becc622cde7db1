"""Label images made from others: one number for every combination of labels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from panmatch import native
from panmatch.labels.chunked.volumes import Volume, any_chunked, map_labels
from panmatch.labels.combinations import VOXELS_PER_THREAD, Ints, distinct_labels
from panmatch.labels.memory_order import memory_axes
from panmatch.labels.threads import thread_count
from panmatch.labels.validation import LabelArray


def paint(
    arrays: Sequence[LabelArray], combinations: Ints, numbers: Ints, *, threads: int | None = None
) -> LabelArray:
    """Return an image with the number of its combination on every voxel, 0 for those not listed.

    Parameters
    ----------
    arrays
        Up to three label arrays of one shape.
    combinations
        One row per array, one column per combination.
    numbers
        One per combination, from 0 on.

    Returns
    -------
    numpy.ndarray
        In the memory order of the first array, of the smallest dtype that holds all numbers.

    Examples
    --------
    >>> paint([np.array([5, 5, 0, 9])], np.array([[5, 9]]), np.array([1, 2])).tolist()
    [1, 1, 0, 2]
    """
    first = arrays[0]
    axes = memory_axes(first)
    dtype = np.min_scalar_type(int(numbers.max(initial=0)))
    out = np.empty([first.shape[axis] for axis in axes], dtype)
    native.paint_numbers(
        out,
        [array.transpose(axes) for array in arrays],
        np.ascontiguousarray(combinations.T),
        np.ascontiguousarray(numbers),
        thread_count(threads, first.size, voxels_per_thread=VOXELS_PER_THREAD),
    )
    return out.transpose(np.argsort(axes))


def paint_volumes(
    volumes: Sequence[Volume], combinations: Ints, numbers: Ints, *, threads: int | None = None
) -> Volume:
    """Paint as `paint` does; an image made from chunked ones is painted when it is read."""
    workers = 1 if any_chunked(volumes) else threads
    paint_all = partial(_paint, combinations=combinations, numbers=numbers, threads=workers)
    return map_labels(paint_all, *volumes)


def _paint(
    *arrays: LabelArray, combinations: Ints, numbers: Ints, threads: int | None
) -> LabelArray:
    return paint(arrays, combinations, numbers, threads=threads)


def mask_of(
    image: LabelArray, labels: Iterable[int], *, others: bool = False, threads: int | None = None
) -> npt.NDArray[np.bool_]:
    """Return where an image has one of the labels, or with `others` where it has none of them.

    Examples
    --------
    >>> mask_of(np.array([5, 0, 9]), [5, 7]).tolist()
    [True, False, False]
    """
    found, _ = distinct_labels([image], threads=threads)
    wanted = np.isin(found[0], list(labels), invert=others)
    painted = paint([image], found, wanted.astype(np.int64), threads=threads)
    return painted.astype(np.uint8, copy=False).view(np.bool_)
