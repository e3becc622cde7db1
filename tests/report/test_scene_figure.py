"""Scenes as they are drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

import panmatch as pm
from panmatch.errors import LabelError, OptionError, OverlapError, ShapeError
from panmatch.labels import LabelArray
from panmatch.report import plot_scene
from panmatch.report._scene_figure import outline_of
from panmatch.report._style import OTHER, STATUSES
from tests.report.results import draw


def scene() -> tuple[LabelArray, LabelArray]:
    """Return a found, a missed and a spurious square in an image of 40 × 60."""
    reference, prediction = np.zeros((40, 60), np.int64), np.zeros((40, 60), np.int64)
    reference[5:15, 5:15], prediction[6:15, 5:15] = 1, 4
    reference[25:35, 5:15] = 2
    prediction[25:35, 40:50] = 5
    return reference, prediction


def drawn(reference: LabelArray, prediction: LabelArray, **options: Any) -> Figure:
    matching = pm.match(pm.count_overlaps(reference, prediction, void=options.pop("void", None)))
    return plot_scene(reference, prediction, matching, **options)


def patches(ax: Axes) -> list[tuple[bool, str, tuple[float, ...]]]:
    """Return whether it is filled, the colour, and left, top, right, bottom of every patch."""
    return [
        (patch.get_fill(), to_hex(patch.get_edgecolor()).upper(),
         tuple(np.asarray(patch.get_path().get_extents().extents).tolist()))
        for patch in ax.patches
    ]  # fmt: skip


MATCHED, MISSED, FALSE = (STATUSES[status].color for status in STATUSES)


def test_references_are_filled_and_predictions_outlined_in_the_colour_of_their_status() -> None:
    (ax,) = drawn(*scene(), zoom=False).axes
    assert patches(ax) == [
        (True, MATCHED, (4.5, 4.5, 14.5, 14.5)),
        (True, MISSED, (4.5, 24.5, 14.5, 34.5)),
        (False, MATCHED, (4.5, 5.5, 14.5, 14.5)),
        (False, FALSE, (39.5, 24.5, 49.5, 34.5)),
    ]
    assert ax.patches[1].get_hatch() == STATUSES["missed"].hatch
    assert not ax.patches[0].get_hatch()
    assert ax.patches[3].get_linestyle() != ax.patches[2].get_linestyle()
    assert (ax.get_xlim(), ax.get_ylim()) == ((-0.5, 59.5), (39.5, -0.5))


def test_zoom_leaves_out_what_is_far_from_objects() -> None:
    (ax,) = drawn(*scene()).axes
    # Objects span rows 5 to 34 and columns 5 to 49; the margin is 8 % of 45.
    assert (ax.get_xlim(), ax.get_ylim()) == ((-0.5, 52.5), (37.5, -0.5))
    assert patches(ax)[0][2] == (3.5, 3.5, 13.5, 13.5)


def test_dismissed_predictions_are_grey() -> None:
    reference, prediction = scene()
    figure = drawn(reference, prediction, void=prediction == 5)
    assert [color for _, color, _ in patches(figure.axes[0])] == [
        MATCHED, MISSED, MATCHED, OTHER.color
    ]  # fmt: skip
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [
        "reference, matched",
        "reference, missed (FN)",
        "prediction, matched",
        "false positive (FP)",
        "prediction, dismissed",
    ]
    assert len(drawn(*scene()).legends[0].get_texts()) == 4


def test_the_legend_looks_like_what_it_names() -> None:
    (legend,) = drawn(*scene()).legends
    areas, lines = legend.legend_handles[:2], legend.legend_handles[2:]
    assert [to_hex(area.get_edgecolor()).upper() for area in areas] == [MATCHED, MISSED]  # type: ignore[union-attr]
    assert [bool(area.get_hatch()) for area in areas] == [False, True]  # type: ignore[union-attr]
    assert [line.get_color() for line in lines] == [MATCHED, FALSE]  # type: ignore[union-attr]
    assert [line.get_linestyle() for line in lines] == ["-", "--"]  # type: ignore[union-attr]


def test_words_name_strategy_bounds_and_tally() -> None:
    reference, prediction = scene()
    matching = pm.match(pm.count_overlaps(reference, prediction), "many-to-one", 0.25)
    (ax,) = plot_scene(reference, prediction, matching).axes
    assert ax.get_title() == (
        "many-to-one (merge, seed)\n"
        "any number of predictions per reference\nat most 1 reference per prediction"
    )
    assert ax.get_xlabel() == f"τ = 0.25:  TP 1   FP 1   FN 1   PQ {0.9 / 2:.3f}"


def volumes() -> tuple[LabelArray, LabelArray]:
    reference, prediction = np.zeros((6, 20, 30), np.int64), np.zeros((6, 20, 30), np.int64)
    reference[0, 2:8, 2:8] = prediction[0, 2:8, 2:8] = 1
    reference[4, 2:12, 3:23] = 2
    return reference, prediction


def test_a_volume_shows_the_slice_computed_by_hand() -> None:
    (ax,) = drawn(*volumes(), spacing=(4, 1, 2), zoom=False).axes
    assert patches(ax) == [(True, MISSED, (2.5, 1.5, 22.5, 11.5))]
    assert ax.get_xlabel().splitlines()[1] == "slice 4 of axis 0"
    assert ax.get_aspect() == 0.5  # rows are half as far apart as columns
    (other,) = drawn(*volumes(), slice_=(0, 0), zoom=False).axes
    assert [color for _, color, _ in patches(other)] == [MATCHED, MATCHED]
    assert other.get_xlabel().splitlines()[1] == "slice 0 of axis 0"


def test_an_image_lies_behind_in_the_same_crop() -> None:
    reference, prediction = scene()
    image = np.arange(2400.0).reshape(40, 60)
    (ax,) = drawn(reference, prediction, image=image).axes
    (background,) = ax.get_images()
    assert np.array_equal(np.asarray(background.get_array()), image[1:39, 1:54])
    assert ax.patches[2].get_path_effects() != []
    assert drawn(reference, prediction).axes[0].patches[2].get_path_effects() == []


def test_colours_become_grey_and_a_volume_has_its_slice() -> None:
    reference, prediction = volumes()
    image = np.zeros((6, 20, 30, 4), np.uint8)
    image[4, :, :, 0], image[4, :, :, 3] = 90, 255
    (ax,) = drawn(reference, prediction, image=image, spacing=(4, 1, 1), zoom=False).axes
    shown = np.asarray(ax.get_images()[0].get_array())
    assert shown.shape == (20, 30)
    assert (shown == 30).all()  # opacity is no colour


def test_colours_are_seen_where_they_belong() -> None:
    figure = drawn(*scene(), zoom=False)
    picture = draw(figure)
    (ax,) = figure.axes
    height = picture.shape[0]

    def near(column: float, row: float) -> npt.NDArray[np.float64]:
        x, y = ax.transData.transform((column, row))
        window = picture[int(height - y) - 3 : int(height - y) + 4, int(x) - 3 : int(x) + 4]
        return window.reshape(-1, 3).astype(float)

    blue = np.array([0x00, 0x72, 0xB2])
    assert np.abs(near(9, 9) - (255 + 0.3 * (blue - 255))).max() < 2
    assert (near(30, 10) == 255).all()
    assert np.abs(near(45, 30) - 255).max() == 0  # a false positive is not filled
    assert len(np.unique(near(9, 29), axis=0)) > 1  # hatched


def test_empty_images_have_no_patches() -> None:
    nothing = np.zeros((4, 5), np.int64)
    (ax,) = drawn(nothing, nothing).axes
    assert patches(ax) == []
    assert ax.get_xlabel() == "τ = 0.5:  TP 0   FP 0   FN 0   PQ –"


def signed_area(line: npt.ArrayLike) -> float:
    points = np.asarray(line, np.float64)
    (x, y), (next_x, next_y) = points[:-1].T, points[1:].T
    return float((x * next_y - next_x * y).sum() / 2)


def test_outlines_have_holes_and_follow_many_objects() -> None:
    ring = np.ones((5, 5), np.int64)
    ring[2, 2] = 0
    path = outline_of(ring, {1})
    assert path is not None
    # Corners of masks are cut by half a voxel; a hole runs the other way round.
    assert sorted(signed_area(line) for line in path.to_polygons()) == [-0.5, 24.5]
    board = np.arange(1, 10).reshape(3, 3)
    nine = outline_of(board, range(1, 10))
    assert nine is not None
    assert len(nine.to_polygons()) == 9
    assert outline_of(board, {10}) is None


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"prediction": np.zeros((40, 61), int)}, ShapeError, "reference has shape (40, 60) but "
         "prediction has shape (40, 61); both must lie on the same grid. Resample one of them with "
         "nearest-neighbour interpolation first."),
        ({"reference": np.zeros((40, 60), int)}, OverlapError, "reference has no object 1, which "
         "the matching has: pass the label images that were matched."),
        ({"prediction": np.zeros((40, 60), int)}, OverlapError, "prediction has no object 4, which "
         "the matching has: pass the label images that were matched."),
        ({"image": np.zeros((60, 40))}, ShapeError, "image has shape (60, 40) but reference has "
         "shape (40, 60): pass an image on the same grid, with or without an axis of colours at "
         "the end."),
        ({"slice_": (0, 3)}, OptionError, "slice_=(0, 3) is not a slice of an image with "
         "shape (40, 60): pass (axis, position) for an image with three axes."),
        ({"reference": np.zeros((40, 60))}, LabelError, "reference has dtype float64; labels must "
         "be integers or booleans. All its values are whole numbers: if they are labels, pass "
         "reference.astype(numpy.int64)."),
        ({"spacing": (1, 1, 1)}, OptionError, "spacing=(1, 1, 1) has 3 numbers, but the image has "
         "2 axes: give one number per axis, in the order of the axes."),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_an_error(change: Any, error: Any, message: str) -> None:
    reference, prediction = scene()
    matching = pm.match(pm.count_overlaps(reference, prediction))
    given = {"reference": reference, "prediction": prediction, "matching": matching} | change
    with pytest.raises(error) as caught:
        plot_scene(**given)
    assert str(caught.value) == message
