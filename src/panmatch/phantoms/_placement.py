"""Room for balls: where one of a given radius still fits, and how to place many at random."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from panmatch.errors import OptionError
from panmatch.labels import edge_distances
from panmatch.labels.spacing import as_spacing
from panmatch.phantoms._objects import Box, Floats, Ints, Mask
from panmatch.phantoms._options import Radius

Distances = npt.NDArray[np.float32]
Balls = list[tuple[Ints, float]]  # the voxel at the centre, and the radius

MARGIN = 1e-3  # clearances are float32: their rounding must never eat into a gap
DRAWS = 64  # blind tries before the free voxels are listed
LOOK_AHEAD = 0.9  # share of a radius down to which one list of free voxels serves


class Room:
    """The voxels of an image at which a ball may still be centred.

    Everything rests on one array, the *clearance*: for each voxel, the largest radius that a ball
    centred there may have. Placing a ball lowers the clearance around it and nowhere else, so the
    choice is always among all voxels that still fit, and "no room" is a fact rather than bad luck.

    Parameters
    ----------
    shape
        Lengths in voxels; balls lie inside with all their voxels.
    spacing
        Distance between voxels along each axis, the unit of all lengths; None for voxels.
    """

    def __init__(self, shape: tuple[int, ...], spacing: npt.ArrayLike | None = None) -> None:
        self._sizes = as_spacing(spacing, len(shape))
        self._clearance: Distances = np.full(shape, np.inf, dtype=np.float32)
        self._pool: Ints | None = None  # flat positions; None for all voxels, which need no list
        self._level = 0.0  # the least clearance of the voxels in the pool
        grid = np.ogrid[tuple(map(slice, shape))]
        for along, length, size in zip(grid, shape, self._sizes, strict=True):
            # A ball reaches voxels up to its radius: anything below the distance to -1 fits.
            self._lower(np.minimum(along + 1, length - along) * size - MARGIN)

    def keep_clear_of(self, occupied: Mask, gap: float = 0.0) -> None:
        """Keep balls `gap` away from `occupied`."""
        if occupied.any():  # the distance to nothing is not defined
            self._lower(edge_distances(~occupied, self._sizes) - (gap + MARGIN))

    def place(self, radii: Floats, gap: float, rng: np.random.Generator) -> Balls:
        """Place balls at random, the largest first; once.

        Parameters
        ----------
        radii
            The radii wanted.
        gap
            Least distance between the surfaces of two balls.
        rng
            Source of the centres.

        Returns
        -------
        list of tuple
            The largest ball first; of equal ones the first. Fewer than wanted means that no
            voxel is left at which the next ball would fit.
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

    def place_all(self, count: int, radius: Radius, gap: float, rng: np.random.Generator) -> Balls:
        """Place balls of uniformly drawn radii and return them in random order, or raise."""
        radii = rng.uniform(*radius, size=count)
        balls = self.place(radii, gap, rng)
        if len(balls) < count:
            raise OptionError(
                f"count={count} objects do not fit: there was room for {len(balls)}, the largest "
                f"first, in shape {self._clearance.shape} with radius={radius} and gap={gap}. "
                "Lower count, radius or gap, or enlarge the image."
            )
        ranks = np.argsort(np.argsort(-radii, kind="stable"))
        return [balls[rank] for rank in ranks]

    def _lower(self, limit: Floats) -> None:
        np.minimum(self._clearance, limit, out=self._clearance, casting="same_kind")

    def _draw(self, radius: float, rng: np.random.Generator) -> Ints | None:
        """Return a voxel where a ball fits, uniformly drawn; radii must fall from call to call."""
        clearance = self._clearance.reshape(-1)
        if radius < self._level:
            self._pool, self._level = None, 0.0
        if self._pool is None:
            spots = rng.integers(clearance.size, size=DRAWS)
        else:
            spots = self._pool[rng.integers(self._pool.size, size=DRAWS)]
        fitting = spots[clearance[spots] >= radius]
        if not fitting.size:
            if self._pool is None:
                self._level = LOOK_AHEAD * radius
                self._pool = np.flatnonzero(clearance >= self._level)
            else:
                self._pool = self._pool[clearance[self._pool] >= self._level]
            fitting = self._pool[clearance[self._pool] >= radius]
        if not fitting.size:
            return None
        spot = fitting[rng.integers(fitting.size)]
        return np.array(np.unravel_index(spot, self._clearance.shape))

    def _occupy(self, centre: Ints, taken: float, distances: Distances) -> None:
        """Lower the clearance around a ball; `taken` is its radius plus the gap."""
        shape, middle = np.array(self._clearance.shape), np.array(distances.shape) // 2
        low, high = np.maximum(centre - middle, 0), np.minimum(centre + middle + 1, shape)
        near = self._clearance[tuple(map(slice, low, high))]
        template = distances[tuple(map(slice, low - centre + middle, high - centre + middle))]
        np.minimum(near, template - np.float32(taken), out=near)


def scatter(
    room: Mask,
    radii: Floats,
    sizes: Floats,
    rng: np.random.Generator,
    *,
    occupied: Mask | None = None,
) -> Balls:
    """Place balls inside `room` that touch neither each other nor `occupied`, as far as they fit.

    Examples
    --------
    >>> room = np.ones((1, 3), dtype=bool)
    >>> taken = np.array([[True, False, False]])
    >>> scatter(room, np.zeros(9), np.ones(2), np.random.default_rng(0), occupied=taken)
    [(array([0, 2]), 0.0)]
    """
    gap = float(np.linalg.norm(sizes)) * (1 + 1e-6)  # farther apart than any two neighbours
    space = Room(room.shape, sizes)
    space.keep_clear_of(~room)
    if occupied is not None:
        space.keep_clear_of(occupied, gap)
    return space.place(radii, gap, rng)


def box_around(centre: Ints, shape: tuple[int, ...]) -> Box:
    """Return the slices of a box of this shape, of odd lengths, with its middle at `centre`."""
    sides = zip(centre.tolist(), shape, strict=True)
    return tuple(slice(c - length // 2, c + length // 2 + 1) for c, length in sides)


def ball_mask(radius: float, sizes: Floats) -> Mask:
    """Return the voxels no farther than `radius` from the centre of the smallest box.

    Examples
    --------
    >>> ball_mask(1.2, np.ones(2)).astype(int).tolist()
    [[0, 1, 0], [1, 1, 1], [0, 1, 0]]
    >>> ball_mask(1.2, np.array([2.0, 1.0])).astype(int).tolist()
    [[1, 1, 1]]
    """
    return _distances_from_centre([int(radius / size) for size in sizes], sizes) <= radius


def _distances_from_centre(sides: list[int], sizes: Floats) -> Distances:
    """Return the distance to the middle of a box that reaches `sides` voxels either way."""
    squares = np.zeros((1,) * len(sides))
    grid = np.ogrid[tuple(slice(-side, side + 1) for side in sides)]
    for offsets, size in zip(grid, sizes, strict=True):
        squares = squares + (offsets * size) ** 2
    return np.sqrt(squares).astype(np.float32)
