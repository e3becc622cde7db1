"""The column of vertebrae: levels, discs between them, sub-regions where they belong."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from panmatch.errors import OptionError
from panmatch.phantoms import Anatomy, spine


@pytest.fixture(scope="module")
def column() -> Anatomy:
    return spine()


def parts_of(anatomy: Anatomy) -> npt.NDArray[np.int32]:
    assert anatomy.parts is not None
    return anatomy.parts


def middle(anatomy: Anatomy, part: int, label: int | None = None) -> list[float]:
    inside = anatomy.parts == part
    if label is not None:
        inside &= anatomy.labels == label
    where: list[float] = np.argwhere(inside).mean(axis=0).tolist()
    return where


def test_vertebrae_count_up_from_the_lowest_with_a_disc_below_all_but_it(column: Anatomy) -> None:
    assert np.unique(column.labels).tolist() == [0, 20, 21, 22, 23, 24, 120, 121, 122, 123]
    assert column.names[20] == "L1"
    assert column.names[24] == "L5"
    assert column.names[123] == "disc below L4"
    assert column.objects is column.labels
    assert not column.is_semantic


@pytest.mark.parametrize(
    ("n", "lowest", "labels"),
    [(0, 24, []), (1, 24, [24]), (3, 7, [5, 6, 7, 105, 106]), (2, 2, [1, 2, 101])],
)
def test_any_stretch_of_the_spine(n: int, lowest: int, labels: list[int]) -> None:
    assert np.unique(spine((80, 60), n, lowest=lowest).labels).tolist() == [0, *labels]


def test_levels_follow_each_other_from_head_to_foot(column: Anatomy) -> None:
    order = [20, 120, 21, 121, 22, 122, 23, 123, 24]
    inner = np.isin(parts_of(column), [50, 100])
    heights = [np.argwhere((column.labels == k) & inner)[:, 0].mean() for k in order]
    assert heights == sorted(heights)


def test_parts_are_exactly_where_labels_are(column: Anatomy) -> None:
    assert column.parts is not None
    assert np.array_equal(column.parts > 0, column.labels > 0)
    for label in range(20, 25):
        assert np.unique(column.parts[column.labels == label]).tolist() == list(range(41, 51))
    assert np.unique(column.parts[column.labels > 100]).tolist() == [100]
    assert set(column.part_names) == {*range(41, 51), 100}


def test_regions_lie_where_they_are_in_a_body(column: Anatomy) -> None:
    for label in range(20, 25):
        body, arch, spinous = (middle(column, part, label) for part in (50, 41, 42))
        assert body[1] < arch[1] < spinous[1]
        assert middle(column, 45, label)[0] < body[0] < middle(column, 47, label)[0]
        for left, right in ((43, 44), (45, 46), (47, 48)):
            assert middle(column, right, label)[2] < body[2] < middle(column, left, label)[2]
        border = np.argwhere((column.parts == 49) & (column.labels == label))
        inner = np.argwhere((column.parts == 50) & (column.labels == label))
        assert (border.min(axis=0) < inner.min(axis=0)).all()
        assert (border.max(axis=0) > inner.max(axis=0)).all()


def test_the_column_keeps_off_the_edge_of_the_image(column: Anatomy) -> None:
    voxels = np.argwhere(column.labels > 0)
    assert (voxels.min(axis=0) > 0).all()
    assert (voxels.max(axis=0) < np.array(column.labels.shape) - 1).all()


def test_two_axes_are_a_slice_through_the_middle() -> None:
    flat = spine((128, 80), 5)
    assert np.unique(flat.labels).tolist() == [0, 20, 21, 22, 23, 24, 120, 121, 122, 123]
    assert np.unique(parts_of(flat)).tolist() == [0, 41, 42, 49, 50, 100]


def test_anisotropic_voxels_show_the_same_column_with_fewer_of_them() -> None:
    fine, coarse = spine((128, 80, 72)), spine((128, 80, 24), spacing=(1, 1, 3))
    assert coarse.spacing == (1.0, 1.0, 3.0)
    for label in range(20, 25):
        volumes = [(one.labels == label).sum() * np.prod(one.spacing) for one in (fine, coarse)]
        assert abs(volumes[0] / volumes[1] - 1) < 0.1


def test_the_column_follows_the_seed() -> None:
    first, again, other = (spine((96, 64), 3, seed=s) for s in (1, 1, 2))
    assert np.array_equal(parts_of(first), parts_of(again))
    assert not np.array_equal(parts_of(first), parts_of(other))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": 25}, "n=25 is out of range; pass 0 to 24."),
        ({"n": 3, "lowest": 2}, "n=3 is out of range; pass 0 to 2."),
        ({"lowest": 26}, "lowest=26 is out of range; pass 1 to 25."),
        ({"shape": (40, 80), "n": 10}, "n=10 vertebrae do not fit shape (40, 80) with spacing "
         "(1.0, 1.0): they would be 3.9 voxels apart, but need 6. Lower n, or enlarge the image "
         "along every axis."),
        ({"spacing": 1, "shape": (8,)}, "shape=(8,) is not an image shape; pass two or three "
         "positive whole numbers, such as (64, 64) or (32, 64, 64)."),
    ],
)  # fmt: skip
def test_refusals_name_argument_value_and_remedy(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError) as caught:
        spine(**options)
    assert str(caught.value) == message
