"""How simulated models change objects: they distort outlines, cut gaps and build bridges.

Objects are numbered, as in `Objects.numbers`; `sizes` is the distance between voxels along each
axis, the unit of all lengths. For outlines, `by` says how far off each object is: it has a
distance for every number, the background included.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from panmatch.labels import connected_components, edge_distances, nearest_labels
from panmatch.phantoms._anatomy import Anatomy
from panmatch.phantoms._objects import Floats, Image, Ints, Mask, Objects
from panmatch.phantoms._shapes import waves

STRETCH = 2.0  # waves stay near their mean; this lets them reach their bounds
LENGTH = 4.0  # over which an outline changes, in units of how far off it is
LEAST_PIECE = 3  # voxels; presets drop what is smaller
WIDTH = 0.75  # of half a bridge, in voxel diagonals; above 0.5 it has no holes


def shrink_unevenly(numbers: Image, by: Floats, sizes: Floats, rng: np.random.Generator) -> Image:
    """Return objects shrunk by a random distance up to `by`.

    Each keeps at least the deeper half of its voxels.
    """
    from scipy.ndimage import median

    voxels = np.nonzero(by[numbers])
    owners = numbers[voxels]
    depth = edge_distances(numbers, sizes)[voxels]
    shrinking = np.flatnonzero(by)
    half = np.zeros(len(by))
    half[shrinking] = median(depth, owners, shrinking) if len(shrinking) else 0.0
    lost = (depth <= _distances(voxels, by[owners], sizes, rng)) & (depth < half[owners])
    after = numbers.copy()
    after[tuple(axis[lost] for axis in voxels)] = 0
    return after


def grow_unevenly(numbers: Image, by: Floats, sizes: Floats, rng: np.random.Generator) -> Image:
    """Return objects grown into the background by a random distance up to `by`; the nearest wins.

    Where nothing grows nearby, nothing changes.
    """
    growing = np.where(by[numbers] > 0, numbers, np.int32(0))
    after = numbers.copy()
    if not growing.any():
        return after
    distance = edge_distances(growing == 0, sizes)
    near = (numbers == 0) & (distance <= by.max())
    voxels = np.nonzero(near)
    owners = nearest_labels(growing, sizes, where=near)[voxels]
    won = distance[voxels] <= _distances(voxels, by[owners], sizes, rng)
    after[tuple(axis[won] for axis in voxels)] = owners[won]
    return after


def displace(
    content: Image, numbers: Image, by: Floats, sizes: Floats, rng: np.random.Generator
) -> Image:
    """Return the content of objects, moved within each of them by up to `by` per axis.

    A voxel whose content would come from outside the object stays, and so does a label that would
    be lost.
    """
    voxels = np.nonzero(numbers)
    own = numbers[voxels]
    steps = [2 * _distances(voxels, by[own], sizes, rng) - by[own] for _ in sizes]
    moves = np.rint(np.stack(steps, axis=1) / sizes).astype(np.int64)
    ends = np.clip(np.stack(voxels, axis=1) + moves, 0, np.array(numbers.shape) - 1)
    source = tuple(ends.T)
    before = content[voxels]
    moved = np.where(numbers[source] == own, content[source], before)
    kinds = own.astype(np.int64) * (int(content.max(initial=0)) + 1)
    lost = ~np.isin(kinds + before, kinds + moved)
    after = content.copy()
    after[voxels] = np.where(lost, before, moved)
    return after


def touches_another(numbers: Image, *, lower: bool = False) -> Mask:
    """Return the voxels of objects that share a face, an edge or a corner with another object.

    With `lower`, only objects with a lower number count.

    Examples
    --------
    >>> image = np.array([[1, 2, 2, 0, 1]], dtype=np.int32)
    >>> touches_another(image).tolist()
    [[True, True, False, False, False]]
    >>> touches_another(image, lower=True).tolist()
    [[False, True, False, False, False]]
    """
    from scipy.ndimage import maximum_filter, minimum_filter

    top = np.iinfo(np.int32).max
    raised = np.where(numbers > 0, numbers, top)
    touches: Mask = minimum_filter(raised, size=3, mode="constant", cval=top) < numbers
    if not lower:
        touches |= maximum_filter(numbers, size=3, mode="constant", cval=0) > numbers
    return touches & (numbers > 0)


def pieces_apart(pieces: Image) -> Image:
    """Return the pieces of an object, renumbered, with background between any two of them.

    The later piece gives way. If that breaks it into several pieces, each counts as a piece; pieces
    of fewer than three voxels are dropped.

    Examples
    --------
    >>> pieces_apart(np.array([[4, 4, 4, 9, 9, 9, 9, 9]], dtype=np.int32)).tolist()
    [[1, 1, 1, 0, 2, 2, 2, 2]]
    """
    apart = connected_components((pieces > 0) & ~touches_another(pieces, lower=True))
    kept = np.bincount(apart.ravel()) >= LEAST_PIECE
    kept[0] = False
    numbers: Image = (np.cumsum(kept, dtype=np.int32) * kept)[apart]
    return numbers


def join_neighbours(
    objects: Objects, anatomy: Anatomy, wanted: int, reach: float, rng: np.random.Generator
) -> tuple[list[tuple[int, int]], Image]:
    """Join the objects of an anatomy with the nearest still single ones, by bridges.

    `wanted` is the largest number of pairs, and `reach` the largest distance between the surfaces
    of a pair. Return the pairs, and the image with bridges, which have the number of one end.
    """
    after, sizes = objects.numbers.copy(), np.array(anatomy.spacing)
    depth = edge_distances(after, sizes, border=True)
    surface = np.argwhere((after > 0) & (depth <= sizes.max() * (1 + 1e-9)))
    kinds = [anatomy.kind_of(int(value)) for value in objects.ids]
    single, pairs = set(range(1, objects.count + 1)), list[tuple[int, int]]()
    for first in (rng.permutation(objects.count) + 1).tolist():
        if len(pairs) == wanted or first not in single:
            continue
        for second, here, there in _neighbours(objects.numbers, surface, first, reach, sizes):
            alike = second in single and kinds[second - 1] == kinds[first - 1]
            if alike and _join(after, (first, second), here, there, anatomy):
                single -= {first, second}
                pairs.append((first, second))
                break
    return pairs, after


def _distances(
    voxels: tuple[Ints, ...], by: Floats, sizes: Floats, rng: np.random.Generator
) -> Floats:
    """Return a smooth random distance between 0 and `by` for each voxel."""
    length = LENGTH * max(float(by.max(initial=0)), float(sizes.min()))
    points = np.stack(voxels, axis=1) * sizes / length
    return by * np.clip(0.5 + STRETCH * (waves(points, rng) - 0.5), 0, 1)


def _neighbours(
    numbers: Image, surface: Ints, number: int, reach: float, sizes: Floats
) -> Iterator[tuple[int, Ints, Ints]]:
    """Yield the objects within `reach`, the nearest first; ties go to the lowest number.

    Each number comes with the two voxels where the objects are nearest, one on each.
    """
    from scipy.spatial import cKDTree

    is_own = numbers[tuple(surface.T)] == number
    own, others = surface[is_own], surface[~is_own]
    owners = numbers[tuple(others.T)]
    gaps, nearest = cKDTree(own * sizes).query(others * sizes, distance_upper_bound=reach)
    order = np.lexsort((owners, gaps))
    _, first = np.unique(owners[order], return_index=True)  # the nearest voxel of every object
    for position in order[np.sort(first)]:
        if np.isfinite(gaps[position]):
            yield int(owners[position]), own[nearest[position]], others[position]


def _join(numbers: Image, pair: tuple[int, int], here: Ints, there: Ints, anatomy: Anatomy) -> bool:
    """Build a bridge along a straight line, in place; return whether the two can be one object.

    A bridge stays in the room and touches no third object; it may be impossible.
    """
    from scipy.ndimage import maximum_filter

    # A bridge needs one voxel around the line; a second one shows which objects it must not touch.
    low = np.maximum(np.minimum(here, there) - 2, 0)
    high = np.minimum(np.maximum(here, there) + 3, numbers.shape)
    box = tuple(map(slice, low.tolist(), high.tolist()))
    near = numbers[box]
    ends: Mask = np.isin(near, pair)
    third = maximum_filter((near > 0) & ~ends, size=3, mode="constant", cval=False)
    # Distances are in voxels: a bridge is as thin as it can be, however they are spaced.
    offsets, line = np.moveaxis(np.mgrid[box], 0, -1) - here, there - here
    along = np.clip(offsets @ line / (line @ line), 0, 1)
    distance = np.linalg.norm(offsets - along[..., None] * line, axis=-1)
    free = (near == 0) & anatomy.room[box] & ~third
    bridge = free & (distance <= WIDTH * np.sqrt(near.ndim))
    pieces = connected_components(bridge | ends)
    start, end = pieces[tuple(here - low)], pieces[tuple(there - low)]
    if start != end:
        return not anatomy.is_semantic  # otherwise one id is one object, even in two pieces
    near[bridge & (pieces == start)] = pair[0]
    return True
