"""Outlines drawn anew: every object a little too large or too small, by a smooth random amount.

How far off is said for each object: `by` has a distance for every number, the background
included, in the units of `sizes`, the distance between voxels along each axis.
"""

from __future__ import annotations

import numpy as np

from panmatch.labels import edge_distances, nearest_labels
from panmatch.phantoms.anatomy import Image
from panmatch.phantoms.objects import Floats, Ints, Numbers
from panmatch.phantoms.outlines import waves

STRETCH = 2.0  # waves stay near their mean; this lets them reach their bounds
LENGTH = 4.0  # over which an outline changes, in units of how far off it is


def largest_depths(numbers: Numbers, sizes: Floats) -> Floats:
    """Return, for every number, how far its deepest voxel is from outside; 0 for background.

    Examples
    --------
    >>> largest_depths(np.array([1, 1, 1, 0, 2], dtype=np.int32), np.ones(1)).tolist()
    [0.0, 2.0, 1.0]
    """
    deepest = np.zeros(int(numbers.max(initial=0)) + 1)
    np.maximum.at(deepest, numbers.ravel(), edge_distances(numbers, sizes, border=True).ravel())
    return deepest


def shrink_unevenly(
    numbers: Numbers, by: Floats, sizes: Floats, rng: np.random.Generator
) -> Numbers:
    """Return objects without what is nearer to others than a random distance up to `by`.

    Each keeps the deeper half of its voxels at least.
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


def grow_unevenly(numbers: Numbers, by: Floats, sizes: Floats, rng: np.random.Generator) -> Numbers:
    """Return objects with the background within a random distance up to `by`; the nearest has it.

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
    content: Image, numbers: Numbers, by: Floats, sizes: Floats, rng: np.random.Generator
) -> Image:
    """Return what objects are made of, moved about inside each of them by up to `by` per axis.

    What would come from outside of an object stays, and so does a label that would be lost.
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


def _distances(
    voxels: tuple[Ints, ...], by: Floats, sizes: Floats, rng: np.random.Generator
) -> Floats:
    """Return a smooth random distance between 0 and `by` for each voxel."""
    length = LENGTH * max(float(by.max(initial=0)), float(sizes.min()))
    points = np.stack(voxels, axis=1) * sizes / length
    return by * np.clip(0.5 + STRETCH * (waves(points, rng) - 0.5), 0, 1)
