"""Which slice is shown, and how much of it."""

from __future__ import annotations

import numpy as np
import pytest

from panmatch.errors import OptionError
from panmatch.labels import LabelArray
from panmatch.report._views import Turn, View, check_axes, disagreement, find_view, slice_view

ONES = np.ones(3)


def volume(shape: tuple[int, ...] = (6, 7, 8)) -> LabelArray:
    return np.zeros(shape, np.int64)


def cut(reference: LabelArray, prediction: LabelArray, spacing: tuple[float, ...]) -> View:
    wrong = disagreement(reference, prediction, [], [])
    return find_view(reference, prediction, wrong, np.array(spacing))


def test_the_slice_with_most_disagreement_is_taken() -> None:
    reference, prediction = volume(), volume()
    reference[:, :, :] = 1
    prediction[:, :, :] = 1
    prediction[4, 2:4, 1:6] = 0  # 10 voxels in one slice of axis 0
    prediction[1, 0, 0:8] = 0  # 8 in another
    view = cut(reference, prediction, (1, 1, 1))
    assert view.index == (4, slice(None), slice(None))
    assert view.slice_text == "slice 4 of axis 0"


def test_with_equal_spacing_any_axis_can_be_cut() -> None:
    reference, prediction = volume(), volume()
    reference[0:5, 1:6, 3] = 1
    assert cut(reference, prediction, (1, 1, 1)).index == (slice(None), slice(None), 3)


def test_the_coarsest_axis_is_cut_whatever_the_others_show() -> None:
    reference, prediction = volume(), volume()
    reference[0:5, 1:6, 3] = 1
    reference[0, 1, 4] = 1
    view = cut(reference, prediction, (1, 2.5, 0.5))
    assert view.index == (slice(None), 1, slice(None))
    assert view.spacing == (1.0, 0.5)


def test_areas_are_physical_where_two_axes_are_coarse() -> None:
    reference, prediction = volume(), volume()
    reference[1, 2, 0:8] = 1
    reference[0:4, 2, 4] = 1
    # Slice 2 of axis 1 has 11 voxels of 3 × 1, slice 4 of axis 2 only 4, but of 3 × 3.
    assert cut(reference, prediction, (3, 3, 1)).index == (slice(None), slice(None), 4)
    assert cut(reference, prediction, (1, 1, 1)).index == (slice(None), 2, slice(None))


def test_missed_and_false_objects_count_with_all_their_voxels() -> None:
    reference, prediction = volume(), volume()
    reference[1], prediction[1] = 1, 1  # all agree, but neither is matched
    reference[3, :4], prediction[3, 2:4] = 2, 3
    plain = find_view(reference, prediction, disagreement(reference, prediction, [], []), ONES)
    assert plain.index[0] == 3
    wrong = disagreement(reference, prediction, [1], [])
    assert find_view(reference, prediction, wrong, ONES).index[0] == 1
    assert np.count_nonzero(wrong) == 56 + 16
    assert np.array_equal(disagreement(reference, prediction, [], [1]), wrong)


def test_without_mistakes_the_largest_objects_are_shown() -> None:
    reference = volume()
    reference[2, 1:3, 1:3] = 1
    reference[5, 1:5, 1:5] = 2
    assert cut(reference, reference, (2, 1, 1)).index == (5, slice(None), slice(None))


def test_without_objects_the_middle_is_shown() -> None:
    view = cut(volume(), volume(), (2, 1, 1))
    assert view.index == (3, slice(None), slice(None))
    assert view.cropped(volume(), volume()) == view


def test_of_equal_slices_the_first_is_taken() -> None:
    reference, prediction = volume(), volume()
    reference[2, 1:3, 1:3] = reference[4, 1:3, 1:3] = 1
    assert cut(reference, prediction, (2, 1, 1)).index[0] == 2


def test_images_with_two_axes_are_not_cut() -> None:
    image = np.array([[1, 0], [0, 0]])
    view = find_view(image, 0 * image, image > 0, np.array([2.0, 3.0]))
    assert view == View((slice(None), slice(None)), (2.0, 3.0))
    assert view.slice_text == ""


def test_images_with_four_axes_are_cut_twice() -> None:
    reference = np.zeros((3, 4, 5, 6), np.int64)
    reference[2, 1, 1:4, 1:5] = 1
    view = cut(reference, 0 * reference, (9, 3, 1, 1))
    assert view.index == (2, 1, slice(None), slice(None))
    assert view.slice_text == "slice 2 of axis 0, slice 1 of axis 1"


