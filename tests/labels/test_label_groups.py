"""Label images with a schema: who owns a label, what is too small, and where parts come from."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import panmatch as pm
from panmatch.errors import LabelError, OptionError, ShapeError
from panmatch.labels import SegmentImages

CELL = pm.SegmentClass(1, "cell")
CORE = pm.SegmentClass(2, "core")
BODY = pm.SegmentClass(3, "body", thing=False)
TUMOUR = pm.SegmentClass(4, "tumour", parts=(1, 2, 3))


def ids(side: pm.Panoptic, at: int = 0) -> Any:
    return SegmentImages(side).of_class(at).tolist()


def parts(side: pm.Panoptic, at: int = 0, unknown: int = 77) -> Any:
    return SegmentImages(side).parts_of_class(at, unknown).tolist()


def test_no_labels_means_all_that_nobody_else_has() -> None:
    image = [1, 2, 300, 0, 7, 8]
    groups = [pm.LabelGroup(CELL, None), pm.LabelGroup(CORE, (2,))]
    side = pm.from_labels(image, groups, void=[7], ignored=[8])
    assert ids(side, 0) == [1, 0, 300, 0, 0, 0]
    assert ids(side, 1) == [0, 2, 0, 0, 0, 0]


def test_others_may_be_ignored_as_a_whole() -> None:
    groups = [pm.LabelGroup(CORE, (2,)), pm.LabelGroup(BODY, (5, 6))]
    image = [1, 2, 300, 0, 6, 5, 9]
    side = pm.from_labels(image, groups, ignored="others", void=[9])
    assert ids(side, 0) == [0, 2, 0, 0, 0, 0, 0]
    assert ids(side, 1) == [0, 0, 0, 0, 1, 1, 0]
    assert np.asarray(SegmentImages(side).void).tolist() == [False] * 6 + [True]


def test_components_of_all_labels_leave_out_what_is_owned_void_or_ignored() -> None:
    groups = [pm.LabelGroup(CELL, None, instances="components"), pm.LabelGroup(CORE, (4,))]
    image = [[1, 2, 4, 3, 8, 5, 9, 6]]
    side = pm.from_labels(image, groups, void=[8], ignored=[9])
    assert ids(side, 0) == [[1, 1, 0, 2, 0, 3, 0, 4]]
    assert ids(side, 1) == [[0, 0, 4, 0, 0, 0, 0, 0]]


def test_components_of_classes_are_counted_apart_and_never_join() -> None:
    groups = [
        pm.LabelGroup(CELL, (1,), instances="components"),
        pm.LabelGroup(CORE, (2, 3), instances="components"),
        pm.LabelGroup(BODY, (4,), instances="components"),
    ]
    image = [[1, 2, 1, 0, 3, 2, 4, 0, 4]]
    side = pm.from_labels(image, groups)
    assert ids(side, 0) == [[1, 0, 2, 0, 0, 0, 0, 0, 0]]
    assert ids(side, 1) == [[0, 1, 0, 0, 2, 2, 0, 0, 0]]
    assert ids(side, 2) == [[0, 0, 0, 0, 0, 0, 1, 0, 1]]  # stuff is one segment either way


@pytest.mark.parametrize(
    ("connectivity", "numbers"),
    [("full", [[1, 0, 2], [0, 1, 0]]), ("faces", [[1, 0, 2], [0, 3, 0]])],
)
def test_connectivity_is_that_of_the_group(connectivity: Any, numbers: Any) -> None:
    image = [[1, 0, 5], [0, 1, 0]]
    one = pm.LabelGroup(CELL, (1,), instances="components", connectivity=connectivity)
    both = pm.LabelGroup(CELL, (1, 5), instances="components", connectivity=connectivity)
    expected = [[1, 0, 0], [0, 1, 0]] if connectivity == "full" else [[1, 0, 0], [0, 2, 0]]
    assert ids(pm.from_labels(image, [one], ignored=[5])) == expected
    joined = [[1, 0, 1], [0, 1, 0]] if connectivity == "full" else numbers
    assert ids(pm.from_labels(image, [both])) == joined


def test_connectivity_in_three_dimensions() -> None:
    image = np.zeros((2, 2, 2), int)
    image[0, 0, 0] = image[1, 1, 1] = 4
    found = {
        connectivity: np.unique(
            ids(
                pm.from_labels(
                    image, [pm.LabelGroup(CELL, (4,), "components", connectivity=connectivity)]
                )
            )
        ).tolist()
        for connectivity in ("full", "faces")
    }
    assert found == {"full": [0, 1], "faces": [0, 1, 2]}


def test_small_ids_are_background_and_the_bound_itself_is_not_small() -> None:
    image = [1, 1, 1, 2, 2, 3, 0, 1]
    assert ids(pm.from_labels(image, [pm.LabelGroup(CELL, None, min_voxels=2)])) == [
        1, 1, 1, 2, 2, 0, 0, 1,
    ]  # fmt: skip
    assert ids(pm.from_labels(image, [pm.LabelGroup(CELL, None, min_voxels=3)])) == [
        1, 1, 1, 0, 0, 0, 0, 1,
    ]  # fmt: skip
    assert not np.any(ids(pm.from_labels(image, [pm.LabelGroup(CELL, None, min_voxels=5)])))


def test_small_components_are_background_though_their_label_is_large() -> None:
    image = [[2, 2, 0, 2, 0, 3, 2, 2, 0, 3]]
    group = pm.LabelGroup(CORE, (2, 3), instances="components", min_voxels=2)
    assert ids(pm.from_labels(image, [group])) == [[1, 1, 0, 0, 0, 3, 3, 3, 0, 0]]


def test_every_class_has_its_own_least_size() -> None:
    groups = [
        pm.LabelGroup(CELL, (1, 2), min_voxels=2),
        pm.LabelGroup(CORE, (3,), instances="components"),
        pm.LabelGroup(BODY, (4, 5), min_voxels=3),
    ]
    image = [[1, 2, 2, 3, 4, 5, 5]]
    side = pm.from_labels(image, groups)
    assert ids(side, 0) == [[0, 2, 2, 0, 0, 0, 0]]
    assert ids(side, 1) == [[0, 0, 0, 1, 0, 0, 0]]
    assert ids(side, 2) == [[0, 0, 0, 0, 1, 1, 1]]  # stuff is measured as one segment


def test_objects_of_several_parts_are_measured_as_wholes() -> None:
    group = pm.LabelGroup(TUMOUR, (1, 2, 3), instances="components", min_voxels=3)
    side = pm.from_labels([[1, 2, 3, 0, 3, 3, 0]], [group])
    assert ids(side) == [[1, 1, 1, 0, 0, 0, 0]]
    assert parts(side) == [[1, 2, 3, 0, 0, 0, 0]]  # no parts without their parent


def test_parts_come_from_the_labels_of_their_class() -> None:
    groups = [
        pm.LabelGroup(TUMOUR, (1, 2, 3, 9, 10), instances="components"),
        pm.LabelGroup(CELL, (4,)),
    ]
    image = [[1, 2, 3, 9, 10, 0, 4]]
    side = pm.from_labels(image, groups, void_part=9)
    assert ids(side, 0) == [[1, 1, 1, 1, 1, 0, 0]]
    assert parts(side, 0) == [[1, 2, 3, 77, 0, 0, 0]]  # 10 is of the class, and no part
    assert parts(side, 1) == [[0] * 7]
    assert parts(pm.from_labels(image, groups, not_parts=[2], void_part=9)) == [
        [1, 0, 3, 77, 0, 0, 0]
    ]


def test_parts_come_from_a_part_map() -> None:
    groups = [pm.LabelGroup(TUMOUR, (1, 2)), pm.LabelGroup(CELL, (5,))]
    image = [[1, 1, 1, 2, 2, 5, 0]]
    side = pm.from_labels(
        image, groups, part_map=[[1, 2, 50, 3, 255, 8, 0]], void_part=255, not_parts=[50]
    )
    assert ids(side, 0) == [[1, 1, 1, 2, 2, 0, 0]]
    assert parts(side, 0) == [[1, 2, 0, 3, 77, 0, 0]]
    assert parts(side, 1) == [[0] * 7]  # a class without parts has none


def test_components_and_a_part_map_do_not_get_in_each_other_s_way() -> None:
    groups = [pm.LabelGroup(CELL, (7,)), pm.LabelGroup(TUMOUR, (4,), instances="components")]
    image, part_map = [[4, 4, 0, 4, 7]], [[1, 2, 0, 3, 0]]
    side = pm.from_labels(image, groups, part_map=part_map)
    assert ids(side, 0) == [[0, 0, 0, 0, 7]]
    assert ids(side, 1) == [[1, 1, 0, 2, 0]]
    assert parts(side, 1) == [[1, 2, 0, 3, 0]]


def test_a_foreign_part_in_a_part_map_is_named_when_parts_are_counted() -> None:
    side = pm.from_labels([[1, 1, 1]], [pm.LabelGroup(TUMOUR, (1,))], part_map=[[1, 8, 8]])
    with pytest.raises(LabelError, match=r"holds part 8 \(2 voxels\), which is not among the par"):
        pm.count_class_overlaps(side, side)


def test_negative_labels_are_errors_unless_void_or_ignored() -> None:
    group = pm.LabelGroup(CELL, None)
    message = (
        r"side holds the negative label -3 \(2 voxels\): numbers start at 1.*`background: \[-3\]`"
    )
    with pytest.raises(LabelError, match=message):
        ids(pm.from_labels([1, -3, -3], [group], name="side"))
    assert ids(pm.from_labels([1, -3], [pm.LabelGroup(CELL, (1,))], ignored="others")) == [1, 0]
    assert ids(pm.from_labels([1, -3], [group], void=[-3])) == [1, 0]
    assert ids(pm.from_labels([1, -3], [group], ignored=[-3])) == [1, 0]


def test_labels_beyond_int64_are_no_negative_ones() -> None:
    image = np.array([2**63 + 4, 2**63 + 4, 7], np.uint64)
    message = r"side holds label 9223372036854775812 \(2 voxels beyond 2\*\*63 - 1\)"
    with pytest.raises(LabelError, match=message):
        ids(pm.from_labels(image, [pm.LabelGroup(CELL, None)], name="side"))
    message = r"instance_map holds label 9223372036854775812 \(2 voxels beyond"
    with pytest.raises(LabelError, match=message):
        ids(pm.from_maps(np.full(3, CELL.id), image, [CELL]))


def test_labels_that_nobody_has_are_errors() -> None:
    message = r"side holds 4 \(3 voxels\), which is in no class\. If they are obj"
    with pytest.raises(LabelError, match=message):
        ids(pm.from_labels([1, 4, 4, 0, 4], [pm.LabelGroup(CELL, (1,))], name="side"))


def test_schemas_that_contradict_themselves_are_refused() -> None:
    twice = [pm.LabelGroup(CELL, None), pm.LabelGroup(CORE, None)]
    with pytest.raises(OptionError, match="the label 'all others' belongs to more than one class"):
        pm.from_labels([1], twice)
    with pytest.raises(OptionError, match="the label 3 belongs to more than one class"):
        pm.from_labels([1], [pm.LabelGroup(CELL, (2, 3)), pm.LabelGroup(CORE, (3,))])
    with pytest.raises(OptionError, match="connectivity='26' is not known"):
        pm.from_labels([1], [pm.LabelGroup(CELL, (1,), "components", "26")])  # type: ignore[arg-type]
    with pytest.raises(ShapeError, match=r"\(3,\).*\(2,\)"):
        pm.from_labels([1, 2, 3], [pm.LabelGroup(CELL, None)], part_map=[1, 2])
    with pytest.raises(LabelError, match="side_parts has dtype float64"):
        pm.from_labels([1, 2], [pm.LabelGroup(CELL, None)], part_map=[0.5, 1], name="side")


def test_images_without_voxels_or_axes_work() -> None:
    group = pm.LabelGroup(CELL, None, instances="components", min_voxels=2)
    assert ids(pm.from_labels(np.zeros((0, 3), int), [group])) == []
    assert ids(pm.from_labels(np.array(5), [pm.LabelGroup(CELL, None)])) == 5
    assert ids(pm.from_labels([0, 0], [group])) == [0, 0]
