"""Columns that are settled together, and those that are not, give the same exact results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import ndimage

from panmatch.labels import edge_distances, nearest_labels

SHAPES = [(60, 75), (30, 41, 67), (40, 9, 8), (33, 64, 2), (5, 6, 7, 20)]
SPACINGS = {2: (1.0, 3.0), 3: (0.7, 1.5, 1.0), 4: (1.0, 2.0, 1.0, 2.0)}


def scattered(shape: tuple[int, ...], share: float, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    return rng.integers(1, 8, shape) * (rng.uniform(size=shape) < share)


def squared_steps(mask: Any, steps: Any) -> Any:
    """Return squared distances to a mask, in whole steps and therefore exact."""
    if not mask.any():
        return np.full(mask.shape, np.inf)
    return np.rint(ndimage.distance_transform_edt(~mask, sampling=steps) ** 2)


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.int32, np.int64])
@pytest.mark.parametrize("shape", SHAPES)
def test_ties_go_to_the_smaller_label_in_columns_together(
    shape: tuple[int, ...], dtype: Any
) -> None:
    for share in (0.0005, 0.01, 0.3):
        labels = scattered(shape, share, 1).astype(dtype)
        labels.flat[7] = 5
        squares = np.stack([squared_steps(labels == label, 1) for label in range(1, 8)])
        expected = 1 + squares.argmin(0)
        for threads in (1, 3):
            np.testing.assert_array_equal(nearest_labels(labels, threads=threads), expected)


@pytest.mark.parametrize("shape", SHAPES)
def test_ties_with_a_spacing(shape: tuple[int, ...]) -> None:
    spacing = SPACINGS[len(shape)]
    steps = [round(10 * step) for step in spacing]
    labels = scattered(shape, 0.01, 2).astype(np.uint16)
    squares = np.stack([squared_steps(labels == label, steps) for label in range(1, 8)])
    np.testing.assert_array_equal(nearest_labels(labels, spacing), 1 + squares.argmin(0))


def test_rows_and_planes_without_a_segment_stay_apart() -> None:
    labels = np.zeros((40, 50, 33), np.uint8)
    labels[3, 4, 5], labels[30, 44, 20] = 9, 2
    squares = np.stack([squared_steps(labels == label, 1) for label in (2, 9)])
    np.testing.assert_array_equal(nearest_labels(labels), np.array([2, 9])[squares.argmin(0)])
    assert not nearest_labels(np.zeros((40, 50, 33), np.uint8)).any()


@pytest.mark.parametrize("border", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("share", [0.2, 0.97])
def test_distances_within_labels_that_touch_and_labels_that_do_not(
    shape: tuple[int, ...], share: float, border: bool
) -> None:
    spacing = SPACINGS[len(shape)]
    coarse = scattered(tuple(-(-n // 4) for n in shape), share, 3)
    labels = coarse
    for axis, n in enumerate(shape):
        labels = np.repeat(labels, 4, axis).take(range(n), axis)
    inside = (slice(1, -1),) * labels.ndim if border else ...
    expected = np.zeros(shape)
    for label in range(1, 8):
        mask = np.pad(labels == label, int(border))
        away = ndimage.distance_transform_edt(mask, sampling=spacing)[inside]
        expected[labels == label] = away[labels == label]
    for threads in (1, 3):
        found = edge_distances(labels, spacing, border=border, threads=threads)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=0)
