"""From masks that may share voxels to an overlap (D16)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from panmatch.errors import OverlapError, ShapeError
from panmatch.labels import Ints, Mask, Masks, as_list, order_of, read_masks
from panmatch.overlap._confidence import read_confidence
from panmatch.overlap._graph import Edges, Overlap
from panmatch.overlap._sharing import Sharing


def count_masks(
    reference_masks: Iterable[Any],
    prediction_masks: Iterable[Any],
    confidence: npt.ArrayLike | None = None,
    crowd: Iterable[bool] | None = None,
    size: Sequence[int] | None = None,
) -> Overlap:
    """Return the overlap of two lists of masks; see `Overlap.from_masks`."""
    names = ("reference_masks", "prediction_masks")
    sides = [
        as_list(side, name)
        for side, name in zip((reference_masks, prediction_masks), names, strict=True)
    ]
    order = order_of(*sides)
    refs, preds = (
        read_masks(side, name, size=size, order=order)
        for side, name in zip(sides, names, strict=True)
    )
    if len(refs) and len(preds) and refs.shape != preds.shape:
        raise ShapeError(
            f"reference_masks have shape {refs.shape}, but prediction_masks {preds.shape}: masks "
            f"of one image must cover the same pixels."
        )
    scores = None
    if confidence is not None:
        scores = read_confidence(confidence, np.arange(1, len(preds) + 1))
    return overlap_of(refs, preds, crowd=_crowd(crowd, len(refs)), confidence=scores)


def overlap_of(
    refs: Masks,
    preds: Masks,
    *,
    crowd: Mask | None = None,
    confidence: npt.NDArray[np.float64] | None = None,
) -> Overlap:
    """Return the overlap of masks of one image; ids are 1 … n, masks without voxels are left out.

    Parameters
    ----------
    crowd
        Which references are crowd (D10).
    confidence
        Of every prediction.
    """
    is_crowd = np.zeros(len(refs), np.bool_) if crowd is None else crowd
    ref_at = np.flatnonzero((refs.sizes > 0) & ~is_crowd)
    pred_at = np.flatnonzero(preds.sizes > 0)
    kept, found = refs.take(ref_at), preds.take(pred_at)
    shape = found.shape if len(found) else kept.shape
    kept = kept if len(kept) else Masks(shape, *_nothing(), order=found.order)
    found = found if len(found) else Masks(shape, *_nothing(), order=kept.order)
    ref, pred, shared = kept.shared_with(found)
    return Overlap(
        ref_ids=ref_at + 1,
        ref_sizes=kept.sizes,
        pred_ids=pred_at + 1,
        pred_sizes=found.sizes,
        edges=Edges(ref, pred, shared),
        pred_void=np.zeros(len(found), np.int64),
        pred_crowd=_in_crowd(refs.take(is_crowd), found),
        voxels=int(np.prod(shape)),
        sharing=_sharing(kept, found),
        confidence=None if confidence is None else confidence[pred_at],
    )


def _crowd(crowd: Iterable[bool] | None, n: int) -> Mask | None:
    if crowd is None:
        return None
    flags = np.asarray(list(crowd))
    if flags.shape != (n,):
        raise OverlapError(
            f"crowd has {flags.size} values, but there are {n} reference_masks: pass one per mask."
        )
    return flags.astype(np.bool_)


def _in_crowd(crowd: Masks, preds: Masks) -> Ints | None:
    """Return how many voxels of each prediction lie in any crowd; None without crowd."""
    if not len(crowd.start):
        return None
    _, pred, shared = crowd.union().shared_with(preds)
    inside = np.zeros(len(preds), np.int64)
    inside[pred] = shared
    return inside


def _sharing(refs: Masks, preds: Masks) -> Sharing | None:
    one, other, _ = preds.shared_with(preds)
    touching = np.unique(one[one != other])
    first, second, _ = refs.shared_with(refs)
    refs_overlap = bool((first != second).any())
    if not len(touching):
        return Sharing.of_rows([], refs_overlap=refs_overlap)
    ref, starts, members, voxels = preds.take(touching).shared_by_several(refs)
    return Sharing(ref, starts, touching[members], voxels, refs_overlap)


def _nothing() -> tuple[Ints, Ints, Ints]:
    return np.zeros(1, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64)
