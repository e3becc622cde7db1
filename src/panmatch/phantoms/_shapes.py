"""Balls and blobs: where they still fit in an image, and random outlines and layers for them.

`sizes` is the distance between voxels along each axis, the unit of all lengths.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from panmatch.labels import edge_distances
from panmatch.phantoms._objects import Box, Floats, Image, Ints, Mask

Distances = npt.NDArray[np.float32]
Balls = list[tuple[Ints, float]]  # the voxel at the centre, and the radius

MARGIN = 1e-3  # clearances are float32: their rounding must never eat into a gap
DRAWS = 64  # blind tries before the free voxels are listed
LOOK_AHEAD = 0.9  # share of a radius down to which one list of free voxels serves

WAVES = 5  # enough that no two outlines look alike, few enough that they stay smooth
BENDS = (2.0, 5.0)  # how often an outline bends, from two lobes to about five
LESION_ROUGHNESS = 0.45
INNER = 0.62  # radius of a layer, as a share of the one around it
CORE_FROM = 3.0  # radius of a layer, in units of the finest spacing, from which it has a third


class Room:
    """The voxels of an image at which a ball may still be centred.

    Everything is based on one array, the *clearance*: for each voxel, the largest radius that a
    ball centred there may have. Placing a ball lowers the clearance around it and nowhere else. So
    the choice is always among all voxels that still fit, and "no room" is a fact, not bad luck.
    """

    def __init__(self, shape: tuple[int, ...], sizes: Floats) -> None:
        self._sizes = sizes
        self._clearance: Distances = np.full(shape, np.inf, dtype=np.float32)
        self._pool: Ints | None = None  # flat positions; None for all voxels, which need no list
        self._level = 0.0  # the least clearance of the voxels in the pool
        grid = np.ogrid[tuple(map(slice, shape))]
        for along, length, size in zip(grid, shape, sizes, strict=True):
            # A ball reaches voxels up to its radius: anything below the distance to -1 fits.
            self._lower(np.minimum(along + 1, length - along) * size - MARGIN)

    def keep_clear_of(self, occupied: Mask, gap: float = 0.0) -> None:
        """Keep balls `gap` away from `occupied`."""
        if occupied.any():  # the distance to nothing is not defined
            self._lower(edge_distances(~occupied, self._sizes) - (gap + MARGIN))

    def place(self, radii: Floats, gap: float, rng: np.random.Generator) -> Balls:
        """Place balls at random, `gap` apart, the largest first; call it once.

        It returns fewer balls than `radii` if no voxel is left where the next one would fit.
        """
        shape, balls = np.array(self._clearance.shape), Balls()
        reach = 2 * float(radii.max(initial=0)) + gap + 1  # beyond it a ball hinders no other
        sides = np.minimum((reach / self._sizes).astype(np.int64), shape - 1)
        distances = _distances_from_centre(sides.tolist(), self._sizes)
        # Small balls still fit between large ones, but not the other way round.
        for radius in np.sort(radii)[::-1].tolist():
            centre = self._draw(radius, rng)
            if centre is None:
                break
            self._occupy(centre, radius + gap + MARGIN, distances)
            balls.append((centre, radius))
        return balls

    def _lower(self, limit: npt.NDArray[np.floating]) -> None:
        np.minimum(self._clearance, limit, out=self._clearance, casting="same_kind")

    def _draw(self, radius: float, rng: np.random.Generator) -> Ints | None:
        """Return a voxel where a ball fits, uniformly drawn; radii must fall from call to call."""
        clearance = self._clearance.reshape(-1)
        if radius < self._level:
            self._pool, self._level = None, 0.0
        spots = rng.integers(clearance.size if self._pool is None else len(self._pool), size=DRAWS)
        spots = spots if self._pool is None else self._pool[spots]
        fitting = spots[clearance[spots] >= radius]
        if not len(fitting):
            if self._pool is None:
                self._level = LOOK_AHEAD * radius
                self._pool = np.flatnonzero(clearance >= self._level)
            else:
                self._pool = self._pool[clearance[self._pool] >= self._level]
            fitting = self._pool[clearance[self._pool] >= radius]
        if not len(fitting):
            return None
        spot = fitting[rng.integers(len(fitting))]
        return np.array(np.unravel_index(spot, self._clearance.shape))

    def _occupy(self, centre: Ints, taken: float, distances: Distances) -> None:
        """Lower the clearance around a ball; `taken` is its radius plus the gap."""
        shape, middle = np.array(self._clearance.shape), np.array(distances.shape) // 2
        low, high = np.maximum(centre - middle, 0), np.minimum(centre + middle + 1, shape)
        near = self._clearance[tuple(map(slice, low, high))]
        template = distances[tuple(map(slice, low - centre + middle, high - centre + middle))]
        np.minimum(near, template - np.float32(taken), out=near)


def scatter(
    organ: Mask, radii: Floats, sizes: Floats, rng: np.random.Generator, *, avoid: Mask
) -> Balls:
    """Place as many balls as fit inside an organ; they touch neither each other nor `avoid`."""
    gap = float(np.linalg.norm(sizes)) * (1 + 1e-6)  # farther apart than any two neighbours
    room = Room(organ.shape, sizes)
    room.keep_clear_of(~organ)
    room.keep_clear_of(avoid, gap)
    return room.place(radii, gap, rng)


def box_around(centre: Ints, shape: tuple[int, ...]) -> Box:
    """Return the slices of a box of this shape, of odd lengths, with its middle at `centre`."""
    sides = zip(centre.tolist(), shape, strict=True)
    return tuple(slice(c - length // 2, c + length // 2 + 1) for c, length in sides)


def waves(points: Floats, rng: np.random.Generator) -> Floats:
    """Return a random smooth function of points with values in [0, 1].

    `points` has shape (count, ndim): directions, or positions in units of the length over which
    the function is to change. The function is the same whatever the points.
    """
    headings, phases = _draw_waves(points.shape[1], rng)
    mean: Floats = np.cos(points @ headings.T + phases).mean(axis=1)
    return (1 + mean) / 2


def waves_on_grid(axes: Sequence[Floats], rng: np.random.Generator) -> Floats:
    """Return the same for all points of a grid with these positions along its axes, but faster.

    Examples
    --------
    >>> grid = waves_on_grid([np.arange(3.0), np.arange(4.0)], np.random.default_rng(5))
    >>> points = np.argwhere(np.ones((3, 4))).astype(float)
    >>> np.allclose(grid.ravel(), waves(points, np.random.default_rng(5)))
    True
    """
    headings, phases = _draw_waves(len(axes), rng)
    total = np.zeros([len(along) for along in axes])
    for heading, phase in zip(headings, phases, strict=True):
        # The cosine of a sum of positions is the real part of a product of exponentials.
        turns = [np.exp(1j * pull * along) for pull, along in zip(heading, axes, strict=True)]
        turns[0] = turns[0] * np.exp(1j * phase)
        total += functools.reduce(np.multiply.outer, turns).real
    return (1 + total / WAVES) / 2


def blob_mask(radius: float, roughness: float, sizes: Floats, rng: np.random.Generator) -> Mask:
    """Return a ball inside a random outline, without stray voxels.

    In every direction, the outline lies between ``(1 - roughness) * radius`` and ``radius``.

    Examples
    --------
    >>> blob_mask(1.2, 0, np.array([2.0, 1.0]), np.random.default_rng(0)).astype(int).tolist()
    [[1, 1, 1]]
    """
    inside = _ball_mask(radius, sizes)
    if roughness == 0:
        return inside
    offsets = (np.argwhere(inside) - np.array(inside.shape) // 2) * sizes
    distance = np.linalg.norm(offsets, axis=1)
    directions = offsets / np.maximum(distance, sizes.min())[:, None]
    inside[inside] = distance <= radius * (1 - roughness * waves(directions, rng))
    return _piece_at_centre(inside)


def layered_blob(
    radius: float, labels: Sequence[int], sizes: Floats, rng: np.random.Generator
) -> Image:
    """Return a blob in two layers, or three if there is space, each with its own outline.

    Each layer is wrapped in the one around it: between a layer and the next but one there is
    always more than the finest spacing, which is also the smallest `radius`. `labels` run from
    outside to inside; the last one is used for all further layers.

    Examples
    --------
    >>> layered_blob(1, [7, 9], np.ones(2), np.random.default_rng(0)).tolist()
    [[0, 7, 0], [7, 9, 7], [0, 7, 0]]
    """
    outer = blob_mask(radius, LESION_ROUGHNESS, sizes, rng)
    # A small blob with dents must still have room for a second layer.
    offsets = (np.indices(outer.shape).T - np.array(outer.shape) // 2) * sizes
    distance = np.linalg.norm(offsets, axis=-1).T
    outer |= _ball_mask(radius, sizes) & (distance <= sizes.min() * (1 + 1e-9))
    middle = _wrapped(outer, INNER * radius, sizes, rng)
    layers = outer.astype(np.int32) + middle
    if INNER * radius >= CORE_FROM * sizes.min():
        layers += _wrapped(middle, INNER**2 * radius, sizes, rng)
    return np.array([0, *labels], dtype=np.int32)[np.minimum(layers, len(labels))]


def _wrapped(outer: Mask, radius: float, sizes: Floats, rng: np.random.Generator) -> Mask:
    """Return a blob about the middle of `outer`, off its edge."""
    inside = np.zeros_like(outer)
    blob = blob_mask(radius, LESION_ROUGHNESS, sizes, rng)
    inside[box_around(np.array(outer.shape) // 2, blob.shape)] = blob
    depth = edge_distances(outer, sizes, border=True)
    return _piece_at_centre(inside & (depth > sizes.min() * (1 + 1e-9)))


def _piece_at_centre(inside: Mask) -> Mask:
    """Return the face-connected piece at the middle.

    The tip of a narrow lobe can become disconnected from the rest once it is cut into voxels.
    """
    from scipy.ndimage import label

    pieces, _ = label(inside)
    connected: Mask = pieces == pieces[tuple(length // 2 for length in inside.shape)]
    return connected


def _draw_waves(ndim: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    headings = rng.normal(size=(WAVES, ndim))
    headings *= (rng.uniform(*BENDS, WAVES) / np.linalg.norm(headings, axis=1))[:, None]
    return headings, rng.uniform(0, 2 * np.pi, WAVES)


def _ball_mask(radius: float, sizes: Floats) -> Mask:
    """Return the voxels no farther than `radius` from the centre of the smallest box."""
    return _distances_from_centre([int(radius / size) for size in sizes], sizes) <= radius


def _distances_from_centre(sides: list[int], sizes: Floats) -> Distances:
    """Return the distance to the middle of a box that reaches `sides` voxels either way."""
    grid = np.ogrid[tuple(slice(-side, side + 1) for side in sides)]
    squares = sum((offsets * size) ** 2 for offsets, size in zip(grid, sizes, strict=True))
    distances: Distances = np.sqrt(squares).astype(np.float32)
    return distances
