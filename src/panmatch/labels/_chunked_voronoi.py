"""The nearest label of every voxel of an image that is stored in chunks (D8).

Which segment is nearest to a voxel may depend on segments far beyond its own box. We find it
exactly, reading few voxels at a time, in up to three steps:

1. Look at the box itself. Let a(x) be the number of steps from voxel x to the nearest voxel beyond
   the box, along an axis with weight w (squared spacing). A segment not yet seen is at a squared
   distance of w · a(x)² or more for one of the axes. So a voxel is settled if its squared distance
   d² to the nearest segment seen so far is *less* than all these bounds. At equality it is not
   settled: a segment beyond the box, at the same distance, wins if its label is smaller.
2. Look at everything within d of the voxels that are not settled, where d is the largest of their
   distances so far. Anything beyond that is farther away than the segment they already have.
3. If the box has no segment at all, or the area within d is too large to read at once, look at the
   blocks of the image, nearest first, until the next one is farther away than the largest distance
   left.

Squared distances are whole multiples of one unit and exact in float64, with the weights that the
whole image would have. So the labels equal those of the image in memory, ties included.
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock

import numpy as np
import numpy.typing as npt

from panmatch import native
from panmatch.labels._arrays import Floats, Ints, LabelArray, as_labels
from panmatch.labels._boxes import Box, as_slices, hull, shape_of, size_of
from panmatch.labels._folding import fold
from panmatch.labels._volumes import ChunkedLabels, Seen, Unsettled

SEARCH_COST = 40  # bytes per voxel: labels and distances of a wider box, and masks
LARGEST_LOOK = 1 << 24  # voxels that may be read at once


class ChunkedVoronoi(ChunkedLabels):
    """The label of the nearest segment where it is wanted, or everywhere; 0 elsewhere.

    Weights are the squared spacing along every axis, scaled so that squared distances are exact.
    """

    def __init__(
        self, segments: ChunkedLabels, where: ChunkedLabels | None, weights: Floats
    ) -> None:
        self._segments, self._where, self._weights = segments, where, weights
        self._lock = Lock()
        self._known_boxes: Ints | None = None
        sources = [segments] if where is None else [segments, where]
        super().__init__(
            segments.shape,
            segments.dtype,
            tuple(dict.fromkeys(grid for source in sources for grid in source.grids)),
            cost=SEARCH_COST + sum(source.cost for source in sources),
            on_dask=any(source.on_dask for source in sources),
        )

    def task(self, box: Box, around: Box) -> object:
        """Return a task for the first two steps; what they leave open is `Unsettled`."""
        from dask.delayed import delayed

        where = None if self._where is None else self._where.task(box, around)
        segments = self._segments.task(around, around)
        return delayed(_look_around)(self.shape, self._weights, box, around, segments, where)

    def _read(self, box: Box, seen: Seen) -> LabelArray:
        segments = self._segments.read(box, seen)
        where = None if self._where is None else self._where.read(box, seen)
        nearest, search = _begin(self.shape, self._weights, box, segments, where)
        search.look_around(segments, box)
        if search.open.any():
            around = search.reach()
            if around is None:
                self._look_far(search)
            else:
                search.look_around(self._segments.read(around), around)
        return search.written_to(nearest, box)

    def _look_far(self, search: Search) -> None:
        boxes = self._segment_boxes()
        nearest = search.lower_bounds(boxes)
        for position in np.argsort(nearest, kind="stable").tolist():
            if nearest[position] > search.largest():
                return
            box: Box = tuple((int(a), int(b)) for a, b in boxes[position])
            if search.may_gain(box):
                search.look_at(self._segments.read(box), box)

    def _segment_boxes(self) -> Ints:
        """Return the boxes around all segments of every block that has some."""
        with self._lock:
            if self._known_boxes is None:
                self._known_boxes = fold(_box_of_segments, [self._segments], np.concatenate)
            return self._known_boxes


class Search:
    """The nearest segment of some voxels, among the segments seen so far.

    `places` has the index of every voxel, in C order: one row per axis.
    """

    def __init__(
        self, shape: Sequence[int], weights: Floats, places: Ints, dtype: npt.DTypeLike
    ) -> None:
        self._shape, self._weights, self._places = tuple(shape), weights, places
        self._labels = np.zeros(places.shape[1], np.dtype(f"u{np.dtype(dtype).itemsize}"))
        self._squares = np.full(places.shape[1], np.inf)
        self.open = np.ones(places.shape[1], np.bool_)  # not settled yet

    def look_around(self, segments: LabelArray, box: Box) -> None:
        """Compare with the segments in a box around all open voxels; this may settle some."""
        nearest = np.array(segments, order="C").view(self._labels.dtype)
        where = np.zeros(nearest.shape, np.uint8)
        corner = np.array([start for start, _ in box])[:, np.newaxis]
        where[tuple(self._places[:, self.open] - corner)] = 1
        labels, squares = native.nearest_where(nearest, self._weights, where, 1)
        self._labels[self.open], self._squares[self.open] = labels, squares
        self._drop_settled(box)

    def look_at(self, segments: LabelArray, box: Box) -> None:
        """Compare with the segments in a box anywhere in the image."""
        here = self._box()
        sites = np.ascontiguousarray(segments).view(self._labels.dtype)
        offset = [there[0] - mine[0] for there, mine in zip(box, here, strict=True)]
        labels, squares = np.zeros(shape_of(here), sites.dtype), np.full(shape_of(here), np.inf)
        native.nearest_sites(sites, offset, self._weights, labels, squares, 1)
        corner = np.array([start for start, _ in here])[:, np.newaxis]
        open_voxels = tuple(self._places[:, self.open] - corner)
        label, square = self._labels[self.open], self._squares[self.open]
        nearer = (squares[open_voxels] < square) | (
            (squares[open_voxels] == square) & (labels[open_voxels] < label)
        )
        self._labels[self.open] = np.where(nearer, labels[open_voxels], label)
        self._squares[self.open] = np.where(nearer, squares[open_voxels], square)

    def largest(self) -> float:
        """Return the largest squared distance of an open voxel."""
        return float(self._squares[self.open].max())

    def reach(self) -> Box | None:
        """Return the box in which a nearer segment may lie; None if that box is too large."""
        largest, here = self.largest(), self._box()
        if np.isinf(largest):
            return None
        steps = np.sqrt(largest / self._weights).astype(np.int64) + 1
        around: Box = tuple(
            (max(0, start - step), min(n, stop + step))
            for (start, stop), step, n in zip(here, steps.tolist(), self._shape, strict=True)
        )
        return around if size_of(around) <= LARGEST_LOOK else None

    def lower_bounds(self, boxes: Ints) -> Floats:
        """Return a lower bound on the squared distance from every box to the open voxels."""
        gaps = [
            np.maximum(0, np.maximum(boxes[:, axis, 0] - stop + 1, start - boxes[:, axis, 1] + 1))
            for axis, (start, stop) in enumerate(self._box())
        ]
        squares: Floats = self._weights @ np.stack(gaps).astype(np.float64) ** 2
        return squares

    def may_gain(self, box: Box) -> bool:
        """Return whether a segment in a box could be as near as that of some open voxel."""
        start, last = np.array(box)[:, :1], np.array(box)[:, 1:] - 1
        places = self._places[:, self.open]
        gaps = np.maximum(0, np.maximum(start - places, places - last))
        bounds = self._weights @ gaps.astype(np.float64) ** 2
        return bool((bounds <= self._squares[self.open]).any())

    def written_to(self, nearest: LabelArray, box: Box) -> LabelArray:
        """Return the labels of a box with those of all voxels filled in."""
        corner = np.array([start for start, _ in box])[:, np.newaxis]
        nearest[tuple(self._places - corner)] = self._labels.view(nearest.dtype)
        return nearest

    def _drop_settled(self, seen: Box) -> None:
        """Leave open only the voxels that segments beyond the box seen might still change."""
        bound = np.full(len(self._squares), np.inf)
        for place, weight, (start, stop), n in zip(
            self._places, self._weights, seen, self._shape, strict=True
        ):
            if start > 0:
                bound = np.minimum(bound, weight * (place - start + 1.0) ** 2)
            if stop < n:
                bound = np.minimum(bound, weight * (stop - place + 0.0) ** 2)
        self.open &= self._squares >= bound

    def _box(self) -> Box:
        """Return the box around all open voxels."""
        places = self._places[:, self.open]
        return tuple(zip(places.min(1).tolist(), (places.max(1) + 1).tolist(), strict=True))


def _begin(
    shape: Sequence[int], weights: Floats, box: Box, segments: LabelArray, where: LabelArray | None
) -> tuple[LabelArray, Search]:
    """Return the labels of voxels on a segment, and a search for the other voxels."""
    wanted = np.ones(segments.shape, np.bool_) if where is None else where != 0
    nearest = np.where(wanted, segments, 0)
    corner = np.array([start for start, _ in box], np.int64)[:, np.newaxis]
    places = np.stack(np.nonzero(wanted & (segments == 0))) + corner
    return nearest, Search(shape, weights, places, segments.dtype)


def _look_around(
    shape: Sequence[int],
    weights: Floats,
    box: Box,
    around: Box,
    segments: LabelArray | Unsettled,
    where: LabelArray | Unsettled | None,
) -> LabelArray | Unsettled:
    if isinstance(segments, Unsettled) or isinstance(where, Unsettled):
        return Unsettled(None)
    known = as_labels(segments, "segments")
    mask = None if where is None else as_labels(where, "where")
    nearest, search = _begin(shape, weights, box, known[as_slices(box, around)], mask)
    search.look_around(known, around)
    if search.open.any():
        wider = search.reach()
        return Unsettled(None if wider is None else hull(box, wider))
    return search.written_to(nearest, box)


def _box_of_segments(box: Box, blocks: Sequence[LabelArray]) -> Ints:
    foreground = blocks[0] != 0
    if not foreground.any():
        return np.zeros((0, len(box), 2), np.int64)
    ends = []
    for axis, (start, _) in enumerate(box):
        others = tuple(other for other in range(foreground.ndim) if other != axis)
        places = np.flatnonzero(foreground.any(others))
        ends.append((start + places[0], start + places[-1] + 1))
    return np.array([ends])
