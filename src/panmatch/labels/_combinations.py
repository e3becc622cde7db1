"""How many voxels carry each combination of labels, and images painted from combinations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from panmatch import native
from panmatch.labels._arrays import (
    Ints,
    LabelArray,
    check_is_array,
    is_on_device,
    memory_axes,
    thread_count,
)
from panmatch.labels._boxes import Box
from panmatch.labels._volumes import Volume, any_chunked, as_volume, map_labels

Counted = tuple[Ints, Ints]

VOXELS_PER_THREAD = 1 << 22  # below this a second thread costs more than it saves


def distinct_labels(arrays: Sequence[Volume], *, threads: int | None = None) -> Counted:
    """Return all combinations of labels, one column each, and how many voxels have them.

    Combinations are sorted. Chunked images are read box by box, and give the same result.

    Parameters
    ----------
    arrays
        One to eight label images of the same shape, either all on a CUDA device or none.
    threads
        Number of threads; by default as many as pay off.

    Examples
    --------
    >>> distinct_labels([np.array([1, 1, 2]), np.array([7, 7, 0])])
    (array([[1, 2],
           [7, 0]]), array([2, 1]))
    """
    if is_on_device(arrays[0]):
        return _counted_on_device(arrays)
    if any_chunked(arrays):
        from panmatch.labels._folding import fold

        return fold(_in_box, arrays, add_counted, threads=threads)
    workers = thread_count(threads, arrays[0].size, voxels_per_thread=VOXELS_PER_THREAD)
    return _counted(arrays, workers)  # type: ignore[arg-type]


def as_images(given: Mapping[str, npt.ArrayLike]) -> dict[str, Volume]:
    """Return arrays as label images, by name; on a CUDA device if any of them is there.

    Raises
    ------
    OptionError
        If some are on a device and others are not.
    """
    for name, array in given.items():
        check_is_array(array, name)
    if any(is_on_device(array) for array in given.values()):
        from panmatch.labels._device import as_device_labels

        return {name: as_device_labels(array, name) for name, array in given.items()}
    return {name: as_volume(array, name) for name, array in given.items()}


def add_counted(parts: Sequence[Counted]) -> Counted:
    """Return the combinations found in several pieces of an image, and their total voxels.

    Examples
    --------
    >>> first, second = (np.array([[1, 2]]), np.array([5, 3])), (np.array([[2]]), np.array([4]))
    >>> add_counted([first, second])
    (array([[1, 2]]), array([5, 7]))
    """
    labels = np.concatenate([part[0] for part in parts], axis=1)
    order = np.lexsort(labels[::-1])
    labels = labels[:, order]
    first = np.ones(len(order), np.bool_)
    first[1:] = (labels[:, 1:] != labels[:, :-1]).any(0)
    counts = np.concatenate([part[1] for part in parts])[order]
    sums: Ints = np.add.reduceat(counts, np.flatnonzero(first)) if len(counts) else counts
    return np.ascontiguousarray(labels[:, first]), sums


def _counted_on_device(arrays: Sequence[Volume]) -> Counted:
    from panmatch.labels._device import device_joint_counts

    keys, counts = device_joint_counts(list(arrays))
    labels = np.ascontiguousarray(keys.T).view(np.int64)
    order = np.lexsort(labels[::-1])
    return np.ascontiguousarray(labels[:, order]), counts[order].view(np.int64)


def _in_box(_: Box, blocks: Sequence[LabelArray]) -> Counted:
    return _counted(blocks, 1)


def _counted(arrays: Sequence[LabelArray], workers: int) -> Counted:
    keys, counts = native.joint_counts(list(arrays), workers)
    return np.ascontiguousarray(keys.T).view(np.int64), counts.view(np.int64)


def paint(
    arrays: Sequence[LabelArray], combinations: Ints, numbers: Ints, *, threads: int | None = None
) -> LabelArray:
    """Return an image that gives every voxel the number of its combination; 0 if it is not listed.

    Combinations have one row per array, and there are at most three arrays. The image has the
    memory order of the first one, and the smallest dtype that holds all numbers.

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
    """Paint as `paint` does; an image made from chunked ones is painted when it is read.

    On a CUDA device there must be two images, and the result is there.
    """
    if is_on_device(volumes[0]):
        from panmatch.labels._device_objects import paint_on_device

        first, second = volumes
        on_device: LabelArray = paint_on_device(first, second, combinations, numbers)
        return on_device
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
    distinct, _ = distinct_labels([image], threads=threads)
    wanted = np.isin(distinct[0], list(labels), invert=others)
    painted = paint([image], distinct, wanted.astype(np.int64), threads=threads)
    return painted.astype(np.uint8, copy=False).view(np.bool_)
