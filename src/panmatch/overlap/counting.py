"""The one pass over voxels: from two label images to an `Overlap`."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from panmatch import native
from panmatch.errors import LabelError
from panmatch.labels import LabelArray, as_labels, check_same_shape
from panmatch.labels.threads import thread_count
from panmatch.labels.void import split_void, without_mask
from panmatch.overlap.graph import Edges, Overlap
from panmatch.overlap.sums import sum_by
from panmatch.overlap.types import Ints

VOXELS_PER_THREAD = 1 << 22  # below this a second thread costs more than it saves


def count_overlaps(
    reference: npt.ArrayLike,
    prediction: npt.ArrayLike,
    void: int | npt.ArrayLike | None = None,
    *,
    threads: int | None = None,
) -> Overlap:
    """Count the voxels of every segment and of every overlapping pair (D1).

    Parameters
    ----------
    reference, prediction
        Label images of one shape: any dimension, any integer dtypes or bool, in any mixture and
        any memory order. 0 is background, ids may be as large as 2**63 − 1. If `reference` is a
        `numpy.ma.MaskedArray`, its mask marks void.
    void
        Voxels of the reference about which nothing is known: a label of the reference, or a
        mask of the same shape (non-zero is void). They belong to no segment of the reference
        and leave the union of every pair; a prediction more than half in void is no false
        positive (D10).
    threads
        Number of threads; by default one per four million voxels, up to the number of CPUs.
        The result does not depend on it.

    Returns
    -------
    Overlap
        Empty images, or images without labels, give an overlap without segments.

    Raises
    ------
    ShapeError, LabelError, OptionError
        Naming the argument, its value and what to do.

    Examples
    --------
    >>> import numpy as np
    >>> reference = np.array([[1, 1, 0], [1, 1, 7]])
    >>> prediction = np.array([[4, 4, 0], [4, 0, 9]])
    >>> count_overlaps(reference, prediction).iou
    array([0.75, 1.  ])
    """
    mask, label = split_void(reference, void)
    arrays = {
        "reference": as_labels(reference, "reference"),
        "prediction": as_labels(without_mask(prediction), "prediction"),
    }
    if mask is not None:
        arrays["void"] = as_labels(mask, "void")
    check_same_shape(arrays)
    voxels = arrays["reference"].size
    workers = thread_count(threads, voxels, voxels_per_thread=VOXELS_PER_THREAD)
    keys, counts = native.joint_counts(list(arrays.values()), workers)
    ref, pred = np.ascontiguousarray(keys[:, :2].T)
    in_void = _in_void(keys, label)
    _check_labels(ref[~in_void], counts[~in_void], arrays["reference"], "reference")
    _check_labels(pred, counts, arrays["prediction"], "prediction")
    return _assemble(ref, pred, counts, in_void)


def _in_void(keys: Ints, label: int | None) -> npt.NDArray[np.bool_]:
    in_void = np.zeros(len(keys), np.bool_)
    if keys.shape[1] == 3:
        in_void |= keys[:, 2] != 0
    elif label is not None:
        in_void |= keys[:, 0] == label
    return in_void


def _check_labels(labels: Ints, counts: Ints, array: LabelArray, name: str) -> None:
    bad = labels < 0
    if not bad.any():
        return
    voxels = int(counts[bad].sum())
    if array.dtype.kind == "u":
        value = int(labels[bad].max()) + (1 << 64)
        raise LabelError(
            f"{name} holds label {value} ({voxels} voxels beyond 2**63 - 1): ids must fit into "
            f"int64. Relabel it first, for instance with numpy.unique(…, return_inverse=True)."
        )
    remedy = (
        f"If {labels[bad][0]} marks unknown voxels, pass void={labels[bad][0]}."
        if name == "reference"
        else "Set such voxels to 0 (background) if they belong to no object."
    )
    raise LabelError(
        f"{name} holds the negative label {labels[bad][0]} ({voxels} voxels below 0): labels are "
        f"0 (background) or positive ids. {remedy}"
    )


def _assemble(ref: Ints, pred: Ints, counts: Ints, in_void: npt.NDArray[Any]) -> Overlap:
    is_ref, is_pred = (ref > 0) & ~in_void, pred > 0
    ref_ids, ref_at = np.unique(ref[is_ref], return_inverse=True)
    pred_ids, pred_at = np.unique(pred[is_pred], return_inverse=True)
    ref_place, pred_place = np.zeros_like(ref), np.zeros_like(pred)
    ref_place[is_ref], pred_place[is_pred] = ref_at, pred_at
    both, void_part = is_ref & is_pred, is_pred & in_void
    return Overlap(
        ref_ids=ref_ids,
        ref_sizes=sum_by(ref_at, counts[is_ref], len(ref_ids)),
        pred_ids=pred_ids,
        pred_sizes=sum_by(pred_at, counts[is_pred], len(pred_ids)),
        edges=Edges(ref_place[both], pred_place[both], counts[both]),
        pred_void=sum_by(pred_place[void_part], counts[void_part], len(pred_ids)),
    )
