"""Exact Euclidean distance transform, of all objects of an image at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from panmatch import native
from panmatch.errors import OptionError
from panmatch.labels.memory_order import memory_axes
from panmatch.labels.spacing import as_spacing
from panmatch.labels.threads import thread_count
from panmatch.labels.validation import as_labels

VOXELS_PER_THREAD = 1 << 16
SAME_DISTANCE = 1e-9  # relative; distances are square roots of sums of rounded squares


def edge_distances(
    labels: npt.ArrayLike,
    spacing: npt.ArrayLike | None = None,
    *,
    border: bool = False,
    dtype: npt.DTypeLike = np.float64,
    threads: int | None = None,
) -> npt.NDArray[Any]:
    """Measure how far every voxel is from the nearest voxel with another label.

    All objects are done in one go; background (0) has distance 0. For a mask this is what
    `scipy.ndimage.distance_transform_edt` computes.

    Parameters
    ----------
    labels
        Label image or mask of any dimension and memory order.
    spacing
        Distance between voxels along each axis; voxel units by default.
    border
        Whether everything beyond the image counts as outside of every object.
    dtype
        ``float64``, or ``float32`` to save memory: rounded once, at the end, never in between.
    threads
        Number of threads; by default as many as pay. The result does not depend on it.

    Returns
    -------
    numpy.ndarray
        Distances between voxel centres, of the shape of `labels`; infinity where no voxel has
        another label.

    Examples
    --------
    >>> edge_distances([0, 1, 1, 1, 2, 2], spacing=0.5)
    array([0. , 0.5, 1. , 0.5, 0.5, 1. ])
    >>> edge_distances([0, 1, 1, 1, 2, 2], border=True)
    array([0., 1., 2., 1., 1., 1.])
    """
    given = as_labels(labels, "labels")
    kind = np.dtype(dtype)
    if kind not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise OptionError(f"dtype={dtype!r} is not accepted: distances are float32 or float64.")
    array = np.atleast_1d(given)
    axes = memory_axes(array)
    laid_out = np.ascontiguousarray(array.transpose(axes))
    sizes = as_spacing(spacing, given.ndim) if given.ndim else np.ones(1)
    steps = np.ascontiguousarray(sizes[list(axes)])
    exact = kind == np.float64 or native.distances_fit_float(list(laid_out.shape), steps)
    distances = np.empty(laid_out.shape, kind if exact else np.float64)
    workers = thread_count(threads, array.size, voxels_per_thread=VOXELS_PER_THREAD)
    native.edge_distances(laid_out, steps, border, distances, workers)
    turned = distances.astype(kind, copy=False).transpose(np.argsort(axes))
    return turned.reshape(given.shape)


def inner_band(
    labels: npt.ArrayLike,
    width: float,
    spacing: npt.ArrayLike | None = None,
    *,
    threads: int | None = None,
) -> npt.NDArray[Any]:
    """Keep of every object the voxels that are at most `width` from outside of it.

    Parameters
    ----------
    labels
        Label image; beyond the image is outside.
    width
        Largest distance between the centres of a voxel and of the nearest one outside, in the
        units of `spacing`. A width of one voxel keeps the voxels with a face neighbour outside.
    spacing, threads
        As for `edge_distances`.

    Examples
    --------
    >>> inner_band([[0, 3, 3, 3, 3, 3]] * 5, width=1)[2]
    array([0, 3, 0, 0, 0, 3])
    """
    array = as_labels(labels, "labels")
    distances = edge_distances(array, spacing, border=True, threads=threads)
    return np.where(distances <= width * (1 + SAME_DISTANCE), array, 0)
