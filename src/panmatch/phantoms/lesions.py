"""Anatomies with lesions: brain metastases in three layers, and lesions of the liver.

Both are semantic images: each lesion is one connected component, and no two of them touch.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from panmatch.errors import OptionError
from panmatch.labels import as_spacing, connected_components
from panmatch.phantoms.anatomy import Anatomy, Image, Mask, as_image
from panmatch.phantoms.objects import Floats, Ints
from panmatch.phantoms.options import Radius, check_count, check_radius, check_shape, random_numbers
from panmatch.phantoms.organs import brain_mask, liver_mask
from panmatch.phantoms.outlines import blob_mask, label_layers, layered_blob
from panmatch.phantoms.placement import box_around
from panmatch.phantoms.scattering import scatter

BRAIN_NAMES = {1: "necrosis", 2: "oedema", 3: "enhancing tumour"}
BRAIN_LAYERS = (2, 3, 1)
LIVER_NAMES = {1: "liver", 2: "lesion"}
ROUGHNESS = 0.45
SPREAD = 2.0  # the bounds of radii lie so many standard deviations from the median


def brain_metastases(
    shape: Sequence[int] = (96, 112, 96),
    n: int = 12,
    *,
    radius_mm: Radius = (1.5, 13.0),
    spacing: npt.ArrayLike | None = None,
    seed: int = 0,
) -> Anatomy:
    """Make a brain with metastases, in the labels of the preset ``brats-mets``.

    Every metastasis is oedema (2) all around enhancing tumour (3); in larger ones that is a rim
    around a necrotic core (1). The brain has no label: it is `Anatomy.room`, an ellipsoid.

    Parameters
    ----------
    shape
        Two or three lengths in voxels.
    n
        How many metastases; 0 gives an empty image.
    radius_mm
        Lowest and highest radius of the balls around metastases, oedema included. Radii are
        log-normal, so that a few are large and many small; the bounds themselves occur as soon as
        there are two. A ball is never smaller than a voxel and its nearest neighbours.
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
        For options out of range, and when there is no room for so many metastases of this size.

    Examples
    --------
    >>> brain = brain_metastases((48, 56, 48), 5, radius_mm=(1.5, 8))
    >>> np.unique(brain.labels).tolist(), int(brain.objects.max())
    ([0, 1, 2, 3], 5)
    >>> bool(brain.room[brain.labels > 0].all())
    True
    """
    lengths, rng = check_shape(shape), random_numbers(seed)
    sizes = as_spacing(spacing, len(lengths))
    brain = brain_mask(lengths)
    radii = _log_normal(check_count("n", n), _check_positive(radius_mm), rng)
    labels: Image = np.zeros(lengths, dtype=np.int32)
    for centre, radius in _place_in(brain, radii, sizes, rng):
        layers = layered_blob(radius, ROUGHNESS, sizes, rng)
        labels[box_around(centre, layers)][layers > 0] = label_layers(layers, BRAIN_LAYERS)[
            layers > 0
        ]
    objects = as_image(connected_components(labels))
    return Anatomy(labels, None, objects, brain, _as_tuple(sizes), BRAIN_NAMES, {}, BRAIN_LAYERS)


def liver_lesions(
    shape: Sequence[int] = (64, 112, 128),
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
        As for `brain_metastases`. The seed decides about the surface of the liver, too.

    Returns
    -------
    Anatomy
        Components of label 2 are the lesions; `Anatomy.room` is the liver with its lesions.

    Raises
    ------
    OptionError
        As for `brain_metastases`.

    Examples
    --------
    >>> liver = liver_lesions((64, 64), 4, radius_mm=(1, 4))
    >>> np.unique(liver.labels).tolist(), int(liver.objects.max())
    ([0, 1, 2], 4)
    """
    lengths, rng = check_shape(shape), random_numbers(seed)
    sizes = as_spacing(spacing, len(lengths))
    liver = liver_mask(lengths, rng)
    radii = _log_normal(check_count("n", n), _check_positive(radius_mm), rng)
    labels: Image = liver.astype(np.int32)
    for centre, radius in _place_in(liver, radii, sizes, rng):
        lesion = blob_mask(radius, ROUGHNESS, sizes, rng)
        labels[box_around(centre, lesion)][lesion] = 2
    objects = as_image(connected_components(labels == 2))
    return Anatomy(labels, None, objects, liver, _as_tuple(sizes), LIVER_NAMES, {}, (2,), host=1)


def _log_normal(n: int, bounds: Radius, rng: np.random.Generator) -> Floats:
    """Return `n` log-normal radii in random order: evenly spread quantiles, slightly off."""
    low, high = np.log(bounds)
    edge = NormalDist().cdf(-SPREAD)
    quantiles = np.linspace(edge, 1 - edge, n) if n > 1 else np.full(n, 0.5)
    inner = quantiles[1:-1]
    inner += rng.uniform(-0.5, 0.5, len(inner)) * (1 - 2 * edge) / max(n - 1, 1)
    deviates = np.array([NormalDist().inv_cdf(quantile) for quantile in quantiles])
    share = np.clip(deviates / SPREAD, -1, 1)
    return rng.permutation(np.exp((low + high + share * (high - low)) / 2))


def _place_in(
    organ: Mask, radii: Floats, sizes: Floats, rng: np.random.Generator
) -> list[tuple[Ints, float]]:
    """Return centres and radii of balls that lie inside the organ and never touch."""
    found = scatter(organ, np.maximum(radii, sizes.min()), sizes, rng)
    if len(found) < len(radii):
        raise OptionError(
            f"n={len(radii)} lesions do not fit: {len(found)} found room, the largest first, in "
            f"shape {organ.shape} with spacing {_as_tuple(sizes)}. Lower n or radius_mm, or "
            "enlarge the image."
        )
    return found


def _check_positive(radius_mm: Radius) -> Radius:
    low, high = check_radius(radius_mm, "radius_mm")
    if low == 0:
        raise OptionError(
            f"radius_mm={radius_mm!r} begins at 0, which no log-normal radius reaches; pass a "
            "positive lowest radius, such as the finest spacing."
        )
    return low, high


def _as_tuple(sizes: Floats) -> tuple[float, ...]:
    return tuple(sizes.tolist())
