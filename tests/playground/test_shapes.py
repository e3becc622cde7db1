"""A shape covers the pixels whose centres it holds: no other, and none is lost."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from panmatch.errors import OptionError
from panmatch.playground import Disc, Ellipse, Scene, Stroke
from panmatch.playground._shapes import Shape
from tests.playground.literal_masks import (
    COLUMNS,
    ROWS,
    add_literally,
    exact_mask,
    literal_mask,
)

near_the_canvas = st.integers(-20 * 8, 620 * 8).map(lambda value: value / 8)
sizes = st.integers(0, 60 * 8).map(lambda value: value / 8)
some_sizes = st.integers(1, 60 * 8).map(lambda value: value / 8)


@settings(max_examples=40)
@given(near_the_canvas, near_the_canvas, sizes)
def test_a_disc_covers_centres_at_a_distance_of_at_most_its_radius(
    x: float, y: float, r: float
) -> None:
    disc = Disc(x, y, r)
    assert np.array_equal(disc.mask(), exact_mask(disc))


@settings(max_examples=40)
@given(
    near_the_canvas,
    near_the_canvas,
    some_sizes,
    some_sizes,
    st.sampled_from([0, 90, 180, 270, -90]),
)
def test_an_ellipse_covers_centres_at_a_normalised_radius_of_at_most_1(
    x: float, y: float, rx: float, ry: float, angle: float
) -> None:
    ellipse = Ellipse(x, y, rx, ry, angle)
    assert np.array_equal(ellipse.mask(), exact_mask(ellipse))


@settings(max_examples=40)
@given(
    st.lists(st.tuples(near_the_canvas, near_the_canvas), min_size=1, max_size=4),
    sizes.map(lambda value: 2 * value),
)
def test_a_stroke_covers_centres_at_a_distance_of_at_most_half_its_width(
    points: list[tuple[float, float]], width: float
) -> None:
    stroke = Stroke(tuple(points), width)
    assert np.array_equal(stroke.mask(), exact_mask(stroke))


def random_shape(kind: str, seed: int) -> Shape:
    rng = np.random.default_rng(seed)
    size = float(rng.choice([0.3, 3, 30, 100]))
    x, y, rx, ry, angle = (
        float(value)
        for value in (
            rng.uniform(-50, 650),
            rng.uniform(-50, 412),
            *rng.uniform(0.01, 1, size=2) * size,
            rng.uniform(-400, 400),
        )
    )
    if kind == "disc":
        return Disc(x, y, rx)
    if kind == "ellipse":
        return Ellipse(x, y, rx, ry, angle)
    steps = rng.normal(size=(int(rng.integers(1, 9)), 2)) * size
    points = (np.array([x, y]) + steps.cumsum(axis=0)).clip(-2000, 2000)
    return Stroke(tuple(map(tuple, points.tolist())), ry)


@pytest.mark.parametrize("kind", ["disc", "ellipse", "stroke"])
def test_pixels_are_those_of_the_definition_whatever_the_numbers(kind: str) -> None:
    for seed in range(40):
        shape = random_shape(kind, seed)
        assert np.array_equal(shape.mask(), literal_mask(shape)), shape


def test_a_centre_on_the_outline_is_inside() -> None:
    # Pixel (0, 0) has its centre at (1/8, 1/8): 3 right, 4 down of it lies the centre of a disc.
    assert Disc(3.125, 4.125, 5).mask()[0, 0]
    assert not Disc(3.125, 4.125, math.nextafter(5, 0)).mask()[0, 0]
    assert Ellipse(3.125, 4.125, 5, 5).mask()[0, 0]
    assert Stroke(((3.125, 4.125),), 10).mask()[0, 0]


def test_rows_that_touch_the_outline_of_a_level_stroke_are_covered_from_end_to_end() -> None:
    covered = Stroke(((10.125, 20.125), (50.125, 20.125)), 10).mask()
    rows = np.flatnonzero(covered.any(axis=1))
    assert (rows[0], rows[-1]) == (4 * 15, 4 * 25)
    for row in (rows[0], rows[-1]):
        assert np.flatnonzero(covered[row]).tolist() == list(range(40, 201))


def test_angles_turn_from_the_x_axis_towards_the_y_axis_which_points_down() -> None:
    covered = Ellipse(300, 181, 60, 5, 30).mask()
    right_and_down = round(4 * (181 + 50 * math.sin(math.pi / 6)))
    right_and_up = round(4 * (181 - 50 * math.sin(math.pi / 6)))
    column = round(4 * (300 + 50 * math.cos(math.pi / 6)))
    assert covered[right_and_down, column]
    assert not covered[right_and_up, column]


@pytest.mark.parametrize(("angle", "same"), [(90, -270), (180, 0), (450, 90), (-30, 330)])
def test_turns_that_lead_to_the_same_place_cover_the_same(angle: float, same: float) -> None:
    one, other = Ellipse(99.3, 77.7, 41, 17, angle), Ellipse(99.3, 77.7, 41, 17, same)
    assert np.array_equal(one.mask(), other.mask())


def test_a_right_angle_swaps_the_radii() -> None:
    turned, swapped = Ellipse(99.3, 77.7, 41, 17, 90), Ellipse(99.3, 77.7, 17, 41)
    assert np.array_equal(turned.mask(), swapped.mask())


def test_shapes_without_area_cover_a_pixel_only_if_they_hit_its_centre() -> None:
    assert np.argwhere(Disc(0.125, 0.375, 0).mask()).tolist() == [[1, 0]]
    assert not Disc(0.2, 0.375, 0).mask().any()
    assert np.argwhere(Stroke(((0.125, 0.375), (0.625, 0.375)), 0).mask()).tolist() == [
        [1, 0],
        [1, 1],
        [1, 2],
    ]
    assert not Ellipse(0.125, 0.375, 0, 9).mask().any()
    assert not Ellipse(0.125, 0.375, 9, 0).mask().any()


@pytest.mark.parametrize("tiny", [5e-324, 1e-170, 1e-90, 1e-30])
def test_sizes_next_to_nothing_cover_at_most_the_pixel_they_hit(tiny: float) -> None:
    for shape in (
        Disc(0.125, 0.125, tiny),
        Ellipse(0.125, 0.125, tiny, tiny, 20),
        Ellipse(0.1, 0.1, tiny, 100, 20),
        Stroke(((0.125, 0.125), (0.125 + tiny, 0.125)), tiny),
        Stroke(((0.0, 0.0), (tiny, tiny)), 0.5),
        Stroke(((0.0, 0.0), (40.0, tiny)), 0.1),
    ):
        assert shape.mask().sum() <= 1


def test_the_canvas_cuts_shapes() -> None:
    assert Disc(0, 0, 40).mask().sum() * 4 == pytest.approx(Disc(300, 181, 40).mask().sum(), abs=9)
    assert Disc(300, 181, 2000).mask().all()
    assert Ellipse(300, 181, 2000, 2000, 7).mask().all()
    assert Stroke(((-2000, 181), (2000, 181)), 2000).mask().all()
    for outside in (Disc(-41, 50, 40), Disc(300, 403, 40), Disc(641, 50, 40), Disc(300, -41, 40)):
        assert not outside.mask().any()


def test_a_mask_has_four_pixels_per_unit_and_axis() -> None:
    assert Disc(1, 2, 3).mask().shape == (ROWS, COLUMNS) == (362 * 4, 600 * 4)


def test_a_dot_is_a_disc() -> None:
    disc = Disc(120.3, 80.9, 7.7).mask()
    for points in (((120.3, 80.9),), ((120.3, 80.9), (120.3, 80.9))):
        assert np.array_equal(Stroke(points, 15.4).mask(), disc)


def test_strokes_of_many_points_lose_none() -> None:
    rng = np.random.default_rng(5)
    steps = rng.normal(scale=6, size=(1200, 2)).cumsum(axis=0)
    points = tuple(map(tuple, (np.array([300, 181]) + steps).tolist()))
    pieces = np.zeros((ROWS, COLUMNS), dtype=np.bool_)
    for ends in pairwise(points):
        add_literally(pieces, Stroke(ends, 5))
    assert np.array_equal(Stroke(points, 5).mask(), pieces)


@pytest.mark.parametrize("seed", range(5))
def test_no_pixel_of_a_stroke_is_listed_twice(seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = tuple(map(tuple, rng.uniform([100, 100], [300, 260], size=(30, 2)).tolist()))
    stroke = Stroke(points, 20)
    spans = Stroke.spans([stroke, stroke])
    for position in (0, 1):
        of_one = spans.shape == position
        assert (spans.stop - spans.start)[of_one].sum() == stroke.mask().sum()


def test_the_direction_of_a_stroke_does_not_matter() -> None:
    points = ((10.3, 50.1), (80.7, 20.9), (80.7, 90.2), (30.5, 90.2))
    assert np.array_equal(Stroke(points, 9).mask(), Stroke(points[::-1], 9).mask())


def test_copies_of_a_shape_are_scaled_about_its_centre() -> None:
    assert Disc(10, 20, 8, (0.5, 0.25)).nested() == (
        Disc(10, 20, 8, (0.5, 0.25)),
        Disc(10, 20, 4),
        Disc(10, 20, 2),
    )
    assert Ellipse(10, 20, 8, 6, 30, (0.5,)).nested()[1] == Ellipse(10, 20, 4, 3, 30)
    assert Stroke(((1, 2), (3, 4)), 8, (0.25,)).nested()[1] == Stroke(((1, 2), (3, 4)), 2)


def shape_from_dict(given: object) -> Shape:
    """Read a shape as the only one of a scene."""
    return Scene.from_dict({"reference": [given], "prediction": []}).reference[0]


SHAPES = [
    Disc(1.1, -2.2, 3.3, (0.5,)),
    Ellipse(1.1, 2.2, 3.3, 4.4, -55.5, (0.9, 0.1)),
    Stroke(((1.1, 2.2), (-3.3, 4.4)), 5.5, (0.7,)),
]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: str(shape.kind))
def test_a_shape_reads_what_it_writes(shape: Shape) -> None:
    assert shape_from_dict(shape.to_dict()) == shape


def test_shapes_are_written_as_plain_json() -> None:
    assert SHAPES[0].to_dict() == {
        "kind": "disc",
        "x": 1.1,
        "y": -2.2,
        "r": 3.3,
        "parts": [0.5],
        "confidence": None,
    }
    assert SHAPES[2].to_dict() == {
        "kind": "stroke",
        "points": [[1.1, 2.2], [-3.3, 4.4]],
        "width": 5.5,
        "parts": [0.7],
        "confidence": None,
    }


def test_whole_numbers_and_missing_parts_are_accepted() -> None:
    assert shape_from_dict({"kind": "disc", "x": 1, "y": 2, "r": 3}) == Disc(1.0, 2.0, 3.0)
    assert shape_from_dict({"kind": "stroke", "points": [[1, 2]], "width": 3}) == Stroke(
        ((1.0, 2.0),), 3.0
    )
    assert type(Disc(1, 2, np.float64(3)).r) is float


DISC = {"kind": "disc", "x": 1, "y": 2, "r": 3}
STROKE = {"kind": "stroke", "points": [[1, 2]], "width": 3}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("disc", r"^reference\[0\]='disc' must be a valid dictionary or"),
        ({"x": 1}, r"^reference\[0\]\.kind=None is not known\. Accepted: disc, ellipse, stroke\.$"),
        (
            DISC | {"kind": "disk"},
            r"^reference\[0\]\.kind='disk' is not known; did you mean 'disc'\? Accepted: disc, el",
        ),
        (
            DISC | {"kind": 7},
            r"^reference\[0\]\.kind=7 is not known\. Accepted: disc, ellipse, stroke\.$",
        ),
        (
            {"kind": "disc", "x": 1, "y": 2},
            r"^reference\[0\]\.r is missing\.$",
        ),
        (
            DISC | {"part": [0.5]},
            r"^reference\[0\]: the key 'part' of disc is not known; did you mean 'parts'\? Acc",
        ),
        (
            DISC | {"r": -1},
            r"^reference\[0\]\.r=-1 must be greater than or equal to 0\.$",
        ),
        (
            DISC | {"r": 2000.5},
            r"^reference\[0\]\.r=2000\.5 must be less than or equal to 2000\.$",
        ),
        (
            DISC | {"x": "1"},
            r"^reference\[0\]\.x='1' must be a valid number\.$",
        ),
        (
            DISC | {"y": True},
            r"^reference\[0\]\.y=True must be a valid number\.$",
        ),
        (
            DISC | {"y": math.nan},
            r"^reference\[0\]\.y=nan must be a finite number\.$",
        ),
        (
            DISC | {"x": 10**400},
            r"^reference\[0\]\.x=10{59}… must be a valid number\.$",
        ),
        (
            {"kind": "ellipse", "x": 1, "y": 2, "rx": 3, "ry": 4, "angle": math.inf},
            r"^reference\[0\]\.angle=inf must be a finite number\.$",
        ),
        (
            {"kind": "ellipse", "x": 1, "y": 2, "rx": 3, "ry": -4},
            r"^reference\[0\]\.ry=-4 must be greater than or equal to 0\.$",
        ),
        (
            {"kind": "ellipse", "x": 1, "y": 2, "rx": None, "ry": 4},
            r"^reference\[0\]\.rx=None must be a valid number\.$",
        ),
        (
            STROKE | {"width": -3},
            r"^reference\[0\]\.width=-3 must be greater than or equal to 0\.$",
        ),
        (
            STROKE | {"points": []},
            r"^reference\[0\]\.points=\[\] must have at least 1 item, not 0\.$",
        ),
        (
            STROKE | {"points": [[0, 0]] * 2001},
            r"^reference\[0\]\.points=\[\[0, 0\], .*… must have at most 2000 items, not 2001\.$",
        ),
        (
            STROKE | {"points": [[1, 2], [3]]},
            r"^reference\[0\]\.points\[1\]\[1\] is missing\.$",
        ),
        (
            STROKE | {"points": [[1, 2], [3, -2001.0]]},
            r"^reference\[0\]\.points\[1\]\[1\]=-2001\.0 must be greater than or equal to -2000\.$",
        ),
        (
            DISC | {"parts": 0.5},
            r"^reference\[0\]\.parts=0\.5 must be a valid list\.$",
        ),
        (
            DISC | {"parts": ["a"]},
            r"^reference\[0\]\.parts\[0\]='a' must be a valid number\.$",
        ),
        *(
            (
                DISC | {"parts": parts},
                r"^reference\[0\]\.parts: \(0.*\) must be decreasing factors, such as \[0\.6, ",
            )
            for parts in ([0.5, 0.5], [0.4, 0.6])
        ),
        (DISC | {"parts": [1]}, r"^reference\[0\]\.parts\[0\]=1 must be less than 1\.$"),
        (DISC | {"parts": [0]}, r"^reference\[0\]\.parts\[0\]=0 must be greater than 0\.$"),
        (
            DISC | {"parts": [0.9, 0.8, 0.7, 0.6, 0.5]},
            r"^reference\[0\]\.parts=\[0\.9, .*\] must have at most 4 items",
        ),
    ],
)
def test_what_is_no_shape_is_refused_by_name(given: Any, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        shape_from_dict(given)
