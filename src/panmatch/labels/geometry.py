"""Where every segment lies: voxels, centre and bounding box."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from panmatch import native
from panmatch.labels.chunked.boxes import Box
from panmatch.labels.chunked.folding import fold
from panmatch.labels.chunked.volumes import ChunkedLabels, as_volume
from panmatch.labels.memory_order import memory_axes
from panmatch.labels.threads import thread_count
from panmatch.labels.validation import LabelArray, as_labels

Ints = npt.NDArray[np.int64]


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

        An id that the image does not have adds nothing. A union of nothing has no voxels and the
        box from 0 to 0. The ids are the rows.
        """
        known = np.isin(ids, self.ids)
        at, rows = np.searchsorted(self.ids, ids[known]), rows[known]
        axes = self.start.shape[1]
        voxels, sums = np.zeros(n, np.int64), np.zeros((n, axes), np.int64)
        start = np.full((n, axes), np.iinfo(np.int64).max)
        stop = np.zeros((n, axes), np.int64)
        np.add.at(voxels, rows, self.voxels[at])
        np.add.at(sums, rows, self.coordinate_sums[at])
        np.minimum.at(start, rows, self.start[at])
        np.maximum.at(stop, rows, self.stop[at])
        start[voxels == 0] = 0
        return Geometry(np.arange(n), voxels, sums, start, stop)


def segment_geometry(labels: npt.ArrayLike, *, threads: int | None = None) -> Geometry:
    """Find voxels, centres and boxes of all segments in one pass.

    Parameters
    ----------
    labels
        Label image of any dimension and memory order; 0 is background. A chunked one is read box
        by box.
    threads
        Number of threads; by default as many as pay.

    Examples
    --------
    >>> found = segment_geometry([[0, 7, 7], [0, 7, 0]])
    >>> [column.tolist() for column in (found.ids, found.voxels, found.start, found.stop)]
    [[7], [3], [[0, 1]], [[2, 3]]]
    """
    volume = as_volume(labels, "labels")
    if isinstance(volume, ChunkedLabels) and volume.ndim:
        return fold(_in_box, [volume], add_geometries, threads=threads)
    array = np.atleast_1d(as_labels(volume, "labels"))
    return _scanned(array, thread_count(threads, array.size, voxels_per_thread=1 << 22))


def add_geometries(parts: Sequence[Geometry]) -> Geometry:
    """Return the geometry of all segments of an image from those of its parts."""
    ids, rows = np.unique(np.concatenate([part.ids for part in parts]), return_inverse=True)
    columns = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("voxels", "coordinate_sums", "start", "stop")
    )
    every = Geometry(np.arange(len(rows)), *columns)
    return replace(every.unite(every.ids, rows, len(ids)), ids=ids)


def _in_box(box: Box, blocks: Sequence[LabelArray]) -> Geometry:
    found, corner = _scanned(blocks[0], 1), np.array([start for start, _ in box], np.int64)
    return replace(
        found,
        coordinate_sums=found.coordinate_sums + corner * found.voxels[:, np.newaxis],
        start=found.start + corner,
        stop=found.stop + corner,
    )


def _scanned(array: LabelArray, workers: int) -> Geometry:
    axes = memory_axes(array)
    ids, table = native.segment_geometry(array.transpose(axes), workers)
    order = np.argsort(ids)
    per_axis = table[order, 1:].reshape(len(ids), array.ndim, 3)[:, np.argsort(axes)]
    sums, start, stop = np.moveaxis(per_axis, 2, 0)
    return Geometry(ids[order], table[order, 0], sums, start, stop)
