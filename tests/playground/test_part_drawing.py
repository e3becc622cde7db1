"""Pictures of parts and of pieces say of every pixel what the library makes of it."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import panmatch as pm
from panmatch.labels import nearest_labels
from panmatch.playground import Disc, Scene, State, View, write_link
from panmatch.playground._answers import answer_numbers, matched_graph
from panmatch.playground._matching_rows import quality_terms
from panmatch.playground._pictures import Sampled, draw_parts
from panmatch.playground._sources import DrawnScene
from panmatch.playground._validation import Message
from tests.browser import needs_chromium
from tests.playground.drawn_scenes import (
    EMPTY,
    MIXED,
    ONLY_PREDICTIONS,
    ONLY_REFERENCES,
    STRATEGIES,
    Image,
    count,
)
from tests.playground.shown_pages import drag, settle, show

UNSCORED, RIGHT, WRONG, MISSED, EXTRA = range(5)
CUT = 255
Values = npt.NDArray[np.int64]


def decode(message: Message) -> Values:
    stops = np.frombuffer(base64.b64decode(message["stops"]), "<u4").astype(np.int64)
    values = np.frombuffer(base64.b64decode(message["values"]), np.uint8).astype(np.int64)
    pixels = np.repeat(values, np.diff(stops, prepend=0))
    return pixels.reshape(message["height"], message["width"])


def looked_at(image: Image) -> Image:
    """Return every second pixel of the raster along both axes."""
    return image[1::2, 1::2]


def picture(scene: Scene, view: View) -> Values:
    return decode(answer_numbers(DrawnScene(scene), view)["picture"])


def matched(scene: Scene, view: View) -> set[tuple[int, int]]:
    found = pm.match(count(scene, view), STRATEGIES[view.strategy], view.threshold)
    return {(int(ref), int(pred)) for ref, pred in found.pairs}


def pixelwise(value: Callable[..., int], *images: Image) -> Values:
    """Return what a function makes of the labels of every pixel, asking it once per combination."""
    key = np.zeros(images[0].shape, np.int64)
    for image in images:
        key = 100 * key + image
    keys, first, at = np.unique(key, return_index=True, return_inverse=True)
    found = [value(*(int(image.flat[place]) for image in images)) for place in first]
    assert len(keys) > 5
    return np.array(found)[at].reshape(key.shape)


def cuts(region: Image, pred: Image) -> npt.NDArray[np.bool_]:
    """Return where a prediction goes on to the right or below, but in another region."""
    cut = np.zeros(pred.shape, np.bool_)
    for axis in (0, 1):
        goes_on, stays = (np.roll(one, -1, axis) == one for one in (pred, region))
        inside = np.arange(pred.shape[axis]) < pred.shape[axis] - 1
        cut |= goes_on & ~stays & (inside[:, np.newaxis] if axis == 0 else inside)
    return cut & (pred > 0)


def verdict(
    pairs: set[tuple[int, int]], ref: int, pred: int, region: int | None, same: bool
) -> int:
    found = any(one == ref for one, _ in pairs)
    used = any(one == pred for _, one in pairs) if region is None else (region, pred) in pairs
    if (ref, pred) in pairs:
        return RIGHT if same else WRONG
    return {(0, 0): UNSCORED, (0, 1): EXTRA, (1, 0): MISSED, (1, 1): WRONG}[found, used]


WAYS = [(name, regions) for name in STRATEGIES for regions in (False, True)
        if regions or name != "union"]  # fmt: skip


@pytest.mark.parametrize(("name", "regions"), WAYS)
def test_parts_are_right_where_both_objects_of_a_match_have_them(name: str, regions: bool) -> None:
    view = View(strategy=name, threshold=0.2, parts=True, regions=regions, compared=(name,))
    pairs = matched(MIXED, view)
    images = [looked_at(one) for one in (*MIXED.label_images(), *MIXED.part_images())]
    region = looked_at(nearest_labels(MIXED.label_images()[0])) if regions else 0 * images[0]

    def value(r: int, p: int, t: int, s: int, g: int) -> int:
        return 36 * verdict(pairs, r, p, g if regions else None, t == s) + 6 * t + s

    expected = pixelwise(value, *images, region)
    if regions:
        expected[cuts(region, images[1])] = CUT
    found = picture(MIXED, view)
    assert np.array_equal(found, expected)
    seen = set(np.unique(found[found < CUT] // 36).tolist())
    assert seen >= {UNSCORED, RIGHT, WRONG, MISSED, EXTRA}


@pytest.mark.parametrize("name", STRATEGIES)
def test_pieces_are_coloured_by_what_became_of_them(name: str) -> None:
    view = View(strategy=name, threshold=0.2, regions=True, compared=(name,))
    pairs = matched(MIXED, view)
    ref, pred = (looked_at(one) for one in MIXED.label_images())
    region = looked_at(nearest_labels(MIXED.label_images()[0]))
    found, used = {one for one, _ in pairs}, {one for _, one in pairs}

    def value(r: int, p: int, g: int) -> int:
        piece = 0 if not p else 1 if (g, p) in pairs else 2 if p in used else 3
        reference = 0 if not r else 1 if r in found else 2
        return 4 * reference + piece

    expected = pixelwise(value, ref, pred, region)
    expected[cuts(region, pred)] = CUT
    assert np.array_equal(picture(MIXED, view), expected)


def test_a_piece_in_a_foreign_region_is_left_over() -> None:
    """The prediction covers all of reference 1, and reaches into the region of reference 2."""
    scene = Scene((Disc(200, 180, 60), Disc(400, 180, 20)), (Disc(240, 180, 90),))
    found = picture(scene, View(threshold=0.3, regions=True))
    assert found[360, 400] == 4 * 1 + 1
    assert found[360, 540] == 1
    assert found[360, 650] == 2
    assert found[360, 800] == 4 * 2
    assert CUT in found[360, 540:650]


def test_the_parts_of_the_picture_are_those_of_the_numbers() -> None:
    view = View(strategy="many-to-one/merge/seed", threshold=0.2, parts=True)
    overlap = count(MIXED, view)
    graph = matched_graph(overlap, view)
    labels, parts = MIXED.label_images(), MIXED.part_images()
    whole = decode(draw_parts(Sampled(*labels, parts=parts), graph))
    terms = quality_terms(graph.matching)
    assert len(terms) == 5
    for term in terms:
        here = labels[0] == term["reference"]
        for part in term["parts"]:
            if part["part"]:
                right = (whole == 36 * RIGHT + 6 * part["part"] + part["part"]) & here
                assert right.sum() == part["intersection"]


@pytest.mark.parametrize("scene", [EMPTY, ONLY_PREDICTIONS, ONLY_REFERENCES])
def test_scenes_with_an_empty_side_have_pictures(scene: Scene) -> None:
    found = picture(scene, View(regions=True))
    prediction = looked_at(scene.label_images()[1])
    assert found.shape == (724, 1200)
    assert np.array_equal(found == 3, prediction > 0)
    assert np.array_equal(found == 8, looked_at(scene.label_images()[0]) > 0)
    if scene.has_parts:
        assert (picture(scene, View(parts=True)) // 36 == UNSCORED).all()


def test_pictures_are_sent_only_where_they_are_drawn() -> None:
    drawn = DrawnScene(MIXED)
    assert answer_numbers(drawn, View())["picture"] is None
    assert answer_numbers(drawn, View(voronoi=True))["picture"] is None
    assert answer_numbers(drawn, View(parts=True))["picture"]["kind"] == "parts"
    assert answer_numbers(drawn, View(regions=True))["picture"]["kind"] == "pieces"
    whole = DrawnScene(Scene((Disc(100, 100, 30),), (Disc(110, 100, 30),)))
    assert answer_numbers(whole, View(parts=True))["picture"] is None
    assert answer_numbers(whole, View(parts=True, regions=True))["picture"]["kind"] == "pieces"


def painted(page: Any, x: int, y: int) -> tuple[int, int, int, int]:
    """Return the colour of a unit of the canvas, the mean over a tile of its hatching."""
    red, green, blue, alpha = page.evaluate(
        """([x, y]) => {
          const canvas = Object.assign(document.createElement("canvas"), { width: 8, height: 8 });
          const context = canvas.getContext("2d", { willReadFrequently: true });
          context.drawImage(document.querySelector("#painting"), 4 - 2 * x, 4 - 2 * y);
          const { data } = context.getImageData(0, 0, 8, 8);
          return [0, 1, 2, 3].map((at) => data.filter((_, i) => i % 4 === at)
            .reduce((sum, value) => sum + value, 0) / 64);
        }""",
        [x, y],
    )
    return round(red), round(green), round(blue), round(alpha)


# One part on both sides, and deeper ones beside each other; prediction 2 has no match.
NESTED = Scene(
    (Disc(200, 180, 80, (0.5,)),), (Disc(230, 180, 80, (0.5,)), Disc(500, 180, 40, (0.5,)))
)


@needs_chromium
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_tell_right_from_wrong_and_reference_from_prediction(
    browser: Any, address: str, scheme: str
) -> None:
    page = browser.new_context(color_scheme=scheme).new_page()
    show(page, address + write_link(State(NESTED, View(parts=True))))
    assert page.locator("#painting").is_visible()
    places = {
        "right": (215, 120),
        "deep": (215, 180),
        "wrong": (170, 180),
        "missed": (128, 180),
        "extra": (300, 180),
        "unscored": (500, 180),
    }
    found = {name: painted(page, *place) for name, place in places.items()}
    assert len(set(found.values())) == len(found)
    assert all(alpha == 255 for *_, alpha in found.values())
    red, green, blue, _ = found["right"]
    assert green > max(red, blue)
    red, green, blue, _ = found["wrong"]
    assert red > max(green, blue)
    red, green, blue, _ = found["missed"]
    assert blue > red
    red, green, blue, _ = found["extra"]
    assert red > blue
    words = page.locator("#painting-key > span").all_inner_texts()
    assert words[:4] == ["right", "wrong part", "missed", "too much"]
    page.uncheck("#parts")
    settle(page)
    assert page.locator("#painting").is_hidden()
    assert page.locator("#painting-key").is_hidden()
    page.context.close()


@needs_chromium
def test_the_painting_follows_a_drag_and_is_part_of_exported_pictures(
    page: Any, address: str
) -> None:
    scene = Scene((Disc(200, 180, 60), Disc(400, 180, 60)), (Disc(210, 180, 60),))
    show(page, address + write_link(State(scene, View(regions=True))))
    matched_piece = painted(page, 265, 180)
    assert painted(page, 500, 60)[3] == 0
    drag(page, "prediction", 0, 110, 0)
    assert painted(page, 320, 140) not in (matched_piece, (0, 0, 0, 0))
    page.click("#export summary")
    with page.expect_download() as download:
        page.click("[data-export='scene svg']")
    text = download.value.path().read_text()
    assert "data:image/png;base64" in text


@needs_chromium
def test_painted_shapes_can_still_be_pointed_at_and_dragged(page: Any, address: str) -> None:
    show(page, address + write_link(State(MIXED, View(parts=True, threshold=0.3))))
    for at, name in ((4, "stroke"), (6, "disc")):
        shape = page.locator("#scene .layer.prediction .shape").nth(at)
        before = shape.get_attribute("aria-label")
        assert name in before
        drag(page, "prediction", at, 12, 0)
        assert shape.get_attribute("aria-label") != before
