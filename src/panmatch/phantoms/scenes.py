"""Made-up label images: separate balls, separate blobs, and cells that fill the image.

All are int32 with ids 1 … count on background 0, and the same arguments give the same image.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from panmatch.phantoms.options import (
    Radius,
    check_count,
    check_distance,
    check_radius,
    check_roughness,
    check_shape,
    random_numbers,
)
from panmatch.phantoms.outlines import blob_mask
from panmatch.phantoms.placement import (
    Balls,
    Floats,
    box_around,
    image_clearance,
    paint_balls,
    place_balls,
)

Scene = npt.NDArray[np.int32]

JITTER = 0.25  # per axis; below 0.5 in norm, so each point stays nearest to its own voxel
CHUNK = 1 << 18  # voxels per query of the tree: bounds the memory for coordinates


def balls(
    shape: Sequence[int],
    count: int,
    *,
    radius: Radius = (4.0, 8.0),
    gap: float = 1.0,
    seed: int = 0,
) -> Scene:
    """Make discs (2-D) or balls (3-D) that lie wholly inside the image and never touch.

    Parameters
    ----------
    shape
        Two or three lengths in voxels.
    count
        How many objects; 0 gives an empty image.
    radius
        Lowest and highest radius in voxels; radii are drawn uniformly in between.
    gap
        Least distance between two surfaces in voxels: the centres of voxels of two objects are
        at least this far apart. Above the square root of the dimension, the objects stay
        separate components under every connectivity.
    seed
        Equal seeds give equal images.

    Returns
    -------
    array of int32
        Ids 1 … `count`, 0 elsewhere. Each object is one face-connected piece, centred on a voxel.

    Raises
    ------
    OptionError
        For options out of range, and when the objects do not fit: no voxel is then left at which
        the next one, the largest first, could be centred.

    Examples
    --------
    >>> balls((5, 5), 1, radius=(2, 2)).tolist()
    [[0, 0, 1, 0, 0], [0, 1, 1, 1, 0], [1, 1, 1, 1, 1], [0, 1, 1, 1, 0], [0, 0, 1, 0, 0]]
    >>> np.unique(balls((32, 32), 3)).tolist()
    [0, 1, 2, 3]
    """
    image, placed, _ = _place(shape, count, radius, gap, seed)
    paint_balls(image, placed, np.arange(1, len(placed.radii) + 1))
    return image


def blobs(
    shape: Sequence[int],
    count: int,
    *,
    radius: Radius = (4.0, 8.0),
    roughness: float = 0.5,
    gap: float = 1.0,
    seed: int = 0,
) -> Scene:
    """Make irregular, star-shaped objects, each inside the ball that `balls` would draw.

    Parameters
    ----------
    shape, count, radius, gap, seed
        As for `balls`. `radius` and `gap` are those of the enclosing balls.
    roughness
        In [0, 1). By direction, the outline lies between ``(1 - roughness) * radius`` and
        ``radius`` of its ball, and varies smoothly. 0 gives the same image as `balls`.

    Returns
    -------
    array of int32
        Ids 1 … `count`, 0 elsewhere. Each object is one face-connected piece.

    Raises
    ------
    OptionError
        As for `balls`.

    Examples
    --------
    >>> image = blobs((32, 32), 3, roughness=0.6)
    >>> round_ones = balls((32, 32), 3)
    >>> bool(np.all(round_ones[image > 0] == image[image > 0]))
    True
    """
    roughness = check_roughness(roughness)
    image, placed, rng = _place(shape, count, radius, gap, seed)
    for position, (centre, size) in enumerate(zip(placed.centres, placed.radii, strict=True)):
        inside = blob_mask(float(size), roughness, np.ones(image.ndim), rng)
        image[box_around(centre, inside)][inside] = position + 1
    return image


def tissue(shape: Sequence[int], count: int, *, seed: int = 0) -> Scene:
    """Make touching cells that fill the image: the nearest of `count` random points.

    Parameters
    ----------
    shape
        Two or three lengths in voxels.
    count
        How many cells, from 1 to the number of voxels.
    seed
        Equal seeds give equal images.

    Returns
    -------
    array of int32
        Ids 1 … `count`, each of which occurs; there is no background.

    Raises
    ------
    OptionError
        For options out of range.

    Examples
    --------
    >>> np.unique(tissue((8, 8), 5)).tolist()
    [1, 2, 3, 4, 5]
    """
    from scipy.spatial import cKDTree

    lengths = check_shape(shape)
    image: Scene = np.empty(lengths, dtype=np.int32)
    count = check_count("count", count, lowest=1, highest=image.size)
    tree = cKDTree(_distinct_points(lengths, count, random_numbers(seed)))
    flat = image.reshape(-1)
    for start in range(0, flat.size, CHUNK):
        voxels = np.arange(start, min(start + CHUNK, flat.size))
        _, nearest = tree.query(np.stack(np.unravel_index(voxels, lengths), axis=1), workers=-1)
        flat[voxels] = nearest + 1
    return image


def _place(
    shape: Sequence[int], count: int, radius: Radius, gap: float, seed: int
) -> tuple[Scene, Balls, np.random.Generator]:
    """Check the options that `balls` and `blobs` share and place the enclosing balls."""
    lengths = check_shape(shape)
    count = check_count("count", count)
    radius, gap = check_radius(radius), check_distance("gap", gap)
    rng = random_numbers(seed)
    placed = place_balls(image_clearance(lengths), count, radius=radius, gap=gap, rng=rng)
    return np.zeros(lengths, dtype=np.int32), placed, rng


def _distinct_points(shape: tuple[int, ...], count: int, rng: np.random.Generator) -> Floats:
    """Return one point in each of `count` voxels, off centre so that no two distances tie."""
    voxels = rng.choice(int(np.prod(shape)), size=count, replace=False)
    corners = np.stack(np.unravel_index(voxels, shape), axis=1)
    return corners + rng.uniform(-JITTER, JITTER, size=corners.shape)
