"""Exact areas of discs: against numerical integration, limits, published numbers and pixels."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad

import panmatch as pm
from panmatch.errors import OptionError
from panmatch.playground import STRATEGIES, Disc, Ellipse, Scene, Stroke, exact_overlap, read_link
from panmatch.playground._exact_areas import lens_areas
from panmatch.playground._states import Shapes

FIGURES = {
    "autc_fig": (
        "?refs=0.238,0.401,0.092;0.731,0.421,0.117;0.485,0.416,0.075"
        "&preds=0.234,0.542,0.092;0.733,0.455,0.108;0.488,0.482,0.073&matcher=greedy"
    ),
    "toy_fig": (
        "?refs=0.769,0.482,0.125;0.474,0.453,0.105;0.128,0.342,0.099;0.148,0.675,0.101"
        "&preds=0.734,0.406,0.056;0.8,0.59,0.055;0.843,0.417,0.05;0.8,0.321,0.017;"
        "0.709,0.559,0.028;0.537,0.551,0.028;0.462,0.399,0.089;0.125,0.183,0.083;"
        "0.139,0.507,0.108&matcher=maximize-merge"
    ),
}
KNOWN: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "data" / "paper_scenes.json").read_text()
)
PUBLISHED = Path(__file__).parents[3] / "shared" / "oracles" / "paper_scenes.json"


def lens(r: float, other: float, distance: float) -> float:
    return float(lens_areas(np.array([0, 0, r]), np.array([0, distance, other])))


def integrated(r: float, other: float, distance: float) -> float:
    """Add up the heights of what two discs share, along the line through their centres."""

    def height(x: float) -> float:
        squares = r * r - x * x, other * other - (x - distance) ** 2
        return 2 * math.sqrt(max(min(squares), 0))

    low, high = max(-r, distance - other), min(r, distance + other)
    crossing = (distance**2 + r**2 - other**2) / (2 * distance)
    value: float = quad(height, low, high, points=[min(max(crossing, low), high)], epsabs=1e-11)[0]
    return value


@pytest.mark.parametrize(
    ("r", "other", "distance"),
    [(3, 2, 4), (2, 3, 4), (5, 5, 1), (5, 1, 4.5), (5, 1, 5.5), (1, 40, 39.5), (1, 40, 40.5)],
)
def test_the_area_that_two_discs_share_equals_an_integral(
    r: float, other: float, distance: float
) -> None:
    assert lens(r, other, distance) == pytest.approx(integrated(r, other, distance), rel=1e-9)


def test_discs_that_touch_or_are_apart_share_nothing() -> None:
    assert lens(2, 3, 5) == lens(2, 3, 7) == lens(0, 3, 3) == 0


def test_a_disc_inside_another_is_shared_whole() -> None:
    for distance in (0, 1, 2):
        assert lens(5, 3, distance) == lens(3, 5, distance) == math.pi * 9
    assert lens(5, 5, 0) == math.pi * 25
    assert lens(5, 0, 3) == 0


@pytest.mark.parametrize("depth", [2.0**-10, 2.0**-20, 2.0**-40])
@pytest.mark.parametrize(("r", "other"), [(64, 64), (64, 16), (2, 128)])
def test_discs_that_hardly_overlap_share_a_thin_lens(r: float, other: float, depth: float) -> None:
    thin = 4 / 3 * math.sqrt(2 * r * other / (r + other)) * depth**1.5
    assert lens(r, other, r + other - depth) == pytest.approx(thin, rel=depth + 1e-12, abs=0)


@pytest.mark.parametrize("depth", [2.0**-10, 2.0**-20])
@pytest.mark.parametrize(("r", "other"), [(64, 16), (2, 128)])
def test_a_disc_that_hardly_sticks_out_loses_a_thin_crescent(
    r: float, other: float, depth: float
) -> None:
    small, large = min(r, other), max(r, other)
    crescent = 4 / 3 * math.sqrt(2 * r * other / (large - small)) * depth**1.5
    found = math.pi * small**2 - lens(r, other, large - small + depth)
    assert found == pytest.approx(crescent, rel=depth, abs=1e-11)


@pytest.mark.parametrize("distance", [2.0**-8, 2.0**-16, 2.0**-24, 2.0**-32])
def test_nearly_equal_discs_share_all_but_two_crescents(distance: float) -> None:
    assert lens(64, 64, distance) == pytest.approx(math.pi * 64**2 - 128 * distance, rel=1e-12)
    slightly_larger = 64 + distance / 2
    assert math.pi * 64**2 - 128 * distance < lens(64, slightly_larger, distance) < math.pi * 64**2


@pytest.mark.parametrize(
    ("large", "small", "distance"),
    [
        (79.15324496020949, 72.79197147844154, 6.3612734821916455),
        (43.840856957307146, 43.507842289156024, 0.33301466816889463),
    ],
)
def test_no_more_than_the_smaller_disc_is_shared(
    large: float, small: float, distance: float
) -> None:
    assert distance > large - small
    assert lens(large, small, distance) <= math.pi * small**2


def test_areas_do_not_jump_as_discs_part() -> None:
    distances = np.concatenate([np.linspace(0, 81, 4001), 64 - 17 + 2.0 ** -np.arange(1, 40)])
    distances.sort()
    one = np.array([0.0, 0, 64])
    others = np.stack([0 * distances, distances, 0 * distances + 17], axis=1)
    areas = lens_areas(one, others)
    assert (np.diff(areas) <= 1e-12 * areas[0]).all()
    assert (areas[0], areas[-1]) == (math.pi * 17**2, 0)


@pytest.mark.parametrize("scene", FIGURES)
def test_published_discs_have_the_published_areas(scene: str) -> None:
    state, _ = read_link(FIGURES[scene])
    assert state.scene is not None
    found, known = exact_overlap(state.scene), KNOWN[scene]
    expected = pm.Overlap.from_dense(
        known["intersections"], known["ref_sizes"], known["pred_sizes"]
    )
    np.testing.assert_allclose(found.ref_sizes, expected.ref_sizes, rtol=1e-12)
    np.testing.assert_allclose(found.pred_sizes, expected.pred_sizes, rtol=1e-12)
    np.testing.assert_array_equal(found.edges.ref, expected.edges.ref)
    np.testing.assert_array_equal(found.edges.pred, expected.edges.pred)
    np.testing.assert_allclose(found.edges.intersection, expected.edges.intersection, rtol=1e-12)


@pytest.mark.parametrize("scene", FIGURES)
def test_published_discs_have_the_published_ious_on_the_raster(scene: str) -> None:
    state, _ = read_link(FIGURES[scene])
    assert state.scene is not None
    raster, exact = pm.count_overlaps(*state.scene.label_images()), exact_overlap(state.scene)
    np.testing.assert_array_equal(raster.edges.ref, exact.edges.ref)
    np.testing.assert_array_equal(raster.edges.pred, exact.edges.pred)
    assert np.abs(raster.iou - exact.iou).max() < 5e-4
    np.testing.assert_allclose(raster.ref_sizes / 16, exact.ref_sizes, rtol=1e-3)


@pytest.mark.skipif(not PUBLISHED.exists(), reason="the published scenes are not at hand")
@pytest.mark.parametrize("scene", FIGURES)
def test_published_links_are_read_as_published(scene: str) -> None:
    published = json.loads(PUBLISHED.read_text())["scenes"][scene]
    state, _ = read_link(published["url"])
    assert state.scene is not None
    for side, key in (("reference", "refs"), ("prediction", "preds")):
        shapes = getattr(state.scene, side)
        found = [(shape.x, shape.y, shape.r) for shape in shapes]
        np.testing.assert_allclose(found, published[key], rtol=1e-15)
    overlap = exact_overlap(state.scene)
    for name, expected in published["strategies"].items():
        curve = pm.curve(overlap, STRATEGIES[name])
        assert curve.autc == pytest.approx(expected["autc"], abs=1e-12)
        for threshold, row in expected["at"].items():
            tally = pm.match(overlap, STRATEGIES[name], float(threshold)).tally
            assert (tally.tp, tally.fp, tally.fn) == (row["tp"], row["fp"], row["fn"])
            assert tally.pq == pytest.approx(row["pq"], abs=1e-12)


def test_pixels_come_near_the_exact_areas_of_large_discs() -> None:
    scene = Scene(
        (Disc(150.3, 181.7, 140), Disc(450.1, 180.2, 145)),
        (Disc(299.9, 181.3, 150.2), Disc(500.5, 100.1, 49)),
    )
    raster, exact = pm.count_overlaps(*scene.label_images()), exact_overlap(scene)
    np.testing.assert_allclose(raster.iou, exact.iou, atol=5e-5)


def test_discs_without_area_are_left_out_and_the_others_keep_their_ids() -> None:
    scene = Scene((Disc(9, 9, 0), Disc(100, 100, 5)), (Disc(100, 100, 5), Disc(9, 9, 1e-200)))
    found = exact_overlap(scene)
    assert found.ref_ids.tolist() == [2]
    assert found.pred_ids.tolist() == [1]
    assert found.iou.tolist() == [1.0]


@pytest.mark.parametrize(
    "scene",
    [Scene(), Scene((Disc(50, 50, 9),), ()), Scene((), (Disc(50, 50, 9),))],
    ids=["nothing", "no prediction", "no reference"],
)
def test_sides_may_be_empty(scene: Scene) -> None:
    found = exact_overlap(scene)
    assert (len(found.ref_ids), len(found.pred_ids)) == (
        len(scene.reference),
        len(scene.prediction),
    )
    assert pm.match(found).tally.tp == 0


def test_discs_may_touch_each_other_and_the_edge_of_the_canvas() -> None:
    thirds = [600 / 6 * (2 * i + 1) for i in range(3)]
    scene = Scene(tuple(Disc(x, 100, 100) for x in thirds), ())
    assert exact_overlap(scene).ref_sizes.tolist() == [math.pi * 1e4] * 3


def test_rounding_alone_does_not_make_discs_overlap_or_leave_the_canvas() -> None:
    touching = Disc(0.2, 50, 0.2), Disc(0.6, 50, 0.2)
    assert touching[1].x - touching[0].x < touching[0].r + touching[1].r
    assert len(exact_overlap(Scene(touching, ())).ref_ids) == 2
    at_the_edge = Disc(0.898 * 600, 181, 0.102 * 600)
    assert at_the_edge.x + at_the_edge.r > 600
    assert len(exact_overlap(Scene((at_the_edge,), ())).ref_ids) == 1


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        (
            (Disc(50, 50, 9), Ellipse(90, 90, 9, 9)),
            r"^the 2nd shape of prediction is of kind 'ellipse', but exact areas work only for "
            r"discs: switch exact areas off \(areas='raster'\)\.$",
        ),
        (
            (Stroke(((90, 90),), 9),),
            r"^the 1st shape of prediction is of kind 'stroke', but exact areas work only for d",
        ),
        *(
            (
                (Disc(x, y, 20),),
                r"^the 1st shape of prediction extends beyond the edge of the canvas, but exact "
                r"areas work only for whole discs: move it inside, or switch exact",
            )
            for x, y in ((19.9, 50), (580.1, 50), (50, 19.9), (50, 342.1))
        ),
        (
            (Disc(50, 50, 9), Disc(200, 50, 9), Disc(217.9, 50, 9)),
            r"^the 2nd and the 3rd shape of prediction overlap, but exact areas work only "
            r"for discs that do not hide each other: move them apart, or switch ex",
        ),
        ((Disc(50, 50, 9), Disc(50, 50, 1)), r"^the 1st and the 2nd shape of prediction overlap"),
    ],
)
def test_scenes_without_exact_areas_are_refused(shapes: Shapes, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        exact_overlap(Scene((Disc(50, 50, 9),), shapes))
    with pytest.raises(OptionError, match=message.replace("prediction", "reference")):
        exact_overlap(Scene(shapes, (Disc(50, 50, 9),)))
