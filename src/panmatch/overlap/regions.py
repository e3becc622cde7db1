"""Predictions cut by the nearest-label cells of the references (D8)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from panmatch.labels.cells import nearest_labels
from panmatch.labels.void import without_void
from panmatch.overlap.counting import JointCounts, count_jointly, merge_pairs
from panmatch.overlap.graph import Edges, Overlap
from panmatch.overlap.pieces import Pieces, Predictions
from panmatch.overlap.sums import sum_by
from panmatch.overlap.types import Ints


def count_region_overlaps(
    reference: npt.ArrayLike,
    prediction: npt.ArrayLike,
    spacing: npt.ArrayLike | None = None,
    *,
    void: int | npt.ArrayLike | None = None,
    threads: int | None = None,
) -> Overlap:
    """Cut predictions by the cells of the references, and count the overlaps of the pieces (D8).

    The cell of a reference is all that is nearer to it than to any other one. A piece can only be
    matched to the reference of its cell, and its size is its own. A prediction is a false
    positive if none of its pieces is matched.

    Parameters
    ----------
    reference, prediction, void, threads
        As for `count_overlaps`.
    spacing
        Distance between voxels along each axis; voxel units by default.

    Returns
    -------
    Overlap
        Every strategy and curve runs on it. Without any reference, predictions stay whole.

    Examples
    --------
    >>> reference = np.array([1, 1, 0, 0, 0, 0, 2, 2])
    >>> prediction = np.array([0, 7, 7, 7, 7, 7, 7, 0])
    >>> cut = count_region_overlaps(reference, prediction)
    >>> cut
    Overlap(2 references, 1 predictions in 2 pieces, 2 edges)
    >>> cut.pred_sizes, cut.iou
    (array([3, 3]), array([0.25, 0.25]))
    """
    known, _ = without_void(reference, prediction, void)
    cells = nearest_labels(known, spacing, where=prediction, threads=threads)
    return _assemble(count_jointly(reference, prediction, void, threads, cells=cells))


def unite_cells(overlap: Overlap) -> Overlap:
    """Return the overlap with all pieces of a cell as one: what is predicted in V(g) (D8)."""
    assert overlap.pieces is not None
    cells, whole = overlap.pieces.cells, overlap.pieces.predictions
    united, at = np.unique(cells, return_inverse=True)
    edges = overlap.edges
    sizes = sum_by(at, overlap.pred_sizes, len(united))
    members = np.unique(np.stack([at[whole.vertex], whole.owner]), axis=1)
    some = united > 0  # without references nothing is united
    place = np.cumsum(some) - 1
    kept = some[members[0]]
    return Overlap(
        ref_ids=overlap.ref_ids,
        ref_sizes=overlap.ref_sizes,
        pred_ids=united[some],
        pred_sizes=sizes[some],
        edges=Edges(*merge_pairs(edges.ref, place[at[edges.pred]], edges.intersection)),
        pred_void=sum_by(at, overlap.pred_void, len(united))[some],
        pieces=Pieces(
            united[some],
            Predictions(
                whole.ids, whole.sizes, whole.void, place[members[0][kept]], members[1][kept]
            ),
        ),
    )


def _assemble(found: JointCounts) -> Overlap:
    is_ref, is_pred = found.ref > 0, found.pred > 0
    both, lost = is_ref & is_pred, is_pred & found.in_void
    ref_ids, ref_at = np.unique(found.ref[is_ref], return_inverse=True)
    pred_ids, cells, vertex_at = _pieces(found.pred[is_pred], found.more[0][is_pred])
    ref_place, pred_place = np.zeros_like(found.ref), np.zeros_like(found.pred)
    ref_place[is_ref], pred_place[is_pred] = ref_at, vertex_at
    n = len(pred_ids)
    sizes = sum_by(pred_place[is_pred], found.counts[is_pred], n)
    void = sum_by(pred_place[lost], found.counts[lost], n)
    return Overlap(
        ref_ids=ref_ids,
        ref_sizes=sum_by(ref_at, found.counts[is_ref], len(ref_ids)),
        pred_ids=pred_ids,
        pred_sizes=sizes,
        edges=Edges(*merge_pairs(ref_place[both], pred_place[both], found.counts[both])),
        pred_void=void,
        pieces=Pieces(cells, _wholes(pred_ids, sizes, void)),
    )


def _pieces(pred: Ints, cell: Ints) -> tuple[Ints, Ints, Ints]:
    """Return prediction and cell of every piece, and the piece of every given pair."""
    ids, pred_at = np.unique(pred, return_inverse=True)
    cells, cell_at = np.unique(cell, return_inverse=True)
    keys, at = np.unique(pred_at * max(len(cells), 1) + cell_at, return_inverse=True)
    id_of, cell_of = np.divmod(keys, max(len(cells), 1))
    return ids[id_of], cells[cell_of], at


def _wholes(pred_ids: Ints, sizes: Ints, void: Ints) -> Predictions:
    ids, owner = np.unique(pred_ids, return_inverse=True)
    vertex = np.arange(len(pred_ids))
    return Predictions(
        ids, sum_by(owner, sizes, len(ids)), sum_by(owner, void, len(ids)), vertex, owner
    )
