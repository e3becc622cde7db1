"""Two plain label images, counted: their overlap by the shortest way."""

from __future__ import annotations

import numpy as np

from panmatch import native
from panmatch.labels import Ints
from panmatch.overlap._graph import Edges, Overlap

HEAD = 4  # numbers before the columns


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
    numbers = native.label_graph(reference, prediction, voxels).view(np.int64)  # not long long
    numbers.flags.writeable = False
    n_ref, n_pred, n_edges, n_voxels = numbers[:HEAD].tolist()
    columns, start = [], HEAD
    for length in (n_ref, n_ref, n_pred, n_pred, n_pred, n_edges, n_edges, n_edges):
        columns.append(numbers[start : start + length])
        start += length
    ref_ids, ref_sizes, pred_ids, pred_sizes, nothing, *ends, shared = columns
    ref, pred = (end.astype(np.intp, copy=False) for end in ends)  # 32 bits in a browser
    return Overlap.of_counts(
        (ref_ids, ref_sizes), (pred_ids, pred_sizes, nothing), Edges(ref, pred, shared), n_voxels
    )
