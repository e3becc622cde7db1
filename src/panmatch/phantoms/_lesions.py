"""Anatomies with lesions: brain metastases in three layers, and liver lesions.

Both are semantic images: each lesion is one connected component, and no two of them touch.
"""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from panmatch.errors import OptionError
from panmatch.labels import connected_components
from panmatch.phantoms._anatomy import Anatomy
from panmatch.phantoms._objects import Floats, Image, Mask, keep_largest_pieces
from panmatch.phantoms._options import Radius, Shape, check_count, check_grid, check_radius
from panmatch.phantoms._shapes import (
    LESION_ROUGHNESS,
    Balls,
    blob_mask,
    box_around,
    layered_blob,
    scatter,
    waves_on_grid,
)

BRAIN_NAMES = {1: "necrosis", 2: "oedema", 3: "enhancing tumour"}
BRAIN_LAYERS = (2, 3, 1)
BRAIN_RADIUS = 0.94  # of half the image, along every axis
LIVER_NAMES = {1: "liver", 2: "lesion"}
# Centre and radii, along (slices, front to back, side to side), in halves of the image: a large
# right lobe, which pictures show on the left, and a flat left lobe that tapers off in front of it.
LIVER_LOBES = (
    ((0.05, 0.10, -0.38), (0.82, 0.78, 0.50)),
    ((-0.15, -0.28, 0.05), (0.62, 0.42, 0.62)),
    ((-0.20, -0.42, 0.48), (0.42, 0.22, 0.42)),
)
BLENDING = 6.0  # how sharply lobes meet: a higher number leaves deeper folds
UNEVENNESS = 0.35
SPREAD = 2.0  # the bounds of radii lie so many standard deviations from the median


def brain_metastases(
    shape: Shape = (96, 112, 96),
    n: int = 12,
    *,
    radius_mm: Radius = (1.5, 13.0),
    spacing: npt.ArrayLike | None = None,
    seed: int = 0,
) -> Anatomy:
    """Make a brain with metastases, in the labels of the preset ``brats-mets``.

    Every metastasis is enhancing tumour (3) surrounded by oedema (2); in larger ones the enhancing
    tumour is a rim around a necrotic core (1). The brain has no label: it is `Anatomy.room`, an
    ellipsoid.

    Parameters
    ----------
    shape
        Two or three lengths in voxels.
    n
        How many metastases; 0 gives an empty image.
    radius_mm
        Smallest and largest radius of the balls around metastases, including oedema. Radii are
        log-normal: a few are large, and many are small. With two or more metastases, both bounds
        occur. A ball is never smaller than a voxel and its nearest neighbours.
    spacing
        Distance between voxels along each axis in mm; 1 by default.
    seed
        Equal seeds give equal images.

    Returns
    -------
    Anatomy
        Components of everything that is not 0 are the metastases.

    Raises
    ------
    OptionError
        For options out of range, and if there is no room for that many metastases of this size.

    Examples
    --------
    >>> import numpy as np
    >>> from panmatch.phantoms import brain_metastases
    >>> brain = brain_metastases((48, 56, 48), 5, radius_mm=(1.5, 8))
    >>> np.unique(brain.labels).tolist(), int(brain.objects.max())
    ([0, 1, 2, 3], 5)
    >>> bool(brain.room[brain.labels > 0].all())
    True
    """
    lengths, sizes, rng = check_grid(shape, spacing, seed)
    squares = sum((along / BRAIN_RADIUS) ** 2 for along in _from_centre(lengths))
    brain: Mask = np.less_equal(squares, 1)
    labels: Image = np.zeros(lengths, dtype=np.int32)
    for centre, radius in _place_lesions(brain, n, radius_mm, sizes, rng):
        lesion = layered_blob(radius, BRAIN_LAYERS, sizes, rng)
        labels[box_around(centre, lesion.shape)] += lesion  # balls are apart: elsewhere it adds 0
    objects, voxel = connected_components(labels).astype(np.int32), tuple(sizes.tolist())
    return Anatomy(labels, None, objects, brain, voxel, BRAIN_NAMES, {}, BRAIN_LAYERS)


