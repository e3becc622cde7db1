"""Painting equals a loop over voxels, whatever the dtype, memory order and number of threads."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from panmatch.labels import distinct_labels, mask_of
from panmatch.labels._combinations import VOXELS_PER_THREAD, paint
from tests.brute_force import random_labels

Array = npt.NDArray[Any]

DTYPES = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]


def c_order(array: Array) -> Array:
    return np.ascontiguousarray(array)


def f_order(array: Array) -> Array:
    return np.asfortranarray(array)


def strided(array: Array) -> Array:
    """Every second voxel of a wider array."""
    wide = np.full([2 * n for n in array.shape], 99, array.dtype)
    view: Array = wide[(slice(None, None, 2),) * array.ndim]
    view[...] = array
    return view


def backwards(array: Array) -> Array:
    flip = (slice(None, None, -1),) * array.ndim
    return np.ascontiguousarray(array[flip])[flip]


def transposed(array: Array) -> Array:
    axes = np.roll(np.arange(array.ndim), 1)
    return np.ascontiguousarray(array.transpose(axes)).transpose(np.argsort(axes))


ORDERS = [c_order, f_order, strided, backwards, transposed]


def painted(arrays: list[Array], table: dict[tuple[int, ...], int]) -> list[int]:
    """Voxel by voxel: the number of the combination, 0 for none."""
    voxels = zip(*(array.ravel().tolist() for array in arrays), strict=True)
    return [table.get(voxel, 0) for voxel in voxels]


def check(arrays: list[Array], seed: int, threads: int | None = None) -> None:
    """Compare both functions with loops; only two thirds of the combinations are listed."""
    found, counts = distinct_labels(arrays, threads=threads)
    voxels = Counter(zip(*(array.ravel().tolist() for array in arrays), strict=True))
    assert dict(zip(map(tuple, found.T.tolist()), counts.tolist(), strict=True)) == voxels
    assert found.dtype == counts.dtype == np.int64
    rng = np.random.default_rng(seed)
    listed = found[:, rng.random(found.shape[1]) < 0.67]
    numbers = rng.integers(0, rng.choice([2, 300, 70_000, 1 << 40]), listed.shape[1])
    table = dict(zip(map(tuple, listed.T.tolist()), numbers.tolist(), strict=True))
    image = paint(arrays, listed, numbers, threads=threads)
    assert image.shape == arrays[0].shape
    assert image.ravel().tolist() == painted(arrays, table)
    assert image.dtype == np.min_scalar_type(int(numbers.max(initial=0)))


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [1, 2, 3])
def test_every_dtype_and_memory_order_is_painted_as_voxel_by_voxel(
    order: Any, dtype: Any, n: int
) -> None:
    rng = np.random.default_rng(n)
    for shape in [(3, 150, 2), (5, 7), (200,)]:
        first = order(random_labels(rng, shape, 5).astype(dtype))
        # The other arrays have another dtype and another order than the first.
        others = [
            ORDERS[(ORDERS.index(order) + k) % len(ORDERS)](
                random_labels(rng, shape, 4).astype(DTYPES[(DTYPES.index(dtype) + 3 * k) % 8])
            )
            for k in range(1, n)
        ]
        check([first, *others], seed=n)


@settings(max_examples=60)
@given(st.data())
def test_random_images_are_painted_as_voxel_by_voxel(data: st.DataObject) -> None:
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=9))
    n = data.draw(st.integers(1, 3))
    arrays: list[Array] = [
        data.draw(st.sampled_from(ORDERS))(
            data.draw(
                hnp.arrays(data.draw(st.sampled_from(DTYPES)), shape, elements=st.integers(0, 3))
            )
        )
        for _ in range(n)
    ]
    check(arrays, seed=data.draw(st.integers(0, 99)))


def test_extreme_labels_are_told_apart() -> None:
    low, high = np.iinfo(np.int64).min, np.iinfo(np.int64).max
    image = np.array([low, -1, 0, high, high - 1, low])
    check([image], seed=3)
    numbers = paint([image], np.array([[low, high]]), np.array([1, 2]))
    assert numbers.tolist() == [1, 0, 0, 2, 0, 1]
    large = np.array([1 << 63, 5, (1 << 64) - 1], np.uint64)
    found, _ = distinct_labels([large])
    assert set(found[0].tolist()) == {low, 5, -1}
    assert paint([large], np.array([[-1]]), np.array([7])).tolist() == [0, 0, 7]


@pytest.mark.parametrize("shape", [(0,), (0, 4), (3, 0, 2), ()])
def test_empty_images_and_single_numbers(shape: tuple[int, ...]) -> None:
    image = np.full(shape, 6, np.int16)
    found = paint([image], np.array([[6]]), np.array([300]))
    assert found.shape == shape
    assert found.dtype == np.uint16
    assert found.ravel().tolist() == [300] * image.size
    assert mask_of(image, [6]).shape == shape
    combinations, counts = distinct_labels([image, image])
    assert combinations.tolist() == ([[6], [6]] if image.size else [[], []])
    assert counts.sum() == image.size


def test_nothing_is_listed() -> None:
    image = np.array([[1, 2]])
    found = paint([image], np.zeros((1, 0), np.int64), np.zeros(0, np.int64))
    assert found.tolist() == [[0, 0]]
    assert found.dtype == np.uint8


def test_the_memory_order_is_that_of_the_first_array() -> None:
    image = np.zeros((4, 5, 6), np.int8)
    listed, numbers = np.array([[0]]), np.array([1])
    assert paint([image], listed, numbers).flags.c_contiguous
    assert paint([f_order(image)], listed, numbers).flags.f_contiguous
    pairs = np.array([[0], [0]])
    assert paint([f_order(image), image], pairs, numbers).flags.f_contiguous
    found = paint([transposed(image)], listed, numbers)
    assert found.strides == transposed(image).strides


@pytest.mark.parametrize("order", ORDERS)
def test_several_threads_paint_the_same(order: Any) -> None:
    rng = np.random.default_rng(5)
    shape = (40, 33, 65)
    arrays = [order(random_labels(rng, shape, 40)), c_order(random_labels(rng, shape, 9))]
    combinations, counts = distinct_labels(arrays, threads=1)
    numbers = np.arange(len(counts))
    one = paint(arrays, combinations, numbers, threads=1)
    for threads in (2, 3, 8):
        np.testing.assert_array_equal(paint(arrays, combinations, numbers, threads=threads), one)
        again, sizes = distinct_labels(arrays, threads=threads)
        assert sorted(zip(*again.tolist(), sizes.tolist(), strict=True)) == sorted(
            zip(*combinations.tolist(), counts.tolist(), strict=True)
        )


def test_an_image_large_enough_for_several_threads_by_default() -> None:
    image = (np.arange(2 * VOXELS_PER_THREAD + 77, dtype=np.uint32) // 1000 % 7).astype(np.uint8)
    numbers = np.array([0, 5, 0, 1, 2, 9, 200])
    found = paint([image], np.arange(7)[np.newaxis], numbers)
    np.testing.assert_array_equal(found, numbers[image])


@given(
    hnp.arrays(np.int16, hnp.array_shapes(max_dims=3, max_side=6), elements=st.integers(-2, 5)),
    st.sets(st.integers(-3, 6)),
)
def test_masks_equal_those_of_numpy(image: Array, labels: set[int]) -> None:
    wanted = np.isin(image, list(labels))
    found = mask_of(image, labels)
    assert found.dtype == np.bool_
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(mask_of(image, labels, others=True), ~wanted)
