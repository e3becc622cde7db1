"""Overlaps after a repair that joins split objects or cuts merged ones, without reading voxels."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from panmatch import native
from panmatch.labels import Ints, Mask
from panmatch.overlap._assembly import distinct_rows, summed_edges
from panmatch.overlap._columns import Areas, sum_by
from panmatch.overlap._graph import Edges, Overlap
from panmatch.overlap._pieces import Pieces, Predictions


@dataclass(frozen=True, slots=True, eq=False)
class Belonging:
    """Which objects belong to which: those more than half inside the other, void aside.

    Attributes
    ----------
    pred_in_ref, ref_in_pred
        For every edge, whether the whole prediction belongs to the reference, and whether the
        reference belongs to the prediction.
    owner
        The whole prediction of every edge, as a position.

    Examples
    --------
    >>> overlap = Overlap.from_dense([[4, 5, 0], [0, 0, 6], [0, 0, 5]], [9, 7, 6], [4, 5, 12])
    >>> found = Belonging.of(overlap)
    >>> found.pred_in_ref, found.ref_in_pred
    (array([ True,  True, False, False]), array([False,  True,  True,  True]))
    """

    pred_in_ref: Mask
    ref_in_pred: Mask
    owner: Ints

    @classmethod
    def of(cls, overlap: Overlap) -> Belonging:
        """Compare the voxels of every edge with those of its two objects."""
        edges, owner_of = overlap.edges, _owners(overlap)
        areas = sum_by(owner_of, overlap.pred_areas, len(overlap.predictions.ids))
        owner = owner_of[edges.pred]
        return cls(
            2 * edges.intersection > areas[owner],
            2 * edges.intersection > overlap.ref_sizes[edges.ref],
            owner,
        )


def join_split(overlap: Overlap, only: Ints | None = None) -> Overlap:
    """Return the overlap after joining all predictions that belong to the same reference.

    They take the id of the one that shares most with it. Without such references the overlap is
    returned as it is. The new predictions keep the order of the old ids; parts are dropped.

    Parameters
    ----------
    only
        Positions of the references whose predictions to join; all by default.

    Examples
    --------
    >>> split = Overlap.from_dense([[4, 3, 0], [0, 1, 5]], [9, 6], [4, 5, 5])
    >>> joined = join_split(split)
    >>> joined.pred_sizes, joined.edges.intersection
    (array([9, 5]), array([7, 1, 5]))
    """
    belonging, edges = Belonging.of(overlap), overlap.edges
    chosen = belonging.pred_in_ref & _of(edges.ref, only, len(overlap.ref_ids))
    refs, owners = edges.ref[chosen], belonging.owner[chosen]
    first = _first_of_most(refs, edges.intersection[chosen])
    if len(first) == len(refs):
        return overlap
    into = np.arange(len(overlap.predictions.ids))
    into[owners] = owners[first][np.searchsorted(refs[first], refs)]
    kept, position = np.unique(into, return_inverse=True)
    return _regrouped(overlap.without_parts(), kept, position)


def cut_merged(overlap: Overlap, only: Ints | None = None) -> Overlap:
    """Return the overlap after cutting all predictions that several references belong to.

    The part inside each reference becomes a separate prediction; the rest stays with the part in
    the reference that shares most. Without such predictions the overlap is returned as it is.
    Otherwise predictions get new ids, with those that were cut off at the end. Parts are dropped.

    Parameters
    ----------
    only
        Positions of the whole predictions to cut; all by default.

    Examples
    --------
    >>> merged = Overlap.from_dense([[6], [5]], [7, 6], [14])
    >>> cut = cut_merged(merged)
    >>> cut.pred_sizes, cut.edges.pred, cut.edges.intersection
    (array([9, 5]), array([0, 1]), array([6, 5]))
    """
    belonging, edges = Belonging.of(overlap), overlap.edges
    wholes = len(overlap.predictions.ids)
    chosen = np.flatnonzero(belonging.ref_in_pred & _of(belonging.owner, only, wholes))
    chosen = chosen[np.argsort(belonging.owner[chosen], kind="stable")]
    keeps = _first_of_most(belonging.owner[chosen], edges.intersection[chosen])
    off = np.delete(chosen, keeps)  # edges that become predictions of their own
    if not len(off):
        return overlap
    return _without_cuts(overlap.without_parts(), off)


class Surroundings:
    """The part of an overlap that a repair of one object can change.

    It holds objects that touch, directly or through others, and all pieces of their predictions.
    """

    def __init__(self, overlap: Overlap) -> None:
        self._overlap = overlap.without_parts()
        n_refs, n_preds = len(overlap.ref_ids), len(overlap.pred_ids)
        start = np.concatenate([overlap.edges.ref, n_refs + np.arange(n_preds)])
        stop = n_refs + np.concatenate([overlap.edges.pred, n_preds + _owners(overlap)])
        n = n_refs + n_preds + len(overlap.predictions.ids)
        self._part = native.graph_components(start, stop, n)
        kinds = np.split(self._part, [n_refs, n_refs + n_preds])
        self._members = [_Members(part) for part in (*kinds, kinds[0][overlap.edges.ref])]

    def of_ref(self, position: int) -> tuple[Overlap, int]:
        """Return the surroundings of a reference, and its position there."""
        part = int(self._part[position])
        refs = self._members[0].of(part)
        return self._take(part), int(np.searchsorted(refs, position))

    def of_pred(self, position: int) -> tuple[Overlap, int]:
        """Return the surroundings of a whole prediction, and its position there."""
        start = len(self._part) - len(self._overlap.predictions.ids)
        part = int(self._part[start + position])
        return self._take(part), int(np.searchsorted(self._members[2].of(part), position))

    def _take(self, part: int) -> Overlap:
        overlap, pieces = self._overlap, self._overlap.pieces
        refs, preds, wholes, edges = (members.of(part) for members in self._members)
        whole, crowd = overlap.predictions, overlap.pred_crowd
        owner = np.searchsorted(wholes, whole.owner[preds])
        return Overlap(
            ref_ids=overlap.ref_ids[refs],
            ref_sizes=overlap.ref_sizes[refs],
            pred_ids=overlap.pred_ids[preds],
            pred_sizes=overlap.pred_sizes[preds],
            edges=Edges(
                np.searchsorted(refs, overlap.edges.ref[edges]),
                np.searchsorted(preds, overlap.edges.pred[edges]),
                overlap.edges.intersection[edges],
            ),
            pred_void=overlap.pred_void[preds],
            pred_crowd=None if crowd is None else crowd[preds],
            pieces=None
            if pieces is None
            else Pieces(
                pieces.regions[preds],
                Predictions(
                    whole.ids[wholes],
                    whole.sizes[wholes],
                    whole.ignored[wholes],
                    np.arange(len(preds)),
                    owner,
                ),
            ),
        )


class _Members:
    """Positions by part."""

    def __init__(self, part: Ints) -> None:
        self._order = np.argsort(part, kind="stable")
        self._sorted = part[self._order]

    def of(self, part: int) -> Ints:
        first, stop = np.searchsorted(self._sorted, [part, part + 1])
        return self._order[first:stop]


def _first_of_most(groups: Ints, shared: Areas) -> Ints:
    """Return the position of the largest value of each group, in order; the first if several."""
    order = np.lexsort((np.arange(len(groups)), -shared, groups))
    starts = np.unique(groups[order], return_index=True)[1]
    return order[starts]


def _of(places: Ints, only: Ints | None, n: int) -> Mask:
    wanted = np.ones(n, np.bool_) if only is None else np.zeros(n, np.bool_)
    wanted[slice(None) if only is None else only] = True
    return wanted[places]


def _owners(overlap: Overlap) -> Ints:
    """Return the whole prediction of every vertex."""
    whole = overlap.predictions
    assert np.array_equal(whole.vertex, np.arange(len(overlap.pred_ids))), "pieces are united"
    return whole.owner


def _regrouped(overlap: Overlap, kept: Ints, position: Ints) -> Overlap:
    """Return an overlap in which whole prediction i is part of the one at ``position[i]``."""
    whole, n = overlap.predictions, len(kept)
    owner = position[_owners(overlap)]
    regions = np.zeros_like(owner) if overlap.pieces is None else overlap.pieces.regions
    (owners, cells), vertex_of = distinct_rows([owner, regions])
    m = len(owners)
    edges = summed_edges(
        overlap.edges.ref, vertex_of[overlap.edges.pred], overlap.edges.intersection, m
    )
    predictions = Predictions(
        whole.ids[kept],
        sum_by(position, whole.sizes, n),
        sum_by(position, whole.ignored, n),
        np.arange(m),
        owners,
    )
    crowd = overlap.pred_crowd
    return replace(
        overlap,
        pred_ids=whole.ids[kept][owners],
        pred_sizes=sum_by(vertex_of, overlap.pred_sizes, m),
        pred_void=sum_by(vertex_of, overlap.pred_void, m),
        pred_crowd=None if crowd is None else sum_by(vertex_of, crowd, m),
        edges=edges,
        pieces=None if overlap.pieces is None else Pieces(cells, predictions),
        confidence=None,  # of predictions that are no longer there
    )


def _without_cuts(overlap: Overlap, off: Ints) -> Overlap:
    """Return an overlap in which the voxels of some edges are predictions of their own."""
    edges, whole, n = overlap.edges, overlap.predictions, len(overlap.pred_ids)
    taken = edges.intersection[off]
    vertex = edges.pred[off]
    sizes = overlap.pred_sizes - sum_by(vertex, taken, n)
    left = np.flatnonzero(sizes > 0)  # a piece may have been cut off as a whole
    place = np.full(n, -1)
    place[left] = np.arange(len(left))
    stay = np.delete(np.arange(len(edges)), off)
    m, fresh = len(left) + len(off), len(left) + np.arange(len(off))
    owner_of = _owners(overlap)
    owner = np.concatenate([owner_of[left], len(whole.ids) + np.arange(len(off))])
    predictions = Predictions(
        np.arange(1, len(whole.ids) + len(off) + 1),
        np.concatenate([whole.sizes - sum_by(owner_of[vertex], taken, len(whole.ids)), taken]),
        np.concatenate([whole.ignored, np.zeros_like(taken)]),
        np.arange(m),
        owner,
    )
    none, crowd = np.zeros_like(taken), overlap.pred_crowd
    pieces = overlap.pieces
    return replace(
        overlap,
        pred_ids=predictions.ids[owner],
        pred_sizes=np.concatenate([sizes[left], taken]),
        pred_void=np.concatenate([overlap.pred_void[left], none]),
        pred_crowd=None if crowd is None else np.concatenate([crowd[left], none]),
        edges=summed_edges(
            np.concatenate([edges.ref[stay], edges.ref[off]]),
            np.concatenate([place[edges.pred[stay]], fresh]),
            np.concatenate([edges.intersection[stay], taken]),
            m,
        ),
        confidence=None,
        pieces=None
        if pieces is None
        else Pieces(np.concatenate([pieces.regions[left], pieces.regions[vertex]]), predictions),
    )
