"""Synthetic label images: separate balls and blobs, and cells that touch.

All are int32 with ids 1 … count on background 0, and the same arguments give the same image.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from panmatch.errors import OptionError
from panmatch.labels import LabelArray, edge_distances
from panmatch.phantoms._anatomy import Anatomy
from panmatch.phantoms._objects import Floats, Image, Ints, keep_largest_pieces, number_objects
from panmatch.phantoms._options import (
    Radius,
    Shape,
    as_float,
    check_count,
    check_distance,
    check_grid,
    check_radius,
    check_shape,
    random_numbers,
)
from panmatch.phantoms._shapes import Room, blob_mask, box_around, waves_on_grid

JITTER = 0.25  # per axis; below 0.5 in norm, so each point stays nearest to its own voxel
CHUNK = 1 << 18  # voxels per query of the tree: bounds the memory for coordinates

CELL_PARTS = {1: "cytoplasm", 2: "nucleus"}
GAPS = 0.12  # cells that are left out, as a share of those that are there
ROUNDS = 4  # of evening out the sites; more would make a honeycomb
SAMPLES = 60  # per site and round
WAVINESS = 0.12  # of walls, in cell diameters; above 0.2 they would fold
NUCLEUS = (0.50, 0.75)  # its radius, as a share of the largest ball inside the cell
NUCLEUS_ROUGHNESS = 0.3
LEAST_SIDE = 4  # voxels per cell and axis, on average


def balls(
    shape: Shape, count: int, *, radius: Radius = (4.0, 8.0), gap: float = 1.0, seed: int = 0
) -> Image:
    """Make discs (2-D) or balls (3-D) that lie entirely inside the image and never touch.

    Parameters
    ----------
    shape
        Two or three lengths in voxels.
    count
        How many objects; 0 gives an empty image.
    radius
        Smallest and largest radius in voxels; radii are drawn uniformly in between.
    gap
        Smallest distance between two surfaces in voxels: the centres of voxels of two objects are
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
        For options out of range, and if the objects do not fit. They are placed from the largest
        to the smallest, and no voxel is then left where the next one could be centred.

    Examples
    --------
    >>> import numpy as np
    >>> from panmatch.phantoms import balls
    >>> balls((5, 5), 1, radius=(2, 2)).tolist()
    [[0, 0, 1, 0, 0], [0, 1, 1, 1, 0], [1, 1, 1, 1, 1], [0, 1, 1, 1, 0], [0, 0, 1, 0, 0]]
    >>> np.unique(balls((32, 32), 3)).tolist()
    [0, 1, 2, 3]
    """
    return blobs(shape, count, radius=radius, roughness=0, gap=gap, seed=seed)


def blobs(
    shape: Shape,
    count: int,
    *,
    radius: Radius = (4.0, 8.0),
    roughness: float = 0.5,
    gap: float = 1.0,
    seed: int = 0,
) -> Image:
    """Make irregular, star-shaped objects, each inside the ball that `balls` would draw.

    Parameters
    ----------
    shape, count, radius, gap, seed
        As for `balls`. `radius` and `gap` are those of the enclosing balls.
    roughness
        In [0, 1). In every direction, the outline lies between ``(1 - roughness) * radius`` and
        ``radius`` of its ball, and varies smoothly. 0 gives the same image as `balls`.

    Returns
    -------
    array of int32
        As for `balls`.

    Examples
    --------
    >>> import numpy as np
    >>> from panmatch.phantoms import balls, blobs
    >>> image = blobs((32, 32), 3, roughness=0.6)
    >>> round_objects = balls((32, 32), 3)
    >>> bool(np.all(round_objects[image > 0] == image[image > 0]))
    True
    """
    if not 0 <= as_float(roughness) < 1:
        raise OptionError(
            f"roughness={roughness!r} is out of range; pass 0 (round) up to, but below, 1."
        )
    lengths, count = check_shape(shape), check_count("count", count)
    image, room = np.zeros(lengths, dtype=np.int32), Room(lengths, np.ones(len(lengths)))
    draw_blobs(image, np.arange(1, count + 1), room, radius, gap, seed, roughness=roughness)
    return image


def draw_blobs(
    image: LabelArray,
    ids: LabelArray,
    room: Room,
    radius: Radius,
    gap: float,
    seed: int,
    *,
    roughness: float,
) -> None:
    """Draw a blob for each id at a random place in `room`, in place; options as for `blobs`."""
    radius, gap, rng = check_radius(radius), check_distance("gap", gap), random_numbers(seed)
    radii = rng.uniform(*radius, size=len(ids))
    placed = room.place(radii, gap, rng)
    if len(placed) < len(ids):
        raise OptionError(
            f"count={len(ids)} objects do not fit: there was room for {len(placed)} of them "
            f"in shape {image.shape} with radius={radius} and gap={gap}. Lower count, "
            "radius or gap, or enlarge the image."
        )
    ranks = np.argsort(np.argsort(-radii, kind="stable"))  # the largest was placed first
    for number, rank in zip(ids, ranks, strict=True):
        centre, size = placed[rank]
        inside = blob_mask(size, roughness, np.ones(image.ndim), rng)
        image[box_around(centre, inside.shape)][inside] = number


def tissue(shape: Shape, count: int, *, seed: int = 0) -> Image:
    """Make touching cells that fill the image: each voxel belongs to the nearest random point.

    Parameters
    ----------
    shape, seed
        As for `balls`.
    count
        How many cells, from 1 to the number of voxels.

    Returns
    -------
    array of int32
        Ids 1 … `count`, all of which occur; there is no background.

    Examples
    --------
    >>> import numpy as np
    >>> from panmatch.phantoms import tissue
    >>> np.unique(tissue((8, 8), 5)).tolist()
    [1, 2, 3, 4, 5]
    """
    from scipy.spatial import cKDTree

    lengths, rng = check_shape(shape), random_numbers(seed)
    image: Image = np.empty(lengths, dtype=np.int32)
    count = check_count("count", count, lowest=1, highest=image.size)
    # One point in each of `count` voxels, off centre so that no two distances tie.
    places = rng.choice(image.size, size=count, replace=False)
    corners = np.stack(np.unravel_index(places, lengths), axis=1)
    tree = cKDTree(corners + rng.uniform(-JITTER, JITTER, size=corners.shape))
    flat = image.reshape(-1)
    for start in range(0, flat.size, CHUNK):
        voxels = np.arange(start, min(start + CHUNK, flat.size))
        _, nearest = tree.query(np.stack(np.unravel_index(voxels, lengths), axis=1), workers=-1)
        flat[voxels] = nearest + 1
    return image


def cells(
    shape: Shape = (128, 128), n: int = 60, *, spacing: npt.ArrayLike | None = None, seed: int = 0
) -> Anatomy:
    """Make dense tissue of touching cells with nuclei, for the preset ``cells``.

    Unlike those of `tissue`, the cells are of similar size, have wavy walls and parts, and leave
    gaps.

    Parameters
    ----------
    shape
        Two or three lengths in voxels.
    n
        How many cells; 0 gives an empty image. Too many for the image are an `OptionError`.
    spacing, seed
        As for `brain_metastases`.

    Returns
    -------
    Anatomy
        `labels` has ids 1 … `n`, each a face-connected piece, and `parts` 1 in cytoplasm and 2
        in nuclei. A nucleus is one piece too, and lies wholly inside its cell.

    Examples
    --------
    >>> import numpy as np
    >>> from panmatch.phantoms import cells
    >>> slide = cells((64, 64), 20)
    >>> np.unique(slide.parts[slide.labels == 7]).tolist()
    [1, 2]
    >>> np.unique(slide.labels).tolist() == list(range(21))
    True
    """
    lengths, sizes, rng = check_grid(shape, spacing, seed)
    least = LEAST_SIDE ** len(lengths)
    most = int(np.prod(lengths) / (1 + GAPS)) // least
    if check_count("n", n) > most:
        raise OptionError(
            f"n={n} cells do not fit shape {lengths}: each needs {least} voxels on average, "
            f"plus the gaps. Pass {most} or fewer, or enlarge the image."
        )
    labels = _cells_with_walls(lengths, sizes, n, rng) if n else np.zeros(lengths, dtype=np.int32)
    parts: Image = (labels > 0).astype(np.int32)
    depth = edge_distances(labels, sizes, border=True)
    for number, box in number_objects(labels).boxes():
        inside = np.where(labels[box] == number, depth[box], 0)
        deepest = np.array(np.unravel_index(int(inside.argmax()), inside.shape))
        radius = float(inside.max() * rng.uniform(*NUCLEUS))
        nucleus = blob_mask(radius, NUCLEUS_ROUGHNESS, sizes, rng)
        centre = deepest + [side.start for side in box]
        parts[box_around(centre, nucleus.shape)][nucleus] = 2
    room = np.ones(lengths, dtype=np.bool_)
    return Anatomy(labels, parts, labels, room, tuple(sizes.tolist()), {}, CELL_PARTS, (1, 2))


def _cells_with_walls(
    lengths: tuple[int, ...], sizes: Floats, n: int, rng: np.random.Generator
) -> Image:
    """Return cells around `n` sites, and background around some more."""
    from scipy.spatial import cKDTree

    extent = np.array(lengths) * sizes
    sites = _even_sites(extent, n + round(GAPS * n), rng)
    diameter = float(np.prod(extent) / len(sites)) ** (1 / len(lengths))
    axes = [(np.arange(length) + 0.5) * size for length, size in zip(lengths, sizes, strict=True)]
    bent = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    for axis in range(len(lengths)):
        wave = waves_on_grid([along / diameter for along in axes], rng)
        bent[..., axis] += WAVINESS * diameter * (2 * wave - 1)
    _, nearest = cKDTree(sites).query(bent, workers=-1)
    labels: Image = nearest.astype(np.int32) + 1
    labels[labels > n] = 0
    keep_largest_pieces(labels, "faces")  # a wavy wall can cut voxels off
    return labels


def _even_sites(extent: Floats, count: int, rng: np.random.Generator) -> Floats:
    """Return points after moving each, round by round, to the middle of its nearest voxels."""
    from scipy.spatial import cKDTree

    sites = rng.uniform(size=(count, len(extent))) * extent
    for _ in range(ROUNDS):
        samples = rng.uniform(size=(SAMPLES * count, len(extent))) * extent
        nearest: Ints = cKDTree(sites).query(samples)[1]
        shares = np.maximum(np.bincount(nearest, minlength=count), 1)
        for axis, along in enumerate(samples.T):
            sites[:, axis] = np.bincount(nearest, along, minlength=count) / shares
    return rng.permutation(sites)
