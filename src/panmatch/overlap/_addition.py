"""Adding the overlaps of disjoint chunks of one image."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from panmatch.errors import OverlapError
from panmatch.labels import Floats, Ints
from panmatch.overlap._columns import Areas, sum_by
from panmatch.overlap._parts import check_same_labels, merge_parts
from panmatch.overlap._pieces import Pieces, Predictions
from panmatch.overlap._sharing import Sharing

if TYPE_CHECKING:
    from panmatch.overlap._graph import Overlap


def add_overlaps(first: Overlap, second: Overlap) -> Overlap:
    """Return the sum of all counts by id."""
    _check_alike(first, second)
    ref_ids, ref_at = _join(first.ref_ids, second.ref_ids)
    pred_ids, regions, pred_at = _join_vertices(first, second)
    ref = ref_at[np.concatenate([first.edges.ref, len(first.ref_ids) + second.edges.ref])]
    pred = pred_at[np.concatenate([first.edges.pred, len(first.pred_ids) + second.edges.pred])]
    pairs, pair_at = np.unique(ref * max(len(pred_ids), 1) + pred, return_inverse=True)
    shared = _add_up(pair_at, first.edges.intersection, second.edges.intersection, len(pairs))
    return replace(
        first,
        ref_ids=ref_ids,
        ref_sizes=_add_up(ref_at, first.ref_sizes, second.ref_sizes, len(ref_ids)),
        pred_ids=pred_ids,
        pred_sizes=_add_up(pred_at, first.pred_sizes, second.pred_sizes, len(pred_ids)),
        edges=type(first.edges)(*np.divmod(pairs, max(len(pred_ids), 1)), shared),
        pred_void=_add_up(pred_at, first.pred_void, second.pred_void, len(pred_ids)),
        pred_crowd=_add_crowd(first, second, pred_at, len(pred_ids)),
        pieces=_add_pieces(first, second, pred_at, regions),
        sharing=_add_sharing(first, second, ref_at, pred_at),
        confidence=_add_confidence(first, second),
        voxels=None
        if first.voxels is None or second.voxels is None
        else first.voxels + second.voxels,
        parts=None
        if first.parts is None or second.parts is None
        else merge_parts(
            [first.parts, second.parts],
            (ref_at, pred_at, pair_at),
            (len(ref_ids), len(pred_ids), len(pairs)),
        ),
    )


def _join(first: Ints, second: Ints) -> tuple[Ints, Ints]:
    """Return the union of two id lists, and the place in it of every given id."""
    ids, places = np.unique(np.concatenate([first, second]), return_inverse=True)
    return ids, places


def _check_alike(first: Overlap, second: Overlap) -> None:
    if (first.pieces is None) != (second.pieces is None):
        raise OverlapError(
            "overlaps can only be added if both are cut by regions (count_region_overlaps) or "
            "neither is."
        )
    if (first.parts is None) != (second.parts is None):
        raise OverlapError("overlaps can only be added if both have parts or neither has.")
    if first.parts is not None and second.parts is not None:
        check_same_labels(first.parts, second.parts)


def _add_crowd(first: Overlap, second: Overlap, places: Ints, n: int) -> Areas | None:
    if first.pred_crowd is None and second.pred_crowd is None:
        return None
    crowds = [
        np.zeros_like(overlap.pred_sizes) if overlap.pred_crowd is None else overlap.pred_crowd
        for overlap in (first, second)
    ]
    return _add_up(places, crowds[0], crowds[1], n)


def _join_vertices(first: Overlap, second: Overlap) -> tuple[Ints, Ints, Ints]:
    """Return ids and regions of all prediction vertices, and the place of every given one."""
    ids, id_at = _join(first.pred_ids, second.pred_ids)
    if first.pieces is None or second.pieces is None:
        return ids, np.zeros_like(ids), id_at
    regions, region_at = _join(first.pieces.regions, second.pieces.regions)
    keys, places = np.unique(id_at * max(len(regions), 1) + region_at, return_inverse=True)
    id_of, region_of = np.divmod(keys, max(len(regions), 1))
    return ids[id_of], regions[region_of], places


def _add_pieces(first: Overlap, second: Overlap, pred_at: Ints, regions: Ints) -> Pieces | None:
    """Return the pieces of a sum, given the place of every vertex in it."""
    if first.pieces is None or second.pieces is None:
        return None
    mine, theirs = first.pieces.predictions, second.pieces.predictions
    ids, id_at = _join(mine.ids, theirs.ids)
    vertex = pred_at[np.concatenate([mine.vertex, len(first.pred_ids) + theirs.vertex])]
    owner = id_at[np.concatenate([mine.owner, len(mine.ids) + theirs.owner])]
    vertex, owner = np.unique(np.stack([vertex, owner]), axis=1)
    sizes = _add_up(id_at, mine.sizes, theirs.sizes, len(ids))
    ignored = _add_up(id_at, mine.ignored, theirs.ignored, len(ids))
    return Pieces(regions, Predictions(ids, sizes, ignored, vertex, owner))


def _add_sharing(first: Overlap, second: Overlap, ref_at: Ints, pred_at: Ints) -> Sharing | None:
    """Return the shared voxels of a sum, given the place of every vertex in it."""
    rows: list[tuple[int, list[int], int]] = []
    refs, preds = len(first.ref_ids), len(first.pred_ids)
    for one, of_refs, of_preds in (
        (first.sharing, ref_at[:refs], pred_at[:preds]),
        (second.sharing, ref_at[refs:], pred_at[preds:]),
    ):
        rows += [] if one is None else one.moved(of_refs, of_preds)
    overlapping = any(
        one.sharing is not None and one.sharing.refs_overlap for one in (first, second)
    )
    return Sharing.of_rows(rows, refs_overlap=overlapping)


def _add_confidence(first: Overlap, second: Overlap) -> Floats | None:
    """Return the confidences of a sum; a prediction has the same one in both."""
    if first.confidence is None or second.confidence is None:
        if first.confidence is not second.confidence:
            raise OverlapError(
                "overlaps can only be added if both have confidences or neither has: use "
                "with_confidence on the sum."
            )
        return None
    ids, places = _join(first.predictions.ids, second.predictions.ids)
    joined: Floats = np.zeros(len(ids))
    values = np.concatenate([first.confidence, second.confidence])
    joined[places] = values
    differing = np.flatnonzero(joined[places] != values)
    if len(differing):
        one = places[differing[0]]
        raise OverlapError(
            f"prediction {ids[one]} has the confidence {values[differing[0]]} in one overlap and "
            f"{joined[one]} in the other; it can only have one."
        )
    return joined


def _add_up(places: Ints, first: Areas, second: Areas, n: int) -> Areas:
    return sum_by(places, np.concatenate([first, second]), n)
