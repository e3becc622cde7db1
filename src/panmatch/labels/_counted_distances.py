"""Distances of every row that were counted where they were measured."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from panmatch.labels._arrays import Floats, Ints
from panmatch.labels._geometry import SAME_DISTANCE
from panmatch.labels._object_pairs import DistanceLists


@dataclass(frozen=True, slots=True, eq=False)
class CountedDistances(DistanceLists):
    """Distances of each row as rising values, and how often each occurs.

    Sums may differ from those of `DistanceLists` in the last bits, because one product stands for
    many additions. Everything else is the same to the bit.

    Examples
    --------
    >>> counted = CountedDistances(np.array([0.0, 2.0]), np.array([0, 2]), np.array([1, 3]))
    >>> counted.lengths, counted.sums(), counted.quantiles(0.25)
    (array([4]), array([6.]), array([1.5]))
    """

    counts: Ints

    @property
    def lengths(self) -> Ints:
        """Number of distances in each row."""
        return np.diff(self._before[self.first])

    def sums(self) -> Floats:
        """Sum of each row."""
        if len(self.first) == 1:
            return np.zeros(0)
        sums: Floats = np.add.reduceat(self.values * self.counts, self.first[:-1])
        return sums

    def quantiles(self, q: float) -> Floats:
        """Quantile of each row, linear between neighbours, as `numpy.quantile` computes it."""
        place = (self.lengths - 1) * q
        below = np.floor(place).astype(np.int64)
        above = np.minimum(below + 1, self.lengths - 1)
        low, high = (self._at(offset) for offset in (below, above))
        values: Floats = low + (high - low) * (place - below)
        return values

    def within(self, tolerance: float) -> Ints:
        """Count the distances of each row that are at most `tolerance`, give or take rounding."""
        near = np.where(self.values <= tolerance * (1 + SAME_DISTANCE), self.counts, 0)
        return np.diff(np.concatenate([[0], np.cumsum(near)])[self.first])

    def pooled(self, other: DistanceLists) -> CountedDistances:
        """Return each row joined with the same row of `other`."""
        assert isinstance(other, CountedDistances)
        rows = np.arange(len(self.first) - 1)
        row = np.concatenate([np.repeat(rows, np.diff(one.first)) for one in (self, other)])
        values = np.concatenate([self.values, other.values])
        order = np.lexsort((values, row))
        counts = np.concatenate([self.counts, other.counts])[order]
        return CountedDistances(values[order], self.first + other.first, counts)

    @property
    def _before(self) -> Ints:
        """How many distances come before each value."""
        return np.concatenate([[0], np.cumsum(self.counts)])

    def _at(self, offset: Ints) -> Floats:
        """Return one distance of each row, counted from its smallest."""
        before = self._before
        place = np.searchsorted(before, before[self.first[:-1]] + offset, side="right") - 1
        found: Floats = self.values[place]
        return found
