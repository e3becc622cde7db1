"""The one pass over voxels: from two label images to an `Overlap`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from panmatch.errors import LabelError
from panmatch.labels import check_same_shape
from panmatch.labels.chunked.volumes import Volume
from panmatch.labels.combinations import as_images, distinct_labels
from panmatch.labels.validation import refuse_beyond_int64
from panmatch.labels.void import split_void, without_mask
from panmatch.overlap.graph import Edges, Overlap
from panmatch.overlap.pieces import Pieces, Predictions
from panmatch.overlap.sums import sum_by
from panmatch.overlap.types import Ints


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
        `numpy.ma.MaskedArray`, its mask marks void. Arrays that are stored in chunks (Zarr, Dask,
        HDF5), each in its own way, are read box by box, never as a whole; those of Dask by Dask,
        where their chunks live.
    void
        Voxels of the reference about which nothing is known: a label of the reference, or a
        mask of the same shape (non-zero is void). They belong to no segment of the reference
        and leave the union of every pair; a prediction more than half in void is no false
        positive (D10).
    threads
        Number of threads; by default one per four million voxels, up to the number of CPUs. Of
        chunked arrays, so many boxes are in memory at a time. The result does not depend on it.

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
    return assemble(count_jointly(reference, prediction, void, threads)).overlap


@dataclass(frozen=True, slots=True, eq=False)
class JointCounts:
    """How many voxels carry each combination of labels, one row per combination.

    Attributes
    ----------
    ref, pred, counts
        Labels, and the number of voxels; `ref` is 0 in void.
    in_void
        Whether the voxels lie in void.
    more
        Labels of further arrays that were counted along, one column each.
    """

    ref: Ints
    pred: Ints
    counts: Ints
    in_void: npt.NDArray[np.bool_]
    more: tuple[Ints, ...]


def count_jointly(
    reference: npt.ArrayLike,
    prediction: npt.ArrayLike,
    void: int | npt.ArrayLike | None,
    threads: int | None,
    **more: npt.ArrayLike,
) -> JointCounts:
    """Check all arrays and count every combination of their labels in one pass.

    Parameters
    ----------
    reference, prediction, void, threads
        As for `count_overlaps`.
    more
        Further label arrays of the same shape, by the name to use in messages.
    """
    mask, label = split_void(reference, void)
    given = {"reference": reference, "prediction": without_mask(prediction), **more}
    arrays = as_images(given if mask is None else {**given, "void": mask})
    check_same_shape(arrays)
    columns, counts = distinct_labels(list(arrays.values()), threads=threads)
    ref, pred = columns[:2]
    in_void = np.zeros(len(counts), np.bool_)
    if mask is not None:
        in_void |= columns[-1] != 0
    elif label is not None:
        in_void |= ref == label
    _check_labels(ref[~in_void], counts[~in_void], arrays["reference"], "reference")
    _check_labels(pred, counts, arrays["prediction"], "prediction")
    others = columns[2 : 2 + len(more)]
    return JointCounts(np.where(in_void, 0, ref), pred, counts, in_void, tuple(others))


def _check_labels(labels: Ints, counts: Ints, array: Volume, name: str) -> None:
    bad = labels < 0
    if not bad.any():
        return
    refuse_beyond_int64(labels, counts, bad, array.dtype, name)
    voxels = int(counts[bad].sum())
    remedy = (
        f"If {labels[bad][0]} marks unknown voxels, pass void={labels[bad][0]}."
        if name == "reference"
        else "Set such voxels to 0 (background) if they belong to no object."
    )
    raise LabelError(
        f"{name} holds the negative label {labels[bad][0]} ({voxels} voxels below 0): labels are "
        f"0 (background) or positive ids. {remedy}"
    )


@dataclass(frozen=True, slots=True, eq=False)
class Assembled:
    """An overlap, and where every counted combination went in it.

    Attributes
    ----------
    overlap
        The graph.
    ref, pred, edge
        Position of the reference, prediction and edge of every combination; −1 for none.
    """

    overlap: Overlap
    ref: Ints
    pred: Ints
    edge: Ints


def assemble(found: JointCounts, cells: Ints | None = None) -> Assembled:
    """Build the graph from counted combinations.

    Parameters
    ----------
    cells
        Cell of every combination, where predictions are to be cut by them (D8).
    """
    is_ref, is_pred = found.ref > 0, found.pred > 0
    ref_ids, ref = _places(found.ref, is_ref)
    vertices, pred = _places(found.pred, is_pred, cells)
    n, lost = len(vertices), is_pred & found.in_void
    edges, edge = _edges(ref, pred, found.counts)
    sizes = sum_by(pred[is_pred], found.counts[is_pred], n)
    void = sum_by(pred[lost], found.counts[lost], n)
    pred_ids = np.ascontiguousarray(vertices[:, 0])
    pieces = None
    if cells is not None:
        pieces = Pieces(np.ascontiguousarray(vertices[:, 1]), _wholes(pred_ids, sizes, void))
    overlap = Overlap(
        ref_ids=np.ascontiguousarray(ref_ids[:, 0]),
        ref_sizes=sum_by(ref[is_ref], found.counts[is_ref], len(ref_ids)),
        pred_ids=pred_ids,
        pred_sizes=sizes,
        edges=edges,
        pred_void=void,
        pieces=pieces,
    )
    return Assembled(overlap, ref, pred, edge)


def _places(
    labels: Ints, present: npt.NDArray[np.bool_], cells: Ints | None = None
) -> tuple[Ints, Ints]:
    """Return the distinct labels (and cells) as rows, and the row of every combination."""
    ids, at = np.unique(labels[present], return_inverse=True)
    rows = ids[:, np.newaxis]
    if cells is not None:
        cell_ids, cell_at = np.unique(cells[present], return_inverse=True)
        keys, at = np.unique(at * max(len(cell_ids), 1) + cell_at, return_inverse=True)
        id_of, cell_of = np.divmod(keys, max(len(cell_ids), 1))
        rows = np.column_stack([ids[id_of], cell_ids[cell_of]])
    places = np.full(len(labels), -1)
    places[present] = at
    return rows, places


def _edges(ref: Ints, pred: Ints, counts: Ints) -> tuple[Edges, Ints]:
    both = (ref >= 0) & (pred >= 0)
    width = int(pred.max()) + 1 if len(pred) and pred.max() >= 0 else 1
    pairs, at = np.unique(ref[both] * width + pred[both], return_inverse=True)
    places = np.full(len(ref), -1)
    places[both] = at
    return Edges(*np.divmod(pairs, width), sum_by(at, counts[both], len(pairs))), places


def _wholes(pred_ids: Ints, sizes: Ints, void: Ints) -> Predictions:
    ids, owner = np.unique(pred_ids, return_inverse=True)
    vertex = np.arange(len(pred_ids))
    return Predictions(
        ids, sum_by(owner, sizes, len(ids)), sum_by(owner, void, len(ids)), vertex, owner
    )
