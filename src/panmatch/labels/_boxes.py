"""Boxes of voxels to read together, chosen so that few chunks are decoded more than once."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise, product

Box = tuple[tuple[int, int], ...]  # start and stop along every axis
Grid = tuple[tuple[int, ...], ...]  # lengths of the chunks along every axis


def whole_box(shape: Sequence[int]) -> Box:
    """Return the box of all voxels."""
    return tuple((0, n) for n in shape)


def shape_of(box: Box) -> tuple[int, ...]:
    """Return the lengths of a box.

    Examples
    --------
    >>> shape_of(((2, 5), (0, 4)))
    (3, 4)
    """
    return tuple(stop - start for start, stop in box)


def size_of(box: Box) -> int:
    """Return the number of voxels of a box."""
    return math.prod(shape_of(box))


def as_slices(box: Box, origin: Box | None = None) -> tuple[slice, ...]:
    """Return the slices of a box in the whole image, or in the array of an outer box.

    Examples
    --------
    >>> as_slices(((2, 5),)), as_slices(((2, 5),), ((1, 9),))
    ((slice(2, 5, None),), (slice(1, 4, None),))
    """
    starts = [0] * len(box) if origin is None else [start for start, _ in origin]
    return tuple(
        slice(start - first, stop - first) for (start, stop), first in zip(box, starts, strict=True)
    )


def shared_box(first: Box, second: Box) -> Box:
    """Return what two boxes have in common; it may be empty, but is never inside out.

    Examples
    --------
    >>> shared_box(((0, 4),), ((3, 9),)), shared_box(((0, 2),), ((5, 9),))
    (((3, 4),), ((5, 5),))
    """
    starts = [max(a[0], b[0]) for a, b in zip(first, second, strict=True)]
    stops = [min(a[1], b[1]) for a, b in zip(first, second, strict=True)]
    return tuple((a, max(a, b)) for a, b in zip(starts, stops, strict=True))


def hull(first: Box, second: Box) -> Box:
    """Return the smallest box around two boxes."""
    return tuple((min(a[0], b[0]), max(a[1], b[1])) for a, b in zip(first, second, strict=True))


def as_grid(chunks: Sequence[int | Sequence[int]], shape: Sequence[int]) -> Grid:
    """Return the lengths of all chunks, for chunks of one length along each axis as well.

    Examples
    --------
    >>> as_grid((4, 2), (10, 2)), as_grid(((3, 7), (2,)), (10, 2))
    (((4, 4, 2), (2,)), ((3, 7), (2,)))
    """
    return tuple(
        _equal_lengths(length, n) if isinstance(length, int) else tuple(length)
        for length, n in zip(chunks, shape, strict=True)
    )


def _equal_lengths(length: int, n: int) -> tuple[int, ...]:
    whole, rest = divmod(n, max(length, 1))
    return (length,) * whole + ((rest,) if rest else ())


def cut_evenly(shape: Sequence[int], grids: Iterable[Grid], voxels: int) -> list[Box]:
    """Return boxes that cover an image, in C order.

    A box ends where the chunks of all grids end, if that happens within its length: then no chunk
    lies in two boxes. Otherwise it ends with a chunk of the coarsest grid. It may grow to `voxels`
    voxels, and is never smaller than the largest chunk.

    Examples
    --------
    >>> fine, coarse = as_grid((2,), (10,)), as_grid((4,), (10,))
    >>> cut_evenly((10,), [fine, coarse], 0)
    [((0, 4),), ((4, 8),), ((8, 10),)]
    >>> cut_evenly((10,), [fine, coarse], 9)
    [((0, 8),), ((8, 10),)]
    """
    return boxes_of(axis_cuts(shape, list(grids), voxels))


def boxes_of(cuts: Sequence[Sequence[int]]) -> list[Box]:
    """Return the boxes between cuts, in C order."""
    return list(product(*(list(pairwise(places)) for places in cuts)))


def cut_chunks(cuts: Sequence[Sequence[int]], grids: Sequence[Grid]) -> bool:
    """Return whether some chunk lies in several boxes.

    Examples
    --------
    >>> cut_chunks([[0, 4, 8]], [((2, 2, 4),)]), cut_chunks([[0, 4, 8]], [((3, 3, 2),)])
    (False, True)
    """
    return any(
        not {0, *accumulate(grid[axis])}.issuperset(places)
        for grid in grids
        for axis, places in enumerate(cuts)
    )


def axis_cuts(shape: Sequence[int], grids: Sequence[Grid], voxels: int) -> list[list[int]]:
    """Return where boxes begin and end along every axis; parameters as for `cut_evenly`."""
    lengths = _lengths(shape, grids, voxels)
    return [
        _cuts(n, [grid[axis] for grid in grids], length)
        for axis, (n, length) in enumerate(zip(shape, lengths, strict=True))
    ]


def _lengths(shape: Sequence[int], grids: Sequence[Grid], voxels: int) -> list[int]:
    """Return lengths of a box: those of the largest chunk, doubled for as long as it may grow."""
    lengths = [
        min(n, max((max(grid[axis], default=1) for grid in grids), default=1))
        for axis, n in enumerate(shape)
    ]
    while True:
        short = [axis for axis, n in enumerate(shape) if lengths[axis] < n]
        if not short or 2 * math.prod(lengths) > voxels:
            return lengths
        # The last of the shortest: neighbours along the last axis are stored together.
        axis = min(reversed(short), key=lambda axis: lengths[axis])
        lengths[axis] = min(2 * lengths[axis], shape[axis])


def _cuts(n: int, chunks: Sequence[tuple[int, ...]], length: int) -> list[int]:
    if not n:
        return [0, 0]
    ends = [list(accumulate(lengths)) for lengths in chunks]
    common = sorted(set(ends[0]).intersection(*ends[1:])) if ends else [n]
    coarsest = min(ends, key=len) if ends else [n]
    cuts = [0]
    while cuts[-1] < n:
        reach = cuts[-1] + length
        ends_within = [_last_within(places, cuts[-1], reach) for places in (common, coarsest)]
        cuts.append(next((place for place in ends_within if place), min(reach, n)))
    return cuts


def _last_within(places: list[int], start: int, reach: int) -> int:
    """Return the last place after `start` that is at most `reach`; 0 where there is none."""
    position = bisect_right(places, reach)
    return places[position - 1] if position and places[position - 1] > start else 0
