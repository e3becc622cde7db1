"""Irregular outlines: smooth random functions, and the blobs and layers that they bound.

`sizes` is the distance between voxels along each axis, the unit of all lengths.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from panmatch.labels import edge_distances
from panmatch.phantoms._objects import Floats, Image, Mask
from panmatch.phantoms._placement import ball_mask

WAVES = 5  # enough that no two outlines look alike, few enough that they stay smooth
BENDS = (2.0, 5.0)  # how often an outline bends, from two lobes to about five
LESION_ROUGHNESS = 0.45
INNER = 0.62  # radius of a layer, as a share of the one around it
CORE_FROM = 3.0  # radius of a layer, in units of the finest spacing, from which it has a third


def waves(points: Floats, rng: np.random.Generator) -> Floats:
    """Return a random smooth function of points with values in [0, 1].

    Parameters
    ----------
    points
        Shape (count, ndim): directions, or positions in units of the length over which the
        function is to change.
    rng
        Source of the function; it draws the same whatever the points.
    """
    headings, phases = _draw_waves(points.shape[1], rng)
    mean: Floats = np.cos(points @ headings.T + phases).mean(axis=1)
    return (1 + mean) / 2


def waves_on_grid(axes: Sequence[Floats], rng: np.random.Generator) -> Floats:
    """Return the same for all points of a grid, many times faster.

    `axes` has the positions along each axis; their lengths are the shape of the result.

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

    By direction, the outline lies between ``(1 - roughness) * radius`` and ``radius``.
    """
    inside = ball_mask(radius, sizes)
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
    """Return a blob in two layers, or three where there is space, each with its own outline.

    Each layer is wrapped in the one around it: between a layer and the next but one there is
    always more than the finest spacing.

    Parameters
    ----------
    radius
        Of the ball around the blob; at least the finest spacing.
    labels
        Labels of the layers, from outside to inside; the last one serves for all others.
    sizes, rng
        As for `blob_mask`.

    Examples
    --------
    >>> layered_blob(1, [7, 9], np.ones(2), np.random.default_rng(0)).tolist()
    [[0, 7, 0], [7, 9, 7], [0, 7, 0]]
    """
    outer = blob_mask(radius, LESION_ROUGHNESS, sizes, rng)
    # What dents leave of a small blob must still hold a second layer.
    outer |= ball_mask(radius, sizes) & _near_centre(outer.shape, sizes)
    middle = _wrapped(outer, INNER * radius, sizes, rng)
    layers = outer.astype(np.int32) + middle
    if INNER * radius >= CORE_FROM * sizes.min():
        layers += _wrapped(middle, INNER**2 * radius, sizes, rng)
    return np.array([0, *labels], dtype=np.int32)[np.minimum(layers, len(labels))]


def _draw_waves(ndim: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    headings = rng.normal(size=(WAVES, ndim))
    headings *= (rng.uniform(*BENDS, WAVES) / np.linalg.norm(headings, axis=1))[:, None]
    return headings, rng.uniform(0, 2 * np.pi, WAVES)


def _wrapped(outer: Mask, radius: float, sizes: Floats, rng: np.random.Generator) -> Mask:
    """Return a blob about the middle of `outer`, off its edge."""
    inside = np.zeros_like(outer)
    blob = blob_mask(radius, LESION_ROUGHNESS, sizes, rng)
    lengths = zip(outer.shape, blob.shape, strict=True)
    inside[tuple(slice((a - b) // 2, (a + b) // 2) for a, b in lengths)] = blob
    depth = edge_distances(outer, sizes, border=True)
    return _piece_at_centre(inside & (depth > sizes.min() * (1 + 1e-9)))


def _near_centre(shape: tuple[int, ...], sizes: Floats) -> Mask:
    """Return the voxels that are no farther from the middle than the finest spacing."""
    offsets = (np.indices(shape).T - np.array(shape) // 2) * sizes
    near: Mask = sizes.min() * (1 + 1e-9) >= np.linalg.norm(offsets, axis=-1).T
    return near


def _piece_at_centre(inside: Mask) -> Mask:
    """Return the face-connected piece at the middle.

    The tip of a narrow lobe can lose touch with the rest once it is cut into voxels.
    """
    from scipy.ndimage import label

    pieces, _ = label(inside)
    connected: Mask = pieces == pieces[tuple(length // 2 for length in inside.shape)]
    return connected
