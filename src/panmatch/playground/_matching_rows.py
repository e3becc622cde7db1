"""A matching as the page draws it: the graph of whole predictions, and the terms of PQ (D3, D9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from panmatch.errors import LabelError
from panmatch.matching import Matching, are_false, best_first, part_sums, union_areas
from panmatch.overlap import Areas, Floats, Ints, Overlap
from panmatch.playground._states import SIDES, Side
from panmatch.playground._validation import Message

MOST_VERTICES = 1_000  # of one side
MOST_EDGES = 2_000
LETTERS = {"tp": "t", "fn": "n", "fp": "f", "matched": "m", "dismissed": "d"}
BACKGROUND = 0  # instead of the label of a part

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class GraphEdges:
    """Pairs of a reference and a whole prediction that overlap, by falling IoU.

    If Voronoi regions cut the predictions, intersection and IoU are those of the piece in the
    region of the reference. Strategy ``"union"`` also matches pieces that share no voxel with their
    reference: they are edges of IoU 0, and the union of the region must pass the threshold.
    """

    ref: Ints
    pred: Ints
    intersection: Areas
    iou: Floats
    passes: Mask
    chosen: Mask

    def take(self, rows: Ints | Mask) -> GraphEdges:
        """Return some of them."""
        return GraphEdges(*(getattr(self, column.name)[rows] for column in fields(self)))


@dataclass(frozen=True, slots=True, eq=False)
class MatchingGraph:
    """All segments of an overlap with their status in a matching, and all edges."""

    overlap: Overlap
    matching: Matching
    edges: GraphEdges

    @classmethod
    def of(cls, overlap: Overlap, matching: Matching) -> MatchingGraph:
        """Return the graph of a matching of `overlap`."""
        return cls(overlap, matching, graph_edges(overlap, matching))

    def ids(self, side: Side) -> Ints:
        """Return the ids of one side; predictions are whole."""
        return self.overlap.ref_ids if side == "reference" else self.overlap.predictions.ids

    def sizes(self, side: Side) -> Areas:
        """Return the sizes of one side; predictions are whole."""
        return self.overlap.ref_sizes if side == "reference" else self.overlap.predictions.sizes

    def states(self, side: Side) -> npt.NDArray[np.str_]:
        """Return the status of every segment of a side."""
        overlap, edges = self.matching.overlap, self.matching.edges
        if side == "reference":
            states = np.full(len(overlap.ref_ids), "fn")
            states[overlap.edges.ref[edges]] = "tp"
            return states
        touched = overlap.predictions.touched(overlap.edges.pred[edges])
        unmatched = np.where(are_false(overlap, edges), "fp", "dismissed")
        return np.where(touched, "matched", unmatched)

    def vertex_rows(self, side: Side, listed: Ints) -> list[Message]:
        """Return a row for each of the listed positions of a side."""
        columns = {"id": self.ids(side), "size": self.sizes(side), "state": self.states(side)}
        return _rows({name: values[listed].tolist() for name, values in columns.items()})

    def edge_rows(self, refs: Ints, preds: Ints) -> list[list[float]]:
        """Return the edges between listed positions, by falling IoU, with the rows of their ends.

        Of too many, chosen ones are left out last.
        """
        rows = [
            _row_of(side, listed)
            for side, listed in ((self.ids("reference"), refs), (self.ids("prediction"), preds))
        ]
        edges = self.edges.take((rows[0][self.edges.ref] >= 0) & (rows[1][self.edges.pred] >= 0))
        if len(edges.ref) > MOST_EDGES:
            edges = edges.take(np.sort(np.argsort(~edges.chosen, kind="stable")[:MOST_EDGES]))
        ends = rows[0][edges.ref], rows[1][edges.pred]
        columns = (*ends, edges.intersection, edges.iou)
        flags = (edges.passes.astype(int), edges.chosen.astype(int))
        return [list(row) for row in zip(*(c.tolist() for c in (*columns, *flags)), strict=True)]

    def fates(self) -> Message:
        """Return the status of all objects in a few letters, and all chosen edges.

        The letters are t(p), n for fn, f(p), m(atched) and d(ismissed), by position.
        """
        chosen = self.edges.take(self.edges.chosen)
        return {
            **{side: "".join(LETTERS[one] for one in self.states(side).tolist()) for side in SIDES},
            "chosen": [chosen.ref.tolist(), chosen.pred.tolist()],
        }

    def position(self, side: Side, number: int) -> int:
        """Return the position of a segment."""
        ids = self.ids(side)
        position = int(np.searchsorted(ids, number))
        if position == len(ids) or ids[position] != number:
            raise LabelError(f"there is no {side} {number}: it has no voxels, or was removed.")
        return position

    def partner_rows(self, side: Side, position: int) -> list[Message]:
        """Return everything that a segment overlaps, by falling IoU."""
        own = self.edges.ref if side == "reference" else self.edges.pred
        edges = self.edges.take(own == position)
        others = edges.pred if side == "reference" else edges.ref
        names = ("iou", "intersection", "passes", "chosen")
        columns = {name: getattr(edges, name).tolist() for name in names}
        ids = self.ids("prediction" if side == "reference" else "reference")[others]
        return _rows({"id": ids.tolist(), **columns})


def graph_edges(overlap: Overlap, matching: Matching) -> GraphEdges:
    """Return all edges of `overlap`, of which `matching` is a matching."""
    edges, whole = overlap.edges, overlap.predictions
    owner = whole.owner[edges.pred]  # every vertex is one prediction, or a piece of one
    if matching.overlap.pieces is overlap.pieces:
        chosen = np.zeros(len(edges), np.bool_)
        chosen[matching.edges] = True
        passes = overlap.score(matching.score) > matching.threshold
        listed = GraphEdges(edges.ref, owner, edges.intersection, overlap.iou, passes, chosen)
    else:
        listed = _edges_of_unions(overlap, matching, owner)
    return listed.take(best_first(listed.iou))


def _edges_of_unions(overlap: Overlap, matching: Matching, owner: Ints) -> GraphEdges:
    """Return edges where all pieces of a Voronoi region were matched as one, or not at all."""
    assert overlap.pieces is not None
    edges, n = overlap.edges, len(overlap.ref_ids)
    matched = np.zeros(n + 1, np.bool_)  # the last one is for pieces in no region
    matched[matching.overlap.edges.ref[matching.edges]] = True
    beside = np.ones(len(overlap.pred_ids), np.bool_)
    beside[edges.pred] = False
    ids = overlap.pieces.regions
    region = np.where(ids > 0, np.searchsorted(overlap.ref_ids, ids), n)
    beside &= matched[region]
    ref = np.concatenate([edges.ref, region[beside]])
    nothing = np.zeros(len(ref) - len(edges))
    return GraphEdges(
        ref,
        np.concatenate([owner, overlap.predictions.owner[beside]]),
        np.concatenate([edges.intersection, nothing.astype(edges.intersection.dtype)]),
        np.concatenate([overlap.iou, nothing]),
        matched[ref],
        matched[ref],
    )


def _row_of(ids: Ints, listed: Ints) -> Ints:
    """Return the row of every position in a list of some, −1 for the others."""
    rows = np.full(len(ids), -1)
    rows[listed] = np.arange(len(listed))
    return rows


def quality_terms(matching: Matching, most: int | None = None) -> list[Message]:
    """Return the terms whose qualities add up to the quality of the tally.

    Intersection and union are those of the reference and the union of its predictions. With parts
    (D9), the term also has those of every label that occurs, and quality is the mean of their IoU.
    At most `most` terms are returned, those with the smallest reference ids.
    """
    overlap, edges = matching.overlap, matching.edges
    matched = np.unique(overlap.edges.ref[edges])[:most]
    by_parts = matching.ref_part_quality
    quality = matching.ref_quality if by_parts is None else by_parts
    # Sums of voxels become whole numbers; areas from geometry stay as they are.
    intersection, union = (
        areas[matched].astype(overlap.ref_sizes.dtype) for areas in union_areas(overlap, edges)
    )
    return _rows(
        {
            "reference": overlap.ref_ids[matched].tolist(),
            "predictions": _predictions(matching, matched),
            "intersection": intersection.tolist(),
            "union": union.tolist(),
            "quality": quality[matched].tolist(),
            "parts": _parts(matching, matched),
        }
    )


def _predictions(matching: Matching, matched: Ints) -> list[list[int]]:
    """Return the ids of the whole predictions that each reference is matched to."""
    pairs = matching.pairs
    ids = matching.overlap.ref_ids[matched]
    first = np.searchsorted(pairs[:, 0], ids).tolist()
    last = np.searchsorted(pairs[:, 0], ids, side="right").tolist()
    preds = pairs[:, 1].tolist()
    return [preds[a:b] for a, b in zip(first, last, strict=True)]


def _parts(matching: Matching, matched: Ints) -> list[list[Message] | None]:
    overlap, parts = matching.overlap, matching.overlap.parts
    if parts is None:
        return [None] * len(matched)
    hits, union = parts.label_areas(matched, part_sums(overlap, matching.edges)[matched])
    labels = parts.labels.tolist() + [BACKGROUND] * (parts.background == "image")
    return [_labels(labels, *row) or None for row in zip(hits, union, strict=True)]


def _labels(labels: list[int], hits: Floats, union: Floats) -> list[Message]:
    return [
        {"part": label, "intersection": int(shared), "union": int(whole), "iou": shared / whole}
        for label, shared, whole in zip(labels, hits.tolist(), union.tolist(), strict=True)
        if whole > 0
    ]


def _rows(columns: Mapping[str, Sequence[object]]) -> list[Message]:
    """Return columns of equal length as one object per row."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
