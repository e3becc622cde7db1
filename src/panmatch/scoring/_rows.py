"""Which objects are compared: from a matching to a row per reference and per false positive."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from panmatch.labels import Volume, paint_volumes
from panmatch.matching import Matching
from panmatch.overlap import Areas, Floats, Ints, Overlap


@dataclass(frozen=True, slots=True, eq=False)
class ObjectRows:
    """Which objects are compared: a row per reference, then one per false positive.

    Attributes
    ----------
    ref_ids
        The reference's id; 0, the background, for a false positive.
    pred_first, pred_ids
        Labels of row i in the prediction image: ``pred_ids[pred_first[i]:pred_first[i + 1]]``,
        rising.
    names
        The predictions of every row as text, separated by spaces.
    ref_voxels, pred_voxels, shared
        |g|, |p| and |g ∩ p| for the union p of the row's predictions, outside void.
    """

    ref_ids: Ints
    pred_first: Ints
    pred_ids: Ints
    names: list[str]
    ref_voxels: Floats
    pred_voxels: Floats
    shared: Floats

    def take(self, rows: Ints) -> ObjectRows:
        """Return some of the rows."""
        lengths = np.diff(self.pred_first)[rows]
        first = np.concatenate([[0], np.cumsum(lengths)])
        within = np.arange(first[-1]) - np.repeat(first[:-1], lengths)
        return ObjectRows(
            ref_ids=self.ref_ids[rows],
            pred_first=first,
            pred_ids=self.pred_ids[np.repeat(self.pred_first[rows], lengths) + within],
            names=[self.names[i] for i in rows.tolist()],
            ref_voxels=self.ref_voxels[rows],
            pred_voxels=self.pred_voxels[rows],
            shared=self.shared[rows],
        )


@dataclass(frozen=True, slots=True, eq=False)
class PieceImage:
    """All pieces that regions cut predictions into, each with its own label.

    Attributes
    ----------
    image
        Labels 1, 2, …; 0 where nothing is predicted.
    pred, region
        Prediction and region of every label, sorted by prediction, then region.
    """

    image: Volume
    pred: Ints
    region: Ints

    def labels(self, pred: Ints, region: Ints) -> Ints:
        """Return the labels of pieces; 0 for a piece that lies entirely in void."""
        n = len(self.pred)
        every = np.concatenate(
            [np.stack([self.pred, self.region]), np.stack([pred, region])], axis=1
        )
        distinct, place = np.unique(every, axis=1, return_inverse=True)
        label = np.zeros(distinct.shape[1], np.int64)
        label[place.ravel()[:n]] = np.arange(1, n + 1)
        return label[place.ravel()[n:]]


def cut_out(
    overlap: Overlap, prediction: Volume, regions: Volume, threads: int | None
) -> PieceImage:
    """Return an image of all pieces.

    Parameters
    ----------
    overlap
        Overlap of the images, cut by the same regions: it knows which pieces there are.
    regions
        The region of every voxel of the prediction.
    """
    assert overlap.pieces is not None
    whole = overlap.predictions
    pred, region = whole.ids[whole.owner], overlap.pieces.regions[whole.vertex]
    # Without references, predictions lie in no region, and united ones are not listed.
    alone = np.stack([whole.ids, np.zeros_like(whole.ids)])
    pairs = np.unique(np.concatenate([np.stack([pred, region]), alone], axis=1), axis=1)
    labels = np.arange(1, pairs.shape[1] + 1)
    image = paint_volumes([prediction, regions], pairs, labels, threads=threads)
    return PieceImage(image, *pairs)


def rows_of(matching: Matching, pieces: PieceImage | None = None) -> ObjectRows:
    """Return a row per reference, then one per false positive.

    Parameters
    ----------
    pieces
        Where predictions are cut into pieces: the image whose labels the rows have.
    """
    overlap, edges = matching.overlap, matching.edges
    n, false, whole = len(overlap.ref_ids), matching.false_positives, overlap.predictions
    ref, pred = overlap.edges.ref[edges], overlap.edges.pred[edges]
    false_at = np.searchsorted(whole.ids, false)
    row, labels = _labels(matching, pieces)
    areas = overlap.pred_areas
    per_row = np.bincount(row, minlength=n + len(false))
    return ObjectRows(
        ref_ids=np.concatenate([overlap.ref_ids, np.zeros_like(false)]),
        pred_first=np.concatenate([[0], np.cumsum(per_row)]),
        pred_ids=labels[np.lexsort((labels, row))],
        names=_names(matching),
        ref_voxels=_by_row(overlap.ref_sizes, np.zeros(len(false))),
        pred_voxels=_by_row(np.bincount(ref, areas[pred], n), _outside_void(overlap)[false_at]),
        shared=_by_row(
            np.bincount(ref, overlap.edges.intersection[edges], n), np.zeros(len(false))
        ),
    )


def _labels(matching: Matching, pieces: PieceImage | None) -> tuple[Ints, Ints]:
    """Return labels of the prediction image, and the rows that they belong to."""
    overlap, edges = matching.overlap, matching.edges
    n, false = len(overlap.ref_ids), matching.false_positives
    ref, pred = overlap.edges.ref[edges], overlap.edges.pred[edges]
    if overlap.pieces is None or pieces is None:
        rows = np.concatenate([ref, n + np.arange(len(false))])
        return rows, np.concatenate([overlap.pred_ids[pred], false])
    whole = overlap.predictions
    edge, owner = whole.expand(pred)
    matched = pieces.labels(whole.ids[owner], overlap.pieces.regions[pred][edge])
    lost = np.flatnonzero(np.isin(pieces.pred, false))
    rows = np.concatenate([ref[edge], n + np.searchsorted(false, pieces.pred[lost])])
    labels = np.concatenate([matched, 1 + lost])
    return rows[labels > 0], labels[labels > 0]


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
    first = np.searchsorted(pairs[:, 0], ref_ids).tolist()
    stop = np.searchsorted(pairs[:, 0], ref_ids, side="right").tolist()
    preds = list(map(str, pairs[:, 1].tolist()))
    matched = [" ".join(preds[a:b]) for a, b in zip(first, stop, strict=True)]
    return matched + list(map(str, matching.false_positives.tolist()))


def _by_row(of_refs: Areas, of_false: Areas) -> Floats:
    return np.concatenate([of_refs, of_false]).astype(np.float64)
