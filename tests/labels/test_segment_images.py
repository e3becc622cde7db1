"""Images of single classes say the same as the graph that was counted from all of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import panmatch as pm
from panmatch.labels import SegmentImages
from tests.brute_force import random_labels

PERSON, CAR = pm.SegmentClass(24, "person", parts=(1, 2)), pm.SegmentClass(26, "car")
ROAD = pm.SegmentClass(7, "road", thing=False)
KINDS = (PERSON, CAR, ROAD)


def images(side: pm.Panoptic, threads: int | None = None) -> SegmentImages:
    return SegmentImages(side, threads=threads)


def test_cityscapes_ids_are_painted_class_by_class() -> None:
    ids = [[24000, 24001, 24001, 26003], [24, 7, 7007, 0]]
    found = images(pm.from_cityscapes(ids, KINDS))
    assert found.of_class(0).tolist() == [[1, 2, 2, 0], [0, 0, 0, 0]]  # 24 alone is crowd
    assert found.of_class(1).tolist() == [[0, 0, 0, 4], [0, 0, 0, 0]]
    assert found.of_class(2).tolist() == [[0, 0, 0, 0], [0, 1, 1, 0]]  # stuff is one segment
    assert found.void is not None
    assert found.void.tolist() == [[False] * 4, [False, False, False, True]]
    assert images(pm.from_cityscapes([[24000, 7]], KINDS)).void is None


def test_parts_lie_on_the_segments_of_their_class_only() -> None:
    uids = [[2400101, 2400102, 2400100, 2600199, 24002, 7]]
    found = images(pm.from_panoptic_parts(uids, KINDS))
    assert found.of_class(0).tolist() == [[2, 2, 2, 0, 0, 0]]  # 24002 has no part at all: crowd
    assert found.parts_of_class(0, unknown=3).tolist() == [[1, 2, 3, 0, 0, 0]]
    assert found.of_class(1).tolist() == [[0, 0, 0, 2, 0, 0]]


def test_instance_0_of_panoptic_parts_is_an_object_and_a_class_alone_is_crowd() -> None:
    uids = [[26000, 26001, 2600000, 2600199, 26, 7], [2400001, 24000, 24, 2400100, 7007, 99]]
    found = images(pm.from_panoptic_parts(uids, KINDS))
    assert found.of_class(1).tolist() == [[1, 2, 1, 2, 0, 0], [0] * 6]
    assert found.of_class(0).tolist() == [[0] * 6, [1, 1, 0, 0, 0, 0]]  # one of them has parts
    assert found.of_class(2).tolist() == [[0, 0, 0, 0, 0, 1], [0, 0, 0, 0, 1, 0]]
    assert np.asarray(found.void).tolist() == [[0] * 6, [0, 0, 0, 0, 0, 1]]


@pytest.mark.parametrize("read", [pm.from_cityscapes, pm.from_panoptic_parts])
def test_instances_that_count_from_0_are_all_found(read: Any) -> None:
    ids = [[26000, 26000, 26001, 26001, 7, 7]]
    overlaps = pm.count_class_overlaps(read(ids, (CAR, ROAD)), read(ids, (CAR, ROAD)))
    assert pm.tally_classes(overlaps)[26] == pm.Tally(2, 0, 0, 2.0)
    crowd = read([[26, 26, 26001, 26001, 7, 7]], (CAR, ROAD))
    overlaps = pm.count_class_overlaps(crowd, read(ids, (CAR, ROAD)))
    assert pm.tally_classes(overlaps)[26] == pm.Tally(1, 0, 0, 1.0)


def test_segments_keep_their_ids_and_crowd_is_none() -> None:
    table = {5: (24, False), 9: (24, True), 300: (7, False)}
    found = images(pm.from_segments([[5, 9, 300, 0]], table, KINDS))
    assert found.of_class(0).tolist() == [[5, 0, 0, 0]]
    assert found.of_class(2).tolist() == [[0, 0, 300, 0]]
    assert found.of_class(2).dtype == np.uint16
    assert np.asarray(found.void).tolist() == [[False, False, False, True]]


def test_an_image_that_already_is_the_answer_is_not_copied() -> None:
    image = np.array([[4, 0, 5]], np.int16)
    group = pm.LabelGroup(CAR, None)
    assert images(pm.from_labels(image, [group])).of_class(0) is image
    assert images(pm.from_labels(image, [group], ignored=[5])).of_class(0).tolist() == [[4, 0, 0]]


def classes_of(image: npt.NDArray[Any], labels: dict[int, tuple[int, ...]]) -> Any:
    return {number: np.where(np.isin(image, values), image, 0) for number, values in labels.items()}


@settings(max_examples=30)
@given(st.integers(0, 10_000))
def test_painted_classes_give_the_overlaps_that_one_pass_counted(seed: int) -> None:
    rng = np.random.default_rng(seed)
    labels = {24: (1, 2, 3), 26: (4, 5)}
    groups = [pm.LabelGroup(kind, labels[kind.id]) for kind in (PERSON, CAR)]
    sides, plain = [], []
    for _ in range(2):
        image = random_labels(rng, (9, 12), 7)
        sides.append(pm.from_labels(image, groups, void=[6], ignored=[7]))
        plain.append((image, classes_of(image, labels)))
    counted = pm.count_class_overlaps(*sides)
    reference, prediction = (images(side) for side in sides)
    void = np.zeros_like(plain[0][0]) if reference.void is None else reference.void
    np.testing.assert_array_equal(void, plain[0][0] == 6)
    for at, kind in enumerate((PERSON, CAR)):
        np.testing.assert_array_equal(reference.of_class(at), plain[0][1][kind.id])
        np.testing.assert_array_equal(prediction.of_class(at), plain[1][1][kind.id])
        again = pm.count_overlaps(
            reference.of_class(at), prediction.of_class(at), void=reference.void
        )
        assert again.ref_ids.tolist() == counted[kind.id].ref_ids.tolist()
        assert again.ref_sizes.tolist() == counted[kind.id].ref_sizes.tolist()
        assert again.pred_sizes.tolist() == counted[kind.id].pred_sizes.tolist()
        assert again.pred_void.tolist() == counted[kind.id].pred_void.tolist()
        assert again.edges.intersection.tolist() == counted[kind.id].edges.intersection.tolist()


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_threads_change_nothing(threads: int) -> None:
    rng = np.random.default_rng(2)
    maps = [random_labels(rng, (31, 29, 17), 3) for _ in range(3)]
    kinds = [pm.SegmentClass(1, parts=(1, 2, 3)), pm.SegmentClass(2), pm.SegmentClass(3)]
    side = pm.from_maps(maps[0], maps[1] + 1, kinds, part_map=maps[2], numbering="per class")
    one, many = images(side, threads=1), images(side, threads=threads)
    for at in range(3):
        np.testing.assert_array_equal(one.of_class(at), many.of_class(at))
        np.testing.assert_array_equal(one.of_class(at), np.where(maps[0] == at + 1, maps[1] + 1, 0))
    found = many.parts_of_class(0, unknown=9)
    np.testing.assert_array_equal(found, np.where(maps[0] == 1, maps[2], 0))


def test_images_of_no_size_have_no_segments() -> None:
    found = images(pm.from_cityscapes(np.zeros((0, 3), np.uint16), KINDS))
    assert found.of_class(0).shape == (0, 3)
    assert found.void is None
