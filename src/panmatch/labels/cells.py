"""Nearest-label cells: which reference every voxel belongs to (D8)."""

from __future__ import annotations

from typing import overload

import numpy as np
import numpy.typing as npt

from panmatch import native
from panmatch.labels.chunked.volumes import ChunkedLabels, Volume, as_chunked, as_volume
from panmatch.labels.distance import VOXELS_PER_THREAD
from panmatch.labels.memory_order import memory_axes
from panmatch.labels.spacing import as_spacing
from panmatch.labels.threads import thread_count
from panmatch.labels.validation import LabelArray, as_labels, check_same_shape


@overload
def nearest_labels(
    labels: ChunkedLabels,
    spacing: npt.ArrayLike | None = None,
    *,
    where: npt.ArrayLike | None = None,
    threads: int | None = None,
) -> ChunkedLabels: ...
@overload
def nearest_labels(
    labels: npt.ArrayLike,
    spacing: npt.ArrayLike | None = None,
    *,
    where: npt.ArrayLike | None = None,
    threads: int | None = None,
) -> LabelArray: ...
def nearest_labels(
    labels: npt.ArrayLike | ChunkedLabels,
    spacing: npt.ArrayLike | None = None,
    *,
    where: npt.ArrayLike | None = None,
    threads: int | None = None,
) -> Volume:
    """Give every voxel the label of the nearest segment.

    Distances are Euclidean, between voxel centres. Of two segments at the same distance the one
    with the smaller label has the voxel; for that, spacings are compared to 15 digits. Besides
    the cells themselves this takes one float per voxel.

    Parameters
    ----------
    labels
        Label image of any dimension and memory order; 0 is background.
    spacing
        Distance between voxels along each axis; voxel units by default.
    where
        Mask of the voxels whose cell is wanted; the others get 0. Voxels near a segment cost
        little then.
    threads
        Number of threads; by default as many as pay. The result does not depend on it.

    Returns
    -------
    numpy.ndarray
        Of the shape and dtype of `labels`; 0 everywhere if there is no segment. Of a chunked
        image a `ChunkedLabels`, whose cells are found when it is read: the same as in memory, ties
        included, from a bounded number of voxels at a time.

    Examples
    --------
    >>> nearest_labels([0, 0, 2, 0, 0, 0, 1, 0])
    array([2, 2, 2, 2, 1, 1, 1, 1])
    >>> nearest_labels([0, 0, 2, 0, 0, 0, 1, 0], where=[1, 0, 0, 0, 1, 0, 0, 0])
    array([2, 0, 0, 0, 1, 0, 0, 0])
    """
    volume = as_volume(labels, "labels")
    if isinstance(volume, ChunkedLabels) and volume.ndim:
        return _chunked_cells(volume, spacing, where)
    given = as_labels(volume, "labels")
    axes = memory_axes(given)
    cells = np.array(given.transpose(axes), order="C", ndmin=1)
    steps = as_spacing(spacing, given.ndim)[list(axes)] if given.ndim else np.ones(1)
    workers = thread_count(threads, given.size, voxels_per_thread=VOXELS_PER_THREAD)
    unsigned = cells.view(np.dtype(f"u{cells.itemsize}"))
    wanted = None if where is None else _wanted(where, given, axes)
    native.nearest_labels(unsigned, np.ascontiguousarray(steps), wanted, workers)
    return cells.reshape(given.transpose(axes).shape).transpose(np.argsort(axes))


def _chunked_cells(
    labels: ChunkedLabels, spacing: npt.ArrayLike | None, where: npt.ArrayLike | None
) -> ChunkedLabels:
    from panmatch.labels.chunked.cells import ChunkedCells

    weights = native.cell_weights(labels.shape, as_spacing(spacing, labels.ndim))
    if where is None:
        return ChunkedCells(labels, None, weights)
    wanted = as_volume(where, "where")
    check_same_shape({"labels": labels, "where": wanted})
    return ChunkedCells(labels, as_chunked(wanted), weights)


def _wanted(
    where: npt.ArrayLike, labels: LabelArray, axes: tuple[int, ...]
) -> npt.NDArray[np.uint8]:
    mask = as_labels(where, "where") != 0
    check_same_shape({"labels": labels, "where": mask.view(np.uint8)})
    return np.ascontiguousarray(mask.transpose(axes)).view(np.uint8)
