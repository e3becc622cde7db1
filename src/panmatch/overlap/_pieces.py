"""Predictions that are cut into pieces, and the whole predictions they come from (D8)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from panmatch.labels import Ints, Mask
from panmatch.overlap._columns import Areas, sum_by
from panmatch.overlap._parts import merge_parts

if TYPE_CHECKING:
    from panmatch.overlap._graph import Overlap


@dataclass(frozen=True, slots=True, eq=False)
class Predictions:
    """Whole predictions, and the vertices of an overlap graph that are parts of them.

    Attributes
    ----------
    ids
        Rising.
    sizes, ignored
        Voxels of each, and those of them in void or in crowd of the same class.
    vertex, owner
        Pairs: vertex ``vertex[i]`` of the graph holds voxels of prediction ``owner[i]``, as
        positions, sorted by vertex, then owner.
    """

    ids: Ints
    sizes: Areas
    ignored: Areas
    vertex: Ints
    owner: Ints

    @property
    def dismissible(self) -> Mask:
        """Predictions more than half in void or crowd: never false positives (D10)."""
        return 2 * self.ignored > self.sizes

    def touched(self, vertices: Ints) -> Mask:
        """Which predictions have voxels in one of the vertices."""
        chosen = np.zeros(self.vertex[-1] + 1 if len(self.vertex) else 0, np.bool_)
        chosen[vertices] = True
        touched = np.zeros(len(self.ids), np.bool_)
        touched[self.owner[chosen[self.vertex]]] = True
        return touched

    def expand(self, vertices: Ints) -> tuple[Ints, Ints]:
        """Return rows and owners: vertex ``vertices[rows[i]]`` holds voxels of ``owners[i]``."""
        first = np.searchsorted(self.vertex, vertices)
        counts = np.searchsorted(self.vertex, vertices, side="right") - first
        rows = np.repeat(np.arange(len(vertices)), counts)
        within = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
        return rows, self.owner[first[rows] + within]


@dataclass(frozen=True, slots=True, eq=False)
class Pieces:
    """How the predictions of an overlap are cut.

    Attributes
    ----------
    regions
        For every vertex of the prediction side the id of the reference in whose region it lies; 0
        where there is no reference at all.
    predictions
        What the vertices are pieces of.
    """

    regions: Ints
    predictions: Predictions


def unite_regions(overlap: Overlap) -> Overlap:
    """Return the overlap with all pieces of every region united into one prediction (D8)."""
    assert overlap.pieces is not None
    whole, edges, parts = overlap.pieces.predictions, overlap.edges, overlap.parts
    united, region_at = np.unique(overlap.pieces.regions, return_inverse=True)
    members = np.unique(np.stack([region_at[whole.vertex], whole.owner]), axis=1)
    has_reference = united > 0  # without references nothing is united
    place = np.cumsum(has_reference) - 1
    kept = has_reference[members[0]]
    pred_at = place[region_at]  # −1 only if there is no reference at all
    joined, edge_at = np.unique(edges.ref * len(united) + pred_at[edges.pred], return_inverse=True)
    owners = replace(whole, vertex=place[members[0][kept]], owner=members[1][kept])
    return replace(
        overlap,
        pred_ids=united[has_reference],
        pred_sizes=sum_by(region_at, overlap.pred_sizes, len(united))[has_reference],
        edges=type(edges)(
            *np.divmod(joined, max(len(united), 1)),
            sum_by(edge_at, edges.intersection, len(joined)),
        ),
        pred_void=sum_by(region_at, overlap.pred_void, len(united))[has_reference],
        pieces=Pieces(united[has_reference], owners),
        parts=None
        if parts is None
        else merge_parts(
            [parts],
            (np.arange(len(overlap.ref_ids)), pred_at, edge_at),
            (len(overlap.ref_ids), int(has_reference.sum()), len(joined)),
        ),
    )
