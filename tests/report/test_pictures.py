"""Pictures of cases, pixel by pixel."""

from __future__ import annotations

import time
from io import BytesIO
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

import panmatch as pm
from panmatch.errors import LabelError, OptionError, ShapeError
from panmatch.labels import LabelArray
from panmatch.report._case_pictures import TINT, case_picture
from panmatch.report._matched_class import statuses_of
from panmatch.report._style import OTHER, STATUSES

WHITE = (255, 255, 255)


def decoded(png: bytes) -> npt.NDArray[np.uint8]:
    return np.array(Image.open(BytesIO(png)).convert("RGB"))


def full(color: str) -> tuple[int, ...]:
    return tuple(bytes.fromhex(color[1:]))


def pale(color: str) -> tuple[int, ...]:
    return tuple(round(255 + TINT * (value - 255)) for value in full(color))


MATCHED, MISSED, FALSE = (STATUSES[status].color for status in STATUSES)


def quarters() -> tuple[LabelArray, LabelArray]:
    """Return four squares: found, missed, spurious, and one without a status."""
    reference, prediction = np.zeros((100, 100), np.int32), np.zeros((100, 100), np.int32)
    reference[10:40, 10:40], prediction[10:40, 10:40] = 1, 5
    reference[10:40, 60:90] = 2
    prediction[60:90, 10:40] = 6
    prediction[60:90, 60:90] = 7
    reference[60:90, 60:90] = 3
    return reference, prediction


def drawn(pixels: int = 480) -> npt.NDArray[np.uint8]:
    refs, preds = {1: "matched", 2: "missed"}, {5: "matched", 6: "false positive"}
    return decoded(case_picture(*quarters(), refs, preds, pixels=pixels))


def at(picture: npt.NDArray[np.uint8], row: float, column: float) -> tuple[int, ...]:
    """Return the colour at voxel coordinates of `quarters`, cropped by 6 voxels of margin."""
    scale = picture.shape[0] / 92  # rows and columns 4 to 96
    return tuple(picture[int((row - 4) * scale), int((column - 4) * scale)].tolist())


def test_colours_tell_the_status() -> None:
    picture = drawn()
    assert picture.shape == (480, 480, 3)
    assert at(picture, 25, 25) == pale(MATCHED)
    assert at(picture, 75, 75) == pale(OTHER.color)
    assert at(picture, 75, 25) == WHITE  # false positives are outlines
    assert at(picture, 50, 50) == WHITE
    assert at(picture, 10.1, 25) == full(MATCHED)
    assert at(picture, 60.1, 75) == full(OTHER.color)


def test_missed_references_are_striped() -> None:
    picture = drawn()
    inside = picture[60:160, 320:420].reshape(-1, 3)
    colours, counts = np.unique(inside, axis=0, return_counts=True)
    assert {tuple(color) for color in colours.tolist()} == {full(MISSED), pale(MISSED)}
    share = counts[[tuple(c) == full(MISSED) for c in colours.tolist()].index(True)] / len(inside)
    assert share == pytest.approx(3 / 8, abs=0.01)


def test_outlines_of_false_positives_are_dashed_and_others_are_not() -> None:
    picture = drawn()
    scale = 480 / 92
    top = picture[int(56.1 * scale), int(7 * scale) : int(35 * scale)]
    colours = {tuple(color) for color in top.tolist()}
    assert colours == {full(FALSE), WHITE}
    share = np.mean([tuple(color) == full(FALSE) for color in top.tolist()])
    assert 0.4 < share < 0.6
    found = picture[int(6.1 * scale) + 1, int(7 * scale) : int(35 * scale)]
    assert {tuple(color) for color in found.tolist()} == {full(MATCHED)}


def test_only_colours_of_the_palette_occur() -> None:
    colours = {tuple(color) for color in np.unique(drawn().reshape(-1, 3), axis=0).tolist()}
    assert colours == {
        WHITE, full(MATCHED), pale(MATCHED), full(MISSED), pale(MISSED), full(FALSE),
        full(OTHER.color), pale(OTHER.color),
    }  # fmt: skip


def test_touching_predictions_have_a_line_between_them() -> None:
    reference = np.ones((40, 40), np.int64)
    prediction = np.ones((40, 40), np.int64)
    prediction[:, 20:] = 2
    refs, preds = {1: "matched"}, {1: "matched", 2: "matched"}
    picture = decoded(case_picture(reference, prediction, refs, preds, pixels=400))
    assert tuple(picture[200, 200].tolist()) == full(MATCHED)
    assert tuple(picture[200, 100].tolist()) == pale(MATCHED)
    assert tuple(picture[0, 100].tolist()) == pale(MATCHED)  # the border is not an outline


@pytest.mark.parametrize(
    ("spacing", "size"), [(None, (480, 240)), ((1, 2), (480, 480)), ((1, 8), (120, 480))]
)
def test_proportions_follow_the_spacing(spacing: Any, size: tuple[int, int]) -> None:
    image = np.ones((40, 20), np.uint8)
    picture = decoded(case_picture(image, image, {1: "matched"}, {1: "matched"}, spacing=spacing))
    assert picture.shape[:2] == size


