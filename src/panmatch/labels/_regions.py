"""Regions: which reference every predicted voxel belongs to, by one of several rules (D8).

To add a rule, write one function, like `_voronoi`, and list it in `REGION_RULES`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import overload

import numpy as np
import numpy.typing as npt

from panmatch import native
from panmatch.errors import check_choice
from panmatch.labels._arrays import (
    Floats,
    LabelArray,
    as_labels,
    check_same_shape,
    is_on_device,
    mark_objects,
    memory_axes,
    thread_count,
)
from panmatch.labels._combinations import as_images
from panmatch.labels._spacing import as_spacing
from panmatch.labels._void import Void
from panmatch.labels._volumes import ChunkedLabels, Volume, as_chunked, as_volume
from panmatch.labels._whole_steps import comparison_weights

VOXELS_PER_THREAD = 1 << 16


@dataclass(frozen=True, slots=True, eq=False)
class Regions:
    """Regions of the references of one class, for counting and measuring alike (D8).

    Attributes
    ----------
    image
        The id of the reference whose region each voxel is in. It is filled in at least wherever
        something is predicted, and 0 everywhere if there is no reference.
    spacing
        Distance between voxels along each axis.
    rule
        Name of the rule they follow, one of `REGION_RULES`.
    """

    image: Volume
    spacing: tuple[float, ...]
    rule: str


def find_regions(
    reference: npt.ArrayLike,
    prediction: npt.ArrayLike,
    spacing: npt.ArrayLike | None = None,
    *,
    rule: str = "voronoi",
    void: int | npt.ArrayLike | Void | None = None,
    threads: int | None = None,
) -> Regions:
    """Find the region of every predicted voxel.

    Parameters
    ----------
    reference, prediction, void, threads
        As for `panmatch.count_overlaps`; chunked images stay chunked, and images on a CUDA device
        stay there.
    spacing
        Distance between voxels along each axis; voxel units by default.
    rule
        ``"voronoi"``: the region of the nearest reference.

    Examples
    --------
    >>> find_regions([1, 1, 0, 0, 0, 2], [0, 7, 7, 7, 7, 0]).image
    array([0, 1, 1, 1, 2, 0])
    """
    check_choice("rule", rule, REGION_RULES)
    known, _ = Void.of(reference, prediction, void).clear(reference, prediction)
    steps = as_spacing(spacing, known.ndim)
    where = as_images({"prediction": prediction})["prediction"]
    image = REGION_RULES[rule](known, steps, where, threads)
    return Regions(image, tuple(steps.tolist()), rule)


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

    Distances are Euclidean, between voxel centres. If two segments are equally near, the one with
    the smaller label gets the voxel. To detect such ties, spacings are read as decimals of at most
    15 digits, and distances are compared without rounding. Besides the result, this needs memory
    for one float per voxel.

    Parameters
    ----------
    labels
        Label image of any dimension and memory order; 0 is background.
    spacing
        Distance between voxels along each axis; voxel units by default.
    where
        Mask of the voxels whose label you want; the others get 0. This is faster, above all for
        voxels near a segment.
    threads
        Number of threads; by default as many as pay off. The result does not depend on it.

    Returns
    -------
    numpy.ndarray
        Labels in the shape and dtype of `labels`; 0 everywhere if there is no segment. For a
        chunked image, a `ChunkedLabels` that finds them when it is read: the same labels as in
        memory, ties included, reading a bounded number of voxels at a time. For an image on a CUDA
        device, an array there, again with the same labels.

    Examples
    --------
    >>> nearest_labels([0, 0, 2, 0, 0, 0, 1, 0])
    array([2, 2, 2, 2, 1, 1, 1, 1])
    >>> nearest_labels([0, 0, 2, 0, 0, 0, 1, 0], where=[1, 0, 0, 0, 1, 0, 0, 0])
    array([2, 0, 0, 0, 1, 0, 0, 0])
    """
    if is_on_device(labels):
        from panmatch.labels._device_regions import device_nearest_labels

        on_device: LabelArray = device_nearest_labels(labels, spacing, where)
        return on_device
    volume = as_volume(labels, "labels")
    if isinstance(volume, ChunkedLabels) and volume.ndim:
        return _chunked_nearest(volume, spacing, where)
    given = as_labels(volume, "labels")
    axes = memory_axes(given)
    laid_out = np.atleast_1d(given.transpose(axes))
    nearest = np.empty(laid_out.shape, given.dtype)
    steps = as_spacing(spacing, given.ndim)[list(axes)] if given.ndim else np.ones(1)
    weights = comparison_weights(nearest.shape, steps)
    workers = thread_count(threads, given.size, voxels_per_thread=VOXELS_PER_THREAD)
    unsigned = np.dtype(f"u{nearest.itemsize}")
    wanted = None
    if where is not None:
        wherever = as_labels(where, "where")
        check_same_shape({"labels": given, "where": wherever})
        wanted, _ = mark_objects(wherever.transpose(axes), threads)
    both = laid_out.view(unsigned), nearest.view(unsigned)
    native.nearest_labels(*both, weights, wanted, workers)
    return nearest.reshape(given.transpose(axes).shape).transpose(np.argsort(axes))


def _chunked_nearest(
    labels: ChunkedLabels, spacing: npt.ArrayLike | None, where: npt.ArrayLike | None
) -> ChunkedLabels:
    from panmatch.labels._chunked_voronoi import ChunkedVoronoi

    weights = comparison_weights(labels.shape, as_spacing(spacing, labels.ndim))
    if where is None:
        return ChunkedVoronoi(labels, None, weights)
    wanted = as_volume(where, "where")
    check_same_shape({"labels": labels, "where": wanted})
    return ChunkedVoronoi(labels, as_chunked(wanted), weights)


def _voronoi(references: Volume, spacing: Floats, where: Volume, threads: int | None) -> Volume:
    return nearest_labels(references, spacing, where=where, threads=threads)


# A rule takes the references, the spacing, where regions are wanted, and the number of threads.
RegionRule = Callable[[Volume, Floats, Volume, int | None], Volume]
REGION_RULES: dict[str, RegionRule] = {"voronoi": _voronoi}
