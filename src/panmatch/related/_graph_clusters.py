"""Cluster Dice on the components of the overlap graph, at a threshold and at all of them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from panmatch.errors import OptionError
from panmatch.matching import Tallies, ratio
from panmatch.overlap import Floats, Ints, Overlap, Score, check_threshold
from panmatch.scoring import Average, GraphComponents

_Counts = tuple[int, int, int, int]
BITS = 31  # of a limb of a sum


def graph_cluster_values(overlap: Overlap, threshold: float, score: Score = "iou") -> Floats:
    """Return the Dice of every component of the graph."""
    found = GraphComponents.of(overlap, threshold, score)
    dice: Floats = 2 * found.shared / (found.ref_voxels + found.pred_voxels)
    return dice


def graph_cluster_dice(overlap: Overlap, *, threshold: float = 0.0, score: Score = "iou") -> float:
    """Return the mean Dice over the components of the graph of overlapping objects.

    The Dice of a component is that of the union of its references and the union of its predictions,
    so no object has to be matched. NaN if both sides are empty. `cluster_dice` joins what touches
    in the image. Here objects are joined by overlap alone, so labels stay whole, and neighbours
    that merely touch stay apart; no voxel is read. Both are equal if every object is connected, and
    objects of different components do not touch.

    Parameters
    ----------
    overlap
        Of whole predictions: from `count_overlaps`.
    threshold
        Only a score above it joins two objects; 0 for any overlap.
    score
        As for `match`.

    Examples
    --------
    >>> import panmatch as pm
    >>> from panmatch import related
    >>> ov = pm.count_overlaps([1, 1, 1, 0, 2, 2], [1, 1, 3, 0, 0, 0])
    >>> related.graph_cluster_dice(ov), related.graph_cluster_dice(ov, threshold=0.5)
    (0.5, 0.26666666666666666)
    """
    return Average.of(graph_cluster_values(overlap, threshold, score)).value


@dataclass(frozen=True, slots=True, eq=False)
class ClusterCurve:
    """Cluster Dice of the graph at every threshold in [0, 1), exactly; curves of images add.

    Row i of every array holds for ``thresholds[i] <= τ < thresholds[i + 1]``, the last one up to 1,
    as for `Curve`. The sum of several curves has the mean over the components of all images.

    Attributes
    ----------
    thresholds
        Where a component falls apart, rising, float64; the first is 0.
    tallies
        Of every step: components with both sides as `tp`, a prediction alone as `fp`, a reference
        alone as `fn`, and the summed Dice as `quality`.
    score
        What joins two objects.
    """

    thresholds: Floats
    tallies: Tallies
    score: Score = "iou"

    @property
    def components(self) -> Ints:
        """Number of components on every step."""
        return self.tallies.tp + self.tallies.fp + self.tallies.fn

    @property
    def dice(self) -> Floats:
        """Mean Dice over the components on every step; NaN without any object."""
        return ratio(self.tallies.quality, self.components)

    @property
    def area(self) -> float:
        """∫ Cluster Dice dτ over [0, 1), a finite sum."""
        widths = np.append(self.thresholds[1:], 1.0) - self.thresholds
        return math.fsum((self.dice * widths).tolist())

    def at(self, threshold: float) -> float:
        """Return Cluster Dice at any threshold in [0, 1)."""
        place = self._steps(np.array([check_threshold(threshold)]))
        return float(self.dice[place[0]])

    def __add__(self, other: ClusterCurve) -> ClusterCurve:
        if not isinstance(other, ClusterCurve):
            return NotImplemented
        if self.score != other.score:
            raise OptionError(
                f"score={other.score!r} differs from {self.score!r}: curves can only be added if "
                f"they were made with the same score."
            )
        at = np.union1d(self.thresholds, other.thresholds)
        tallies = self.tallies[self._steps(at)] + other.tallies[other._steps(at)]
        return ClusterCurve(at, tallies, self.score)

    def __radd__(self, other: object) -> ClusterCurve:
        return self if other == 0 else NotImplemented  # sum() starts with 0

    def __repr__(self) -> str:
        return f"ClusterCurve({len(self.thresholds)} steps: area={self.area:.4f})"

    def _steps(self, thresholds: Floats) -> Ints:
        places: Ints = np.searchsorted(self.thresholds, thresholds, side="right") - 1
        return places


def graph_cluster_dice_curve(overlap: Overlap, *, score: Score = "iou") -> ClusterCurve:
    """Return `graph_cluster_dice` as an exact step function of the threshold.

    As the threshold falls, edges join components. It is one pass over the edges, by falling score.

    Examples
    --------
    >>> import panmatch as pm
    >>> from panmatch import related
    >>> ov = pm.count_overlaps([1, 1, 1, 0, 2, 2], [1, 1, 3, 0, 0, 0])
    >>> found = related.graph_cluster_dice_curve(ov)
    >>> found.thresholds.round(3).tolist(), found.dice.round(3).tolist()
    ([0.0, 0.333, 0.667], [0.5, 0.267, 0.0])
    >>> round(found.area, 3)
    0.256
    """
    GraphComponents.of(overlap, 0.0, score)  # refuses what has no components
    clusters, scores = _Clusters(overlap), overlap.score(score)
    order = np.argsort(-scores, kind="stable")
    edges = overlap.edges.ref[order].tolist(), overlap.edges.pred[order].tolist()
    falling: list[float] = []
    rows: list[_Counts] = []
    before = math.inf
    for value, ref, pred in zip(scores[order].tolist(), *edges, strict=True):
        if value < before:
            _note(value, clusters.counts, falling, rows)
            before = value
        clusters.join(ref, len(overlap.ref_ids) + pred)
    _note(0.0, clusters.counts, falling, rows)
    return _rising(falling, rows, score)


def _note(value: float, counts: _Counts, falling: list[float], rows: list[_Counts]) -> None:
    """Remember the counts from a threshold on; a step at which nothing changes is not one."""
    if rows and rows[-1] == counts:
        falling[-1] = value
    else:
        falling.append(value)
        rows.append(counts)


def _rising(falling: list[float], rows: list[_Counts], score: Score) -> ClusterCurve:
    """Return steps by rising threshold; an edge with score 1 is there at every threshold."""
    thresholds = np.array(falling[::-1])
    both, fp, fn, units = zip(*rows[::-1], strict=True)
    low = (1 << BITS) - 1
    limbs = np.array([(0, one >> BITS, one & low) for one in units], np.int64)
    tallies = Tallies.of_counts(np.array(both), np.array(fp), np.array(fn), limbs)
    below = thresholds < 1
    return ClusterCurve(thresholds[below], tallies[below], score)


class _Clusters:
    """The vertices of a graph, references first, joined edge by edge.

    When two clusters meet, everything that overlaps between them is shared from then on. The
    smaller one looks for it, so an overlap is looked at a few times at most.
    """

    def __init__(self, overlap: Overlap) -> None:
        sizes = np.concatenate([overlap.ref_sizes, overlap.pred_areas])
        self._n_ref = len(overlap.ref_ids)
        self._owner = list(range(len(sizes)))
        self._members = [[vertex] for vertex in self._owner]
        self._sizes: list[float] = sizes.tolist()
        self._shared: list[float] = [0] * len(sizes)
        self._neighbours = _neighbours(overlap)
        # While a dismissed prediction is alone it does not count (D10).
        self._counts = [1] * self._n_ref + (~overlap.dismissible).astype(int).tolist()
        self._both, self._units = 0, 0
        self._fn, self._fp = self._n_ref, sum(self._counts[self._n_ref :])

    @property
    def counts(self) -> _Counts:
        """Components with both sides, predictions alone, references alone, and summed Dice."""
        return self._both, self._fp, self._fn, self._units

    def join(self, ref: int, pred: int) -> None:
        """Make one cluster of those of two vertices."""
        kept, moved = self._owner[ref], self._owner[pred]
        if kept == moved:
            return
        if len(self._members[kept]) < len(self._members[moved]):
            kept, moved = moved, kept
        for old in (kept, moved):
            self._forget(old)
        self._shared[kept] += self._shared[moved] + self._between(moved, kept)
        self._sizes[kept] += self._sizes[moved]
        for vertex in self._members[moved]:
            self._owner[vertex] = kept
        self._members[kept] += self._members[moved]
        self._members[moved] = []
        self._both += 1
        self._units += self._dice(kept)

    def _forget(self, cluster: int) -> None:
        if len(self._members[cluster]) > 1:
            self._both -= 1
            self._units -= self._dice(cluster)
        elif cluster < self._n_ref:
            self._fn -= 1
        else:
            self._fp -= self._counts[cluster]

    def _between(self, moved: int, kept: int) -> float:
        """Return the overlap of two clusters that are about to be one."""
        return sum(
            area
            for vertex in self._members[moved]
            for other, area in self._neighbours[vertex]
            if self._owner[other] == kept
        )

    def _dice(self, cluster: int) -> int:
        """Return the Dice of a cluster as a whole multiple of 2**-62, as `Average` rounds it."""
        return round(math.ldexp(2 * self._shared[cluster] / self._sizes[cluster], 2 * BITS))


def _neighbours(overlap: Overlap) -> list[list[tuple[int, float]]]:
    """Return what every vertex overlaps, and by how much."""
    n_ref, edges = len(overlap.ref_ids), overlap.edges
    found: list[list[tuple[int, float]]] = [[] for _ in range(n_ref + len(overlap.pred_ids))]
    columns = edges.ref.tolist(), (n_ref + edges.pred).tolist(), edges.intersection.tolist()
    for ref, pred, area in zip(*columns, strict=True):
        found[ref].append((pred, area))
        found[pred].append((ref, area))
    return found
