"""The organs in which lesions lie, as masks that scale with the image."""

from __future__ import annotations

import numpy as np

from panmatch.labels import connected_components
from panmatch.phantoms.objects import Floats
from panmatch.phantoms.outlines import Mask, waves_on_grid

BRAIN_RADIUS = 0.94  # of half the image, along every axis
# Centre and radii, along (slices, front to back, side to side), in halves of the image: a large
# right lobe, which pictures show on the left, and a flat left lobe that tapers off in front of it.
LIVER_LOBES = (
    ((0.05, 0.10, -0.38), (0.82, 0.78, 0.50)),
    ((-0.15, -0.28, 0.05), (0.62, 0.42, 0.62)),
    ((-0.20, -0.42, 0.48), (0.42, 0.22, 0.42)),
)
BLENDING = 6.0  # how sharply lobes meet: higher leaves deeper folds
UNEVENNESS = 0.35


def brain_mask(shape: tuple[int, ...]) -> Mask:
    """Return an ellipsoid that nearly fills the image.

    Examples
    --------
    >>> brain_mask((3, 5)).astype(int).tolist()
    [[0, 1, 1, 1, 0], [1, 1, 1, 1, 1], [0, 1, 1, 1, 0]]
    """
    squares = np.zeros((1,) * len(shape))
    for along in _from_centre(shape):
        squares = squares + (along / BRAIN_RADIUS) ** 2
    inside: Mask = squares <= 1
    return inside


def liver_mask(shape: tuple[int, ...], rng: np.random.Generator) -> Mask:
    """Return a liver of three lobes that melt into each other, with an uneven surface.

    Two axes are a cross-section, front to back and side to side; three begin with the slices.
    """
    grid = _from_centre(shape)
    depth = np.zeros(shape)
    for centre, radii in LIVER_LOBES:
        parts = zip(grid, centre[-len(shape) :], radii[-len(shape) :], strict=True)
        squares = sum(((along - middle) / radius) ** 2 for along, middle, radius in parts)
        depth += np.exp(BLENDING * (1 - squares))
    surface = np.log(depth) / BLENDING
    uneven = UNEVENNESS * (2 * waves_on_grid([along.ravel() for along in grid], rng) - 1)
    return _largest_piece(surface > uneven)


def _from_centre(shape: tuple[int, ...]) -> list[Floats]:
    """Return the position along each axis, in halves of the image, so that voxels lie in ±1."""
    grid = np.ogrid[tuple(slice(length) for length in shape)]
    return [(2 * along + 1 - length) / length for along, length in zip(grid, shape, strict=True)]


def _largest_piece(inside: Mask) -> Mask:
    pieces = connected_components(inside, "faces")
    sizes = np.bincount(pieces.ravel())
    sizes[0] = 0
    largest: Mask = pieces == sizes.argmax() if sizes.any() else inside
    return largest
