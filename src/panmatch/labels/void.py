"""Voxels of the reference about which nothing is known (D10)."""

from __future__ import annotations

from functools import partial

import numpy as np
import numpy.typing as npt

from panmatch.errors import OptionError
from panmatch.labels.chunked.volumes import Volume, as_volume, map_labels
from panmatch.labels.memory import is_chunked
from panmatch.labels.validation import LabelArray, check_same_shape


def without_void(
    reference: npt.ArrayLike, prediction: npt.ArrayLike, void: int | npt.ArrayLike | None
) -> tuple[Volume, Volume]:
    """Return both label images with the void voxels set to background.

    Without void they are returned as they are. `void` is a label of the reference or a mask; a
    masked reference brings its own. Chunked images stay chunked.

    Examples
    --------
    >>> without_void([1, 255, 2], [4, 4, 4], 255)
    (array([1, 0, 2]), array([4, 0, 4]))
    """
    mask, label = split_void(reference, void)
    ref = as_volume(reference, "reference")
    pred = as_volume(without_mask(prediction), "prediction")
    check_same_shape({"reference": ref, "prediction": pred})
    if mask is not None:
        unknown = as_volume(mask, "void")
        check_same_shape({"reference": ref, "void": unknown})
        gone = map_labels(is_set, unknown)
    elif label is not None:
        gone = map_labels(partial(np.equal, label), ref)
    else:
        return ref, pred
    return map_labels(_known, gone, ref), map_labels(_known, gone, pred)


def is_set(mask: LabelArray) -> npt.NDArray[np.bool_]:
    """Return where a mask is not 0."""
    found: npt.NDArray[np.bool_] = mask != 0
    return found


def _known(gone: LabelArray, labels: LabelArray) -> LabelArray:
    return np.where(is_set(gone), 0, labels)


def split_void(
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
    if void is None or is_chunked(void) or np.ndim(void) > 0:
        return void, None
    if isinstance(void, bool | np.bool_) or not isinstance(void, int | np.integer | np.ndarray):
        raise OptionError(
            f"void={void!r} is neither a label of the reference (an integer) nor a mask of its "
            f"shape."
        )
    return None, int(void)


def _brief(void: npt.ArrayLike) -> str:
    return repr(void) if np.ndim(void) == 0 else f"a mask of shape {np.shape(void)}"


def without_mask(prediction: npt.ArrayLike) -> npt.ArrayLike:
    """Return the prediction, which must not be a masked array: only references have void."""
    if isinstance(prediction, np.ma.MaskedArray) and prediction.mask is not np.ma.nomask:
        raise OptionError(
            "prediction is a masked array, but only the reference can have void voxels (D10): "
            "pass prediction.filled(0), or its mask as void."
        )
    return prediction
