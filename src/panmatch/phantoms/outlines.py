"""Irregular outlines: smooth random functions, and the blobs and layers that they bound."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from panmatch.labels import edge_distances
from panmatch.phantoms.objects import Floats
from panmatch.phantoms.placement import ball_mask

Mask = npt.NDArray[np.bool_]
Layers = npt.NDArray[np.int32]

WAVES = 5  # enough that no two outlines look alike, few enough that they stay smooth
BENDS = (2.0, 5.0)  # how often an outline bends, from two lobes to about five
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
    """Return the same for all points of a grid, which is many times faster.

    Parameters
    ----------
    axes
        Positions along each axis, as for `waves`; each has one axis of its own.
    rng
        Source of the function.

    Returns
    -------
    array of float64
        Its shape has the lengths of `axes`.

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
    """Return the part of `ball_mask` inside a random outline, without stray voxels.

    Parameters
    ----------
    radius
        Of the ball, in the units of `sizes`.
    roughness
        By direction, the outline lies between ``(1 - roughness) * radius`` and ``radius``.
    sizes
        Distance between voxels along each axis.
    rng
        Source of the outline.
    """
    inside = ball_mask(radius, len(sizes), sizes)
    offsets = (np.argwhere(inside) - np.array(inside.shape) // 2) * sizes
    distance = np.linalg.norm(offsets, axis=1)
    directions = offsets / np.maximum(distance, sizes.min())[:, None]
    dent = waves(directions, rng)
    inside[inside] = distance <= radius * (1 - roughness * dent)
    return _piece_at_centre(inside)


def layered_blob(
    radius: float, roughness: float, sizes: Floats, rng: np.random.Generator
) -> Layers:
    """Return a blob in layers: 1 outside, 2 inside it, and 3 inside that where there is space.

    Each layer has an outline of its own and is wrapped in the one around it: between a layer and
    the next but one there is always more than the finest spacing.

    Parameters
    ----------
    radius
        Of the ball around the blob, in the units of `sizes`; at least the finest spacing.
    roughness, sizes, rng
        As for `blob_mask`.

    Examples
    --------
    >>> layered_blob(1, 0.3, np.ones(2), np.random.default_rng(0)).tolist()
    [[0, 1, 0], [1, 2, 1], [0, 1, 0]]
    """
    outer = blob_mask(radius, roughness, sizes, rng)
    # What dents leave of a small blob must still hold a second layer.
    outer |= ball_mask(radius, len(sizes), sizes) & _near_centre(outer.shape, sizes)
    middle = _wrapped(outer, INNER * radius, roughness, sizes, rng)
    layers: Layers = outer.astype(np.int32) + middle
    if INNER * radius >= CORE_FROM * sizes.min():
        layers += _wrapped(middle, INNER**2 * radius, roughness, sizes, rng)
    return layers


def label_layers(layers: Layers, labels: Sequence[int]) -> Layers:
    """Return layers under their labels, from outside to inside; the last one serves for all more.

    Examples
    --------
    >>> label_layers(np.array([0, 1, 2, 3, 2, 1], dtype=np.int32), [7, 9]).tolist()
    [0, 7, 9, 9, 9, 7]
    """
    label_of = np.array([0, *labels], dtype=np.int32)
    return label_of[np.minimum(layers, len(labels))]


def _draw_waves(ndim: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    headings = rng.normal(size=(WAVES, ndim))
    headings *= (rng.uniform(*BENDS, WAVES) / np.linalg.norm(headings, axis=1))[:, None]
    return headings, rng.uniform(0, 2 * np.pi, WAVES)


def _wrapped(
    outer: Mask, radius: float, roughness: float, sizes: Floats, rng: np.random.Generator
) -> Mask:
    """Return a blob of its own outline about the middle of `outer`, off the edge of `outer`."""
    inside = np.zeros_like(outer)
    blob = blob_mask(radius, roughness, sizes, rng)
    middle = zip(outer.shape, blob.shape, strict=True)
    inside[tuple(slice((a - b) // 2, (a + b) // 2) for a, b in middle)] = blob
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
