"""Distances between boundaries, near and far, are those of a distance transform."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy import ndimage

from panmatch.labels import ObjectPairs, surface_distances

Mask = npt.NDArray[np.bool_]
SPACINGS = (None, (1.0, 2.0, 0.5), (0.976562, 5.0, 0.333333))


def boundary(mask: Mask) -> Any:
    inside = ndimage.binary_erosion(np.pad(mask, 1))[(slice(1, -1),) * mask.ndim]
    return mask & ~inside


def directed(start: Mask, goal: Mask, spacing: Any) -> Any:
    away = ndimage.distance_transform_edt(~boundary(goal), sampling=spacing)
    return np.sort(away[boundary(start)])


def whole(reference: Any, prediction: Any, *, labels: int = 1) -> ObjectPairs:
    """Return label 1 of the reference beside the first labels of the prediction."""
    return ObjectPairs(
        ref_ids=np.array([1]),
        pred_first=np.array([0, labels]),
        pred_ids=np.arange(1, labels + 1),
        start=np.zeros((1, reference.ndim), np.int64),
        stop=np.array([prediction.shape]),
    )


def check(reference: Any, prediction: Any, spacing: Any, *, labels: int = 1) -> None:
    pairs = whole(reference, prediction, labels=labels)
    masks = reference == 1, (prediction > 0) & (prediction <= labels)
    expected = directed(*masks, spacing), directed(*masks[::-1], spacing)
    found = [
        surface_distances(reference, prediction, pairs, spacing, threads=threads)
        for threads in (1, 3)
    ]
    sides = [(one.from_ref, one.from_pred) for one in found]
    for values, one, three in zip(expected, *sides, strict=True):
        np.testing.assert_allclose(one.values, values, rtol=1e-12, atol=0)
        assert one.values.tobytes() == three.values.tobytes()


def blob(shape: tuple[int, ...], density: float, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    smooth = ndimage.gaussian_filter(rng.uniform(size=shape), 1.0)
    return (smooth > np.quantile(smooth, 1 - density)).astype(np.uint8)


@pytest.mark.parametrize("spacing", SPACINGS)
@pytest.mark.parametrize("density", [0.02, 0.3, 0.8])
def test_in_rows_of_several_words(spacing: Any, density: float) -> None:
    shape = (9, 14, 150)
    check(blob(shape, density, 1), blob(shape, density, 2), spacing)


@pytest.mark.parametrize("axes", [1, 2, 4])
def test_with_any_number_of_axes(axes: int) -> None:
    shape = {1: (200,), 2: (20, 130), 4: (5, 4, 6, 70)}[axes]
    check(blob(shape, 0.1, 3), blob(shape, 0.1, 4), None)


@pytest.mark.parametrize("spacing", SPACINGS)
def test_to_a_boundary_that_is_far_away(spacing: Any) -> None:
    reference = np.zeros((20, 24, 80), np.uint8)
    reference[:8] = blob((8, 24, 80), 0.4, 5)
    prediction = np.zeros_like(reference)
    prediction[18, 3, 77] = prediction[19, 20, 2] = 1
    check(reference, prediction, spacing)


def test_to_a_single_voxel_across_a_long_row() -> None:
    reference, prediction = np.zeros((2, 3, 3, 400), np.uint8)
    reference[1, 1, :3], prediction[2, 0, 397] = 1, 1
    check(reference, prediction, None)


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.uint32, np.int64])
@pytest.mark.parametrize("labels", [3, 12])
def test_of_a_union_of_labels(dtype: Any, labels: int) -> None:
    shape = (8, 9, 100)
    pieces = np.random.default_rng(6).integers(1, 15, shape)
    prediction = (blob(shape, 0.5, 7) * pieces).astype(dtype)
    check(blob(shape, 0.4, 8).astype(dtype), prediction, None, labels=labels)


def test_of_images_that_do_not_lie_in_one_piece() -> None:
    reference, prediction = blob((18, 20, 140), 0.3, 9), blob((18, 20, 140), 0.3, 10)
    check(reference[::2, :, ::2], np.asfortranarray(prediction)[::2, :, ::2], None)


def test_large_and_small_objects_are_measured_alike_by_any_number_of_threads() -> None:
    reference = np.zeros((40, 40, 90), np.uint8)
    reference[:30, :30, :70], reference[35:38, 35:38, 80:84], reference[33, 2:5, 5:9] = 1, 2, 3
    prediction = np.roll(reference, 1, 2)
    start = np.array([[0, 0, 0], [35, 35, 80], [33, 2, 5]])
    stop = np.array([[30, 30, 71], [38, 38, 85], [34, 5, 10]])
    pairs = ObjectPairs(np.arange(1, 4), np.arange(4), np.arange(1, 4), start, stop)
    one, many = (surface_distances(reference, prediction, pairs, threads=n) for n in (1, 4))
    for row, label in enumerate((1, 2, 3)):
        values = one.from_ref.values[one.from_ref.first[row] : one.from_ref.first[row + 1]]
        expected = directed(reference == label, prediction == label, None)
        np.testing.assert_array_equal(values, expected)
    assert one.from_ref.values.tobytes() == many.from_ref.values.tobytes()
    assert one.from_pred.values.tobytes() == many.from_pred.values.tobytes()


@pytest.mark.parametrize("threads", [2, 4, 5, 9])
@pytest.mark.parametrize("spacing", [None, (0.976562, 5.0, 0.333333)])
def test_thousands_of_far_voxels_are_sorted_by_several_threads(threads: int, spacing: Any) -> None:
    """Both whole: parts are sorted, and merged in pieces, some of them between equal distances."""
    reference = np.zeros((60, 64, 180), np.uint8)
    reference[:50] = np.random.default_rng(11).random((50, 64, 180)) < 0.5
    prediction = np.zeros_like(reference)
    prediction[59, 60:, 30:34] = 1
    pairs = whole(reference, prediction)
    found = surface_distances(reference, prediction, pairs, spacing, threads=threads)
    expected = directed(reference == 1, prediction == 1, spacing)
    assert len(expected) > 8 << 15
    np.testing.assert_allclose(found.from_ref.values, expected, rtol=1e-12, atol=0)
    alone = surface_distances(reference, prediction, pairs, spacing, threads=1)
    assert found.from_ref.values.tobytes() == alone.from_ref.values.tobytes()
