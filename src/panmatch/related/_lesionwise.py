"""Lesion-wise Dice, HD95 and F1, as the BraTS challenges define lesions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike

from panmatch.errors import OptionError, named_only
from panmatch.labels import (
    Connectivity,
    LabelArray,
    as_labels,
    as_spacing,
    check_same_shape,
    connected_components,
)
from panmatch.overlap import Floats, count_overlaps, sum_by
from panmatch.related._registry import PooledScore, share, single
from panmatch.scoring import (
    Average,
    ComparedObjects,
    ObjectRows,
    Penalty,
    measure_options,
    resolve_metrics,
)


class LesionKeywords(TypedDict, total=False):
    """Which lesions count: options of `lesionwise_dice`, by keyword."""

    dilation: int
    min_volume: float
    spacing: ArrayLike | None


# In mm; the diagonal of the 240 × 240 × 155 images of BraTS is 373.1.
BRATS_PENALTY = 374.0


@PooledScore
@named_only
def lesionwise_dice(
    *,
    reference: ArrayLike,
    prediction: ArrayLike,
    dilation: int = 0,
    min_volume: float = 0.0,
    spacing: ArrayLike | None = None,
    empty: float = math.nan,
) -> Average:
    """Return Σ Dice(g, all predictions that overlap g) / (|G| + FP) over components (D12).

    If nothing counts on either side, it is `empty`, NaN by default.

    Parameters
    ----------
    reference, prediction
        Masks, or label images, in which all labels count as one. Lesions are their components;
        voxels that share a corner are connected.
    dilation
        Rounds of dilation by all neighbours except those at corners, as in BraTS. References whose
        dilations touch are one lesion, and a prediction that touches the dilation of a lesion
        belongs to it. BraTS uses 3 for gliomas and 1 for metastases.
    min_volume
        References of this volume or less do not count, and their predictions are not false
        positives either; in the cubed unit of the spacing. BraTS uses 50 mm³ for gliomas, and
        2 mm³ for metastases.
    spacing
        Distance between voxels along each axis, for volumes; voxel units by default.
    empty
        The score of a case in which nothing counts on either side; 1 in BraTS.

    References
    ----------
    Moawad et al.: The brain tumor segmentation – metastases challenge 2023; the rules are those of
    its published evaluation program.

    Examples
    --------
    >>> from panmatch import related
    >>> related.lesionwise_dice(reference=[1, 1, 0, 0, 1, 1], prediction=[1, 0, 0, 0, 0, 0])
    0.3333333333333333
    """
    lesions = find_lesions(reference, prediction, dilation, min_volume, spacing)
    rows = lesions.rows
    dice = 2 * rows.shared / (rows.ref_voxels + rows.pred_voxels)
    return _average(np.concatenate([dice, np.zeros(lesions.false_positives)]), empty)


@PooledScore
@named_only
def lesionwise_hd95(
    *,
    reference: ArrayLike,
    prediction: ArrayLike,
    dilation: int = 0,
    min_volume: float = 0.0,
    spacing: ArrayLike | None = None,
    penalty: Penalty = BRATS_PENALTY,
    metric: str = "hd95",
    empty: float = math.nan,
    threads: int | None = None,
) -> Average:
    """Return (Σ HD95(g, all predictions that overlap g) + penalty · FP) / (|G| + FP) (D12).

    Lesions, their predictions and false positives are those of `lesionwise_dice`. A lesion without
    any prediction has the penalty as its distance. If nothing counts on either side, the score is
    `empty`, NaN by default.

    Parameters
    ----------
    reference, prediction, dilation, min_volume
        As for `lesionwise_dice`.
    spacing
        Distance between voxels along each axis, for volumes and distances; voxel units by default.
    penalty
        Distance of a missed lesion and of a false positive, in the unit of the spacing;
        ``"diagonal"`` for the length of the image diagonal, None to leave both out of the mean.
    metric
        ``"hd95"``, or another distance of ``docs/reference/metrics.md``: ``"hd95_elements"`` is
        that of the published program.
    empty
        The score of a case in which nothing counts on either side; 0 in BraTS.
    threads
        Number of threads; by default as many as pay off.

    References
    ----------
    Moawad et al.: The brain tumor segmentation – metastases challenge 2023; the rules are those of
    its published evaluation program. That program takes surfaces and percentiles from DeepMind's
    surface-distance: boundaries run between voxels, every piece of a boundary is weighted by its
    area, and the percentile is one of the distances, not a value between two of them.

    Examples
    --------
    >>> from panmatch import related
    >>> sides = {"reference": [1, 1, 0, 0, 1, 1], "prediction": [1, 1, 1, 0, 0, 0]}
    >>> related.lesionwise_hd95(**sides, penalty=10)
    5.475
    """
    lesions = find_lesions(reference, prediction, dilation, min_volume, spacing, threads)
    options = measure_options(lesions.reference.shape, spacing, penalty=penalty)
    (distance,) = resolve_metrics(metric)
    compared = ComparedObjects(
        lesions.rows, lesions.reference, lesions.prediction, options, threads
    )
    alone = np.nan if options.penalty is None else options.penalty
    false = np.full(lesions.false_positives, alone)
    return _average(np.concatenate([distance.values(compared), false]), empty)


@PooledScore
@named_only
def lesionwise_f1(
    *,
    reference: ArrayLike,
    prediction: ArrayLike,
    empty: float = math.nan,
    **options: Unpack[LesionKeywords],
) -> Average:
    """Return 2 TP / (2 TP + FP + FN) over lesions (D12).

    Lesions, their predictions and false positives are those of `lesionwise_dice`. TP are lesions
    that count and have a prediction, however small; FN are those that count and have none; FP are
    predictions that belong to no lesion. Several predictions of one lesion count as one. NaN if
    nothing counts on either side.

    Parameters
    ----------
    reference, prediction
        As for `lesionwise_dice`, and so are ``dilation``, ``min_volume``, ``spacing`` and
        ``empty``.

    References
    ----------
    Those of `lesionwise_dice`; the counts are those that the published program reports.

    Examples
    --------
    >>> from panmatch import related
    >>> related.lesionwise_f1(reference=[1, 1, 0, 0, 1, 1], prediction=[1, 0, 0, 0, 0, 0])
    0.6666666666666666
    """
    tp, fp, fn = count_lesions(find_lesions(reference, prediction, **options))
    counted = share(2 * tp, 2 * tp + fp + fn)
    return counted if tp + fp + fn or math.isnan(empty) else single(empty)


def count_lesions(lesions: Lesions) -> tuple[int, int, int]:
    """Return TP, FP and FN of `lesionwise_f1`."""
    tp = int(np.count_nonzero(lesions.rows.pred_voxels))
    return tp, lesions.false_positives, len(lesions.rows.ref_ids) - tp


def _average(values: Floats, empty: float) -> Average:
    return Average.of(values) if len(values) or math.isnan(empty) else single(empty)


@dataclass(frozen=True, slots=True, eq=False)
class Lesions:
    """Lesions that count, each with the union of its predictions.

    Attributes
    ----------
    rows
        One row per lesion.
    reference
        The lesion of every voxel of the reference, whether it counts or not.
    prediction
        Components of the prediction.
    false_positives
        How many of those belong to no lesion.
    """

    rows: ObjectRows
    reference: LabelArray
    prediction: LabelArray
    false_positives: int


def find_lesions(
    reference: ArrayLike,
    prediction: ArrayLike,
    dilation: int = 0,
    min_volume: float = 0.0,
    spacing: ArrayLike | None = None,
    threads: int | None = None,
    connectivity: Connectivity = "full",
) -> Lesions:
    """Return what `lesionwise_dice` compares; parameters are the same, plus the connectivity.

    Examples
    --------
    >>> from panmatch import related
    >>> lesions = related.find_lesions([1, 1, 0, 1, 0, 0], [0, 1, 1, 0, 0, 1], 0, 0.0, None)
    >>> lesions.rows.ref_voxels, lesions.rows.pred_voxels, lesions.false_positives
    (array([2., 1.]), array([2., 0.]), 1)
    """
    mask = np.atleast_1d(as_labels(reference, "reference"))
    components = np.atleast_1d(connected_components(prediction, connectivity, "prediction"))
    check_same_shape({"reference": mask, "prediction": components})
    wide = _lesions(mask, dilation, connectivity)
    lesions = np.where(mask != 0, wide, 0)
    own = count_overlaps(lesions, components, threads=threads)
    touched = count_overlaps(wide, components, threads=threads) if dilation else own
    n, edges = len(own.ref_ids), touched.edges
    rows = ObjectRows(
        ref_ids=own.ref_ids,
        pred_first=np.searchsorted(edges.ref, np.arange(n + 1)),
        pred_ids=touched.pred_ids[edges.pred],
        names=[""] * n,
        ref_voxels=own.ref_sizes.astype(np.float64),
        pred_voxels=sum_by(edges.ref, touched.pred_sizes[edges.pred], n).astype(np.float64),
        shared=sum_by(own.edges.ref, own.edges.intersection, n).astype(np.float64),
    )
    volumes = rows.ref_voxels * float(np.prod(as_spacing(spacing, mask.ndim)))
    counting = np.flatnonzero(volumes > _volume(min_volume))
    false = len(touched.pred_ids) - len(np.unique(edges.pred))
    return Lesions(rows.take(counting), lesions, components, false)


def _lesions(reference: LabelArray, dilation: int, connectivity: Connectivity) -> LabelArray:
    """Return the components of the reference, dilated where that is asked for."""
    if not isinstance(dilation, int | np.integer) or isinstance(dilation, bool) or dilation < 0:
        raise OptionError(f"dilation={dilation!r} must be a whole number of rounds, 0 or more.")
    if dilation == 0:
        return connected_components(reference, connectivity, "reference")
    from scipy import ndimage

    reach = ndimage.generate_binary_structure(reference.ndim, min(2, reference.ndim))
    wide: LabelArray = ndimage.binary_dilation(reference != 0, reach, iterations=int(dilation))
    return connected_components(wide, connectivity)


def _volume(value: float) -> float:
    number = isinstance(value, int | float | np.integer | np.floating)
    if not number or isinstance(value, bool) or not 0 <= value < float("inf"):
        raise OptionError(f"min_volume={value!r} must be a volume: a number of at least 0.")
    return float(value)
