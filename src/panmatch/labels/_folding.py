"""Make one pass over all boxes of some images, and add up the findings.

Threads read and process boxes, one box per thread at a time. That way decoding and counting happen
side by side, and memory stays bounded. Dask processes the images it holds, where their chunks are,
and the findings are added up in a tree. Losing a worker changes nothing: Dask computes its lost
results again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from panmatch.labels._arrays import LabelArray, as_labels, thread_count
from panmatch.labels._boxes import Box, Grid, axis_cuts, boxes_of, cut_chunks, cut_evenly
from panmatch.labels._volumes import ChunkedLabels, Seen, Unsettled, Volume, as_chunked

if TYPE_CHECKING:
    from concurrent.futures import Future

DaskObject = Any  # a dask.delayed.Delayed or dask.array.Array; their methods have no types
Finding = TypeVar("Finding")
Look = Callable[[Box, Sequence[LabelArray]], Finding]
Add = Callable[[Sequence[Finding]], Finding]

FAN_IN = 16  # how many findings are added up at a time
SMALLEST_SHARE = 1 << 20  # voxels: below this, a second thread is not worth its start
LARGEST_BOX = 1 << 21  # voxels: larger ones are no faster, unless smaller ones would cut chunks
BYTES_AT_ONCE = 1 << 29  # of all boxes together that are worked on at a time


def fold(
    look: Look[Finding], volumes: Sequence[Volume], add: Add[Finding], *, threads: int | None = None
) -> Finding:
    """Look at all boxes of some images, and return the sum of what was found.

    The order of findings must not matter to `add`. `threads` threads work on one box each, by
    default one per CPU; Dask uses its own.
    """
    images = [as_chunked(image) for image in volumes]
    if any(image.on_dask for image in images):
        return fold_on_dask(look, images, add)
    workers = worker_count(threads, images[0].size)
    total = Tree(add)
    for finding in look_in_turn(look, images, boxes_of(plan_cuts(images, workers)), workers):
        total.push(finding)
    return total.sum()


def look_in_turn(
    look: Look[Finding], images: Sequence[ChunkedLabels], boxes: Sequence[Box], workers: int
) -> Iterator[Finding]:
    """Yield what is found in every box, in order, working at most a few boxes ahead."""

    def look_into(box: Box) -> Finding:
        seen: Seen = {}
        return look(box, [image.read(box, seen) for image in images])

    if workers == 1 or len(boxes) == 1:
        yield from map(look_into, boxes)
        return
    from concurrent.futures import ThreadPoolExecutor

    rest = iter(boxes)
    with ThreadPoolExecutor(min(workers, len(boxes))) as pool:
        ahead: deque[Future[Finding]] = deque()
        try:
            ahead.extend(pool.submit(look_into, box) for box in islice(rest, 2 * workers))
            while ahead:
                yield ahead.popleft().result()
                ahead.extend(pool.submit(look_into, box) for box in islice(rest, 1))
        finally:
            pool.shutdown(cancel_futures=True)


class Tree(Generic[Finding]):
    """A sum of very many findings, in which each one takes part in few additions.

    If findings were added one by one to a running total, every addition would cost as much as all
    findings before it. Here, sums of equally many findings are added to each other.

    Examples
    --------
    >>> tree = Tree[int](sum)
    >>> for number in range(100):
    ...     tree.push(number)
    >>> tree.sum()
    4950
    """

    def __init__(self, add: Add[Finding]) -> None:
        self._add = add
        self._levels: list[list[Finding]] = []

    def push(self, finding: Finding) -> None:
        """Add one more finding."""
        for level in self._levels:
            level.append(finding)
            if len(level) < FAN_IN:
                return
            finding = self._add(level)
            level.clear()
        self._levels.append([finding])

    def sum(self) -> Finding:
        """Return the sum of all findings."""
        return self._add([finding for level in self._levels for finding in level])


def worker_count(threads: int | None, voxels: int) -> int:
    """Return how many boxes to work on at a time."""
    wanted = thread_count(threads, voxels, voxels_per_thread=SMALLEST_SHARE)
    # Even a single CPU has something to do while the next box is being read.
    return max(2, wanted) if threads is None and voxels > SMALLEST_SHARE else wanted


def plan_cuts(images: Sequence[ChunkedLabels], workers: int) -> list[list[int]]:
    """Return where boxes begin and end along every axis.

    Small boxes are best for the caches. If they would cut chunks, which would then be decoded
    several times, boxes are as large as memory allows.
    """
    shape, grids = images[0].shape, grids_of(images)
    most = BYTES_AT_ONCE // workers // max(1, sum(image.cost for image in images))
    cuts = axis_cuts(shape, grids, min(LARGEST_BOX, most))
    return axis_cuts(shape, grids, most) if cut_chunks(cuts, grids) else cuts


def grids_of(images: Sequence[ChunkedLabels]) -> list[Grid]:
    """Return the different grids of all images."""
    return list(dict.fromkeys(grid for image in images for grid in image.grids))


Item = TypeVar("Item")

AT_ONCE = 256  # boxes whose findings come here together

# What a part of the tree has found, and the boxes that need another look, with where to look.
Node = tuple[list[Finding], list[tuple[Box, Box | None]]]


def as_dask(labels: Volume) -> DaskObject:
    """Return a chunked image as a Dask array of the same chunks; one in memory stays as it is."""
    if not isinstance(labels, ChunkedLabels) or labels.on_dask:
        return labels
    from dask.array import from_array

    return from_array(labels, chunks=labels.chunks, name=False)  # type: ignore[no-untyped-call]


def fold_on_dask(
    look: Look[Finding], images: Sequence[ChunkedLabels], add: Add[Finding]
) -> Finding:
    """Look at all boxes on the current Dask cluster, or in this process.

    A box is unsettled if its labels depend on something outside it. Such a box is looked at a
    second time, together with everything around it that can matter. Where that is too much to read
    at once, it is settled here, box by box.
    """
    total = Tree(add)
    pending: list[tuple[Box, Box]] = [(box, box) for box in boxes_on_dask(images)]
    far: list[Box] = []
    while pending:
        findings, unsettled = _look_at_all(look, images, pending, add)
        for finding in findings:
            total.push(finding)
        pending = [(box, around) for box, around in unsettled if around is not None]
        far += [box for box, around in unsettled if around is None]
    for finding in look_in_turn(look, images, far, 1):
        total.push(finding)
    return total.sum()


def look_in_turn_on_dask(
    look: Look[Finding], images: Sequence[ChunkedLabels], boxes: Sequence[Box]
) -> Iterator[Finding]:
    """Yield what is found in every box, in order, one batch of boxes at a time."""
    from dask.base import compute

    for batch in _batches(boxes, AT_ONCE):
        tasks = [_task(look, images, box, box) for box in batch]
        for findings, unsettled in compute(*tasks):  # type: ignore[no-untyped-call]
            yield from findings
            yield from look_in_turn(look, images, [box for box, _ in unsettled], 1)


def boxes_on_dask(images: Sequence[ChunkedLabels]) -> list[Box]:
    """Return boxes of one chunk each: larger ones would have to be brought together first."""
    return cut_evenly(images[0].shape, grids_of(images), 0)


def _batches(items: Sequence[Item], size: int) -> Iterator[Sequence[Item]]:
    return (items[start : start + size] for start in range(0, len(items), size))


def _look_at_all(
    look: Look[Finding],
    images: Sequence[ChunkedLabels],
    places: Sequence[tuple[Box, Box]],
    add: Add[Finding],
) -> Node[Finding]:
    from dask.delayed import delayed

    nodes = [_task(look, images, box, around) for box, around in places]
    while len(nodes) > 1:
        nodes = [delayed(_join)(add, batch) for batch in _batches(nodes, FAN_IN)]
    root: Node[Finding] = nodes[0].compute()
    return root


def _task(
    look: Look[Finding], images: Sequence[ChunkedLabels], box: Box, around: Box
) -> DaskObject:
    from dask.delayed import delayed

    return delayed(_look)(look, box, *(image.task(box, around) for image in images))


def _look(look: Look[Finding], box: Box, *blocks: LabelArray | Unsettled) -> Node[Finding]:
    arrays = []
    for block in blocks:
        if isinstance(block, Unsettled):
            return [], [(box, block.around)]
        arrays.append(as_labels(np.asarray(block), "array"))
    return [look(box, arrays)], []


def _join(add: Add[Finding], nodes: Sequence[Node[Finding]]) -> Node[Finding]:
    findings = [entry for listed, _ in nodes for entry in listed]
    unsettled = [entry for _, listed in nodes for entry in listed]
    return [add(findings)] if findings else [], unsettled
