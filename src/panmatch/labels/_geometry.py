"""Where every segment lies: voxels, centre, bounding box, and distances to its edge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from panmatch import native
from panmatch.errors import OptionError
from panmatch.labels._arrays import (
    Ints,
    LabelArray,
    as_labels,
    is_on_device,
    memory_axes,
    thread_count,
)
from panmatch.labels._boxes import Box
from panmatch.labels._folding import fold
from panmatch.labels._volumes import ChunkedLabels, as_volume
from panmatch.labels._whole_steps import layout_to_measure

LARGEST = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True, eq=False)
class Geometry:
    """One row per segment, by rising id.

    Attributes
    ----------
    ids
        Labels, shape (n,).
    voxels
        Number of voxels, shape (n,).
    coordinate_sums
        Sum of the voxel indices along every axis, shape (n, axes).
    start, stop
        Bounding box in voxels, ``start`` included and ``stop`` not, shape (n, axes).
    """

    ids: Ints
    voxels: Ints
    coordinate_sums: Ints
    start: Ints
    stop: Ints

    def unite(self, ids: Ints, rows: Ints, n: int) -> Geometry:
        """Return the geometry of n unions: segment ``ids[i]`` is part of union ``rows[i]``.

        An id that is not in the image adds nothing. A union of nothing has no voxels and the box
        from 0 to 0. The ids of the result are the row numbers.
        """
        positions = np.searchsorted(self.ids, ids)
        known = positions < len(self.ids)
        known[known] = self.ids[positions[known]] == ids[known]
        positions, rows = positions[known], rows[known]
        axes = self.start.shape[1]
        voxels, sums = np.zeros(n, np.int64), np.zeros((n, axes), np.int64)
        start = np.full((n, axes), LARGEST)
        stop = np.zeros((n, axes), np.int64)
        if np.bincount(rows, minlength=1).max() < 2:  # no union of several, which take longer
            voxels[rows], sums[rows] = self.voxels[positions], self.coordinate_sums[positions]
            start[rows], stop[rows] = self.start[positions], self.stop[positions]
        else:
            np.add.at(voxels, rows, self.voxels[positions])
            np.add.at(sums, rows, self.coordinate_sums[positions])
            np.minimum.at(start, rows, self.start[positions])
            np.maximum.at(stop, rows, self.stop[positions])
        start[voxels == 0] = 0
        return Geometry(np.arange(n), voxels, sums, start, stop)


def segment_geometry(labels: npt.ArrayLike, *, threads: int | None = None) -> Geometry:
    """Find voxels, centres and boxes of all segments in one pass.

    Parameters
    ----------
    labels
        Label image of any dimension and memory order; 0 is background. A chunked one is read box
        by box, and one on a CUDA device is read there.
    threads
        Number of threads; by default as many as pay off.

    Examples
    --------
    >>> table = segment_geometry([[0, 7, 7], [0, 7, 0]])
    >>> [column.tolist() for column in (table.ids, table.voxels, table.start, table.stop)]
    [[7], [3], [[0, 1]], [[2, 3]]]
    """
    if is_on_device(labels):
        from panmatch.labels._device_objects import device_geometry

        return device_geometry(labels)
    volume = as_volume(labels, "labels")
    if isinstance(volume, ChunkedLabels) and volume.ndim:
        return fold(_in_box, [volume], add_geometries, threads=threads)
    array = np.atleast_1d(as_labels(volume, "labels"))
    return _scanned(array, thread_count(threads, array.size, voxels_per_thread=1 << 22))


def add_geometries(parts: Sequence[Geometry]) -> Geometry:
    """Return the geometry of all segments of an image, given that of its pieces."""
    ids, rows = np.unique(np.concatenate([part.ids for part in parts]), return_inverse=True)
    columns = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("voxels", "coordinate_sums", "start", "stop")
    )
    every = Geometry(np.arange(len(rows)), *columns)
    return replace(every.unite(every.ids, rows, len(ids)), ids=ids)


def _in_box(box: Box, blocks: Sequence[LabelArray]) -> Geometry:
    scanned, corner = _scanned(blocks[0], 1), np.array([start for start, _ in box], np.int64)
    return replace(
        scanned,
        coordinate_sums=scanned.coordinate_sums + corner * scanned.voxels[:, np.newaxis],
        start=scanned.start + corner,
        stop=scanned.stop + corner,
    )


def _scanned(array: LabelArray, workers: int) -> Geometry:
    axes = memory_axes(array)
    ids, table = native.segment_geometry(array.transpose(axes), workers)
    order = np.argsort(ids)
    per_axis = table[order, 1:].reshape(len(ids), array.ndim, 3)[:, np.argsort(axes)]
    sums, start, stop = (per_axis[:, :, one] for one in range(3))
    return Geometry(ids[order], table[order, 0], sums, start, stop)


VOXELS_PER_THREAD = 1 << 16
SAME_DISTANCE = 1e-9  # relative; distances are square roots of sums of rounded squares


def edge_distances(
    labels: npt.ArrayLike,
    spacing: npt.ArrayLike | None = None,
    *,
    border: bool = False,
    dtype: npt.DTypeLike = np.float64,
    threads: int | None = None,
) -> npt.NDArray[np.floating]:
    """Measure how far every voxel is from the nearest voxel with another label.

    All objects are measured in one pass; background (0) has distance 0. For a mask this is what
    `scipy.ndimage.distance_transform_edt` computes.

    Parameters
    ----------
    labels
        Label image or mask of any dimension and memory order.
    spacing
        Distance between voxels along each axis; voxel units by default.
    border
        Whether everything beyond the image counts as outside every object.
    dtype
        ``float64``, or ``float32`` to save memory: rounded once, at the end, never in between.
    threads
        Number of threads; by default as many as pay off. The result does not depend on it.

    Returns
    -------
    numpy.ndarray
        Distances between voxel centres, in the shape of `labels`; infinity if no voxel has another
        label.

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
    axes, steps, unit = layout_to_measure(array, spacing if given.ndim else None)
    laid_out = np.ascontiguousarray(array.transpose(axes))
    exact = kind == np.float64 or native.distances_fit_float(list(laid_out.shape), steps)
    distances = np.empty(laid_out.shape, kind if exact else np.float64)
    workers = thread_count(threads, array.size, voxels_per_thread=VOXELS_PER_THREAD)
    native.edge_distances(laid_out, steps, unit, border, distances, workers)
    turned = distances.astype(kind, copy=False).transpose(np.argsort(axes))
    return turned.reshape(given.shape)


def inner_band(
    labels: npt.ArrayLike,
    width: float,
    spacing: npt.ArrayLike | None = None,
    *,
    threads: int | None = None,
) -> LabelArray:
    """Keep the voxels of every object that are at most `width` away from its outside.

    Parameters
    ----------
    labels
        Label image; everything beyond the image is outside.
    width
        Largest distance between the centre of a voxel and that of the nearest voxel outside, in
        the units of `spacing`. A width of one voxel keeps the voxels with a face neighbour outside.
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