def liver_lesions(
    shape: Shape = (64, 112, 128),
    n: int = 10,
    *,
    radius_mm: Radius = (1.5, 10.0),
    spacing: npt.ArrayLike | None = None,
    seed: int = 0,
) -> Anatomy:
    """Make a liver (1) with lesions (2) inside, in the labels of the preset ``liver-lesions``.

    Parameters
    ----------
    shape
        Two lengths in voxels, front to back and side to side, or three, the slices first.
    n, radius_mm, spacing, seed
        As for `brain_metastases`. The seed also determines the surface of the liver.

    Returns
    -------
    Anatomy
        Components of label 2 are the lesions; `Anatomy.room` is the liver with its lesions.

    Examples
    --------
    >>> import numpy as np
    >>> from panmatch.phantoms import liver_lesions
    >>> liver = liver_lesions((64, 64), 4, radius_mm=(1, 4))
    >>> np.unique(liver.labels).tolist(), int(liver.objects.max())
    ([0, 1, 2], 4)
    """
    lengths, sizes, rng = check_grid(shape, spacing, seed)
    labels = _liver(lengths, rng)
    liver = labels > 0
    for centre, radius in _place_lesions(liver, n, radius_mm, sizes, rng):
        lesion = blob_mask(radius, LESION_ROUGHNESS, sizes, rng)
        labels[box_around(centre, lesion.shape)][lesion] = 2
    objects, voxel = connected_components(labels == 2).astype(np.int32), tuple(sizes.tolist())
    return Anatomy(labels, None, objects, liver, voxel, LIVER_NAMES, {}, (2,), host=1)


def _liver(shape: tuple[int, ...], rng: np.random.Generator) -> Image:
    """Return 1 in a liver of three lobes that blend into each other, with an uneven surface."""
    grid = _from_centre(shape)
    depth = np.zeros(shape)
    for centre, radii in LIVER_LOBES:
        parts = zip(grid, centre[-len(shape) :], radii[-len(shape) :], strict=True)
        squares = sum(((along - middle) / radius) ** 2 for along, middle, radius in parts)
        depth += np.exp(BLENDING * (1 - squares))
    surface = np.log(depth) / BLENDING
    uneven = UNEVENNESS * (2 * waves_on_grid([along.ravel() for along in grid], rng) - 1)
    liver: Image = (surface > uneven).astype(np.int32)
    keep_largest_pieces(liver, "faces")
    return liver


def _from_centre(shape: tuple[int, ...]) -> list[Floats]:
    """Return the position along each axis, in halves of the image, so that voxels lie in ±1."""
    grid = np.ogrid[tuple(map(slice, shape))]
    return [(2 * along + 1 - length) / length for along, length in zip(grid, shape, strict=True)]


def _place_lesions(
    organ: Mask, n: int, radius_mm: Radius, sizes: Floats, rng: np.random.Generator
) -> Balls:
    """Place `n` balls that lie inside the organ and never touch; radii are log-normal."""
    n, bounds = check_count("n", n), check_radius(radius_mm, "radius_mm")
    if bounds[0] == 0:
        raise OptionError(
            f"radius_mm={radius_mm!r} starts at 0, but a log-normal radius is never 0; pass a "
            "positive smallest radius, such as the finest spacing."
        )
    low, high = np.log(bounds)
    edge = NormalDist().cdf(-SPREAD)
    # Evenly spread quantiles, slightly off.
    quantiles = np.linspace(edge, 1 - edge, n) if n > 1 else np.full(n, 0.5)
    inner = quantiles[1:-1]
    inner += rng.uniform(-0.5, 0.5, len(inner)) * (1 - 2 * edge) / max(n - 1, 1)
    deviates = np.array([NormalDist().inv_cdf(quantile) for quantile in quantiles])
    share = np.clip(deviates / SPREAD, -1, 1)
    radii = rng.permutation(np.exp((low + high + share * (high - low)) / 2))
    nothing = np.zeros_like(organ)
    balls = scatter(organ, np.maximum(radii, sizes.min()), sizes, rng, avoid=nothing)
    if len(balls) < n:
        raise OptionError(
            f"n={n} lesions do not fit: there was room for {len(balls)} of them in "
            f"shape {organ.shape} with spacing {tuple(sizes.tolist())}. Lower n or radius_mm, or "
            "enlarge the image."
        )
    return balls
