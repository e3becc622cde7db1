"""Dense tissue: cells that touch, each with a nucleus, and some gaps between them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from panmatch.errors import OptionError
from panmatch.labels import as_spacing, edge_distances
from panmatch.phantoms.anatomy import Anatomy, Image
from panmatch.phantoms.objects import Floats, Ints, number_objects
from panmatch.phantoms.options import check_count, check_shape, random_numbers
from panmatch.phantoms.outlines import blob_mask, waves_on_grid
from panmatch.phantoms.placement import box_around

PART_NAMES = {1: "cytoplasm", 2: "nucleus"}
GAPS = 0.12  # cells that are left out, as a share of those that are there
ROUNDS = 4  # of evening out the sites; more would make a honeycomb
SAMPLES = 60  # per site and round
WAVINESS = 0.12  # of walls, in cell diameters; above 0.2 they would fold
NUCLEUS = (0.50, 0.75)  # its radius, as a share of the largest ball inside the cell
ROUGHNESS = 0.3
LEAST_SIDE = 4  # voxels per cell and axis, on average


def cells(
    shape: Sequence[int] = (128, 128),
    n: int = 60,
    *,
    spacing: npt.ArrayLike | None = None,
    seed: int = 0,
) -> Anatomy:
    """Make dense tissue of touching cells with nuclei, for the preset ``cells``.

    In contrast to `tissue`, cells are of similar size, have wavy walls and parts, and leave gaps.

    Parameters
    ----------
    shape
        Two or three lengths in voxels.
    n
        How many cells; 0 gives an empty image.
    spacing
        Distance between voxels along each axis in mm; 1 by default.
    seed
        Equal seeds give equal images.

    Returns
    -------
    Anatomy
        `labels` has ids 1 … `n`, each a face-connected piece, and `parts` 1 in cytoplasm and 2
        in nuclei. A nucleus is one piece too, and lies wholly inside its cell.

    Raises
    ------
    OptionError
        For options out of range, and when there are too few voxels for so many cells.

    Examples
    --------
    >>> slide = cells((64, 64), 20)
    >>> np.unique(slide.parts[slide.labels == 7]).tolist()
    [1, 2]
    >>> np.unique(slide.labels).tolist() == list(range(21))
    True
    """
    lengths, rng = check_shape(shape), random_numbers(seed)
    sizes = as_spacing(spacing, len(lengths))
    n = check_count("n", n)
    _check_room(lengths, n)
    labels = _walls(lengths, sizes, n, rng) if n else np.zeros(lengths, dtype=np.int32)
    parts: Image = (labels > 0).astype(np.int32)
    depth = edge_distances(labels, sizes, border=True)
    for number, box in enumerate(number_objects(labels).boxes(), start=1):
        inside = np.where(labels[box] == number, depth[box], 0)
        deepest = np.array(np.unravel_index(int(inside.argmax()), inside.shape))
        radius = float(inside.max() * rng.uniform(*NUCLEUS))
        nucleus = blob_mask(radius, ROUGHNESS, sizes, rng)
        centre = deepest + [side.start for side in box]
        parts[box_around(centre, nucleus)][nucleus] = 2
    room = np.ones(lengths, dtype=np.bool_)
    return Anatomy(labels, parts, labels, room, tuple(sizes.tolist()), {}, PART_NAMES, (1, 2))


def _check_room(lengths: tuple[int, ...], n: int) -> None:
    most = int(np.prod(lengths) / (1 + GAPS)) // LEAST_SIDE ** len(lengths)
    if n > most:
        raise OptionError(
            f"n={n} cells do not fit shape {lengths}: each needs {LEAST_SIDE ** len(lengths)} "
            f"voxels on average, besides the gaps. Pass {most} or less, or enlarge the image."
        )


def _walls(lengths: tuple[int, ...], sizes: Floats, n: int, rng: np.random.Generator) -> Image:
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
    cells_and_gaps: Image = nearest.astype(np.int32) + 1
    cells_and_gaps[cells_and_gaps > n] = 0
    return _one_piece_each(cells_and_gaps)


def _even_sites(extent: Floats, count: int, rng: np.random.Generator) -> Floats:
    """Return points that move, round by round, to the middle of what is nearest to them."""
    from scipy.spatial import cKDTree

    sites = rng.uniform(size=(count, len(extent))) * extent
    for _ in range(ROUNDS):
        samples = rng.uniform(size=(SAMPLES * count, len(extent))) * extent
        nearest: Ints = cKDTree(sites).query(samples)[1]
        found = np.maximum(np.bincount(nearest, minlength=count), 1)
        for axis, along in enumerate(samples.T):
            sites[:, axis] = np.bincount(nearest, along, minlength=count) / found
    return rng.permutation(sites)


def _one_piece_each(labels: Image) -> Image:
    """Return the cells without the voxels that a wavy wall cut off from the rest."""
    from scipy.ndimage import label

    objects = number_objects(labels)
    for number, box in enumerate(objects.boxes(), start=1):
        around = labels[box]
        pieces, count = label(around == objects.ids[number - 1])
        if count > 1:
            largest = np.bincount(pieces.ravel())[1:].argmax() + 1
            around[(pieces > 0) & (pieces != largest)] = 0
    return labels
