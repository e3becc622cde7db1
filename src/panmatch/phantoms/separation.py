"""Objects that stay apart: what components need so that each of them is one object."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from panmatch.labels import connected_components
from panmatch.phantoms.objects import Box, Ints, Numbers, Objects, number_objects
from panmatch.phantoms.outlines import Mask
from panmatch.phantoms.reshaping import cut

LEAST_PIECE = 3  # voxels; presets drop what is smaller


def touches_lower(numbers: Numbers) -> Mask:
    """Return the voxels of objects that share a face, an edge or a corner with a lower number.

    Examples
    --------
    >>> touches_lower(np.array([[1, 2, 2, 0, 1]], dtype=np.int32)).tolist()
    [[False, True, False, False, False]]
    """
    from scipy.ndimage import minimum_filter

    top = np.iinfo(np.int32).max
    lowest = minimum_filter(np.where(numbers > 0, numbers, top), size=3, mode="constant", cval=top)
    below: Mask = (lowest < numbers) & (numbers > 0)
    return below


def touches_another(numbers: Numbers) -> Mask:
    """Return the voxels of objects that share a face, an edge or a corner with another one.

    Examples
    --------
    >>> touches_another(np.array([[1, 2, 2, 0, 1]], dtype=np.int32)).tolist()
    [[True, True, False, False, False]]
    """
    from scipy.ndimage import maximum_filter

    highest = maximum_filter(numbers, size=3, mode="constant", cval=0)
    above: Mask = (highest > numbers) & (numbers > 0)
    return above | touches_lower(numbers)


def cut_apart(
    objects: Objects, chosen: Sequence[int], pieces: int, *, gaps: bool
) -> Iterator[tuple[int, Box, Numbers]]:
    """Cut the `chosen` objects, and yield number, box and pieces of each that has two or more.

    Parameters
    ----------
    objects
        The objects.
    chosen
        Numbers of those to cut.
    pieces
        How many pieces.
    gaps
        Whether to leave background between pieces, as in `pieces_apart`.
    """
    after, boxes = cut(objects, chosen, pieces)[0], objects.boxes()
    for number in chosen:
        box = boxes[number - 1]
        own = np.where(objects.numbers[box] == number, after[box], np.int32(0))
        found = pieces_apart(own) if gaps else number_objects(own).numbers
        if found.max() > 1:
            yield number, box, found


def pieces_apart(pieces: Numbers) -> Numbers:
    """Return pieces of one object, numbered anew, with background between any two of them.

    The later piece gives way. What that leaves in several pieces is counted as such, and what it
    leaves of fewer than three voxels is dropped.

    Examples
    --------
    >>> pieces_apart(np.array([[4, 4, 4, 9, 9, 9, 9, 9]], dtype=np.int32)).tolist()
    [[1, 1, 1, 0, 2, 2, 2, 2]]
    """
    apart = connected_components((pieces > 0) & ~touches_lower(pieces))
    sizes = np.bincount(apart.ravel())
    kept = sizes >= LEAST_PIECE
    kept[0] = False
    numbers: Numbers = (np.cumsum(kept, dtype=np.int32) * kept)[apart]
    return numbers


def largest_piece_each(numbers: Numbers) -> Numbers:
    """Return objects that touch no other, each without all but its largest piece.

    Examples
    --------
    >>> largest_piece_each(np.array([[3, 0, 3, 3, 0, 8]], dtype=np.int32)).tolist()
    [[0, 0, 3, 3, 0, 8]]
    """
    pieces = connected_components(numbers)
    sizes = np.bincount(pieces.ravel())
    owner = np.zeros(len(sizes), dtype=np.int64)
    owner[pieces.ravel()] = numbers.ravel()
    order: Ints = np.lexsort((-sizes, owner))
    # Pieces of one owner follow each other, the largest first.
    first = np.diff(owner[order], prepend=-1) > 0
    kept = np.zeros(len(sizes), dtype=np.bool_)
    kept[order[first]] = True
    return np.where(kept[pieces], numbers, np.int32(0))
