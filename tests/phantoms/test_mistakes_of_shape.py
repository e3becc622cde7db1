"""Shifting, growing, shrinking and cutting do exactly what they say, voxel by voxel."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from panmatch.phantoms import balls, dilate, erode, shift, split, tissue

Image = npt.NDArray[np.integer[Any]]

IMAGES = hnp.arrays(
    dtype=st.sampled_from([np.uint8, np.int16, np.int32, np.int64]),
    shape=hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=5),
    elements=st.sampled_from([0, 0, 0, 1, 2, 5, 100]),
)
# Squares of these radii are no sums of squares, or are exact: rounding decides nothing.
RADII = st.sampled_from([0, 0.5, 1, 1.3, 2, 2.5, 3, 9])


def objects_of(image: Image) -> list[int]:
    return [int(value) for value in np.unique(image) if value != 0]


def squared_distance(first: tuple[int, ...], second: tuple[int, ...]) -> int:
    return sum((a - b) ** 2 for a, b in zip(first, second, strict=True))


def dilated_by_definition(image: Image, radius: float, ids: list[int]) -> Image:
    result = image.copy()
    for voxel in np.ndindex(image.shape):
        claims = [
            (squared_distance(voxel, other), int(image[other]))
            for other in np.ndindex(image.shape)
            if image[other] in ids and squared_distance(voxel, other) <= radius**2
        ]
        if image[voxel] == 0 and claims:
            result[voxel] = min(claims)[1]
    return result


def eroded_by_definition(image: Image, radius: float, ids: list[int]) -> Image:
    result = image.copy()
    for voxel in np.ndindex(image.shape):
        lost = any(
            image[other] != image[voxel] and squared_distance(voxel, other) <= radius**2
            for other in np.ndindex(image.shape)
        )
        if image[voxel] in ids and lost:
            result[voxel] = 0
    return result


def shifted_by_definition(image: Image, offset: tuple[int, ...], ids: list[int]) -> Image:
    result = np.where(np.isin(image, ids), 0, image).astype(image.dtype)
    for voxel in np.ndindex(image.shape):
        target = tuple(place + step for place, step in zip(voxel, offset, strict=True))
        inside = all(0 <= t < n for t, n in zip(target, image.shape, strict=True))
        if image[voxel] in ids and inside:
            result[target] = min(image[voxel], result[target] or image[voxel])
    return result


@settings(max_examples=60, deadline=None)
@given(image=IMAGES, radius=RADII, data=st.data())
def test_dilation_follows_its_definition(image: Image, radius: float, data: st.DataObject) -> None:
    ids = [value for value in objects_of(image) if data.draw(st.booleans())]
    assert np.array_equal(dilate(image, radius, ids=ids), dilated_by_definition(image, radius, ids))


@settings(max_examples=60, deadline=None)
@given(image=IMAGES, radius=RADII, data=st.data())
def test_erosion_follows_its_definition(image: Image, radius: float, data: st.DataObject) -> None:
    ids = [value for value in objects_of(image) if data.draw(st.booleans())]
    assert np.array_equal(erode(image, radius, ids=ids), eroded_by_definition(image, radius, ids))


@settings(max_examples=100, deadline=None)
@given(image=IMAGES, data=st.data())
def test_shift_follows_its_definition(image: Image, data: st.DataObject) -> None:
    ids = [value for value in objects_of(image) if data.draw(st.booleans())]
    offset = tuple(data.draw(st.integers(-6, 6)) for _ in image.shape)
    assert np.array_equal(shift(image, offset, ids=ids), shifted_by_definition(image, offset, ids))


def test_shift_gives_a_met_voxel_to_the_smaller_id_whichever_moves() -> None:
    image = np.array([[2, 2, 0, 5, 5, 0]])
    assert shift(image, (0, 2), ids=[2]).tolist() == [[0, 0, 2, 2, 5, 0]]
    assert shift(image, (0, -2), ids=[5]).tolist() == [[2, 2, 5, 0, 0, 0]]


def test_shift_of_all_objects_loses_what_leaves_the_image() -> None:
    image = np.array([[1, 0, 2], [1, 0, 2]], dtype=np.uint8)
    assert shift(image, (1, -1)).tolist() == [[0, 0, 0], [0, 2, 0]]
    assert shift(image, (2, 0)).tolist() == [[0, 0, 0], [0, 0, 0]]
    assert shift(image, (0, 10**9)).tolist() == [[0, 0, 0], [0, 0, 0]]


def test_dilation_uses_round_neighbourhoods() -> None:
    image = np.zeros((5, 5), dtype=int)
    image[2, 2] = 4
    assert (dilate(image, 1) == 4).sum() == 5
    assert (dilate(image, 1.5) == 4).sum() == 9
    assert (dilate(image, 2) == 4).sum() == 13


def test_dilation_leaves_ties_to_the_smaller_id() -> None:
    assert dilate(np.array([9, 0, 0, 0, 4]), 3).tolist() == [9, 9, 4, 4, 4]
    assert dilate(np.array([4, 0, 0, 0, 9]), 3).tolist() == [4, 4, 4, 9, 9]


def test_objects_that_do_not_grow_claim_nothing() -> None:
    assert dilate(np.array([4, 0, 0, 0, 9]), 3, ids=[9]).tolist() == [4, 9, 9, 9, 9]


def test_erosion_does_not_start_from_the_edge_of_the_image() -> None:
    assert erode(np.array([3, 3, 3, 0, 7]), 1).tolist() == [3, 3, 0, 0, 0]
    assert erode(np.full((3, 4), 8), 2).tolist() == np.full((3, 4), 8).tolist()


def test_touching_objects_withdraw_from_each_other() -> None:
    assert erode(np.array([1, 1, 1, 2, 2, 2]), 1).tolist() == [1, 1, 0, 0, 2, 2]
    assert erode(np.array([1, 1, 1, 2, 2, 2]), 1, ids=[2]).tolist() == [1, 1, 1, 0, 2, 2]


def test_eroding_a_dilated_scene_never_loses_an_original_voxel() -> None:
    image = balls((20, 24, 28), 12, radius=(1, 4), gap=0)
    closed = erode(dilate(image, 2, ids=[3, 5]), 2, ids=[3, 5])
    kept = np.isin(image, [3, 5], invert=True)
    assert np.array_equal(closed[kept & (image > 0)], image[kept & (image > 0)])


@pytest.mark.parametrize("shape", [(40, 50), (16, 18, 20)])
@pytest.mark.parametrize("pieces", [1, 2, 3, 7])
def test_fragments_differ_by_one_voxel_at_most_and_add_up(
    shape: tuple[int, ...], pieces: int
) -> None:
    image = tissue(shape, 6, seed=5)
    result = split(image, pieces)
    added = 7
    for number in range(1, 7):
        names = [number, *range(added, added + pieces - 1)]
        added += pieces - 1
        size = int((image == number).sum())
        expected = [size // pieces + (place < size % pieces) for place in range(pieces)]
        assert [int((result == name).sum()) for name in names] == expected
        assert set(result[image == number].tolist()) == set(names)


def test_fragments_are_slabs_across_the_longest_axis() -> None:
    image = np.zeros((4, 3, 10), dtype=np.int16)
    image[:, :, 1:7] = 2
    result = split(image, 3)
    expected = image.copy()
    expected[:, :, 3:5] = 3
    expected[:, :, 5:7] = 4
    assert np.array_equal(result, expected)


def test_fragments_of_a_square_are_cut_across_the_first_axis() -> None:
    assert split(np.ones((2, 2), dtype=int), 2).tolist() == [[1, 1], [2, 2]]


def test_cuts_step_inside_a_layer_to_keep_pieces_equal() -> None:
    image = np.ones((3, 3), dtype=int)
    assert split(image, 2).tolist() == [[1, 1, 1], [1, 1, 2], [2, 2, 2]]
    assert split(image, 4).tolist() == [[1, 1, 1], [2, 2, 3], [3, 4, 4]]


def test_an_object_smaller_than_the_pieces_falls_into_voxels() -> None:
    assert split(np.array([[3, 3, 0, 9]]), 5).tolist() == [[3, 10, 0, 9]]


def test_fragments_of_chosen_objects_leave_the_others_whole() -> None:
    image = np.array([[4, 4, 0, 7, 7, 7, 0, 5, 5]])
    assert split(image, 2, ids=[7, 4]).tolist() == [[4, 8, 0, 7, 7, 9, 0, 5, 5]]
    assert split(image, 2, ids=[]).tolist() == image.tolist()


def test_fragment_leaves_the_dtype_only_when_new_ids_do_not_fit() -> None:
    full = split(np.array([254, 254], dtype=np.uint8), 2)
    assert full.dtype == np.uint8
    assert full.tolist() == [254, 255]
    over = split(np.array([255, 255], dtype=np.uint8), 2)
    assert over.dtype == np.int64
    assert over.tolist() == [255, 256]
    wide = split(np.array([2**63, 2**63], dtype=np.uint64), 2)
    assert wide.dtype == np.uint64
    assert wide.tolist() == [2**63, 2**63 + 1]


def test_new_ids_are_positive_even_if_all_others_are_not() -> None:
    assert split(np.array([-7, -7, 0, -2]), 2).tolist() == [-7, 1, 0, -2]