def test_crops_leave_a_margin_that_ends_at_the_border() -> None:
    image = np.zeros((100, 80), np.int64)
    image[20:70, 1:31] = 1  # spans 50 and 30: the margin is 8 % of 50
    view = find_view(image, 0 * image, image > 0, np.ones(2)).cropped(image, 0 * image)
    assert view.index == (slice(16, 74), slice(0, 35))
    small = np.zeros((30, 30), np.int64)
    small[10, 12] = 1
    view = find_view(small, small, small > 1, np.ones(2)).cropped(0 * small, small)
    assert view.index == (slice(8, 13), slice(10, 15))


def test_narrow_parts_show_more_around_them() -> None:
    view = View((slice(10, 60), 7, slice(40, 44)), (1.0, 2.0))
    wider = view.widened((100, 9, 56))
    # 50 along the rows: at least 0.7 of it are 35, and 18 voxels of length 2.
    assert wider.index == (slice(10, 60), 7, slice(33, 51))
    assert wider.spacing == view.spacing


def test_small_parts_show_a_share_of_their_slice() -> None:
    view = View((slice(10, 12), slice(98, 100)), (1.0, 1.0))
    assert view.widened((50, 100)).index == (slice(0, 30), slice(70, 100))
    assert view.widened((20, 100)).index == (slice(0, 20), slice(70, 100))


def test_whole_slices_stay_whole() -> None:
    view = View((3, slice(None), slice(None)), (1.0, 1.0))
    assert view.widened((6, 10, 90)).index == (3, slice(0, 10), slice(0, 90))


@pytest.mark.parametrize(
    ("orientation", "order", "reversed_axes"),
    [
        ("LPI", (2, 1, 0), ()),  # axes run from right to left, front to back, head to feet
        ("RAS", (2, 1, 0), (0, 1, 2)),
        ("IPL", (0, 1, 2), ()),
        ("SAR", (0, 1, 2), (0, 1, 2)),
        ("PIR", (1, 0, 2), (2,)),
    ],
)
def test_axes_are_turned_by_their_letters(
    orientation: str, order: tuple[int, ...], reversed_axes: tuple[int, ...]
) -> None:
    turn = Turn.upright(orientation, 3)
    assert (turn.order, turn.reversed_axes) == (order, reversed_axes)
    assert turn.planes == ("axial", "coronal", "sagittal")


def test_flat_and_long_images_are_turned_as_far_as_they_are_known() -> None:
    assert Turn.upright("LP", 2) == Turn((1, 0), (), ("coronal", "sagittal"))
    assert Turn.upright("RAS", 4) == Turn(
        (2, 1, 0, 3), (0, 1, 2), ("axial", "coronal", "sagittal", "")
    )
    assert Turn.upright(None, 3) == Turn((0, 1, 2), (), ("", "", ""))
    assert Turn.upright("+x-y+z", 3) == Turn((0, 1, 2), (), ("", "", ""))


def test_slices_are_counted_from_0_along_the_stored_axis() -> None:
    image = np.arange(4 * 5 * 6).reshape(4, 5, 6)
    turn = Turn.upright("RAS", 3)
    view = View((1, slice(None), slice(None)), (1.0, 1.0))
    assert turn.slice_text(view, turn.turned(image).shape) == "slice 4 of 5, axial"
    assert np.array_equal(turn.turned(image)[1], image[::-1, ::-1, 4].T)
    both = View((slice(None), slice(None), 0, 2), (1.0, 1.0))
    assert Turn.upright("RAS", 4).slice_text(both, (6, 5, 4, 3)) == (
        "slice 3 of 3, sagittal; slice 2 of 2, axis 3"
    )


def test_a_slice_can_be_given() -> None:
    view = slice_view((1, 6), (6, 7, 8), np.array([1.0, 2.0, 3.0]))
    assert view == View((slice(None), 6, slice(None)), (1.0, 3.0))


@pytest.mark.parametrize("slice_", [(3, 0), (1, 7), (0, -1)])
def test_slices_outside_the_volume_are_errors(slice_: tuple[int, int]) -> None:
    with pytest.raises(OptionError) as caught:
        slice_view(slice_, (6, 7, 8), ONES)
    assert str(caught.value) == (
        f"slice_={slice_!r} is not a slice of an image with shape (6, 7, 8): pass (axis, position) "
        f"for an image with three axes."
    )


def test_a_line_of_voxels_is_not_a_picture() -> None:
    with pytest.raises(OptionError) as caught:
        check_axes(1)
    assert str(caught.value) == (
        "reference has 1 axes, but a picture needs two or more: for a line of voxels pass "
        "reference[numpy.newaxis] and prediction[numpy.newaxis]."
    )
