"""Means of metrics over the Voronoi regions of the references."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from panmatch.compat.panoptica._images import GroupImages, Pairs
from panmatch.compat.panoptica._metrics import Metric
from panmatch.labels import LabelArray, find_regions
from panmatch.overlap import Ints

EdgeValue = Callable[[Metric, int, int], float | None]


def region_values(
    images: GroupImages, metrics: Sequence[Metric], edge_value: EdgeValue, *, quirks: bool
) -> dict[Metric, float | None]:
    """Return for every metric the mean over the references of its value in their region.

    If nothing in a region overlaps its reference, the value is that of the edge case. With
    `quirks`, regions and distances are in voxels, a voxel that is equally near to several
    references goes to the one that scipy returns, references must be numbered 1, 2, …, and all
    means are 0 if a side is empty.
    """
    overlap = images.overlap
    n_ref, n_pred = len(overlap.ref_ids), len(overlap.pred_ids)
    if not (n_ref and n_pred):
        return {m: 0.0 if quirks else edge_value(m, n_pred, n_ref) for m in metrics}
    cut = _cut(images, quirks=quirks)
    numbers = np.arange(1, n_ref + 1) if quirks else overlap.ref_ids
    return {metric: _mean(cut, metric, numbers, edge_value, n_pred) for metric in metrics}


def _cut(images: GroupImages, *, quirks: bool) -> GroupImages:
    """Return the images with everything predicted in a region as one object."""
    reference, prediction = images.reference, images.prediction
    spacing = (1.0,) * reference.ndim if quirks else images.spacing
    if quirks:
        regions = _regions_of_scipy(reference)
    else:
        regions = np.asarray(find_regions(reference, prediction, spacing).image)
    pieces = np.where(prediction != 0, regions, 0)
    return GroupImages(reference, pieces, spacing, 1.0, 0.5 if quirks else None, quirks)


def _regions_of_scipy(reference: LabelArray) -> LabelArray:
    from scipy import ndimage

    nearest = ndimage.distance_transform_edt(
        reference == 0, return_distances=False, return_indices=True
    )
    found: LabelArray = reference[tuple(nearest)]
    return found


def _mean(
    cut: GroupImages, metric: Metric, numbers: Ints, edge_value: EdgeValue, n_pred: int
) -> float | None:
    overlap = cut.overlap
    same = overlap.ref_ids[overlap.edges.ref] == overlap.pred_ids[overlap.edges.pred]
    pairs = Pairs(overlap.edges.ref[same], overlap.edges.pred[same])
    found = dict(
        zip(overlap.ref_ids[pairs.ref].tolist(), cut.values.of(metric, pairs).tolist(), strict=True)
    )
    predicted, references = {*overlap.pred_ids.tolist()}, {*overlap.ref_ids.tolist()}
    values = []
    for number in numbers.tolist():
        some = n_pred if number in predicted else 0
        value = found.get(number)
        if value is None:
            value = edge_value(metric, some, int(number in references))
        values.append(np.nan if value is None else value)
    return float(np.mean(values))
