"""Squared distances are compared in short or long whole numbers: both give the exact result."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from panmatch import native
from panmatch.labels import edge_distances, nearest_labels

Numbers = npt.NDArray[np.int64]

SHORT, LONG = (1, 1), (491401, 2247001)  # weights whose squares need keys of 32 and of 64 bits
SHAPES = [(1, 9), (2, 8), (3, 70), (5, 3), (9, 2), (34, 17), (65, 24), (257, 11), (600, 9)]


def squares_between(shape: tuple[int, ...], weights: tuple[int, ...], sites: Numbers) -> Numbers:
    """Return the squared distance of every voxel, in C order, to every site."""
    voxels = np.indices(shape).reshape(len(shape), -1).T
    away = (voxels[:, None, :] - sites[None, :, :]) ** 2
    return away @ np.array(weights, np.int64)


def by_brute_force(labels: Any, weights: tuple[int, ...]) -> Any:
    squares = squares_between(labels.shape, weights, np.argwhere(labels))
    nearest = squares == squares.min(1, keepdims=True)
    largest = np.iinfo(labels.dtype).max
    return np.where(nearest, labels[labels != 0], largest).min(1).reshape(labels.shape)


def settled(labels: Any, weights: tuple[int, ...], threads: int = 1) -> Any:
    regions = np.empty_like(labels)
    native.nearest_labels(labels, regions, np.array(weights, np.float64), None, threads)
    return regions


def sparse(shape: tuple[int, ...], share: float, seed: int, dtype: Any = np.uint32) -> Any:
    rng = np.random.default_rng(seed)
    labels = rng.integers(1, 6, shape) * (rng.uniform(size=shape) < share)
    labels.flat[rng.integers(labels.size)] = 3
    return labels.astype(dtype)


def edges_by_brute_force(labels: Any, weights: tuple[int, ...]) -> Any:
    """Return squared distances to the nearest voxel with another label."""
    everywhere = np.argwhere(np.ones_like(labels))
    squares = squares_between(labels.shape, weights, everywhere).astype(np.float64)
    squares[labels.reshape(-1, 1) == labels.reshape(1, -1)] = np.inf
    return np.where(labels == 0, 0, squares.min(1).reshape(labels.shape))


def test_every_short_row_is_filled_by_its_nearest_segments() -> None:
    for n in range(1, 8):
        for row in product((0, 1, 2), repeat=n):
            labels = np.array(row, np.uint8)
            expected = by_brute_force(labels, (1,)) if labels.any() else labels
            np.testing.assert_array_equal(nearest_labels(labels), expected)


def test_gaps_that_are_longer_than_the_squares_that_are_kept() -> None:
    labels = np.zeros((2, 20_000), np.uint8)
    labels[0, 5000], labels[0, 14_001], labels[1, 9500] = 2, 1, 3
    expected = by_brute_force(labels, (1, 1))
    np.testing.assert_array_equal(settled(labels, (1, 1)), expected)
    np.testing.assert_array_equal(settled(labels[:, ::-1].copy(), (1, 1)), expected[:, ::-1])


@pytest.mark.parametrize("weights", [SHORT, LONG])
@pytest.mark.parametrize("shape", SHAPES)
def test_keys_of_every_size_find_the_smaller_of_tied_labels(
    shape: tuple[int, int], weights: tuple[int, int]
) -> None:
    for seed, share in enumerate((0.0, 0.02, 0.2, 0.9)):
        labels = sparse(shape, share, seed)
        np.testing.assert_array_equal(settled(labels, weights), by_brute_force(labels, weights))


@pytest.mark.parametrize("weights", [(1, 1, 1), (1, 1, 9), (491401, 491401, 2247001)])
def test_three_axes_of_every_integer_type(weights: tuple[int, int, int]) -> None:
    for dtype, shape in zip("BHIQ", [(9, 8, 11), (4, 20, 8), (20, 3, 13), (7, 7, 16)], strict=True):
        labels = sparse(shape, 0.02, 7, dtype)
        for threads in (1, 3):
            found = settled(labels, weights, threads)
            np.testing.assert_array_equal(found, by_brute_force(labels, weights))


def test_the_largest_costs_that_short_keys_hold_and_some_that_they_do_not() -> None:
    labels = np.zeros((61, 9), np.uint16)
    labels[0, 0], labels[60, 8], labels[30, 4] = 1, 2, 3
    most = ((255 << 23) - 1 - (1 << 23)) >> 6  # six bits for 63 sites, 62² + 10² for the farthest
    fits = most // (62**2 + 10**2)
    for weight in (*range(fits - 2, fits + 3), fits * 5 // 4, fits * 7 // 4):
        expected = by_brute_force(labels, (weight, weight))
        np.testing.assert_array_equal(settled(labels, (weight, weight)), expected)


def test_costs_that_leave_no_room_for_the_numbers_of_sites() -> None:
    weights = (7_000_000_001, 7_000_000_000)
    labels = sparse((1100, 5), 0.01, 4)
    assert sum(w * (n + 1) ** 2 for w, n in zip(weights, labels.shape, strict=True)) > 1 << 52
    np.testing.assert_array_equal(settled(labels, weights), by_brute_force(labels, weights))


def test_neighbouring_columns_whose_winners_are_far_apart() -> None:
    labels = np.zeros((200, 16), np.uint8)
    labels[::40, ::2], labels[20::40, 1::2] = 1, 2
    labels[7, 5], labels[150:153, 9] = 4, 3
    for weights in (SHORT, (1, 10_000), (1, 1_000_000)):
        np.testing.assert_array_equal(settled(labels, weights), by_brute_force(labels, weights))


def test_images_without_background_stay_as_they_are() -> None:
    labels = np.random.default_rng(3).integers(1, 9, (20, 30, 40)).astype(np.int32)
    np.testing.assert_array_equal(nearest_labels(labels), labels)


@pytest.mark.parametrize("border", [False, True])
@pytest.mark.parametrize("steps", [(1, 1), (701, 1499)])
@pytest.mark.parametrize("shape", [(1, 9), (3, 70), (9, 2), (34, 17), (65, 24), (130, 11)])
def test_distances_within_objects_that_touch_in_some_columns(
    shape: tuple[int, int], steps: tuple[int, int], border: bool
) -> None:
    weights = (steps[0] ** 2, steps[1] ** 2)
    for seed, (share, size) in enumerate(product((0.02, 0.5, 0.9, 1.0), (1, 3, 9))):
        coarse = sparse((-(-shape[0] // size), -(-shape[1] // size)), share, seed)
        labels = coarse.repeat(size, 0).repeat(size, 1)[: shape[0], : shape[1]]
        padded = np.pad(labels, int(border))
        squares = edges_by_brute_force(padded, weights)
        expected = np.sqrt(squares[1:-1, 1:-1] if border else squares)
        np.testing.assert_array_equal(edge_distances(labels, steps, border=border), expected)


@pytest.mark.parametrize("dtype", "BHIQ")
def test_distances_within_slabs_that_fill_whole_rows(dtype: str) -> None:
    """A row of one label has no edge of its own; the slabs before and after it are its edges."""
    labels = np.repeat(np.array([2, 2, 7, 7, 7, 1, 0, 4, 4], dtype), 9).reshape(9, 9)
    labels[4, 3:] = 5
    expected = np.sqrt(edges_by_brute_force(labels, (1, 1)))
    np.testing.assert_array_equal(edge_distances(labels), expected)
    np.testing.assert_array_equal(edge_distances(np.ones((9, 9), dtype)), np.full((9, 9), np.inf))
