"""Recall by the size of objects: which of them a model finds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from panmatch.errors import OptionError
from panmatch.overlap import Floats

LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class SizeBin:
    """References of similar size.

    Attributes
    ----------
    low, high
        Sizes from `low` up to, but not including, `high`; the last bin includes it.
    references, found
        How many there are, and how many of them are matched.
    """

    low: float
    high: float
    references: int
    found: int

    @property
    def recall(self) -> float:
        """Share that is found; NaN without references."""
        return self.found / self.references if self.references else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval of the recall."""
        return wilson_interval(self.found, self.references)


def wilson_interval(successes: int, trials: int, level: float = LEVEL) -> tuple[float, float]:
    """Return Wilson's score interval of a share; NaN without trials.

    Unlike the textbook interval p ± z·√(p(1−p)/n) it stays within [0, 1], and is no point where
    all or none succeed.

    Examples
    --------
    >>> low, high = wilson_interval(8, 10)
    >>> round(low, 4), round(high, 4)
    (0.4902, 0.9433)
    """
    if not trials:
        return math.nan, math.nan
    z = NormalDist().inv_cdf((1 + level) / 2)
    share = successes / trials
    centre = share + z * z / (2 * trials)
    spread = z * math.sqrt(share * (1 - share) / trials + (z / (2 * trials)) ** 2)
    scale = 1 + z * z / trials
    low, high = (centre - spread) / scale, (centre + spread) / scale
    return (0.0 if successes == 0 else low), (1.0 if successes == trials else high)


def size_edges(sizes: npt.ArrayLike, bins: int | Sequence[float]) -> Floats:
    """Return the edges of bins: as given, or such that about as many objects are in each.

    Parameters
    ----------
    sizes
        Of all references, at least one.
    bins
        How many, or their edges, rising. Sizes that occur often may leave fewer.

    Examples
    --------
    >>> size_edges([1, 2, 3, 4, 5, 60], 3)
    array([ 1.,  3.,  5., 60.])
    """
    if isinstance(bins, int) and not isinstance(bins, bool) and bins >= 1:
        values = np.sort(np.asarray(sizes, np.float64))
        at = np.linspace(0, len(values), bins + 1).round().astype(np.int64)
        edges = np.unique(values[np.minimum(at, len(values) - 1)])
        return np.repeat(edges, 2) if len(edges) == 1 else edges
    edges = np.asarray([] if isinstance(bins, int) else bins, np.float64)
    if edges.ndim != 1 or len(edges) < 2 or not (np.diff(edges) > 0).all():
        raise OptionError(
            f"bins={bins!r} is neither a number of bins, 1 or more, nor two or more rising edges."
        )
    return edges


def recall_by_size(sizes: npt.ArrayLike, found: npt.ArrayLike, edges: Floats) -> list[SizeBin]:
    """Count references and found ones in every bin; those outside all bins are left out.

    Parameters
    ----------
    sizes, found
        Size of every reference, and whether it is matched; shape (references,).
    edges
        Of the bins, shape (bins + 1,).

    Examples
    --------
    >>> edges = size_edges([1, 2, 9], [0, 5, 9])
    >>> [(one.references, one.found) for one in recall_by_size([1, 2, 9], [0, 1, 1], edges)]
    [(2, 1), (1, 1)]
    """
    values, hit = np.asarray(sizes, np.float64), np.asarray(found, np.bool_)
    last = len(edges) - 2
    inside = (values >= edges[0]) & (values <= edges[-1])
    place = np.minimum(np.searchsorted(edges, values[inside], side="right") - 1, last)
    there = np.bincount(place, minlength=last + 1)
    hits = np.bincount(place[hit[inside]], minlength=last + 1)
    return [
        SizeBin(float(low), float(high), int(n), int(k))
        for low, high, n, k in zip(edges[:-1], edges[1:], there, hits, strict=True)
    ]
