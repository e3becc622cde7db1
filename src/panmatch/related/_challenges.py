"""Scores of lesions as connected components of masks, as in autoPET and ISLES."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from panmatch.errors import named_only
from panmatch.labels import (
    Connectivity,
    LabelArray,
    as_mask,
    as_spacing,
    check_same_shape,
    connected_components,
)
from panmatch.overlap import Ints, count_overlaps
from panmatch.related._registry import PooledScore, share, single
from panmatch.scoring import Average


@PooledScore
@named_only
def false_positive_volume(
    *,
    reference: npt.ArrayLike,
    prediction: npt.ArrayLike,
    connectivity: Connectivity = "full",
    spacing: npt.ArrayLike | None = None,
) -> Average:
    """Return the volume of all predicted components that share no voxel with the reference.

    If a component shares a single voxel with the reference, none of it counts, however much of it
    lies outside. 0 if nothing is predicted, as in the published program.

    Parameters
    ----------
    reference, prediction
        Masks, or label images whose labels are taken together.
    connectivity
        As for `connected_components`. autoPET uses ``"edges"``.
    spacing
        Distance between voxels along each axis; voxel units by default. The volume is in the cubed
        unit of the spacing; autoPET reports it in ml, which is 1000 mm³.

    References
    ----------
    Gatidis et al.: Results from the autoPET challenge on fully automated lesion segmentation in
    oncologic PET/CT imaging (2024); the rules are those of its published evaluation program.

    Examples
    --------
    >>> from panmatch import related
    >>> images = {"reference": [1, 1, 0, 0, 0, 0], "prediction": [0, 1, 1, 0, 1, 1]}
    >>> related.false_positive_volume(**images, spacing=3)
    6.0
    """
    components = connected_components(prediction, connectivity, "prediction")
    mask = as_mask(reference, "reference")
    check_same_shape({"reference": mask, "prediction": components})
    return single(_alone(components, mask).sum() * _voxel_volume(spacing, mask.ndim))


@PooledScore
@named_only
def false_negative_volume(
    *,
    reference: npt.ArrayLike,
    prediction: npt.ArrayLike,
    connectivity: Connectivity = "full",
    spacing: npt.ArrayLike | None = None,
) -> Average:
    """Return the volume of all components of the reference in which no voxel is predicted.

    If a single voxel of a component is predicted, none of it counts. NaN without a reference:
    nothing could be missed, and the case is left out of the mean over cases.

    Parameters
    ----------
    reference, prediction, connectivity, spacing
        As for `false_positive_volume`.

    References
    ----------
    Those of `false_positive_volume`. Without a reference, the programs of autoPET and autoPET IV
    return 0, and that of autoPET III returns NaN.

    Examples
    --------
    >>> from panmatch import related
    >>> images = {"reference": [1, 1, 0, 0, 1, 1], "prediction": [0, 1, 1, 0, 0, 0]}
    >>> related.false_negative_volume(**images, spacing=3)
    6.0
    """
    components = connected_components(reference, connectivity, "reference")
    mask = as_mask(prediction, "prediction")
    check_same_shape({"reference": components, "prediction": mask})
    missed = _alone(components, mask).sum() * _voxel_volume(spacing, mask.ndim)
    return single(missed if components.any() else np.nan)


@PooledScore
@named_only
def lesion_count_difference(
    *, reference: npt.ArrayLike, prediction: npt.ArrayLike, connectivity: Connectivity = "full"
) -> Average:
    """Return | number of components of the reference − number of predicted components |.

    Their positions do not matter: as many spurious components as missed ones give 0. So do two
    empty sides, as in the published program.

    Parameters
    ----------
    reference, prediction
        Masks, or label images whose labels are taken together.
    connectivity
        As for `connected_components`; ISLES uses ``"full"``.

    References
    ----------
    Hernandez Petzsche et al.: ISLES 2022, a multi-center magnetic resonance imaging stroke lesion
    segmentation dataset (2022); the rules are those of the challenge's evaluation program.

    Examples
    --------
    >>> from panmatch import related
    >>> related.lesion_count_difference(reference=[1, 0, 1, 0, 1], prediction=[1, 1, 1, 0, 1])
    1.0
    """
    ref, pred = _components(reference, prediction, connectivity)
    return single(abs(int(ref.max(initial=0)) - int(pred.max(initial=0))))


@PooledScore
@named_only
def lesion_f1(
    *, reference: npt.ArrayLike, prediction: npt.ArrayLike, connectivity: Connectivity = "full"
) -> Average:
    """Return 2 TP / (2 TP + FP + FN), where any overlap makes a component a true positive.

    TP are components of the reference in which any voxel is predicted, FN the other components of
    the reference, and FP predicted components that share no voxel with the reference. A predicted
    component that overlaps a lesion is not counted itself: one that covers three lesions makes
    three TP, and three in one lesion make one. NaN if both sides are empty, where the program of
    ISLES returns 1.

    Parameters
    ----------
    reference, prediction, connectivity
        As for `lesion_count_difference`.

    References
    ----------
    Those of `lesion_count_difference`.

    Examples
    --------
    >>> from panmatch import related
    >>> related.lesion_f1(reference=[1, 0, 1, 0, 0, 1, 0, 0], prediction=[1, 1, 1, 0, 0, 0, 0, 1])
    0.6666666666666666
    """
    ref, pred = _components(reference, prediction, connectivity)
    found = count_overlaps(ref, pred)
    tp, hits = len(np.unique(found.edges.ref)), len(np.unique(found.edges.pred))
    return share(2 * tp, len(found.ref_ids) + tp + len(found.pred_ids) - hits)


def _components(
    reference: npt.ArrayLike, prediction: npt.ArrayLike, connectivity: Connectivity
) -> tuple[LabelArray, LabelArray]:
    ref = connected_components(reference, connectivity, "reference")
    pred = connected_components(prediction, connectivity, "prediction")
    check_same_shape({"reference": ref, "prediction": pred})
    return ref, pred


def _alone(components: LabelArray, other: npt.NDArray[np.bool_]) -> Ints:
    """Return the voxels of every component that shares none with the other side."""
    found = count_overlaps(components, other.view(np.uint8))
    return np.delete(found.ref_sizes, found.edges.ref)


def _voxel_volume(spacing: npt.ArrayLike | None, ndim: int) -> float:
    return float(np.prod(as_spacing(spacing, ndim)))
