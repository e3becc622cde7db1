"""From a matching to the rows of a comparison."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from panmatch.labels import LabelArray
from panmatch.labels.painting import distinct_labels, paint
from panmatch.matching import Matching
from panmatch.overlap import Floats, Ints, Overlap
from panmatch.scoring.comparison import Rows


def rows_of(matching: Matching) -> Rows:
    """Return a row per reference, then one per false positive.

    Where predictions are cut into pieces, their labels are those of `cut_out`.
    """
    overlap, edges = matching.overlap, matching.edges
    n, false, whole = len(overlap.ref_ids), matching.false_positives, overlap.predictions
    ref, pred = overlap.edges.ref[edges], overlap.edges.pred[edges]
    false_at = np.searchsorted(whole.ids, false)
    if overlap.pieces is None:
        row, labels = ref, overlap.pred_ids[pred]
        false_labels = false
    else:
        row = np.unique(ref)
        labels, false_labels = row + 1, n + 1 + np.arange(len(false))
    per_row = np.concatenate([np.bincount(row, minlength=n), np.ones(len(false), np.int64)])
    areas = overlap.pred_areas
    return Rows(
        ref_ids=np.concatenate([overlap.ref_ids, np.zeros_like(false)]),
        pred_first=np.concatenate([[0], np.cumsum(per_row)]),
        pred_ids=np.concatenate([labels, false_labels]),
        names=_names(matching),
        ref_voxels=_by_row(overlap.ref_sizes, np.zeros(len(false))),
        pred_voxels=_by_row(np.bincount(ref, areas[pred], n), _outside_void(overlap)[false_at]),
        shared=_by_row(
            np.bincount(ref, overlap.edges.intersection[edges], n), np.zeros(len(false))
        ),
    )


def cut_out(
    matching: Matching, prediction: LabelArray, cells: LabelArray, threads: int | None
) -> LabelArray:
    """Return an image of what was matched: 1 + row on the pieces of a row, 0 elsewhere.

    Parameters
    ----------
    cells
        The cell of every voxel of the prediction.
    """
    overlap, false = matching.overlap, matching.false_positives
    assert overlap.pieces is not None
    whole, n = overlap.predictions, len(overlap.ref_ids)
    matched = np.unique(overlap.edges.pred[matching.edges])
    at, owner = whole.expand(matched)
    taken = _pair_key(overlap, overlap.pieces.cells[matched][at], whole.ids[owner])
    found, _ = distinct_labels([prediction, cells], threads=threads)
    pred, cell = found
    is_matched = (pred > 0) & np.isin(_pair_key(overlap, cell, pred), taken)
    labels = np.where(is_matched, 1 + _place(overlap.ref_ids, cell), 0)
    is_false = np.isin(pred, false)
    labels[is_false] = n + 1 + _place(false, pred[is_false])
    return paint([prediction, cells], found, labels, threads=threads)


def _outside_void(overlap: Overlap) -> Floats:
    """Return the voxels of every whole prediction outside void."""
    whole = overlap.predictions
    if overlap.pieces is None:
        return overlap.pred_areas.astype(np.float64)
    return (whole.sizes - whole.ignored).astype(np.float64)


def _names(matching: Matching) -> list[str]:
    """Return the predictions of every row as text."""
    ref_ids = matching.overlap.ref_ids
    pairs = matching.pairs
    first = np.searchsorted(pairs[:, 0], ref_ids)
    stop = np.searchsorted(pairs[:, 0], ref_ids, side="right")
    matched = [" ".join(map(str, pairs[a:b, 1].tolist())) for a, b in zip(first, stop, strict=True)]
    return matched + [str(pred) for pred in matching.false_positives.tolist()]


def _by_row(of_refs: npt.NDArray[Any], of_false: npt.NDArray[Any]) -> Floats:
    return np.concatenate([of_refs, of_false]).astype(np.float64)


def _place(ids: Ints, wanted: npt.NDArray[Any]) -> Ints:
    return np.searchsorted(ids, wanted)


def _pair_key(overlap: Overlap, cell: npt.NDArray[Any], pred: npt.NDArray[Any]) -> Ints:
    """Return one number for every pair of a cell and a whole prediction."""
    ids = overlap.predictions.ids
    return _place(overlap.ref_ids, cell) * (len(ids) + 1) + _place(ids, pred)
