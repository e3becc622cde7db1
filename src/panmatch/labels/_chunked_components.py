"""Connected components of an image that is stored in chunks.

This takes two passes. The first labels every block on its own and joins components that touch
across the border between two blocks. It keeps only the planes on both sides of a border, and only
until the blocks beyond it have been read. The second pass labels a block again whenever it is read,
and gives each of its components the number of the whole component it belongs to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise, product

import numpy as np

from panmatch.labels._arrays import Ints, LabelArray, negative_label
from panmatch.labels._boxes import Box, as_slices, axis_cuts, boxes_of, shape_of, shared_box
from panmatch.labels._folding import look_in_turn, look_in_turn_on_dask, plan_cuts, worker_count
from panmatch.labels._volumes import ChunkedLabels, Seen, map_blocks

LABELLING_COST = 8  # bytes per voxel, for the mask and its components

Label = Callable[[LabelArray], LabelArray]  # a mask to its components, 1, 2, … in any order


class ChunkedComponents(ChunkedLabels):
    """Numbers of the connected components, in the order of their first voxels in C order.

    Blocks lie between the cuts along every axis. Each block, in C order, has a table that maps its
    own components to their final numbers; 0 comes first.
    """

    def __init__(
        self,
        source: ChunkedLabels,
        cuts: Sequence[Sequence[int]],
        tables: Sequence[Ints],
        label: Label,
    ) -> None:
        self._source, self._label = source, label
        self._spans = [list(pairwise(places)) for places in cuts]
        self._blocks = dict(zip(product(*self._spans), tables, strict=True))
        self.count = max((int(table.max()) for table in tables), default=0)
        dtype = np.min_scalar_type(self.count)
        grid = tuple(tuple(b - a for a, b in spans) for spans in self._spans)
        cost = source.cost + LABELLING_COST + dtype.itemsize
        super().__init__(source.shape, dtype, (grid,), cost=cost, on_dask=source.on_dask)

    def task(self, box: Box, around: Box) -> object:
        """Return the numbers of all blocks that the box touches, put together."""
        from dask.delayed import delayed

        blocks = self._touched(box)
        parts = [
            delayed(map_blocks)(self._numbering(block), self._source.task(block, around))
            for block in blocks
        ]
        return delayed(map_blocks)(partial(_assembled, box, blocks, self.dtype), *parts)

    def _read(self, box: Box, seen: Seen) -> LabelArray:
        blocks = self._touched(box)
        parts = (self._numbering(block)(self._source.read(block, seen)) for block in blocks)
        return _assembled(box, blocks, self.dtype, *parts)

    def _numbering(self, block: Box) -> partial[LabelArray]:
        """Return a function from the labels of a block to the numbers of its components."""
        table = self._blocks[block].astype(self.dtype)
        return partial(_numbered, table=table, label=self._label)

    def _touched(self, box: Box) -> list[Box]:
        touched = (
            [span for span in spans if span[0] < stop and start < span[1]]
            for spans, (start, stop) in zip(self._spans, box, strict=True)
        )
        return list(product(*touched))


def _numbered(block: LabelArray, *, table: LabelArray, label: Label) -> LabelArray:
    numbers: LabelArray = table[label(block)]
    return numbers


def _assembled(
    box: Box, blocks: Sequence[Box], dtype: np.dtype[np.integer], *parts: LabelArray
) -> LabelArray:
    out = np.zeros(shape_of(box), dtype)
    for block, part in zip(blocks, parts, strict=True):
        if block == box:
            return part
        here = shared_box(block, box)
        out[as_slices(here, box)] = part[as_slices(here, block)]
    return out


def components_of(
    source: ChunkedLabels, label: Label, *, diagonal: bool, name: str, threads: int | None
) -> ChunkedComponents:
    """Find the components of a mask or label image, given a function that labels one block.

    With `diagonal`, voxels that share only an edge or a corner are connected, too.
    """
    workers = worker_count(threads, source.size)
    if source.on_dask:
        cuts = axis_cuts(source.shape, source.grids, 0)
    else:
        cuts = plan_cuts([source], workers)
    boxes = boxes_of(cuts)
    joints, firsts, negative = _Joints(source.shape, diagonal), list[Ints](), list[Ints]()
    look = partial(_look, label=label)
    summaries = (
        look_in_turn_on_dask(look, [source], boxes)
        if source.on_dask
        else look_in_turn(look, [source], boxes, workers)
    )
    for box, summary in zip(boxes, summaries, strict=True):
        joints.add(box, summary)
        firsts.append(_places_in(source.shape, box, summary.firsts))
        negative.append(summary.negative)
    voxels, lowest = np.array(negative).reshape(-1, 2).T
    if voxels.any():
        raise negative_label(name, int(lowest.min()), int(voxels.sum()))
    numbers = _number(joints.pairs(), np.concatenate([np.zeros(0, np.int64), *firsts]))
    ends = np.cumsum([len(places) for places in firsts]).tolist()
    tables = [
        np.concatenate([[0], numbers[end - len(places) : end]])
        for places, end in zip(firsts, ends, strict=True)
    ]
    return ChunkedComponents(source, cuts, tables, label)


@dataclass(frozen=True, slots=True, eq=False)
class _Block:
    """What the first pass needs to know about a block."""

    firsts: Ints  # position of the first voxel of each of its components, in C order
    low: list[LabelArray]  # along every axis, the components on its first plane
    high: list[LabelArray]  # and on its last one
    negative: Ints  # number of voxels below 0, and the lowest label


def _look(_: Box, blocks: Sequence[LabelArray], *, label: Label) -> _Block:
    block = blocks[0]
    least = int(block.min()) if block.size and block.dtype.kind == "i" else 0
    negative = np.array([np.count_nonzero(block < 0) if least < 0 else 0, least])
    components = label(block) if block.size else np.zeros(block.shape, np.int64)
    count = int(components.max()) if components.size else 0
    flat, firsts = components.ravel(), np.zeros(count + 1, np.int64)
    foreground = np.flatnonzero(flat)[::-1]
    firsts[flat[foreground]] = foreground  # written from the end, so the first voxel stays
    axes = range(components.ndim if components.size else 0)
    low, high = (
        [np.moveaxis(components, axis, 0)[side].copy() for axis in axes] for side in (0, -1)
    )
    return _Block(firsts[1:], low, high, negative)


def _places_in(shape: Sequence[int], box: Box, places: Ints) -> Ints:
    """Return where positions within a box are in the image, both in C order."""
    index = np.unravel_index(places, shape_of(box)) if box else ()
    starts = [start for start, _ in box]
    moved = [position + start for position, start in zip(index, starts, strict=True)]
    return np.ravel_multi_index(moved, tuple(shape)).astype(np.int64) if moved else places


class _Joints:
    """Which components of neighbouring blocks touch.

    Blocks arrive in C order. For each axis, the blocks at the same place along that axis and all
    axes before it form a slab. Consecutive slabs share a border: two planes that face each other,
    collected block by block. Voxels that touch across several borders at once, at an edge or a
    corner, are handled at the border of the first of these axes.
    """

    def __init__(self, shape: Sequence[int], diagonal: bool) -> None:
        self._shape, self._diagonal = tuple(shape), diagonal
        self._count = 0
        axes = len(self._shape)
        self._first: list[Ints | None] = [None] * axes  # planes of the current slabs
        self._last: list[Ints | None] = [None] * axes
        self._before: list[Ints | None] = [None] * axes  # last planes of the slabs before
        self._pairs: list[Ints] = []

    def add(self, box: Box, block: _Block) -> None:
        """Add the planes of one more block; the numbering of its components continues."""
        if block.low:
            for axis in range(len(box)):
                self._add_planes(axis, box, block)
        self._count += len(block.firsts)

    def pairs(self) -> Ints:
        """Return what touches, as pairs of components, counted from 0 over all blocks."""
        return np.concatenate([np.zeros((2, 0), np.int64), *self._pairs], axis=1) - 1

    def _add_planes(self, axis: int, box: Box, block: _Block) -> None:
        # The slab: the block's own box up to the axis, the image's beyond.
        inside = box[: axis + 1] + tuple((0, n) for n in self._shape[axis + 1 :])
        start, stop = box[axis]
        if all(first == 0 for first, _ in box[axis + 1 :]):
            if start == 0:
                self._before[axis] = None
            shape = [n for other, n in enumerate(shape_of(inside)) if other != axis]
            self._first[axis] = np.zeros(shape, np.int64)
            self._last[axis] = np.zeros(shape, np.int64)
        inner = as_slices(box, inside)
        place = inner[:axis] + inner[axis + 1 :]
        for planes, plane in ((self._first, block.low[axis]), (self._last, block.high[axis])):
            collected = planes[axis]
            assert collected is not None
            counted = plane.astype(np.int64)
            collected[place] = np.where(counted > 0, counted + self._count, 0)
        complete = all(
            last == n for (_, last), n in zip(box[axis + 1 :], self._shape[axis + 1 :], strict=True)
        )
        if complete:
            before, here = self._before[axis], self._first[axis]
            if before is not None and here is not None:
                self._pairs.append(touching(before, here, self._diagonal))
            self._before[axis] = self._last[axis] if stop < self._shape[axis] else None


def touching(low: Ints, high: Ints, diagonal: bool) -> Ints:
    """Return the pairs of labels that touch across a border, given the planes on both sides of it.

    Examples
    --------
    >>> touching(np.array([1, 0, 2]), np.array([0, 3, 3]), True)
    array([[1, 2],
           [3, 3]])
    """
    touching_pairs = [np.zeros((2, 0), np.int64)]
    low, high = np.atleast_1d(low), np.atleast_1d(high)
    for steps in product((-1, 0, 1) if diagonal else (0,), repeat=low.ndim):
        here = low[tuple(slice(max(0, -step), -step if step > 0 else None) for step in steps)]
        there = high[tuple(slice(max(0, step), step if step < 0 else None) for step in steps)]
        both = (here > 0) & (there > 0)
        pairs = np.stack([here[both], there[both]])
        if pairs.shape[1]:
            new = np.concatenate([[True], (pairs[:, 1:] != pairs[:, :-1]).any(0)])
            touching_pairs.append(np.unique(pairs[:, new], axis=1))
    return np.unique(np.concatenate(touching_pairs, axis=1), axis=1)


def _number(pairs: Ints, firsts: Ints) -> Ints:
    """Return, for each component of a block, the number of its whole component, from 1 on."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n = len(firsts)
    if n == 0:
        return firsts
    links = coo_array((np.ones(pairs.shape[1], np.int8), (pairs[0], pairs[1])), shape=(n, n))
    count, whole = connected_components(links, directed=False)
    first = np.full(count, np.iinfo(np.int64).max)
    np.minimum.at(first, whole, firsts)
    numbers = np.empty(count, np.int64)
    numbers[np.argsort(first)] = np.arange(1, count + 1)
    of_each: Ints = numbers[whole]
    return of_each
