"""Distances between the boundaries, and overlaps of the skeletons, of pairs of objects."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from panmatch import native
from panmatch.errors import OptionError, needs_extra
from panmatch.labels._arrays import Floats, Ints, LabelArray, Mask, is_on_device, thread_count
from panmatch.labels._geometry import SAME_DISTANCE, VOXELS_PER_THREAD
from panmatch.labels._whole_steps import layout_to_measure


@dataclass(frozen=True, slots=True, eq=False)
class ObjectPairs:
    """Which objects are compared, one row per pair.

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
        """Quantile of each row, linear between neighbours, as `numpy.quantile` computes it.

        Examples
        --------
        >>> DistanceLists(np.array([0.0, 1.0, 4.0]), np.array([0, 3])).quantiles(0.75)
        array([2.5])
        """
        place = (self.lengths - 1) * q
        below = np.floor(place).astype(np.int64)
        above = np.minimum(below + 1, self.lengths - 1)
        low, high = (self.values[self.first[:-1] + offset] for offset in (below, above))
        values: Floats = low + (high - low) * (place - below)
        return values

    def within(self, tolerance: float) -> Ints:
        """Count the distances of each row that are at most `tolerance`, give or take rounding."""
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
    """Measure the distances between the boundaries of all pairs, each pair on its own crop.

    A boundary voxel is a voxel of the object with a face neighbour outside it; everything beyond
    the image is outside. Distances are between voxel centres, in the units of `spacing`.

    Parameters
    ----------
    reference, prediction
        Label images of the same shape, with at least one axis; both may be on a CUDA device.
    pairs
        Both objects of every pair must have voxels, all within the pair's box.
    spacing
        Distance between voxels along each axis; voxel units by default.
    threads
        Number of threads; by default as many as pay off.

    Examples
    --------
    >>> images = np.array([[1, 1, 1, 0, 0, 0]]), np.array([[0, 0, 2, 2, 2, 2]])
    >>> ids, box = (np.array([1]), np.array([0, 1]), np.array([2])), np.array([[[0, 0]], [[1, 6]]])
    >>> distances = surface_distances(*images, ObjectPairs(*ids, *box), spacing=(1, 0.5))
    >>> distances.from_ref.values, distances.from_pred.values
    (array([0. , 0.5, 1. ]), array([0. , 0.5, 1. , 1.5]))
    """
    if is_on_device(reference):
        from panmatch.labels._device_surfaces import device_surface_distances

        return device_surface_distances(reference, prediction, pairs, spacing)
    axes, steps, unit = layout_to_measure(reference, spacing)
    boxes = np.stack([pairs.start, pairs.stop], 2)[:, list(axes)]
    work = int(np.prod(pairs.stop - pairs.start, axis=1).sum())
    from_ref, from_pred = native.surface_distances(
        reference.transpose(axes),
        prediction.transpose(axes),
        np.ascontiguousarray(pairs.ref_ids),
        np.ascontiguousarray(pairs.pred_first),
        np.ascontiguousarray(pairs.pred_ids),
        np.ascontiguousarray(boxes),
        steps,
        unit,
        thread_count(threads, work, voxels_per_thread=VOXELS_PER_THREAD),
    )
    return SurfaceDistances(DistanceLists(*from_ref), DistanceLists(*from_pred))


@dataclass(frozen=True, slots=True, eq=False)
class SkeletonOverlaps:
    """One row per pair.

    Attributes
    ----------
    ref_length, pred_length
        Voxels of the skeleton of the reference, and of the prediction.
    ref_inside, pred_inside
        How many of those lie in the other object.
    """

    ref_length: Floats
    ref_inside: Floats
    pred_length: Floats
    pred_inside: Floats


def skeleton_overlaps(
    reference: LabelArray, prediction: LabelArray, pairs: ObjectPairs
) -> SkeletonOverlaps:
    """Thin both objects of every pair to their skeletons, on a crop, with scikit-image.

    Thinning in 3-D can erase a small block of even thickness altogether. Its most central voxel is
    then used as the skeleton, so the skeleton of an object is never empty.

    Parameters
    ----------
    reference, prediction
        Label images of the same shape, 2-D or 3-D.
    pairs
        Which objects to compare.
    """
    if reference.ndim not in (2, 3):
        raise OptionError(
            f"metrics: cldice needs a skeleton, which is defined only in 2-D and 3-D, but the "
            f"images have {reference.ndim} axes: leave cldice out."
        )
    voxels = np.zeros((len(pairs.ref_ids), 4))
    for row, ref_id in enumerate(pairs.ref_ids):
        box = tuple(map(slice, pairs.start[row], pairs.stop[row]))
        ids = pairs.pred_ids[pairs.pred_first[row] : pairs.pred_first[row + 1]]
        ref, pred = reference[box] == ref_id, np.isin(prediction[box], ids)
        ref_line, pred_line = _skeleton(ref), _skeleton(pred)
        voxels[row] = ref_line.sum(), ref_line[pred].sum(), pred_line.sum(), pred_line[ref].sum()
    return SkeletonOverlaps(*voxels.T)


def _skeleton(mask: Mask) -> Mask:
    with needs_extra("skeleton", "Skeletons"):
        from skimage import morphology

    thin: Callable[[Mask], LabelArray] = morphology.skeletonize  # it has no types
    line = (thin(np.pad(mask, 1)) > 0)[(slice(1, -1),) * mask.ndim]
    if not line.any():
        voxels = np.argwhere(mask)
        nearest = int(((voxels - voxels.mean(0)) ** 2).sum(1).argmin())  # to the centre of mass
        line[tuple(voxels[nearest].tolist())] = True
    return line
