"""Two plain label images, counted: their overlap by the shortest way."""

from __future__ import annotations

import numpy as np

from panmatch.labels import Ints
from panmatch.overlap._columns import sum_by
from panmatch.overlap._graph import Edges, Overlap


def assemble_labels(reference: Ints, prediction: Ints, voxels: Ints) -> Overlap:
    """Return the graph of two plain label images without void.

    It is what `assemble` returns, in a tenth of the time: small images are scored in loops.

    Parameters
    ----------
    reference, prediction
        Labels of the combinations that occur, 0 for background; sorted, each combination once.
    voxels
        How many voxels carry each.

    Examples
    --------
    >>> assemble_labels(np.array([0, 1, 1]), np.array([7, 0, 7]), np.array([1, 1, 2])).iou
    array([0.5])
    """
    ref_ids, ref_at = _number_sorted(reference)
    order = np.argsort(prediction, kind="stable")
    pred_ids, in_order = _number_sorted(prediction[order])
    pred_at = np.empty_like(in_order)
    pred_at[order] = in_order
    ref_sizes, pred_sizes = (
        sum_by(places, voxels, len(ids)) for places, ids in ((ref_at, ref_ids), (pred_at, pred_ids))
    )
    # Background is the first of the sorted labels, where there is any.
    no_ref, no_pred = (int(len(ids) > 0 and ids[0] == 0) for ids in (ref_ids, pred_ids))
    both = (ref_at >= no_ref) & (pred_at >= no_pred)
    return Overlap.of_counts(
        (ref_ids[no_ref:], ref_sizes[no_ref:]),
        (pred_ids[no_pred:], pred_sizes[no_pred:]),
        Edges(ref_at[both] - no_ref, pred_at[both] - no_pred, voxels[both]),
        int(voxels.sum()),
    )


def _number_sorted(column: Ints) -> tuple[Ints, Ints]:
    """Return the distinct values of a sorted column, and the place of every row among them."""
    first = np.empty(len(column), np.bool_)
    first[:1] = True
    np.not_equal(column[1:], column[:-1], out=first[1:])
    return column[first], np.cumsum(first) - 1
