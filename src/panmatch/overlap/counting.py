"""The one pass over voxels: from two label images to an `Overlap`."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import numpy.typing as npt

from panmatch import native
from panmatch.errors import LabelError, OptionError
from panmatch.labels import LabelArray, as_labels, check_same_shape
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
    mask, label = _split_void(reference, void)
    arrays = {
        "reference": as_labels(reference, "reference"),
        "prediction": as_labels(_unmasked(prediction), "prediction"),
    }
    if mask is not None:
        arrays["void"] = as_labels(mask, "void")
    check_same_shape(arrays)
    keys, counts = native.joint_counts(
        list(arrays.values()), _thread_count(threads, arrays["reference"].size)
    )
    ref, pred = np.ascontiguousarray(keys[:, :2].T)
    in_void = _in_void(keys, label)
    _check_labels(ref[~in_void], counts[~in_void], arrays["reference"], "reference")
    _check_labels(pred, counts, arrays["prediction"], "prediction")
    return _assemble(ref, pred, counts, in_void)


def _split_void(
    reference: npt.ArrayLike, void: int | npt.ArrayLike | None
) -> tuple[npt.ArrayLike | None, int | None]:
    """Return void as (mask, None), (None, label) or (None, None)."""
    if isinstance(reference, np.ma.MaskedArray) and reference.mask is not np.ma.nomask:
        if void is not None:
            raise OptionError(
                "void is given twice: reference is a masked array, whose mask marks void, and "
                f"void={_brief(void)} as well. Put both into one mask, and pass reference.data."
            )
        return np.ma.getmaskarray(reference), None
    if void is None or np.ndim(void) > 0:
        return void, None
    if isinstance(void, bool | np.bool_) or not isinstance(void, int | np.integer | np.ndarray):
        raise OptionError(
            f"void={void!r} is neither a label of the reference (an integer) nor a mask of its "
            f"shape."
        )
    return None, int(void)


def _in_void(keys: Ints, label: int | None) -> npt.NDArray[np.bool_]:
    in_void = np.zeros(len(keys), np.bool_)
    if keys.shape[1] == 3:
        in_void |= keys[:, 2] != 0
    elif label is not None:
        in_void |= keys[:, 0] == label
    return in_void


def _brief(void: npt.ArrayLike) -> str:
    return repr(void) if np.ndim(void) == 0 else f"a mask of shape {np.shape(void)}"


def _unmasked(prediction: npt.ArrayLike) -> npt.ArrayLike:
    if isinstance(prediction, np.ma.MaskedArray) and prediction.mask is not np.ma.nomask:
        raise OptionError(
            "prediction is a masked array, but only the reference can have void voxels (D10): "
            "pass prediction.filled(0), or its mask as void."
        )
    return prediction


def _thread_count(threads: int | None, voxels: int) -> int:
    if threads is None:
        cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        return max(1, min(cpus or 1, voxels // VOXELS_PER_THREAD))
    if not isinstance(threads, int | np.integer) or isinstance(threads, bool) or threads < 1:
        raise OptionError(f"threads={threads!r} must be a whole number of at least 1, or None.")
    return min(int(threads), max(1, voxels))


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
