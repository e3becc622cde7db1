"""Predictions that are cut into pieces, and the whole ones behind them (D8)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from panmatch.overlap.types import Areas, Ints

Mask = npt.NDArray[np.bool_]


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
        """Predictions more than half in void or crowd: unmatched, no false positives (D10)."""
        return 2 * self.ignored > self.sizes

    def touched(self, vertices: Ints) -> Mask:
        """Which predictions have voxels in one of the vertices."""
        touched = np.zeros(len(self.ids), np.bool_)
        touched[self.owner[np.isin(self.vertex, vertices)]] = True
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
    cells
        For every vertex of the prediction side the id of the reference in whose cell it lies; 0
        where there is no reference at all.
    predictions
        What the vertices are pieces of.
    """

    cells: Ints
    predictions: Predictions
