"""The same pass by Dask: boxes are looked at where their chunks live, and findings meet in a tree.

A lost worker changes nothing: Dask computes again what was lost with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from panmatch.labels.chunked.boxes import Box, cut_evenly
from panmatch.labels.chunked.folding import FAN_IN, Add, Found, Look, Tree, grids_of, look_in_turn
from panmatch.labels.chunked.volumes import ChunkedLabels, Unsettled, Volume
from panmatch.labels.validation import as_labels

Item = TypeVar("Item")

AT_ONCE = 256  # boxes whose findings come here together

# What a part of the tree has found, and the boxes that need another look, with where to look.
Node = tuple[list[Found], list[tuple[Box, Box | None]]]


def as_dask(labels: Volume) -> Any:
    """Return a chunked image as a Dask array of the same chunks; one in memory stays as it is."""
    if not isinstance(labels, ChunkedLabels) or labels.on_dask:
        return labels
    from dask.array import from_array

    return from_array(labels, chunks=labels.chunks, name=False)  # type: ignore[no-untyped-call]


def fold_on_dask(look: Look[Found], images: Sequence[ChunkedLabels], add: Add[Found]) -> Found:
    """Look at all boxes on the cluster that is current, or in this process.

    What is unsettled, because labels depend on what lies farther away than their own box, is
    looked at a second time with all that can matter around it. Where that is too much for one
    look, it is settled here, box by box.
    """
    total = Tree(add)
    pending: list[tuple[Box, Box]] = [(box, box) for box in boxes_on_dask(images)]
    far: list[Box] = []
    while pending:
        found, unsettled = _look_at_all(look, images, pending, add)
        for one in found:
            total.push(one)
        pending = [(box, around) for box, around in unsettled if around is not None]
        far += [box for box, around in unsettled if around is None]
    for one in look_in_turn(look, images, far, 1):
        total.push(one)
    return total.sum()


def look_in_turn_on_dask(
    look: Look[Found], images: Sequence[ChunkedLabels], boxes: Sequence[Box]
) -> Iterator[Found]:
    """Yield what is found in every box, in their order; a part of the boxes at a time."""
    from dask.base import compute

    for some in _batches(boxes, AT_ONCE):
        tasks = [_task(look, images, box, box) for box in some]
        for found, unsettled in compute(*tasks):  # type: ignore[no-untyped-call]
            yield from found
            yield from look_in_turn(look, images, [box for box, _ in unsettled], 1)


def boxes_on_dask(images: Sequence[ChunkedLabels]) -> list[Box]:
    """Return boxes of one chunk each: larger ones would have to be brought together first."""
    return cut_evenly(images[0].shape, grids_of(images), 0)


def _batches(items: Sequence[Item], size: int) -> Iterator[Sequence[Item]]:
    return (items[at : at + size] for at in range(0, len(items), size))


def _look_at_all(
    look: Look[Found],
    images: Sequence[ChunkedLabels],
    places: Sequence[tuple[Box, Box]],
    add: Add[Found],
) -> Node[Found]:
    from dask.delayed import delayed

    nodes = [_task(look, images, box, around) for box, around in places]
    while len(nodes) > 1:
        nodes = [delayed(_join)(add, some) for some in _batches(nodes, FAN_IN)]
    found: Node[Found] = nodes[0].compute()
    return found


def _task(look: Look[Found], images: Sequence[ChunkedLabels], box: Box, around: Box) -> Any:
    from dask.delayed import delayed

    return delayed(_look)(look, box, *(one.task(box, around) for one in images))


def _look(look: Look[Found], box: Box, *blocks: npt.NDArray[Any] | Unsettled) -> Node[Found]:
    arrays = []
    for block in blocks:
        if isinstance(block, Unsettled):
            return [], [(box, block.around)]
        arrays.append(as_labels(np.asarray(block), "array"))
    return [look(box, arrays)], []


def _join(add: Add[Found], nodes: Sequence[Node[Found]]) -> Node[Found]:
    found = [one for some, _ in nodes for one in some]
    unsettled = [one for _, some in nodes for one in some]
    return [add(found)] if found else [], unsettled
