"""Components across chunk borders: the same numbers as in memory, to the last voxel."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from panmatch.errors import LabelError, OptionError
from panmatch.labels import ChunkedLabels, connected_components
from panmatch.labels._chunked_components import touching
from tests.chunked_arrays import (
    Array,
    Watched,
    box_sizes,
    boxes_up_to,
    in_chunks,
    label_images,
    shapes,
    stored,
)

CONNECTIVITIES: tuple[Literal["full", "faces"], ...] = ("full", "faces")


def found_in(array: Array, chunks: tuple[int, ...], connectivity: Any = "full") -> Any:
    with boxes_up_to(1):
        return connected_components(stored(array, chunks), connectivity)[...].tolist()


@pytest.mark.parametrize("connectivity", CONNECTIVITIES)
@given(shapes(), st.data())
def test_numbers_equal_those_of_the_image_in_memory(
    connectivity: Literal["full", "faces"], shape: tuple[int, ...], data: st.DataObject
) -> None:
    array = np.ascontiguousarray(data.draw(label_images(shape)))
    with boxes_up_to(data.draw(box_sizes)):
        image = data.draw(in_chunks(array, ("zarr", "fortran", "dask")))
        found = connected_components(image, connectivity, threads=data.draw(st.integers(1, 3)))
        assert isinstance(found, ChunkedLabels)
        np.testing.assert_array_equal(np.asarray(found), connected_components(array, connectivity))


@pytest.mark.parametrize("connectivity", CONNECTIVITIES)
@given(shapes(), st.data())
def test_any_part_can_be_read_wherever_blocks_end(
    connectivity: Literal["full", "faces"], shape: tuple[int, ...], data: st.DataObject
) -> None:
    array = np.ascontiguousarray(data.draw(label_images(shape)))
    ends = [sorted(data.draw(st.tuples(*[st.integers(0, n)] * 2))) for n in shape]
    part = tuple(slice(*both) for both in ends)
    with boxes_up_to(1):
        found = connected_components(data.draw(in_chunks(array, ("zarr",))), connectivity)
        np.testing.assert_array_equal(found[part], connected_components(array, connectivity)[part])


@pytest.mark.parametrize("dim", [1, 2, 3])
@given(data=st.data())
def test_two_voxels_that_share_a_corner_of_four_or_eight_chunks(
    dim: int, data: st.DataObject
) -> None:
    """All ways in which two voxels touch across the middle of an image."""
    steps = data.draw(st.tuples(*[st.integers(-1, 1)] * dim).filter(any))
    array = np.zeros((4,) * dim, np.uint8)
    first = tuple(2 if step < 0 else 1 for step in steps)
    array[first] = 1
    array[tuple(at + step for at, step in zip(first, steps, strict=True))] = 1
    faces = sum(map(abs, steps)) == 1
    for connectivity, count in (("full", 1), ("faces", 1 if faces else 2)):
        assert np.max(found_in(array, (2,) * dim, connectivity)) == count


@example(20)
@given(st.integers(1, 21))
def test_a_spiral_through_all_chunks_is_one_component(length: int) -> None:
    """It enters every chunk several times, and joins only in its middle."""
    n = 21
    mask = np.zeros((n, n), np.uint8)
    row, column, step = 0, 0, (0, 1)
    mask[0, 0] = 1
    for _ in range(n * n):
        ahead = row + 2 * step[0], column + 2 * step[1]
        beyond = not (0 <= row + step[0] < n and 0 <= column + step[1] < n)
        if beyond or (min(ahead) >= 0 and max(ahead) < n and mask[ahead]):
            step = step[1], -step[0]
            if mask[row + step[0], column + step[1]]:
                break
            continue
        row, column = row + step[0], column + step[1]
        mask[row, column] = 1
    assert np.max(found_in(mask, (length, 4), "faces")) == 1
    want = connected_components(1 - mask, "faces").tolist()
    assert found_in(1 - mask, (4, length), "faces") == want


def test_numbers_follow_the_first_voxels_whatever_the_order_of_chunks() -> None:
    array = np.zeros((4, 6), np.uint8)
    array[0, 5], array[1, 0], array[3, 3:], array[2, 5] = 1, 1, 1, 1
    assert found_in(array, (4, 2)) == connected_components(array).tolist()
    assert found_in(array, (4, 2))[0][5] == 1


def test_every_chunk_is_decoded_once_to_find_and_once_to_read() -> None:
    rng = np.random.default_rng(0)
    array = Watched((rng.random((9, 10, 8)) < 0.3).astype(np.uint8), (2, 3, 4))
    with boxes_up_to(1):
        found = connected_components(array)
        assert set(array.decoded.values()) == {1}
        for box in np.ndindex(5, 4, 2):
            found[tuple(slice(at * n, (at + 1) * n) for at, n in zip(box, (2, 3, 4), strict=True))]
    assert len(array.decoded) == 40
    assert set(array.decoded.values()) == {2}


def test_images_without_components() -> None:
    for shape in ((4, 4), (0, 3), (5,), (2, 2, 2, 2)):
        empty = stored(np.zeros(shape, np.uint8), (2,) * len(shape))
        found = connected_components(empty)
        assert found.shape == shape
        assert not np.asarray(found).any()
    assert connected_components(stored(np.array(7), ()))[()] == 1


def test_components_are_stored_in_a_zarr_array() -> None:
    rng = np.random.default_rng(3)
    array = (rng.random((12, 13)) < 0.5).astype(np.uint8)
    out = stored(np.zeros((12, 13), np.uint32), (5, 3))
    connected_components(stored(array, (4, 4))).store(out)
    np.testing.assert_array_equal(out[...], connected_components(array))


@pytest.mark.parametrize("kind", ["zarr", "dask"])
def test_negative_labels_are_counted_over_all_chunks(kind: str) -> None:
    array = np.array([[0, -1, 0, 3], [-7, 0, 0, -7]])
    with (
        boxes_up_to(1),
        pytest.raises(LabelError, match=r"mask holds the negative label -7 \(3 voxels below 0\)"),
    ):
        connected_components(stored(array, (1, 2), kind), name="mask")


def test_mistakes_are_named() -> None:
    with pytest.raises(OptionError, match="connectivity='26' is not known"):
        connected_components(stored(np.ones(3, int), (2,)), "26")  # type: ignore[call-overload]
    with pytest.raises(LabelError, match="reference has dtype float64"):
        connected_components(stored(np.ones(3), (2,)), name="reference")


def test_labels_touch_across_a_border_also_diagonally() -> None:
    low, high = np.array([[1, 0], [0, 2]]), np.array([[0, 3], [0, 0]])
    assert touching(low, high, diagonal=True).tolist() == [[1, 2], [3, 3]]
    assert touching(low, high, diagonal=False).tolist() == [[], []]
    assert touching(np.array(4), np.array(5), diagonal=True).tolist() == [[4], [5]]
