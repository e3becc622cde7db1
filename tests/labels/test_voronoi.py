"""Nearest labels, against brute force with anisotropic spacing."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy import ndimage

from panmatch import phantoms
from panmatch.errors import ShapeError
from panmatch.labels import nearest_labels

Labels = npt.NDArray[np.integer[Any]]


def by_brute_force(labels: Labels, spacing: Any) -> Labels:
    """Every voxel against every voxel of every segment; ties to the smaller label."""
    nearest = np.zeros_like(labels)
    sites, ids = np.argwhere(labels), labels[labels != 0]
    for index in np.ndindex(labels.shape) if len(sites) else ():
        squares = (((sites - np.array(index)) * np.asarray(spacing)) ** 2).sum(1)
        nearest[index] = ids[squares <= squares.min() * (1 + 1e-12)].min()
    return nearest


def random_labels(rng: np.random.Generator, ndim: int) -> Labels:
    shape = tuple(rng.integers(1, (60, 12, 8)[ndim - 1], ndim).tolist())
    labels = rng.integers(1, 7, shape) * (rng.random(shape) < rng.choice([0.02, 0.1, 0.4]))
    dtype = rng.choice([np.uint8, np.int16, np.int32, np.uint64])  # type: ignore[arg-type]
    return np.asarray(labels, dtype, order="F" if rng.random() < 0.5 else "C")


@pytest.mark.parametrize("seed", range(150))
def test_cells_equal_brute_force(seed: int) -> None:
    rng = np.random.default_rng(seed)
    labels = random_labels(rng, 1 + seed % 3)
    spacing = rng.choice([0.5, 0.7, 1.0, 1.3, 3.0], labels.ndim)
    found = nearest_labels(labels, spacing, threads=1 + seed % 3)
    assert found.dtype == labels.dtype
    np.testing.assert_array_equal(found, by_brute_force(labels, spacing))


@pytest.mark.parametrize("spacing", [(1, 1, 1), (3, 1, 0.5), (0.7, 0.7, 3.1)])
def test_relabelling_and_flipping_change_nothing_but_ties(spacing: Any) -> None:
    labels = phantoms.blobs((30, 34, 28), 9, radius=(2, 4), seed=4)
    voronoi = nearest_labels(labels, spacing)
    distances = np.stack(
        [ndimage.distance_transform_edt(labels != i, sampling=spacing) for i in range(1, 10)]
    )
    distances.sort(0)
    clear = distances[1] - distances[0] > 1e-9
    assert 0.9 < clear.mean() < 1
    renamed = np.concatenate([[0], np.random.default_rng(1).permutation(9) + 1])
    np.testing.assert_array_equal(
        nearest_labels(renamed[labels], spacing)[clear], renamed[voronoi][clear]
    )
    for axes in (0, 1, 2, (0, 1, 2)):
        flipped = np.flip(nearest_labels(np.flip(labels, axes), spacing), axes)
        np.testing.assert_array_equal(flipped, voronoi)
    turned = nearest_labels(labels.transpose(2, 0, 1), np.array(spacing)[[2, 0, 1]])
    np.testing.assert_array_equal(turned.transpose(1, 2, 0), voronoi)


def test_ties_go_to_the_smaller_label_wherever_it_lies() -> None:
    for labels in ([3, 0, 0, 0, 1], [1, 0, 0, 0, 3]):
        assert nearest_labels(labels).tolist()[2] == 1
    corners = np.zeros((5, 5), int)
    corners[0, 0], corners[0, 4], corners[4, 0], corners[4, 4] = 4, 3, 2, 1
    for turn in range(4):
        assert nearest_labels(np.rot90(corners, turn), 0.7)[2, 2] == 1


def test_a_touching_point_of_three_cells_goes_to_the_smallest_label() -> None:
    """The middle site has the point only as a tie, between two that are better on either side."""
    labels = np.zeros((6, 7), int)
    labels[0, 3] = 1
    labels[5, 0], labels[5, 6] = 2, 3
    found = nearest_labels(labels, (1.0, 1.0))
    np.testing.assert_array_equal(found, by_brute_force(labels, (1, 1)))


@pytest.mark.parametrize("seed", range(120))
def test_cells_that_are_wanted_equal_all_cells(seed: int) -> None:
    """Few wanted voxels are walked to, many make whole axes be settled."""
    rng = np.random.default_rng(seed)
    labels = random_labels(rng, 1 + seed % 3)
    spacing = rng.choice([0.5, 0.7, 1.0, 3.0], labels.ndim)
    where = rng.random(labels.shape) < rng.choice([0.02, 0.3, 1.0])
    found = nearest_labels(labels, spacing, where=where, threads=1 + seed % 3)
    np.testing.assert_array_equal(found, np.where(where, nearest_labels(labels, spacing), 0))


@pytest.mark.parametrize("spacing", [(1, 1, 1), (3, 1, 0.5), (0.7, 0.7, 3.1)])
def test_long_ways_settle_whole_axes_and_give_the_same_cells(spacing: Any) -> None:
    labels = np.zeros((48, 40, 44), np.int32)
    labels[0, :3, 0], labels[2, 20, 1], labels[40, 39, 43] = 3, 2, 1
    where = np.ones(labels.shape, bool)
    where[::2] = False
    found = nearest_labels(labels, spacing, where=where)
    np.testing.assert_array_equal(found, np.where(where, nearest_labels(labels, spacing), 0))


def test_a_mask_of_another_shape_is_refused() -> None:
    with pytest.raises(ShapeError, match=r"labels has shape \(3,\) but where has shape \(4,\)"):
        nearest_labels([0, 1, 0], where=[1, 1, 1, 1])


def test_no_segment_no_cell() -> None:
    assert not nearest_labels(np.zeros((3, 4), int)).any()
    assert nearest_labels(np.zeros((0, 4), int)).shape == (0, 4)
    assert nearest_labels(np.array(5)).tolist() == 5


def test_the_given_labels_are_left_alone() -> None:
    labels = np.array([0, 1, 0])
    nearest_labels(labels)
    assert labels.tolist() == [0, 1, 0]


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.uint32, np.int64])
def test_labels_are_read_wherever_they_lie_in_memory(dtype: type, threads: int) -> None:
    rng = np.random.default_rng(8)
    store: Labels = (rng.integers(1, 7, (18, 40, 33)) * (rng.random((18, 40, 33)) < 0.03)).astype(
        dtype
    )
    shifted: Labels = np.empty(store.nbytes + 1, np.uint8)[1:].view(dtype).reshape(store.shape)
    shifted[...] = store  # not aligned
    views = {
        "turned": store.transpose(2, 0, 1),
        "steps": store[::2, 1::3, ::4],
        "reversed": store[::-1, :, ::-1],
        "repeated": np.broadcast_to(store[:, :1], store.shape),
        "shifted": shifted,
    }
    for name, labels in views.items():
        assert labels.any(), name
        expected = nearest_labels(np.array(labels, order="C"))
        found = nearest_labels(labels, threads=threads)
        np.testing.assert_array_equal(found, expected, name)
        where = rng.random(labels.shape) < 0.3
        some = nearest_labels(labels, where=where, threads=threads)
        np.testing.assert_array_equal(some, np.where(where, expected, 0), name)
