"""Where every segment lies: voxels, centre and bounding box."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from panmatch import native
from panmatch.labels.memory_order import memory_axes
from panmatch.labels.threads import thread_count
from panmatch.labels.validation import as_labels

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
        Label image of any dimension and memory order; 0 is background.
    threads
        Number of threads; by default as many as pay.

    Examples
    --------
    >>> found = segment_geometry([[0, 7, 7], [0, 7, 0]])
    >>> [column.tolist() for column in (found.ids, found.voxels, found.start, found.stop)]
    [[7], [3], [[0, 1]], [[2, 3]]]
    """
    array = np.atleast_1d(as_labels(labels, "labels"))
    axes = memory_axes(array)
    ids, table = native.segment_geometry(
        array.transpose(axes), thread_count(threads, array.size, voxels_per_thread=1 << 22)
    )
    order = np.argsort(ids)
    per_axis = table[order, 1:].reshape(len(ids), array.ndim, 3)[:, np.argsort(axes)]
    sums, start, stop = np.moveaxis(per_axis, 2, 0)
    return Geometry(ids[order], table[order, 0], sums, start, stop)
