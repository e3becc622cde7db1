"""Sites on small grids whose distances have ties, and the nearest of them in whole numbers (D8)."""

from __future__ import annotations

from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
import numpy.typing as npt

Labels = npt.NDArray[Any]
Spacing = tuple[str, ...]

SPACINGS: list[Spacing] = [
    ("0.1", "0.5"),
    ("0.3", "0.1"),
    ("0.6", "0.8"),
    ("0.742188", "1.25"),
    ("0.123456789", "1.1"),
    ("0.3333333", "0.9999999"),
    ("0.123456789012345", "0.37037036703703"),
    ("0.3", "0.7", "1.1"),
    ("0.6", "0.6", "3"),
    ("0.7", "0.7", "0.7"),
    ("0.742188", "0.742188", "5"),
    ("0.1", "0.2", "0.3"),
    ("0.976562", "1.953124", "0.976562"),
    ("0.976562", "1.953124", "1.234567"),
]


def numbers(spacing: Spacing) -> tuple[float, ...]:
    return tuple(map(float, spacing))


def whole_weights(spacing: Spacing) -> list[int]:
    """Squared spacings in whole multiples of one unit, from the decimals as they are written."""
    steps = [Fraction(step) for step in spacing]
    unit = lcm(*(step.denominator for step in steps))
    return [int(step * unit) ** 2 for step in steps]


def by_fractions(labels: Labels, spacing: Spacing) -> Labels:
    """Every voxel against every site, in Python's integers; ties to the smaller label."""
    sites, ids = np.argwhere(labels), labels[labels != 0]
    weights = np.array(whole_weights(spacing), object)
    gaps = np.indices(labels.shape).reshape(labels.ndim, -1, 1) - sites.T[:, np.newaxis]
    squares = np.tensordot(weights, gaps.astype(object) ** 2, 1)
    nearest = squares == squares.min(1, keepdims=True)
    found = np.where(nearest, ids.astype(np.int64), np.iinfo(np.int64).max).min(1)
    return np.asarray(found.reshape(labels.shape), labels.dtype)


def sparse_labels(rng: np.random.Generator, ndim: int) -> Labels:
    """A few sites with numbers in any order: many points have two or three as near."""
    shape = tuple(rng.integers(2, (20, 11, 7)[ndim - 1], ndim).tolist())
    labels = np.zeros(shape, np.uint8)
    places = rng.permutation(labels.size)[: rng.integers(2, 7)]
    labels.flat[places] = rng.permutation(len(places)) + 1
    return labels
