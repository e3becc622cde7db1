"""How many voxels carry each combination of labels: the one pass over voxels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from panmatch import native
from panmatch.labels.chunked.boxes import Box
from panmatch.labels.chunked.folding import fold
from panmatch.labels.chunked.volumes import Volume, any_chunked, as_volume
from panmatch.labels.device import as_device_labels, device_joint_counts, is_on_device
from panmatch.labels.threads import thread_count
from panmatch.labels.validation import LabelArray

Ints = npt.NDArray[np.int64]
Counted = tuple[Ints, Ints]

VOXELS_PER_THREAD = 1 << 22  # below this a second thread costs more than it saves


def distinct_labels(arrays: Sequence[Volume], *, threads: int | None = None) -> Counted:
    """Return all combinations of labels, one column each, and how many voxels have them.

    Combinations are sorted. Chunked images are read box by box, and give the same result.

    Parameters
    ----------
    arrays
        One to eight label images of one shape; all of them on a CUDA device, or none.
    threads
        Number of threads; by default as many as pay.

    Examples
    --------
    >>> distinct_labels([np.array([1, 1, 2]), np.array([7, 7, 0])])
    (array([[1, 2],
           [7, 0]]), array([2, 1]))
    """
    if is_on_device(arrays[0]):
        return _counted_on_device(arrays)
    if any_chunked(arrays):
        return fold(_in_box, arrays, add_counted, threads=threads)
    workers = thread_count(threads, arrays[0].size, voxels_per_thread=VOXELS_PER_THREAD)
    return _counted(arrays, workers)  # type: ignore[arg-type]


def as_images(given: Mapping[str, npt.ArrayLike]) -> dict[str, Volume]:
    """Return arrays as label images, by their names; on a CUDA device, if one of them is there.

    Raises
    ------
    OptionError
        If some are on a device and others are not.
    """
    if any(is_on_device(array) for array in given.values()):
        return {name: as_device_labels(array, name) for name, array in given.items()}
    return {name: as_volume(array, name) for name, array in given.items()}


def add_counted(parts: Sequence[Counted]) -> Counted:
    """Return the combinations of several parts of an image, and their voxels in all of them.

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
    keys, counts = device_joint_counts(list(arrays))
    labels = np.ascontiguousarray(keys.T).view(np.int64)
    order = np.lexsort(labels[::-1])
    return np.ascontiguousarray(labels[:, order]), counts[order].view(np.int64)


def _in_box(_: Box, blocks: Sequence[LabelArray]) -> Counted:
    return _counted(blocks, 1)


def _counted(arrays: Sequence[LabelArray], workers: int) -> Counted:
    keys, counts = native.joint_counts(list(arrays), workers)
    return np.ascontiguousarray(keys.T).view(np.int64), counts.view(np.int64)
