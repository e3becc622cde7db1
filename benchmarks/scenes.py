"""The volumes that are timed."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from panmatch import phantoms

Labels = npt.NDArray[np.integer[Any]]
Pair = tuple[Labels, Labels]

RADII = {50: (20, 28), 64: (12, 24), 500: (10, 14), 512: (6, 12), 3000: (6, 8)}


@cache
def balls(instances: int) -> Pair:
    """Return 256³ int32: balls, and the same balls shifted by two voxels and renumbered."""
    reference = phantoms.balls((256, 256, 256), instances, radius=RADII[instances], seed=1)
    moved = phantoms.shift(reference, (1, -1, 2))
    return reference, phantoms.relabel(moved, seed=1, high=instances)


@cache
def scattered(instances: int) -> Labels:
    """Return 256³ int32: small balls far apart, so that most of the image is cells."""
    return phantoms.balls((256, 256, 256), instances, radius=(4, 14), seed=2)


@cache
def organs(count: int) -> Pair:
    """Return 256³ uint8: wavy ellipsoids, a single one being large, and others a little off."""
    rng = np.random.default_rng(5)
    reference, prediction = np.zeros((2, 256, 256, 256), np.uint8)
    low, high = (90, 110) if count == 1 else (12, 50)
    for label in range(1, count + 1):
        radii = rng.uniform(low, high, 3)
        centre = rng.uniform(118, 138, 3) if count == 1 else rng.uniform(40, 216, 3)
        reference[_organ(centre, radii) & (reference == 0)] = label
        centre, radii = centre + rng.uniform(-3, 3, 3), radii * rng.uniform(0.93, 1.07, 3)
        prediction[_organ(centre, radii) & (prediction == 0)] = label
    return reference, prediction


def _organ(centre: npt.NDArray[Any], radii: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    z, y, x = np.ogrid[:256, :256, :256]
    places = (z, y, x)
    away = sum(((at - c) / r) ** 2 for at, c, r in zip(places, centre, radii, strict=True))
    inside: npt.NDArray[np.bool_] = away < 1 + 0.08 * np.sin(x / 9) + 0.06 * np.sin(y / 7 + z / 11)
    return inside


def twice_as_large(pair: Pair) -> Pair:
    """Return 512³: every voxel of a 256³ pair becomes eight."""

    def enlarge(labels: Labels) -> Labels:
        for axis in range(labels.ndim):
            labels = np.repeat(labels, 2, axis)
        return labels

    return enlarge(pair[0]), enlarge(pair[1])


@cache
def cut_in_two(instances: int) -> Pair:
    """Return 256³ int32 with every prediction cut in two."""
    reference, prediction = balls(instances)
    return reference, phantoms.split(prediction, 2).astype(np.int32)


@cache
def dense_tissue(cells: int) -> Pair:
    """Return 128³ of touching cells, every one overlapping its neighbours' predictions."""
    reference = phantoms.tissue((128, 128, 128), cells, seed=3)
    return reference, phantoms.shift(reference, (2, 2, 2))


@cache
def street() -> Pair:
    """Return 1024 × 2048 int32 ids class × 1000 + instance: 60 segments of 20 classes."""
    segments = phantoms.tissue((1024, 2048), 60, seed=4)
    codes = np.concatenate([[0], np.arange(60) % 20 * 1000 + 1000 + np.arange(60) // 20 + 1])
    reference: Labels = codes.astype(np.int32)[segments]
    return reference, np.roll(reference, (5, 9), (0, 1))


def quarters(offset: int) -> Labels:
    """Return 1024 × 2048 part labels 1 to 4 in a pattern of squares."""
    y, x = np.mgrid[:1024, offset : 2048 + offset] // 40
    parts: Labels = (1 + y % 2 + 2 * (x % 2)).astype(np.uint8)
    return parts
