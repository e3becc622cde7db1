"""Predictions cut by the nearest-label cells of the references (D8)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from panmatch.labels.cells import nearest_labels
from panmatch.labels.void import without_void
from panmatch.overlap.counting import assemble, count_jointly
from panmatch.overlap.graph import Edges, Overlap
from panmatch.overlap.parts import merge_parts
from panmatch.overlap.pieces import Pieces, Predictions
from panmatch.overlap.sums import sum_by


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
        As for `count_overlaps`. Cells of images that are stored in chunks are exact as well: how
        far to look beyond a box is decided, and proven, box by box.
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
    return count_in_cells(reference, prediction, cells, void=void, threads=threads)


def count_in_cells(
    reference: npt.ArrayLike,
    prediction: npt.ArrayLike,
    cells: npt.ArrayLike,
    *,
    void: int | npt.ArrayLike | None = None,
    threads: int | None = None,
) -> Overlap:
    """Count as `count_region_overlaps` does, with cells that are known already.

    Parameters
    ----------
    cells
        The reference that is nearest, at least wherever something is predicted.
    """
    found = count_jointly(reference, prediction, void, threads, cells=cells)
    return assemble(found, cells=found.more[0]).overlap


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
    pred_at = place[at]  # −1 only if there is no reference at all
    joined, edge_at = np.unique(edges.ref * len(united) + pred_at[edges.pred], return_inverse=True)
    parts = overlap.parts
    return Overlap(
        ref_ids=overlap.ref_ids,
        ref_sizes=overlap.ref_sizes,
        pred_ids=united[some],
        pred_sizes=sizes[some],
        edges=Edges(
            *np.divmod(joined, max(len(united), 1)),
            sum_by(edge_at, edges.intersection, len(joined)),
        ),
        pred_void=sum_by(at, overlap.pred_void, len(united))[some],
        pieces=Pieces(
            united[some],
            Predictions(
                whole.ids, whole.sizes, whole.ignored, place[members[0][kept]], members[1][kept]
            ),
        ),
        parts=None
        if parts is None
        else merge_parts(parts, pred_at, edge_at, (int(some.sum()), len(joined))),
    )
