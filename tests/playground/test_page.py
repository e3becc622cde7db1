"""The playground in a real browser: published links, editing, undo, reload, exports."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import panmatch as pm
from panmatch.playground import read_link
from tests.browser import needs_chromium
from tests.playground.shown_pages import (
    TWO,
    drag,
    library,
    link_of,
    number,
    served,
    settle,
    show,
    state,
)

pytestmark = needs_chromium

# The two links of the publication, and what it says about them: AUTC, AUTC_SQ, AUTC_RQ of each
# matcher, and PQ at some thresholds, from the areas of the discs.
CURVE_FIGURE = (
    "?refs=0.238%2C0.401%2C0.092%3B0.731%2C0.421%2C0.117%3B0.485%2C0.416%2C0.075"
    "&preds=0.234%2C0.542%2C0.092%3B0.733%2C0.455%2C0.108%3B0.488%2C0.482%2C0.073"
    "&matcher=greedy&mode=scene&sap=0"
)
STRATEGY_FIGURE = (
    "?refs=0.769,0.482,0.125;0.474,0.453,0.105;0.128,0.342,0.099;0.148,0.675,0.101"
    "&preds=0.734,0.406,0.056;0.8,0.59,0.055;0.843,0.417,0.05;0.8,0.321,0.017;0.709,0.559,0.028;"
    "0.537,0.551,0.028;0.462,0.399,0.089;0.125,0.183,0.083;0.139,0.507,0.108"
    "&matcher=maximize-merge&mode=scene&sap=0&autc=1&asq=1&arq=1"
)
PUBLISHED = {
    CURVE_FIGURE: (
        "one-to-one/greedy",
        (0.3058536964682596, 0.4964783243776233, 0.5141320938145357),
        {
            0.0: 0.5141320938145357,
            0.2: 0.5141320938145357,
            0.3: 0.4221707821930225,
            0.5: 0.2578842407202106,
            0.8: 0,
        },
    ),
    STRATEGY_FIGURE: (
        "many-to-one/merge/seed",
        (0.1397464229211866, 0.35993513969212504, 0.24941807226019214),
        {
            0.0: 0.4597584491717964,
            0.2: 0.4597584491717964,
            0.3: 0.10877410195310307,
            0.5: 0.10877410195310307,
            0.8: 0,
        },
    ),
}
RASTER = 5e-4


@pytest.mark.parametrize("link", PUBLISHED)
def test_published_links_show_the_published_numbers(page: Any, address: str, link: str) -> None:
    strategy, areas, scores = PUBLISHED[link]
    show(page, address + link)
    assert page.input_value("#strategy") == strategy
    assert page.is_checked("#analytic")
    row = page.locator("#legend tr.chosen td")
    exact = [float(row.nth(at).get_attribute("title")) for at in (3, 4, 5)]
    assert exact == pytest.approx(areas, abs=1e-11)
    page.uncheck("#analytic")
    settle(page)
    shown = [float(row.nth(at).get_attribute("title")) for at in (3, 4, 5)]
    assert shown == pytest.approx(areas, abs=RASTER)
    cells = page.locator("#table tr.chosen td")
    for threshold, score in scores.items():
        text = cells.nth(round(10 * threshold)).get_attribute("title")
        assert float(text.split(" ")[0]) == pytest.approx(score, abs=RASTER)


def test_dragging_a_disc_changes_the_numbers_and_the_link(page: Any, address: str) -> None:
    show(page, address + TWO)
    before = number(page, "pq")
    assert before == pytest.approx(library(TWO).pq, rel=1e-11)
    drag(page, "prediction", 0, -25, 0)
    assert number(page, "pq") > before
    assert number(page, "pq") == pytest.approx(library(page.url).pq, rel=1e-11)


@pytest.mark.parametrize("side", ["prediction", "reference"])
def test_objects_can_be_dragged_under_the_borders_of_voronoi_regions(
    page: Any, address: str, side: str
) -> None:
    beside = link_of([[150, 180, 60], [400, 180, 70]], [[230, 180, 50], [400, 190, 50]])
    show(page, address + beside)
    page.check("#regions")
    page.wait_for_selector("#scene .layer.voronoi image", state="attached")
    settle(page)
    borders = page.get_attribute("#scene .layer.voronoi image", "href")
    before = state(page)["scene"][side][0]["x"]
    drag(page, side, 0, -25, 0)
    assert state(page)["scene"][side][0]["x"] < before
    moved, _ = read_link(page.url)
    assert moved.scene is not None
    overlap = pm.count_region_overlaps(*moved.scene.label_images())
    assert number(page, "pq") == pytest.approx(pm.match(overlap).tally.pq, rel=1e-11)
    same = page.get_attribute("#scene .layer.voronoi image", "href") == borders
    assert same == (side == "prediction")


def test_where_exact_areas_are_not_known_pixels_are_counted_and_the_page_says_so(
    page: Any, address: str
) -> None:
    show(page, address + TWO)
    page.check("#analytic")
    settle(page)
    drag(page, "prediction", 0, 160, 0)
    settle(page)
    assert not page.is_checked("#analytic")
    assert "pixels are counted instead: the 1st and the 2nd shape" in page.inner_text("#about")
    assert page.is_hidden("#trouble")
    assert float(opacity(page, "#headline")) == 1
    assert number(page, "pq") == pytest.approx(library(page.url).pq, rel=1e-11)


def opacity(page: Any, selector: str) -> str:
    found: str = page.locator(selector).evaluate("one => getComputedStyle(one).opacity")
    return found


def test_undo_redo_reload_and_back_all_bring_the_scene_back(page: Any, address: str) -> None:
    show(page, address + TWO)
    first = number(page, "pq")
    drag(page, "prediction", 1, 30, 10)
    second, moved = number(page, "pq"), state(page)["scene"]
    assert second != first
    page.keyboard.press("Control+z")
    settle(page)
    assert number(page, "pq") == first
    page.keyboard.press("Control+Shift+z")
    settle(page)
    assert number(page, "pq") == second
    page.reload()
    settle(page)
    assert (number(page, "pq"), state(page)["scene"]) == (second, moved)
    drag(page, "prediction", 1, 30, 10)
    page.go_back()
    settle(page)
    assert (number(page, "pq"), state(page)["scene"]) == (second, moved)
    page.go_forward()
    settle(page)
    assert state(page)["scene"] != moved


def test_another_strategy_and_threshold_change_the_numbers(page: Any, address: str) -> None:
    show(page, address + STRATEGY_FIGURE)
    page.select_option("#strategy", "one-to-many/best")
    page.fill("#threshold-value", "0.2")
    page.keyboard.press("Enter")
    settle(page)
    tally = library(page.url, pm.OneToMany(), 0.2)
    assert number(page, "pq") == pytest.approx(tally.pq, rel=1e-11)
    counts = [page.inner_text(f"#count-{name}") for name in ("tp", "fp", "fn")]
    assert counts == [str(tally.tp), str(tally.fp), str(tally.fn)]
    assert state(page)["view"]["threshold"] == 0.2


def test_everything_that_is_visible_survives_a_reload(page: Any, address: str) -> None:
    show(page, address + STRATEGY_FIGURE)
    page.check("#regions")
    page.check("#quantities input[value=ap]")
    page.check("#grid")
    page.select_option("#table-quantity", "rq")
    page.select_option("#compare", "many-to-one/optimal/edge")
    settle(page)
    before, kept = page.locator("main").inner_text(), state(page)
    page.reload()
    settle(page)
    page.wait_for_selector("#related .metric")
    assert state(page) == kept
    assert page.locator("#legend").inner_text() in before
    assert page.is_checked("#regions")
    assert page.is_checked("#grid")
    assert page.is_checked("#voronoi")
    assert page.locator("#scene .layer.voronoi image").count() == 1
    assert page.input_value("#table-quantity") == "rq"


@pytest.mark.parametrize(
    ("link", "problem"),
    [
        ("?refs=0.1,0.2,0.1;0.3,0.4&preds=", "2nd"),
        ("?refs=0.1,0.2,0.1&preds=&matcher=magic", "magic"),
        ("?refs=0.1,0.2,0.1", "preds"),
        ("#%7B%22format%22%3A1%2C", "JSON"),
        (link_of([[10, 10, 5]], [], threshold=1.5), "1.5"),
    ],
)
def test_a_bad_link_says_what_is_wrong_and_shows_nothing_else(
    page: Any, address: str, link: str, problem: str
) -> None:
    page.goto(address + link)
    page.wait_for_selector("#refusal:not([hidden])")
    assert problem in page.inner_text("#refusal")
    assert not page.locator("main").is_visible()
    assert page.locator("#scene .shape").count() == 0
    page.click("#open-example")
    settle(page)
    assert page.locator("main").is_visible()
    assert page.locator("#scene .shape").count() > 0


def test_shapes_are_drawn_with_each_tool(page: Any, address: str) -> None:
    show(page, address + link_of([], []))
    assert page.inner_text("#big-pq") == "–"
    box = page.locator("#scene").bounding_box()
    left, top = box["x"], box["y"]

    def draw(tool: str, side: str, *points: tuple[float, float]) -> None:
        page.click(f"[data-new={side}]")
        page.click(f"[data-tool={tool}]")
        page.mouse.move(left + points[0][0], top + points[0][1])
        page.mouse.down()
        for x, y in points[1:]:
            page.mouse.move(left + x, top + y, steps=6)
        page.mouse.up()
        settle(page)

    draw("disc", "reference", (150, 150), (200, 150))
    draw("ellipse", "prediction", (110, 105), (190, 195))
    draw("stroke", "prediction", (350, 100), (400, 180), (450, 120))
    scene = state(page)["scene"]
    assert [shape["kind"] for shape in scene["reference"]] == ["disc"]
    assert [shape["kind"] for shape in scene["prediction"]] == ["ellipse", "stroke"]
    assert len(scene["prediction"][1]["points"]) > 5
    assert number(page, "pq") == pytest.approx(library(page.url).pq, rel=1e-11)
    assert page.inner_text("#count-fp") == "1"


def test_the_keyboard_alone_selects_moves_resizes_and_deletes(page: Any, address: str) -> None:
    show(page, address + TWO)
    page.locator("#scene .layer.reference .shape").nth(1).focus()
    page.keyboard.press("Tab")  # on to the first prediction
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+ArrowDown")
    page.keyboard.press("+")
    settle(page)
    shape = state(page)["scene"]["prediction"][0]
    assert (shape["x"], shape["y"]) == (171, 190)
    assert shape["r"] == pytest.approx(63)
    page.keyboard.press("Delete")
    settle(page)
    assert len(state(page)["scene"]["prediction"]) == 1
    assert page.inner_text("#count-fn") == "1"


def test_pointing_at_a_pair_lights_it_everywhere(page: Any, address: str) -> None:
    show(page, address + TWO)
    page.locator("#matrix .cell").first.hover()
    lit = page.locator("#scene .shape.lit")
    assert lit.count() == 2
    assert page.locator("#graph .edge.lit").count() == 1
    assert page.locator("#graph .vertex.lit").count() == 2
    page.locator("header h1").hover()
    assert page.locator(".lit").count() == 0


def test_parts_of_a_shape_are_nested_and_count(page: Any, address: str) -> None:
    show(page, address + TWO)
    whole = number(page, "pq")
    for side in ("reference", "prediction"):
        page.locator(f"#scene .layer.{side} .shape").first.click(position={"x": 20, "y": 75})
        page.get_by_label("Add a part").click()
        settle(page)
    assert page.is_checked("#parts")
    assert state(page)["scene"]["reference"][0]["parts"] == [0.6]
    assert number(page, "pq") != whole
    assert page.locator("#scene .part-2").count() == 2


def test_tables_and_pictures_can_be_taken_away(page: Any, address: str, tmp_path: Path) -> None:
    show(page, address + STRATEGY_FIGURE)

    def save(what: str) -> Path:
        page.click("#export summary")
        with page.expect_download() as download:
            page.click(f"[data-export='{what}']")
        path = tmp_path / str(download.value.suggested_filename)
        download.value.save_as(path)
        return path

    lines = save("table csv").read_text().splitlines()
    row = next(line for line in lines if line.startswith("many-to-one/merge/seed,0.5,")).split(",")
    tally = library(address + STRATEGY_FIGURE, pm.ManyToOne())
    assert [int(value) for value in row[2:5]] == [tally.tp, tally.fp, tally.fn]
    assert float(row[5]) == tally.pq
    steps = save("curves csv").read_text().splitlines()
    assert steps[0].startswith("strategy,threshold_from,threshold_to")
    for what in ("scene png", "curves png"):
        assert save(what).read_bytes().startswith(b"\x89PNG")
    for what in ("scene svg", "curves svg"):
        text = save(what).read_text()
        assert text.startswith("<svg")
        assert "var(--" not in text  # it looks the same without the page


def test_the_copied_link_and_code_say_what_is_shown(page: Any, address: str) -> None:
    show(page, address + TWO)
    page.click("[data-export=link]")
    page.wait_for_selector("#share[open]")
    copied = page.input_value("#share-0")
    assert page.evaluate("navigator.clipboard.readText()") == copied
    assert read_link(copied)[0] == read_link(TWO)[0]
    page.click("#share button:has-text('Close')")
    page.click("#export summary")
    page.click("[data-export=python]")
    page.wait_for_selector("#copied[open]")
    code = page.input_value("#copied-text")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert repr(library(TWO).pq) in done.stdout


@pytest.mark.parametrize("width", [1440, 1024])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_cut_off(browser: Any, address: str, width: int, scheme: str) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    show(page, address + STRATEGY_FIGURE)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for table in ("#table", "#legend"):
        inner, outer = page.evaluate(
            f"[document.querySelector('{table}').scrollWidth,"
            f" document.querySelector('{table}').parentElement.clientWidth]"
        )
        assert inner <= outer
    theme = page.evaluate("document.documentElement.dataset.theme")
    assert theme == scheme
    context.close()


def test_a_page_outlives_its_server(browser: Any) -> None:
    page = browser.new_page()
    with served() as address:
        show(page, address + TWO)
        port = address.rstrip("/").rsplit(":", 1)[1]
    page.wait_for_selector("#offline:not([hidden])")
    with served("--port", port):
        page.wait_for_selector("#offline", state="hidden", timeout=15_000)
        page.select_option("#strategy", "one-to-many/best")
        settle(page)
        assert number(page, "pq") > 0
    page.close()
