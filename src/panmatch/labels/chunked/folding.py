"""One pass over all boxes of some images, what is found in them added up.

Boxes are read and worked on in threads, as many at a time as there are threads, so that decoding
and counting overlap and memory stays bounded. Images that Dask holds are worked on by Dask.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Generic, TypeVar

from panmatch.labels.chunked.boxes import Box, Grid, axis_cuts, boxes_of, cut_chunks
from panmatch.labels.chunked.volumes import ChunkedLabels, Seen, Volume, as_chunked
from panmatch.labels.threads import thread_count
from panmatch.labels.validation import LabelArray

if TYPE_CHECKING:
    from concurrent.futures import Future

Found = TypeVar("Found")
Look = Callable[[Box, Sequence[LabelArray]], Found]
Add = Callable[[Sequence[Found]], Found]

FAN_IN = 16  # how many findings are added up at a time
SMALLEST_SHARE = 1 << 20  # voxels: below this, a second thread is not worth its start
LARGEST_BOX = 1 << 21  # voxels: larger ones are no faster, unless smaller ones would cut chunks
BYTES_AT_ONCE = 1 << 29  # of all boxes together that are worked on at a time


def fold(
    look: Look[Found], volumes: Sequence[Volume], add: Add[Found], *, threads: int | None = None
) -> Found:
    """Look at all boxes, and return the sum of what was found.

    Parameters
    ----------
    look
        Takes a box and its blocks, one per image, and returns what it finds.
    volumes
        Images of one shape, some of them chunked, each in its own way.
    add
        Returns the sum of any number of findings; in which order must not matter.
    threads
        Number of boxes that are worked on at a time; by default one per CPU. Dask has its own.
    """
    images = [as_chunked(one) for one in volumes]
    if any(one.on_dask for one in images):
        from panmatch.labels.chunked.on_dask import fold_on_dask

        return fold_on_dask(look, images, add)
    workers = worker_count(threads, images[0].size)
    total = Tree(add)
    for found in look_in_turn(look, images, boxes_of(plan_cuts(images, workers)), workers):
        total.push(found)
    return total.sum()


def look_in_turn(
    look: Look[Found], images: Sequence[ChunkedLabels], boxes: Sequence[Box], workers: int
) -> Iterator[Found]:
    """Yield what is found in every box, in their order; a few boxes ahead at most."""

    def found(box: Box) -> Found:
        seen: Seen = {}
        return look(box, [one.read(box, seen) for one in images])

    if workers == 1 or len(boxes) == 1:
        yield from map(found, boxes)
        return
    from concurrent.futures import ThreadPoolExecutor

    rest = iter(boxes)
    with ThreadPoolExecutor(min(workers, len(boxes))) as pool:
        ahead: deque[Future[Found]] = deque()
        try:
            ahead.extend(pool.submit(found, box) for box in islice(rest, 2 * workers))
            while ahead:
                yield ahead.popleft().result()
                ahead.extend(pool.submit(found, box) for box in islice(rest, 1))
        finally:
            pool.shutdown(cancel_futures=True)


class Tree(Generic[Found]):
    """A sum of very many findings, in which each takes part in few additions.

    Findings that are added one by one to what is there already make an addition cost as much as
    all that came before. Here sums of equally many findings are added to each other.

    Examples
    --------
    >>> tree = Tree[int](sum)
    >>> for number in range(100):
    ...     tree.push(number)
    >>> tree.sum()
    4950
    """

    def __init__(self, add: Add[Found]) -> None:
        self._add = add
        self._levels: list[list[Found]] = []

    def push(self, found: Found) -> None:
        """Add one more finding."""
        for level in self._levels:
            level.append(found)
            if len(level) < FAN_IN:
                return
            found = self._add(level)
            level.clear()
        self._levels.append([found])

    def sum(self) -> Found:
        """Return the sum of all findings."""
        return self._add([found for level in self._levels for found in level])


def worker_count(threads: int | None, voxels: int) -> int:
    """Return how many boxes to work on at a time."""
    wanted = thread_count(threads, voxels, voxels_per_thread=SMALLEST_SHARE)
    # Even a single CPU has something to do while the next box is on its way.
    return max(2, wanted) if threads is None and voxels > SMALLEST_SHARE else wanted


def plan_cuts(images: Sequence[ChunkedLabels], workers: int) -> list[list[int]]:
    """Return where boxes begin and end along every axis.

    Small boxes are best for the caches. Only where they would cut chunks, which are then decoded
    several times, they are as large as memory allows.
    """
    shape, grids = images[0].shape, grids_of(images)
    most = BYTES_AT_ONCE // workers // max(1, sum(one.cost for one in images))
    cuts = axis_cuts(shape, grids, min(LARGEST_BOX, most))
    return axis_cuts(shape, grids, most) if cut_chunks(cuts, grids) else cuts


def grids_of(images: Sequence[ChunkedLabels]) -> list[Grid]:
    """Return the different grids of all images."""
    return list(dict.fromkeys(grid for one in images for grid in one.grids))