def test_a_volume_shows_its_worst_slice() -> None:
    reference = np.zeros((5, 50, 50), np.uint16)
    reference[1, 5:45, 5:45] = 1
    reference[3, 10:20, 10:20] = 2
    prediction = np.where(reference == 1, 9, 0)
    refs, preds = {1: "matched", 2: "missed"}, {9: "matched"}
    picture = decoded(case_picture(reference, prediction, refs, preds, spacing=(4, 1, 1)))
    colours = {tuple(color) for color in np.unique(picture.reshape(-1, 3), axis=0).tolist()}
    assert colours == {WHITE, full(MISSED), pale(MISSED)}
    size = round(480 / 14)  # 10 voxels and 2 on either side
    assert tuple(picture[size, size].tolist()) == WHITE
    assert tuple(picture[240, 240].tolist()) in (full(MISSED), pale(MISSED))


def test_empty_images_are_white() -> None:
    nothing = np.zeros((8, 4), np.int64)
    picture = decoded(case_picture(nothing, nothing, {}, {}, pixels=100))
    assert picture.shape == (100, 50, 3)
    assert (picture == 255).all()


def test_memory_order_and_dtype_do_not_matter() -> None:
    reference, prediction = quarters()
    refs, preds = {1: "matched", 2: "missed"}, {5: "matched", 6: "false positive"}
    expected = case_picture(reference, prediction, refs, preds)
    other = np.asfortranarray(reference.astype(np.uint64)), prediction[::-1, ::-1][::-1, ::-1]
    assert case_picture(*other, refs, preds) == expected


def test_many_objects_in_a_large_volume_are_a_small_file_soon() -> None:
    rng = np.random.default_rng(0)
    reference = np.zeros((192, 192, 192), np.int32)
    for number, corner in enumerate(rng.integers(0, 170, (300, 3)).tolist(), start=1):
        reference[tuple(slice(one, one + 20) for one in corner)] = number
    prediction = np.roll(reference, 3, axis=1)
    statuses = statuses_of(pm.match(pm.count_overlaps(reference, prediction)))
    start = time.perf_counter()
    png = case_picture(reference, prediction, *statuses)
    assert time.perf_counter() - start < 3  # seconds; 0.1 on an idle machine
    assert len(png) < 60_000


def test_statuses_are_those_of_the_matching() -> None:
    reference, prediction = np.array([1, 1, 0, 2, 2, 0]), np.array([1, 1, 0, 0, 0, 4])
    statuses = statuses_of(pm.match(pm.count_overlaps(reference, prediction)))
    assert statuses == ({1: "matched", 2: "missed"}, {1: "matched", 4: "false positive"})
    void = np.array([0, 0, 0, 0, 0, 1])
    dismissed = statuses_of(pm.match(pm.count_overlaps(reference, prediction, void=void)))
    assert dismissed == ({1: "matched", 2: "missed"}, {1: "matched"})


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"prediction": np.zeros((3, 2), int)}, ShapeError, "reference has shape (2, 3) but "
         "prediction has shape (3, 2); both must lie on the same grid. The axes look permuted: "
         "bring them into one order with numpy.transpose."),
        ({"reference": np.full((2, 3), 0.5)}, LabelError, "reference has dtype float64; labels "
         "must be integers or booleans. It holds 0.5, which is not a label: if it is a probability "
         "map, threshold it first; if it was resampled, use nearest-neighbour interpolation."),
        ({"reference": [1, 2], "prediction": [1, 2]}, OptionError, "reference has 1 axes, but a "
         "picture needs two or more: for a line of voxels pass reference[numpy.newaxis] and "
         "prediction[numpy.newaxis]."),
        ({"status_of_reference": {1: "mised"}}, OptionError, "status_of_reference='mised' is not "
         "known; did you mean 'missed'? Accepted: 'matched', 'missed'."),
        ({"status_of_prediction": {1: "missed"}}, OptionError, "status_of_prediction='missed' is "
         "not known. Accepted: 'matched', 'false positive'."),
        ({"pixels": 15}, OptionError, "pixels=15 is not a size of a picture: pass 16 or more."),
        ({"pixels": 99.5}, OptionError, "pixels=99.5 is not a size of a picture: pass 16 or more."),
        ({"spacing": (1, 0)}, OptionError, "spacing=(1, 0) must be positive and finite along every "
         "axis."),
    ],
)  # fmt: skip
def test_what_cannot_be_drawn_is_an_error(change: Any, error: Any, message: str) -> None:
    image = np.zeros((2, 3), int)
    given = {"reference": image, "prediction": image, "status_of_reference": {},
             "status_of_prediction": {}} | change  # fmt: skip
    with pytest.raises(error) as caught:
        case_picture(**given)
    assert str(caught.value) == message
