"""Cluster Dice: agreement per connected component of both masks together."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from panmatch.labels import Connectivity, as_mask, check_same_shape, connected_components
from panmatch.overlap import Floats, count_overlaps, sum_by


def cluster_dice(
    *,
    reference: npt.ArrayLike,
    prediction: npt.ArrayLike,
    connectivity: Connectivity = "full",
) -> float:
    """Return the mean Dice over the components of the union of both masks (D12).

    Everything that touches is one cluster, so that no object has to be matched: what
    many-to-many matching would have to mean.

    Parameters
    ----------
    reference, prediction
        Masks, or label images whose labels are taken together.
    connectivity
        As for `connected_components`.

    Returns
    -------
    float
        NaN if both sides are empty.

    Examples
    --------
    >>> cluster_dice(reference=[1, 1, 0, 1], prediction=[0, 1, 0, 0])
    0.3333333333333333
    """
    ref, pred, shared = _cluster_sizes(reference, prediction, connectivity)
    return _mean(2 * shared / (ref + pred))


def cluster_iou(
    *,
    reference: npt.ArrayLike,
    prediction: npt.ArrayLike,
    connectivity: Connectivity = "full",
) -> float:
    """Return the mean IoU over the components of the union of both masks.

    Parameters and return value are those of `cluster_dice`.

    Examples
    --------
    >>> cluster_iou(reference=[1, 1, 0, 1], prediction=[0, 1, 0, 0])
    0.25
    """
    ref, pred, shared = _cluster_sizes(reference, prediction, connectivity)
    return _mean(shared / (ref + pred - shared))


def _cluster_sizes(
    reference: npt.ArrayLike, prediction: npt.ArrayLike, connectivity: Connectivity
) -> tuple[Floats, Floats, Floats]:
    """Return for every cluster the voxels of the reference, of the prediction, and of both."""
    masks = {"reference": as_mask(reference, "reference")}
    masks["prediction"] = as_mask(prediction, "prediction")
    check_same_shape({name: mask.view(np.uint8) for name, mask in masks.items()})
    clusters = connected_components(masks["reference"] | masks["prediction"], connectivity)
    # 1: only the reference, 2: only the prediction, 3: both.
    sides = masks["reference"].view(np.uint8) + 2 * masks["prediction"].view(np.uint8)
    found = count_overlaps(clusters, sides)
    sizes = found.edges.intersection.astype(np.float64)
    side, n = found.pred_ids[found.edges.pred], len(found.ref_ids)
    ref, pred, shared = (
        sum_by(found.edges.ref, np.where(has, sizes, 0.0), n)
        for has in (side != 2, side != 1, side == 3)
    )
    return ref, pred, shared


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else float("nan")
