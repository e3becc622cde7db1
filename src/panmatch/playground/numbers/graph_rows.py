"""The overlap graph as the page draws it: whole predictions, and who is matched to whom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from panmatch.errors import LabelError
from panmatch.matching import Matching
from panmatch.matching.strategy import best_first
from panmatch.matching.tally import are_false
from panmatch.overlap import Areas, Floats, Ints, Overlap
from panmatch.playground.drawing.scene import Side
from panmatch.playground.plain import Message

MOST_VERTICES = 1_000  # of one side
MOST_EDGES = 2_000

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Links:
    """Pairs of a reference and a whole prediction that overlap, by falling IoU.

    Where predictions are cut by cells, intersection and IoU are those of the piece in the cell of
    the reference. Strategy ``"union"`` also matches pieces that share no voxel with their
    reference: they are links of IoU 0, and what passes is the union of the cell.
    """

    ref: Ints
    pred: Ints
    intersection: Areas
    iou: Floats
    passes: Mask
    chosen: Mask

    def take(self, rows: Ints | Mask) -> Links:
        """Return some of them."""
        return Links(
            self.ref[rows],
            self.pred[rows],
            self.intersection[rows],
            self.iou[rows],
            self.passes[rows],
            self.chosen[rows],
        )


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """All segments with what became of them, and all links.

    Attributes
    ----------
    overlap, matching
        What was counted, and what was matched in it.
    links
        See there.
    """

    overlap: Overlap
    matching: Matching
    links: Links

    @classmethod
    def of(cls, overlap: Overlap, matching: Matching) -> Picture:
        """Return the picture of a matching of `overlap`."""
        return cls(overlap, matching, find_links(overlap, matching))

    def ids(self, side: Side) -> Ints:
        """Return the ids of one side; predictions are whole."""
        return self.overlap.ref_ids if side == "reference" else self.overlap.predictions.ids

    def states(self, side: Side) -> list[str]:
        """Return what became of every segment of a side."""
        graph, edges = self.matching.overlap, self.matching.edges
        if side == "reference":
            found = np.full(len(graph.ref_ids), "fn")
            found[graph.edges.ref[edges]] = "tp"
            return _listed(found)
        touched = graph.predictions.touched(graph.edges.pred[edges])
        unmatched = np.where(are_false(graph, edges), "fp", "dismissed")
        return _listed(np.where(touched, "matched", unmatched))

    def vertices(self, side: Side) -> list[Message]:
        """Return the rows of a side, at most so many that a page can show them."""
        whole = self.overlap
        sizes = whole.ref_sizes if side == "reference" else whole.predictions.sizes
        columns: tuple[list[Any], ...] = (
            self.ids(side)[:MOST_VERTICES].tolist(),
            sizes[:MOST_VERTICES].tolist(),
            self.states(side)[:MOST_VERTICES],
        )
        return [
            {"id": number, "size": size, "state": state}
            for number, size, state in zip(*columns, strict=True)
        ]

    def edges(self) -> list[list[Any]]:
        """Return the links between the rows, by falling IoU; chosen ones are left out last."""
        links = self.links.take(
            (self.links.ref < MOST_VERTICES) & (self.links.pred < MOST_VERTICES)
        )
        if len(links.ref) > MOST_EDGES:
            links = links.take(np.sort(np.argsort(~links.chosen, kind="stable")[:MOST_EDGES]))
        columns = (links.ref, links.pred, links.intersection, links.iou)
        flags = (links.passes.astype(int), links.chosen.astype(int))
        return [list(row) for row in zip(*(c.tolist() for c in (*columns, *flags)), strict=True)]

    def position(self, side: Side, number: int) -> int:
        """Return the position of a segment."""
        ids = self.ids(side)
        at = int(np.searchsorted(ids, number))
        if at == len(ids) or ids[at] != number:
            raise LabelError(f"there is no {side} {number}: it has no voxel, or was removed.")
        return at

    def partners(self, side: Side, at: int) -> list[Message]:
        """Return all that a segment overlaps, by falling IoU."""
        links = self.links.take((self.links.ref if side == "reference" else self.links.pred) == at)
        others = links.pred if side == "reference" else links.ref
        ids = self.ids("prediction" if side == "reference" else "reference")[others]
        columns = (ids, links.iou, links.intersection, links.passes, links.chosen)
        names = ("id", "iou", "intersection", "passes", "chosen")
        rows = zip(*(column.tolist() for column in columns), strict=True)
        return [dict(zip(names, row, strict=True)) for row in rows]


def _listed(texts: npt.NDArray[np.str_]) -> list[str]:
    listed: list[str] = texts.tolist()
    return listed


def find_links(overlap: Overlap, matching: Matching) -> Links:
    """Return all links of `overlap`, of which `matching` is a matching."""
    edges, whole = overlap.edges, overlap.predictions
    owner = whole.owner[edges.pred]  # every vertex is one prediction, or a piece of one
    if matching.overlap.pieces is overlap.pieces:
        chosen = np.zeros(len(edges), np.bool_)
        chosen[matching.edges] = True
        passes = overlap.score(matching.score) > matching.threshold
        links = Links(edges.ref, owner, edges.intersection, overlap.iou, passes, chosen)
    else:
        links = _links_of_unions(overlap, matching, owner)
    return links.take(best_first(links.iou))


def _links_of_unions(overlap: Overlap, matching: Matching, owner: Ints) -> Links:
    """Return links where all pieces of a cell were matched as one, or not at all."""
    assert overlap.pieces is not None
    edges, n = overlap.edges, len(overlap.ref_ids)
    matched = np.zeros(n + 1, np.bool_)  # the last one is for pieces in no cell
    matched[matching.overlap.edges.ref[matching.edges]] = True
    beside = np.ones(len(overlap.pred_ids), np.bool_)
    beside[edges.pred] = False
    cells = overlap.pieces.regions
    cell = np.where(cells > 0, np.searchsorted(overlap.ref_ids, cells), n)
    beside &= matched[cell]
    ref = np.concatenate([edges.ref, cell[beside]])
    nothing = np.zeros(len(ref) - len(edges))
    return Links(
        ref,
        np.concatenate([owner, overlap.predictions.owner[beside]]),
        np.concatenate([edges.intersection, nothing.astype(edges.intersection.dtype)]),
        np.concatenate([overlap.iou, nothing]),
        matched[ref],
        matched[ref],
    )
