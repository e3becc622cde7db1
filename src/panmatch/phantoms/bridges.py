"""Which objects are neighbours, and the bridge that makes two of them one component."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from panmatch.labels import connected_components, edge_distances
from panmatch.phantoms.anatomy import Anatomy, kind_of
from panmatch.phantoms.objects import Box, Floats, Ints, Numbers, Objects
from panmatch.phantoms.outlines import Mask

WIDTH = 0.75  # of half a bridge, in voxel diagonals; above 0.5 it has no holes


@dataclass(frozen=True, slots=True, eq=False)
class Neighbour:
    """Another object, and where it is nearest: `here` on the object itself, `there` on the other.

    Attributes
    ----------
    number
        Of the other object.
    here, there
        Voxel coordinates.
    """

    number: int
    here: Ints
    there: Ints


class Surfaces:
    """The outermost voxels of all objects, to look for neighbours among."""

    def __init__(self, numbers: Numbers, sizes: Floats) -> None:
        self._sizes = sizes
        depth = edge_distances(numbers, sizes, border=True)
        outermost = (numbers > 0) & (depth <= sizes.max() * (1 + 1e-9))
        self._owners = numbers[outermost]
        self._voxels = np.argwhere(outermost)

    def neighbours(self, number: int, reach: float) -> list[Neighbour]:
        """Return the objects within `reach`, the nearest first, of equally near ones the lowest."""
        from scipy.spatial import cKDTree

        own, other = self._owners == number, self._owners != number
        here, there, owners = self._voxels[own], self._voxels[other], self._owners[other]
        surface = cKDTree(here * self._sizes)
        gaps, nearest = surface.query(there * self._sizes, distance_upper_bound=reach)
        order = np.lexsort((np.arange(len(owners)), gaps, owners))
        first = order[np.diff(owners[order], prepend=0) > 0]
        first = first[np.lexsort((owners[first], gaps[first]))]
        first = first[np.isfinite(gaps[first])]
        return [Neighbour(int(owners[at]), here[nearest[at]], there[at]) for at in first]


def join_neighbours(
    objects: Objects, anatomy: Anatomy, wanted: int, reach: float, rng: np.random.Generator
) -> tuple[list[tuple[int, int]], Numbers]:
    """Join objects with the nearest still single ones, and build bridges between them.

    Parameters
    ----------
    objects
        The objects of `anatomy`.
    anatomy
        Where they lie; it decides which are of one kind, and whether they need a bridge.
    wanted
        How many pairs; there may be fewer.
    reach
        Largest distance between the surfaces of a pair, in the units of the spacing.
    rng
        Source of the order in which objects look for a partner.

    Returns
    -------
    list of tuple, array of int32
        The pairs as numbers, and the numbers with bridges, which have those of their first end.
    """
    after, surfaces = objects.numbers.copy(), Surfaces(objects.numbers, np.array(anatomy.spacing))
    kinds = [kind_of(int(value), anatomy.id_ranges) for value in objects.ids]
    single, pairs = set(range(1, objects.count + 1)), list[tuple[int, int]]()
    for first in (rng.permutation(objects.count) + 1).tolist():
        if len(pairs) == wanted or first not in single:
            continue
        likely = (
            other
            for other in surfaces.neighbours(first, reach)
            if other.number in single and kinds[other.number - 1] == kinds[first - 1]
        )
        second = next((other for other in likely if _join(after, first, other, anatomy)), None)
        if second is not None:
            single -= {first, second.number}
            pairs.append((first, second.number))
    return pairs, after


def _join(numbers: Numbers, first: int, to: Neighbour, anatomy: Anatomy) -> bool:
    """Build a bridge, in place, if there is a way; say whether the two can be one object."""
    box = _around(to, numbers.shape)
    way = _way(numbers, first, to, anatomy)
    if way is None:
        return not anatomy.is_semantic  # there one id makes one object, even in two pieces
    numbers[box][way] = first
    return True


def _way(numbers: Numbers, first: int, to: Neighbour, anatomy: Anatomy) -> Mask | None:
    """Return the voxels of a bridge, in its box; it keeps off third objects and stays in the room.

    None if that leaves no way along the straight line.
    """
    box = _around(to, numbers.shape)
    near = numbers[box]
    pair: Mask = np.isin(near, (first, to.number))
    free = (near == 0) & anatomy.room[box] & ~_grown((near > 0) & ~pair)
    way = free & (_distance_from_line(box, to) <= WIDTH * np.sqrt(near.ndim))
    pieces = connected_components(way | pair)
    start = [side.start for side in box]
    here, there = pieces[tuple(to.here - start)], pieces[tuple(to.there - start)]
    return way & (pieces == here) if here == there else None


def _around(to: Neighbour, shape: tuple[int, ...]) -> Box:
    """Return the box of the line to a neighbour, with two voxels around it.

    A bridge needs one of them, and the other shows the third objects that it must not touch.
    """
    low = np.maximum(np.minimum(to.here, to.there) - 2, 0)
    high = np.minimum(np.maximum(to.here, to.there) + 3, shape)
    return tuple(map(slice, low.tolist(), high.tolist()))


def _grown(third: Mask) -> Mask:
    from scipy.ndimage import maximum_filter

    grown: Mask = maximum_filter(third, size=3, mode="constant", cval=False)
    return grown


def _distance_from_line(box: Box, to: Neighbour) -> Floats:
    """Return distances in voxels: a bridge is as thin as it can be, however they are spaced."""
    offsets, line = np.moveaxis(np.mgrid[box], 0, -1) - to.here, to.there - to.here
    along = np.clip(offsets @ line / (line @ line), 0, 1)
    distance: Floats = np.linalg.norm(offsets - along[..., None] * line, axis=-1)
    return distance
