"""Joining, missing, adding and renaming objects do exactly what they say."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.ndimage import distance_transform_edt

from panmatch.phantoms import (
    add_spurious,
    balls,
    blobs,
    merge_neighbours,
    miss,
    relabel,
    shift,
)

Image = npt.NDArray[np.integer[Any]]

SHAPES = [(60, 80), (30, 36, 40)]


def joined_pairs(before: Image, after: Image) -> list[list[int]]:
    """List the ids of `before` that share one id in `after`, checking that nothing else changed."""
    groups: dict[int, list[int]] = {}
    for number in np.unique(before[before != 0]).tolist():
        (now,) = np.unique(after[before == number]).tolist()
        groups.setdefault(now, []).append(number)
    assert np.array_equal(before == 0, after == 0)
    assert all(name == min(members) for name, members in groups.items())
    return [members for members in groups.values() if len(members) > 1]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("pairs", [0, 1, 4])
def test_merging_joins_disjoint_pairs_under_the_smaller_id(
    shape: tuple[int, ...], pairs: int
) -> None:
    image = balls(shape, 9, radius=(2, 4), seed=1)
    found = joined_pairs(image, merge_neighbours(image, pairs, seed=7))
    assert [len(members) for members in found] == [2] * pairs


@pytest.mark.parametrize("seed", range(8))
def test_the_first_pair_is_an_object_and_its_nearest_neighbour(seed: int) -> None:
    image = balls((90, 90), 12, radius=(2, 4), seed=3)
    ((first, second),) = joined_pairs(image, merge_neighbours(image, 1, seed=seed))
    middle = np.array([np.argwhere(image == n).mean(axis=0) for n in range(1, 13)])
    distance = np.linalg.norm(middle[:, None] - middle[None], axis=2)
    np.fill_diagonal(distance, np.inf)
    assert second == distance[first - 1].argmin() + 1 or first == distance[second - 1].argmin() + 1


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("mirrored", [False, True])
def test_merging_measures_between_centroids_not_surfaces(seed: int, mirrored: bool) -> None:
    long, small, far, below = 4, 3, 2, 1
    image = np.zeros((3, 14), dtype=int)
    image[0, :9], image[0, 10], image[0, 13], image[2, 4] = long, small, far, below
    seen = np.flip(image, axis=1) if mirrored else image
    joined = joined_pairs(seen, merge_neighbours(seen, 2, seed=seed))
    assert joined == [[below, long], [far, small]]


def test_an_even_number_of_objects_can_all_be_paired() -> None:
    image = np.array([[7, 0, 7, 0, 0, 3, 0, 0, 0, 0, 20, 0, 21]])
    assert merge_neighbours(image, 2).tolist() == [[3, 0, 3, 0, 0, 3, 0, 0, 0, 0, 20, 0, 20]]


def test_the_seed_decides_which_neighbours_merge() -> None:
    image = balls((90, 90), 12, radius=(2, 4), seed=3)
    results = [merge_neighbours(image, 1, seed=seed) for seed in range(8)]
    assert np.array_equal(results[0], merge_neighbours(image, 1, seed=0))
    assert any(not np.array_equal(results[0], other) for other in results[1:])


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("count", [0, 1, 5, 9])
def test_missing_removes_so_many_whole_objects(shape: tuple[int, ...], count: int) -> None:
    image = balls(shape, 9, radius=(2, 4))
    result = miss(image, count, seed=2)
    gone = sorted(set(range(1, 10)) - set(np.unique(result).tolist()))
    assert len(gone) == count
    assert np.array_equal(result, np.where(np.isin(image, gone), 0, image))


def test_missing_by_id_removes_those() -> None:
    image = np.array([[5, 5, 0], [9, 2, 2]], dtype=np.uint16)
    assert miss(image, ids=[9, 5]).tolist() == [[0, 0, 0], [0, 2, 2]]
    assert miss(image, ids=[]).tolist() == image.tolist()


def test_the_seed_decides_what_is_missed() -> None:
    image = balls((60, 80), 9, radius=(2, 4))
    results = [miss(image, 3, seed=seed) for seed in range(5)]
    assert np.array_equal(results[0], miss(image, 3, seed=0))
    assert any(not np.array_equal(results[0], other) for other in results[1:])


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("gap", [0.0, 1.0, 2.5])
def test_spurious_balls_keep_clear_of_both_images_and_of_each_other(
    shape: tuple[int, ...], gap: float
) -> None:
    reference = blobs(shape, 8, radius=(3, 5), seed=1)
    prediction = shift(reference, (2,) * len(shape)) * 10
    result = add_spurious(prediction, 12, radius=(1, 2), avoid=reference, gap=gap, seed=4)
    top = int(prediction.max())
    assert np.array_equal(np.where(result > top, 0, result), prediction)
    assert np.unique(result[result > top]).tolist() == list(range(top + 1, top + 13))
    for number in range(top + 1, top + 13):
        distance = distance_transform_edt(result != number)
        taken = (reference != 0) | ((result != 0) & (result != number))
        assert distance[taken].min() >= gap


def test_spurious_objects_without_avoid_may_land_on_the_reference() -> None:
    reference = np.full((5, 5), 3)
    prediction = miss(reference, ids=[3])
    assert np.count_nonzero(add_spurious(prediction, 1, radius=(2, 2))) == 13


def test_spurious_objects_fill_what_is_free_and_nothing_else() -> None:
    labels = np.array([[0, 4, 0], [0, 0, 4]], dtype=np.int8)
    avoid = np.array([[1, 0, 0], [0, 0, 0]], dtype=np.int64)
    result = add_spurious(labels, 3, radius=(0, 0), avoid=avoid, gap=0)
    free = (labels == 0) & (avoid == 0)
    assert sorted(result[free].tolist()) == [5, 6, 7]
    assert result[0].tolist()[:2] == [0, 4]
    assert result[1, 2] == 4


def test_spurious_objects_on_an_empty_image_start_at_id_one() -> None:
    result = add_spurious(np.zeros((9, 9, 9), dtype=np.uint8), 2, radius=(1, 1))
    assert np.bincount(result.ravel()).tolist() == [729 - 14, 7, 7]


def test_add_spurious_leaves_the_dtype_only_when_new_ids_do_not_fit() -> None:
    image = np.zeros((6, 6), dtype=np.uint8)
    image[0, 0] = 254
    kept = add_spurious(image, 1, radius=(0, 0))
    assert kept.dtype == np.uint8
    assert kept.max() == 255
    wider = add_spurious(image, 2, radius=(0, 0))
    assert wider.dtype == np.int64
    assert wider.max() == 256


def test_the_seed_decides_where_spurious_balls_lie() -> None:
    image = np.zeros((40, 40), dtype=int)
    first = add_spurious(image, 3, radius=(2, 3), seed=1)
    assert np.array_equal(first, add_spurious(image, 3, radius=(2, 3), seed=1))
    assert not np.array_equal(first, add_spurious(image, 3, radius=(2, 3), seed=2))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("high", [None, 9, 500, 10**15])
def test_relabelling_renames_objects_one_to_one(shape: tuple[int, ...], high: int | None) -> None:
    image = balls(shape, 9, radius=(2, 4))
    result = relabel(image, seed=5, high=high)
    new = [np.unique(result[image == number]).tolist() for number in range(1, 10)]
    assert [len(names) for names in new] == [1] * 9
    flat = [names[0] for names in new]
    assert len(set(flat)) == 9
    assert min(flat) >= 1
    assert max(flat) <= (90 if high is None else high)
    assert np.array_equal(result == 0, image == 0)


def test_relabelling_into_as_many_ids_as_objects_permutes_them() -> None:
    image = np.array([[30, 0, 10, 20]])
    seen = {tuple(relabel(image, high=3, seed=seed).ravel().tolist()) for seed in range(60)}
    assert seen == {(a, 0, b, c) for a, b, c in
                    [(1, 2, 3), (1, 3, 2), (2, 1, 3), (2, 3, 1), (3, 1, 2), (3, 2, 1)]}  # fmt: skip


def test_relabel_keeps_the_dtype_if_it_holds_high() -> None:
    image = np.array([[1, 2]], dtype=np.uint8)
    assert relabel(image).dtype == np.uint8
    assert relabel(image, high=255).dtype == np.uint8
    assert relabel(image, high=256).dtype == np.int64
    assert relabel(image, high=2**63 - 1).dtype == np.int64
