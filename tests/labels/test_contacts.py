"""Which objects touch."""

from __future__ import annotations

import numpy as np
import pytest

from panmatch.errors import PanmatchError
from panmatch.labels import cropped, touching_labels


def test_objects_touch_where_they_share_a_face_along_any_axis() -> None:
    image = np.zeros((4, 4, 4), np.uint8)
    image[0, 0, 0], image[1, 0, 0] = 1, 2  # along the first axis
    image[3, 3, 0], image[3, 3, 1] = 7, 9  # along the last
    assert touching_labels(image).tolist() == [1, 2, 7, 9]


def test_corners_and_background_do_not_touch() -> None:
    assert touching_labels([[1, 0], [0, 2]]).tolist() == []
    assert touching_labels([[1, 0, 2], [1, 0, 2]]).tolist() == []
    assert touching_labels([[5, 5], [5, 5]]).tolist() == []


@pytest.mark.parametrize("shape", [(0,), (3, 0), (1,), (2, 2, 2, 2)])
def test_empty_and_odd_images_have_no_contacts(shape: tuple[int, ...]) -> None:
    assert touching_labels(np.zeros(shape, np.int16)).tolist() == []


@pytest.mark.parametrize("order", ["C", "F"])
def test_memory_order_changes_nothing(order: str) -> None:
    image = np.random.default_rng(0).integers(0, 4, (6, 7, 5))
    laid_out = np.asarray(image, order=order)  # type: ignore[call-overload]
    assert touching_labels(laid_out).tolist() == [1, 2, 3]
    assert touching_labels(laid_out[::-1]).tolist() == [1, 2, 3]


def test_a_crop_holds_all_objects_and_copies_nothing() -> None:
    image = np.zeros((9, 8), np.int32)
    image[2, 3], image[5, 6] = 4, 8
    part = cropped(image)
    assert part.shape == (4, 4)
    assert np.shares_memory(part, image)
    assert sorted(set(part.flat)) == [0, 4, 8]
    assert cropped(np.zeros((3, 3), np.int8)).size == 0


def test_an_image_that_holds_no_labels_is_refused_by_its_name() -> None:
    with pytest.raises(PanmatchError, match="prediction"):
        touching_labels([0.5, 1.5], "prediction")
