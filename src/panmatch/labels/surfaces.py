"""Distances between the boundaries of objects that belong together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from panmatch import native
from panmatch.labels.distance import SAME_DISTANCE, VOXELS_PER_THREAD
from panmatch.labels.memory_order import memory_axes
from panmatch.labels.spacing import as_spacing
from panmatch.labels.threads import thread_count
from panmatch.labels.validation import LabelArray

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class ObjectPairs:
    """What is compared with what, one row per pair.

    Attributes
    ----------
    ref_ids
        Label in the reference, shape (n,).
    pred_first
        Labels of row i in the prediction are ``pred_ids[pred_first[i]:pred_first[i + 1]]``.
    pred_ids
        Labels in the prediction, rising within a row.
    start, stop
        A box around both objects, in voxels, shape (n, axes).
    """

    ref_ids: Ints
    pred_first: Ints
    pred_ids: Ints
    start: Ints
    stop: Ints


@dataclass(frozen=True, slots=True, eq=False)
class DistanceLists:
    """A sorted, non-empty list of distances per row: ``values[first[i]:first[i + 1]]``."""

    values: Floats
    first: Ints

    @property
    def lengths(self) -> Ints:
        """Number of distances in each row."""
        return np.diff(self.first)

    def sums(self) -> Floats:
        """Sum of each row."""
        if len(self.first) == 1:
            return np.zeros(0)
        sums: Floats = np.add.reduceat(self.values, self.first[:-1])
        return sums

    def maxima(self) -> Floats:
        """Largest distance of each row."""
        largest: Floats = self.values[self.first[1:] - 1]
        return largest

    def quantiles(self, q: float) -> Floats:
        """Quantile of each row, linear between neighbours, as `numpy.quantile` has it.

        Examples
        --------
        >>> DistanceLists(np.array([0.0, 1.0, 4.0]), np.array([0, 3])).quantiles(0.75)
        array([2.5])
        """
        place = (self.lengths - 1) * q
        below = np.floor(place).astype(np.int64)
        above = np.minimum(below + 1, self.lengths - 1)
        low, high = (self.values[self.first[:-1] + at] for at in (below, above))
        values: Floats = low + (high - low) * (place - below)
        return values

    def within(self, tolerance: float) -> Ints:
        """Count the distances of each row that are at most `tolerance`, rounding aside."""
        near = self.values <= tolerance * (1 + SAME_DISTANCE)
        return np.diff(np.concatenate([[0], np.cumsum(near)])[self.first])

    def pooled(self, other: DistanceLists) -> DistanceLists:
        """Return each row joined with the same row of `other`."""
        rows = np.arange(len(self.lengths))
        row = np.concatenate([np.repeat(rows, self.lengths), np.repeat(rows, other.lengths)])
        values = np.concatenate([self.values, other.values])
        order = np.lexsort((values, row))
        return DistanceLists(values[order], self.first + other.first)


@dataclass(frozen=True, slots=True, eq=False)
class SurfaceDistances:
    """For every pair, the distances between the two boundaries.

    Attributes
    ----------
    from_ref
        From each boundary voxel of the reference to the nearest one of the prediction.
    from_pred
        From each boundary voxel of the prediction to the nearest one of the reference.
    """

    from_ref: DistanceLists
    from_pred: DistanceLists


def surface_distances(
    reference: LabelArray,
    prediction: LabelArray,
    pairs: ObjectPairs,
    spacing: npt.ArrayLike | None = None,
    *,
    threads: int | None = None,
) -> SurfaceDistances:
    """Measure the distances between the boundaries of all pairs, each on a crop of its own.

    A boundary voxel is a voxel of the object with a face neighbour outside of it; beyond the
    image is outside. Distances run between voxel centres, in the units of `spacing`.

    Parameters
    ----------
    reference, prediction
        Label images of one shape, with at least one axis.
    pairs
        Both objects of every pair must have voxels, all within the pair's box.
    spacing
        Distance between voxels along each axis; voxel units by default.
    threads
        Number of threads; by default as many as pay.

    Examples
    --------
    >>> images = np.array([[1, 1, 1, 0, 0, 0]]), np.array([[0, 0, 2, 2, 2, 2]])
    >>> one = np.array([1]), np.array([0, 1]), np.array([2]), np.array([[0, 0]]), np.array([[1, 6]])
    >>> found = surface_distances(*images, ObjectPairs(*one), spacing=(1, 0.5))
    >>> found.from_ref.values, found.from_pred.values
    (array([0. , 0.5, 1. ]), array([0. , 0.5, 1. , 1.5]))
    """
    axes = memory_axes(reference)
    boxes = np.stack([pairs.start, pairs.stop], 2)[:, list(axes)]
    work = int(np.prod(pairs.stop - pairs.start, axis=1).sum())
    from_ref, from_pred = native.surface_distances(
        reference.transpose(axes),
        prediction.transpose(axes),
        np.ascontiguousarray(pairs.ref_ids),
        np.ascontiguousarray(pairs.pred_first),
        np.ascontiguousarray(pairs.pred_ids),
        np.ascontiguousarray(boxes),
        np.ascontiguousarray(as_spacing(spacing, reference.ndim)[list(axes)]),
        thread_count(threads, work, voxels_per_thread=VOXELS_PER_THREAD),
    )
    return SurfaceDistances(DistanceLists(*from_ref), DistanceLists(*from_pred))
