"""Lesion-wise Dice, as the BraTS challenges define it."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from panmatch.errors import OptionError, named_only
from panmatch.labels import (
    LabelArray,
    as_labels,
    as_spacing,
    check_same_shape,
    connected_components,
    distinct_labels,
)
from panmatch.matching import ratio
from panmatch.overlap import Floats, Ints, sum_by


@named_only
def lesionwise_dice(
    *,
    reference: ArrayLike,
    prediction: ArrayLike,
    dilation: int = 0,
    min_volume: float = 0.0,
    spacing: ArrayLike | None = None,
) -> float:
    """Return Σ Dice(g, all predictions that overlap g) / (|G| + FP) over components (D12).

    NaN if nothing counts on either side.

    Parameters
    ----------
    reference, prediction
        Masks, or label images whose labels are taken together; lesions are their components,
        voxels that share a corner being connected.
    dilation
        Rounds of dilation by all neighbours but the corner ones, as in BraTS: references whose
        dilations touch are one lesion, and a prediction that touches the dilation of a lesion
        belongs to it. BraTS uses 3 for gliomas and 1 for metastases.
    min_volume
        References of this volume or less do not count, and their predictions are not false
        positives either; in the unit of the spacing. BraTS uses 50 mm³ for gliomas, and 2 mm³ for
        metastases.
    spacing
        Distance between voxels along each axis, for volumes; voxel units by default.

    References
    ----------
    Moawad et al.: The brain tumor segmentation – metastases challenge 2023; the rules are those of
    its published evaluation program.

    Examples
    --------
    >>> lesionwise_dice(reference=[1, 1, 0, 0, 1, 1], prediction=[1, 0, 0, 0, 0, 0])
    0.3333333333333333
    """
    values, false = lesion_values(reference, prediction, dilation, min_volume, spacing)
    return ratio(math.fsum(values), len(values) + false)


def lesion_values(
    reference: ArrayLike,
    prediction: ArrayLike,
    dilation: int,
    min_volume: float,
    spacing: ArrayLike | None,
) -> tuple[Floats, int]:
    """Return the Dice of every lesion that counts, and the number of false positives."""
    ref = as_labels(reference, "reference")
    voxel = float(np.prod(as_spacing(spacing, ref.ndim)))
    lesions = _lesions(ref, dilation)
    components = connected_components(prediction, name="prediction")
    images = {"reference": as_labels(ref != 0, "reference"), "prediction": components}
    images["lesions"] = lesions
    check_same_shape(images)
    (known, pred, lesion), counts = distinct_labels(list(images.values()))
    is_ref = known > 0
    n, n_pred = _largest(lesion) + 1, _largest(pred) + 1
    belongs = np.unique(np.stack([lesion, pred])[:, (lesion > 0) & (pred > 0)], axis=1)
    pred_sizes = sum_by(pred, counts, n_pred)
    covered = sum_by(belongs[0], pred_sizes[belongs[1]], n)
    size = sum_by(lesion[is_ref], counts[is_ref], n)
    both = is_ref & (pred > 0)
    shared = sum_by(lesion[both], counts[both], n)
    counting = size * voxel > _volume(min_volume)
    counting[0] = False
    false = int(np.count_nonzero(pred_sizes[1:])) - len(np.unique(belongs[1]))
    return 2 * shared[counting] / (size + covered)[counting], false


def _lesions(reference: LabelArray, dilation: int) -> LabelArray:
    """Return the components of the reference, dilated where that is asked for."""
    if not isinstance(dilation, int | np.integer) or isinstance(dilation, bool) or dilation < 0:
        raise OptionError(f"dilation={dilation!r} must be a whole number of rounds, 0 or more.")
    if dilation == 0:
        return connected_components(reference, name="reference")
    from scipy import ndimage

    reach = ndimage.generate_binary_structure(reference.ndim, min(2, reference.ndim))
    wide: LabelArray = ndimage.binary_dilation(reference != 0, reach, iterations=int(dilation))
    return connected_components(wide)


def _volume(value: float) -> float:
    number = isinstance(value, int | float | np.integer | np.floating)
    if not number or isinstance(value, bool) or not 0 <= value < float("inf"):
        raise OptionError(f"min_volume={value!r} must be a volume: a number from 0 on.")
    return float(value)


def _largest(labels: Ints) -> int:
    return int(labels.max()) if len(labels) else 0
