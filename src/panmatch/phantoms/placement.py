"""Room for round objects: where a ball of a given radius still fits, and how to fill it.

Everything rests on one array, the *clearance*: for each voxel, the largest radius that a ball
centred there may have. Placing a ball lowers the clearance around it and nowhere else, so the
choice is always among all voxels that still fit, and "no room" is a fact rather than bad luck.

Lengths are in the units of `spacing`, the distance between voxels along each axis, and in voxels
where it is None.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from panmatch.errors import OptionError
from panmatch.labels import as_spacing, edge_distances
from panmatch.phantoms.options import Radius

Clearance = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Box = tuple[slice, ...]
Spacing = Sequence[float] | Floats

MARGIN = 1e-3  # clearances are float32: their rounding must never eat into a gap
DRAWS = 64  # blind tries before the free voxels are listed
LOOK_AHEAD = 0.9  # share of a radius down to which one list of free voxels serves


@dataclass(frozen=True, slots=True, eq=False)
class Balls:
    """Balls centred on voxels: a ball never rounds to nothing, however small it is.

    Attributes
    ----------
    centres
        Voxel coordinates, int64, shape (count, ndim).
    radii
        In voxels, float64, shape (count,).
    """

    centres: Ints
    radii: Floats


def image_clearance(shape: tuple[int, ...], spacing: Spacing | None = None) -> Clearance:
    """Return the largest radius at which no voxel of a ball falls outside the image.

    Examples
    --------
    >>> image_clearance((5, 3)).round(2)[:, 1].tolist()
    [1.0, 2.0, 2.0, 2.0, 1.0]
    """
    clearance = np.full(shape, np.inf, dtype=np.float32)
    sizes = as_spacing(spacing, len(shape))
    for axis, length in enumerate(shape):
        steps = np.arange(length)
        # Radius r reaches floor(r) voxels, so anything below the distance to voxel -1 fits.
        line = np.minimum(steps + 1, length - steps) * sizes[axis] - MARGIN
        across = [1] * len(shape)
        across[axis] = length
        np.minimum(clearance, line.reshape(across), out=clearance, casting="same_kind")
    return clearance


def keep_clear_of(
    clearance: Clearance,
    occupied: npt.NDArray[np.bool_],
    gap: float,
    spacing: Spacing | None = None,
) -> None:
    """Lower `clearance`, in place, so that balls stay `gap` away from `occupied`."""
    if not occupied.any():
        return  # the distance to nothing is not defined
    distance: Floats = edge_distances(~occupied, spacing)
    np.minimum(clearance, distance - (gap + MARGIN), out=clearance, casting="same_kind")


def place_balls(
    clearance: Clearance, count: int, *, radius: Radius, gap: float, rng: np.random.Generator
) -> Balls:
    """Place `count` balls at random, one after the other, the largest first.

    Parameters
    ----------
    clearance
        The largest radius allowed at each voxel; used up in place.
    count
        How many balls.
    radius
        Lowest and highest radius; radii are drawn uniformly in between.
    gap
        Least distance between the surfaces of two balls.
    rng
        Source of the radii and of the centres.

    Raises
    ------
    OptionError
        When no voxel is left at which the next ball would fit.
    """
    radii = rng.uniform(*radius, size=count)
    centres = find_room(clearance, radii, gap=gap, rng=rng)
    if len(centres) < count:
        raise OptionError(_no_room(len(centres), count, clearance.shape, radius, gap))
    balls = np.empty_like(centres)
    balls[largest_first(radii)] = centres
    return Balls(balls, radii)


def find_room(
    clearance: Clearance,
    radii: Floats,
    *,
    gap: float,
    rng: np.random.Generator,
    spacing: Spacing | None = None,
) -> Ints:
    """Find centres for balls of these radii, one after the other, the largest first.

    Parameters
    ----------
    clearance
        The largest radius allowed at each voxel; used up in place.
    radii
        The radii wanted, shape (count,).
    gap
        Least distance between the surfaces of two balls.
    rng
        Source of the centres.
    spacing
        Distance between voxels along each axis.

    Returns
    -------
    array of int64
        Voxel coordinates, shape (placed, ndim), in the order of `largest_first`. Fewer than
        wanted means that no voxel is left at which the next ball would fit.
    """
    centres = np.zeros((len(radii), clearance.ndim), dtype=np.int64)
    room, sizes = _Room(clearance, rng), as_spacing(spacing, clearance.ndim)
    reach = 2 * float(radii.max(initial=0)) + gap + 1  # beyond it a ball hinders no other
    sides = np.minimum((reach / sizes).astype(np.int64), np.array(clearance.shape) - 1)
    distances = _distances_from_centre(sides.tolist(), sizes)
    # Small balls still fit between large ones, but not the other way round.
    for placed, radius in enumerate(radii[largest_first(radii)].tolist()):
        spot = room.draw(radius)
        if spot is None:
            return centres[:placed]
        centres[placed] = np.unravel_index(spot, clearance.shape)
        _occupy(clearance, centres[placed], radius + gap + MARGIN, distances)
    return centres


def largest_first(radii: Floats) -> Ints:
    """Return the positions of falling radii; of equal ones the first comes first."""
    order: Ints = np.argsort(-radii, kind="stable")
    return order


def box_around(centre: Ints, mask: npt.NDArray[Any]) -> Box:
    """Return the slices that hold `mask`, of odd lengths, with its middle at `centre`."""
    sides = zip(centre.tolist(), mask.shape, strict=True)
    return tuple(slice(c - length // 2, c + length // 2 + 1) for c, length in sides)


def ball_mask(radius: float, ndim: int, spacing: Spacing | None = None) -> npt.NDArray[np.bool_]:
    """Return the voxels no farther than `radius` from the centre of the smallest box.

    Examples
    --------
    >>> ball_mask(1.2, 2).astype(int).tolist()
    [[0, 1, 0], [1, 1, 1], [0, 1, 0]]
    >>> ball_mask(1.2, 2, spacing=(2, 1)).astype(int).tolist()
    [[1, 1, 1]]
    """
    sizes = as_spacing(spacing, ndim)
    return _distances_from_centre([int(radius / size) for size in sizes], sizes) <= radius


def paint_balls(labels: npt.NDArray[Any], balls: Balls, ids: npt.NDArray[Any]) -> None:
    """Write each ball into `labels`, in place, under its id."""
    for centre, radius, number in zip(balls.centres, balls.radii, ids, strict=True):
        inside = ball_mask(float(radius), labels.ndim)
        labels[box_around(centre, inside)][inside] = number


class _Room:
    """Draws uniformly among the voxels whose clearance allows a given radius.

    Radii must come in falling order. Once blind draws fail, the voxels with at least `_level`
    clearance are listed; the list serves all radii down to that level.
    """

    def __init__(self, clearance: Clearance, rng: np.random.Generator) -> None:
        self._clearance = clearance.reshape(-1)
        self._rng = rng
        self._level = 0.0
        self._pool: Ints | None = None  # None: all voxels, which need no list

    def draw(self, radius: float) -> int | None:
        """Return the flat position of a voxel where a ball fits, or None if there is none."""
        if radius < self._level:
            self._pool, self._level = None, 0.0
        spots = self._sample()
        fitting = spots[self._clearance[spots] >= radius]
        if not fitting.size:
            fitting = self._list_fitting(radius)
        return int(fitting[self._rng.integers(fitting.size)]) if fitting.size else None

    def _sample(self) -> Ints:
        if self._pool is None:
            return self._rng.integers(self._clearance.size, size=DRAWS)
        return self._pool[self._rng.integers(self._pool.size, size=DRAWS)]

    def _list_fitting(self, radius: float) -> Ints:
        """Return all voxels that fit, and drop from the pool those that never will again."""
        if self._pool is None:
            self._level = LOOK_AHEAD * radius
            self._pool = np.flatnonzero(self._clearance >= self._level)
        else:
            self._pool = self._pool[self._clearance[self._pool] >= self._level]
        return self._pool[self._clearance[self._pool] >= radius]


def _distances_from_centre(sides: list[int], sizes: Floats) -> Clearance:
    """Return the distance to the middle of a box that reaches `sides` voxels either way."""
    squares = np.zeros((1,) * len(sides))
    grid = np.ogrid[tuple(slice(-side, side + 1) for side in sides)]
    for offsets, size in zip(grid, sizes, strict=True):
        squares = squares + (offsets * size) ** 2
    return np.sqrt(squares).astype(np.float32)


def _occupy(clearance: Clearance, centre: Ints, taken: float, distances: Clearance) -> None:
    """Lower the clearance around a ball; `taken` is its radius plus the gap."""
    near, template = [], []
    sizes = zip(centre.tolist(), clearance.shape, distances.shape, strict=True)
    for middle, length, width in sizes:
        side = width // 2
        low, high = max(middle - side, 0), min(middle + side + 1, length)
        near.append(slice(low, high))
        template.append(slice(low - middle + side, high - middle + side))
    around = clearance[tuple(near)]
    np.minimum(around, distances[tuple(template)] - np.float32(taken), out=around)


def _no_room(placed: int, count: int, shape: tuple[int, ...], radius: Radius, gap: float) -> str:
    return (
        f"count={count} objects do not fit: {placed} found room, the largest first, in shape "
        f"{shape} with radius={radius} and gap={gap}. Lower count, radius or gap, "
        "or enlarge the image."
    )
