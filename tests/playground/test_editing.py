"""Editing a scene with mouse and keyboard, as in a drawing program."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import panmatch as pm
from tests.browser import needs_chromium
from tests.playground.shown_pages import (
    TWO,
    drag,
    library,
    link_of,
    number,
    settle,
    show,
    state,
    wait_until,
)

pytestmark = needs_chromium

ROOT = Path(__file__).parents[2]

# Each prediction lies over its reference; prediction 3 covers a piece of prediction 2.
STACKED = link_of(
    [[150, 180, 70], [420, 180, 70]], [[150, 180, 60], [420, 180, 60], [450, 180, 40]]
)


def place(page: Any, x: float, y: float) -> tuple[float, float]:
    """Return where a place of the scene is on the page."""
    box = page.locator("#scene").bounding_box()
    return box["x"] + x * box["width"] / 600, box["y"] + y * box["height"] / 362


def selected(page: Any) -> list[str]:
    """Return the names of all selected shapes, as a screen reader says them."""
    found = page.locator("#scene .shape[aria-pressed=true]").all()
    return [one.get_attribute("aria-label").split(",")[0] for one in found]


def xs(page: Any, side: str) -> list[float]:
    return [shape["x"] for shape in state(page)["scene"][side]]


def counts(page: Any) -> list[str]:
    return [page.inner_text(f"#count-{name}") for name in ("tp", "fp", "fn")]


def test_the_wheel_scrolls_the_page_over_a_selected_shape(page: Any, address: str) -> None:
    show(page, address + TWO)
    at = place(page, 170, 180)
    page.mouse.click(*at)
    page.mouse.wheel(0, 200)
    wait_until(page, "scrollY > 100")
    assert [shape["r"] for shape in state(page)["scene"]["prediction"]] == [60, 50]


@pytest.mark.parametrize("key", ["ArrowRight", "+"])
def test_many_steps_of_a_key_are_undone_together(page: Any, address: str, key: str) -> None:
    show(page, address + TWO)
    before = page.evaluate("history.length")
    page.locator("#scene .layer.prediction .shape").first.focus()
    for _ in range(12):
        page.keyboard.press(key)
    settle(page)
    shape = state(page)["scene"]["prediction"][0]
    expected = {"ArrowRight": (182, 60), "+": (170, 60 * 1.05**12)}[key]
    assert (shape["x"], shape["r"]) == pytest.approx(expected, abs=0.1)
    assert page.evaluate("history.length") == before + 1
    page.keyboard.press("Control+z")
    settle(page)
    shape = state(page)["scene"]["prediction"][0]
    assert (shape["x"], shape["r"]) == (170, 60)
    assert page.is_disabled("#undo")


def test_a_key_that_is_held_is_one_step(page: Any, address: str) -> None:
    show(page, address + TWO)
    page.locator("#scene .layer.prediction .shape").first.focus()
    for _ in range(30):
        page.keyboard.down("ArrowDown")
    page.keyboard.up("ArrowDown")
    settle(page)
    assert state(page)["scene"]["prediction"][0]["y"] == 210
    page.keyboard.press("Control+z")
    settle(page)
    assert state(page)["scene"]["prediction"][0]["y"] == 180
    assert page.is_disabled("#undo")


def test_steps_of_another_kind_or_shape_or_after_a_pause_are_undone_apart(
    page: Any, address: str
) -> None:
    show(page, address + TWO)
    page.evaluate("performance.now = ((real) => () => real() + (window.later ?? 0))"
                  "(performance.now.bind(performance))")  # fmt: skip
    page.locator("#scene .layer.prediction .shape").first.focus()
    for key in ("ArrowRight", "ArrowRight", "+"):
        page.keyboard.press(key)
    page.evaluate("window.later = 5000")
    page.keyboard.press("+")
    page.keyboard.press("Tab")
    page.keyboard.press("+")
    settle(page)
    radii = []
    while page.is_enabled("#undo"):
        page.click("#undo")
        settle(page)
        radii.append([shape["r"] for shape in state(page)["scene"]["prediction"]])
    grown = [60 * 1.05 * 1.05, 60 * 1.05, 60, 60]
    assert [r for r, _ in radii] == pytest.approx(grown)
    assert all(r == 50 for _, r in radii)


def test_steps_of_the_threshold_by_keys_are_undone_together(page: Any, address: str) -> None:
    show(page, address + TWO)
    page.locator("#threshold").focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    settle(page)
    assert state(page)["view"]["threshold"] == pytest.approx(0.505)
    page.click("#undo")
    settle(page)
    assert state(page)["view"]["threshold"] == 0.5


def test_undo_works_after_the_browser_has_gone_back(page: Any, address: str) -> None:
    show(page, address + TWO)
    drag(page, "prediction", 0, 40, 0)
    once = state(page)["scene"]
    drag(page, "prediction", 0, 40, 0)
    twice = state(page)["scene"]
    page.go_back()
    settle(page)
    assert state(page)["scene"] == once
    page.click("#undo")
    settle(page)
    assert xs(page, "prediction") == [170, 400]
    page.click("#redo")
    page.click("#redo")
    settle(page)
    assert state(page)["scene"] == twice


def test_undo_leads_back_from_a_preset_that_the_browser_went_back_from(
    page: Any, address: str
) -> None:
    show(page, address + TWO)
    page.select_option("#preset", "one-to-one")
    page.select_option("#preset", "one-to-many")
    settle(page)
    page.go_back()
    settle(page)
    assert page.input_value("#preset") == "one-to-one"
    page.click("#undo")
    settle(page)
    assert xs(page, "prediction") == [170, 400]


def test_clicks_at_one_place_go_down_through_the_shapes_there(page: Any, address: str) -> None:
    show(page, address + STACKED)
    at = place(page, 440, 180)
    names = []
    for _ in range(4):
        page.mouse.click(*at)
        names.append(selected(page))
    assert names == [["prediction 3"], ["prediction 2"], ["reference 2"], ["prediction 3"]]


def test_alt_click_selects_the_shape_beneath_and_a_drag_moves_it(page: Any, address: str) -> None:
    show(page, address + STACKED)
    at = place(page, 150, 180)
    page.keyboard.down("Alt")
    page.mouse.click(*at)
    page.keyboard.up("Alt")
    assert selected(page) == ["reference 1"]
    before = number(page, "pq")
    page.mouse.move(at[0] + 20, at[1])
    page.mouse.down()
    page.mouse.move(at[0] + 60, at[1], steps=3)
    page.mouse.up()
    settle(page)
    assert xs(page, "reference")[0] > 180
    assert xs(page, "prediction") == [150, 420, 450]
    assert number(page, "pq") != before
    page.mouse.click(at[0] + 20, at[1])  # a click elsewhere selects what is on top again
    assert selected(page) == ["prediction 1"]


def test_a_drag_moves_the_topmost_shape_although_one_beneath_is_selected(
    page: Any, address: str
) -> None:
    show(page, address + STACKED)
    page.mouse.click(*place(page, 85, 180))
    assert selected(page) == ["reference 1"]
    drag(page, "prediction", 0, 30, 0)
    assert xs(page, "reference") == [150, 420]
    assert xs(page, "prediction")[0] > 150


def test_a_new_scene_is_empty_and_undo_brings_the_old_one_back(page: Any, address: str) -> None:
    show(page, address + TWO)
    before = number(page, "pq")
    page.keyboard.press("n")
    settle(page)
    assert state(page)["scene"] == {"reference": [], "prediction": [], "width": 600, "height": 362}
    assert page.inner_text("#big-pq") == "–"
    page.keyboard.press("Control+z")
    settle(page)
    assert number(page, "pq") == before


def test_the_order_decides_who_covers_whom(page: Any, address: str) -> None:
    show(page, address + STACKED)
    before = number(page, "pq")
    page.mouse.click(*place(page, 365, 180))
    assert selected(page) == ["prediction 2"]
    page.keyboard.press("Home")
    settle(page)
    assert xs(page, "prediction") == [150, 450, 420]
    assert selected(page) == ["prediction 3"]
    assert number(page, "pq") > before  # nothing covers the better one any more
    assert number(page, "pq") == pytest.approx(library(page.url).pq, rel=1e-11)
    page.keyboard.press("End")
    settle(page)
    assert xs(page, "prediction") == [420, 150, 450]
    assert number(page, "pq") == before
    page.keyboard.press("Control+z")
    settle(page)
    assert (xs(page, "prediction"), selected(page)) == ([150, 450, 420], ["prediction 3"])


def test_sides_can_be_swapped(page: Any, address: str) -> None:
    show(page, address + STACKED)
    before = counts(page)
    page.click("[popovertarget=edit-menu]")
    page.click("[data-edit=swap]")
    settle(page)
    assert (xs(page, "reference"), xs(page, "prediction")) == ([150, 420, 450], [150, 420])
    assert (before, counts(page)) == (["1", "2", "1"], ["1", "1", "2"])
    page.keyboard.press("x")
    settle(page)
    assert (xs(page, "reference"), xs(page, "prediction")) == ([150, 420], [150, 420, 450])


def test_shift_click_selects_several_which_move_together(page: Any, address: str) -> None:
    show(page, address + TWO)
    page.mouse.click(*place(page, 100, 180))
    page.keyboard.down("Shift")
    page.mouse.click(*place(page, 220, 180))
    page.keyboard.up("Shift")
    assert selected(page) == ["reference 1", "prediction 1"]
    before = number(page, "pq")
    drag(page, "prediction", 0, 0, 40)
    scene = state(page)["scene"]
    moved = scene["reference"][0]["y"]
    assert moved > 200
    assert [shape["y"] for shape in scene["prediction"]] == [moved, 190]
    assert number(page, "pq") == pytest.approx(before, abs=1e-3)
    page.keyboard.down("Shift")
    page.mouse.click(*place(page, 220, moved))
    page.keyboard.up("Shift")
    assert selected(page) == ["reference 1"]


def test_a_rubber_band_selects_what_it_touches(page: Any, address: str) -> None:
    show(page, address + TWO)
    page.mouse.move(*place(page, 300, 40))
    page.mouse.down()
    page.mouse.move(*place(page, 345, 195), steps=4)
    assert page.locator("#scene .band").count() == 1
    assert selected(page) == ["reference 2"]
    page.mouse.move(*place(page, 360, 195), steps=4)
    page.mouse.up()
    assert page.locator("#scene .band").count() == 0
    assert selected(page) == ["reference 2", "prediction 2"]
    page.keyboard.press("Delete")
    settle(page)
    assert (xs(page, "reference"), xs(page, "prediction")) == ([150], [170])
    page.mouse.click(*place(page, 580, 20))
    assert selected(page) == []


def test_everything_is_selected_duplicated_and_deleted_at_once(page: Any, address: str) -> None:
    show(page, address + TWO)
    page.keyboard.press("Control+a")
    assert len(selected(page)) == 4
    assert page.inner_text("#inspector b") == "2 references, 2 predictions selected"
    page.keyboard.press("d")
    settle(page)
    assert xs(page, "reference") == [150, 400, 162, 412]
    assert xs(page, "prediction") == [170, 400, 182, 412]
    assert selected(page) == ["reference 3", "reference 4", "prediction 3", "prediction 4"]
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    settle(page)
    assert page.locator("#scene .shape").count() == 0
    page.keyboard.press("Control+z")
    settle(page)
    assert len(selected(page)) == 8


def test_all_predictions_are_shifted_by_keys_and_by_buttons(page: Any, address: str) -> None:
    show(page, address + TWO)
    page.keyboard.press("Shift+P")
    page.keyboard.press("Shift+ArrowLeft")
    settle(page)
    assert (xs(page, "reference"), xs(page, "prediction")) == ([150, 400], [160, 390])
    page.get_by_label("Move left").click()
    page.get_by_label("Move up").click()
    settle(page)
    assert xs(page, "prediction") == [159, 389]
    assert [shape["y"] for shape in state(page)["scene"]["prediction"]] == [179, 189]
    assert number(page, "pq") == pytest.approx(library(page.url).pq, rel=1e-11)
    page.keyboard.press("Control+z")
    settle(page)
    assert xs(page, "prediction") == [170, 400]


def test_the_keyboard_selects_several(page: Any, address: str) -> None:
    show(page, address + TWO)
    page.keyboard.press("s")
    assert page.get_attribute("#several", "aria-pressed") == "true"
    page.locator("#scene .layer.reference .shape").first.focus()
    page.keyboard.press("Space")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    assert selected(page) == ["reference 1", "prediction 1"]
    page.keyboard.press("Space")
    assert selected(page) == ["reference 1"]
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    assert (page.get_attribute("#several", "aria-pressed"), selected(page)) == ("false", [])


def tool(page: Any) -> str:
    found: str = page.get_attribute("[data-tool][aria-pressed=true]", "data-tool")
    return found


def draw(page: Any, x: float, y: float) -> None:
    page.mouse.move(*place(page, x, y))
    page.mouse.down()
    page.mouse.move(*place(page, x + 20, y + 20), steps=3)
    page.mouse.up()
    settle(page)


def test_a_tool_goes_back_to_select_after_one_shape(page: Any, address: str) -> None:
    show(page, address + link_of([], []))
    page.click("[data-tool=disc]")
    draw(page, 100, 100)
    assert (tool(page), len(xs(page, "prediction"))) == ("select", 1)
    page.keyboard.press("e")
    page.keyboard.down("Shift")
    draw(page, 200, 100)
    page.keyboard.up("Shift")
    assert tool(page) == "ellipse"
    draw(page, 300, 100)
    assert (tool(page), len(xs(page, "prediction"))) == ("select", 3)


def test_a_double_click_on_a_tool_keeps_it(page: Any, address: str) -> None:
    show(page, address + link_of([], []))
    page.dblclick("[data-tool=disc]")
    for at in (100, 200, 300):
        draw(page, at, 100)
    assert (tool(page), len(xs(page, "prediction"))) == ("disc", 3)
    page.keyboard.press("Escape")
    assert tool(page) == "select"


def test_a_click_with_a_tool_puts_a_shape_there(page: Any, address: str) -> None:
    show(page, address + link_of([], []))
    page.click("[data-tool=ellipse]")
    page.mouse.click(*place(page, 150, 120))
    settle(page)
    (shape,) = state(page)["scene"]["prediction"]
    assert (shape["x"], shape["y"]) == pytest.approx((150, 120), abs=1)
    assert (shape["rx"], shape["ry"]) == (56, 36)


def test_the_keyboard_alone_creates_shapes(page: Any, address: str) -> None:
    show(page, address + link_of([], []))
    page.keyboard.press("r")
    page.keyboard.press("c")
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowRight")
    settle(page)
    disc = {"kind": "disc", "x": 301, "y": 181, "r": 40, "parts": [], "confidence": None}
    assert state(page)["scene"]["reference"] == [disc]
    assert tool(page) == "select"
    page.keyboard.press("p")
    page.locator("[data-tool=stroke]").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    settle(page)
    (stroke,) = state(page)["scene"]["prediction"]
    assert (stroke["points"], stroke["width"]) == ([[260, 181], [340, 181]], 18)
    page.keyboard.press("Shift+E")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    settle(page)
    ellipses = state(page)["scene"]["prediction"][1:]
    assert [(one["x"], one["y"]) for one in ellipses] == [(312, 193), (324, 205)]
    assert number(page, "pq") == pytest.approx(library(page.url).pq, rel=1e-11)


def focused(page: Any) -> str | None:
    found: str | None = page.evaluate("document.activeElement.getAttribute('aria-label')")
    return found


def test_delete_hands_the_focus_to_the_next_shape(page: Any, address: str) -> None:
    show(page, address + STACKED)
    page.locator("#scene .layer.prediction .shape").nth(1).focus()
    names = []
    for _ in range(5):
        page.keyboard.press("Delete")
        settle(page)
        names.append((focused(page), selected(page)))
    assert names == [
        ("prediction 2, disc at 450, 180", ["prediction 2"]),
        ("prediction 1, disc at 150, 180", ["prediction 1"]),
        ("reference 1, disc at 150, 180", ["reference 1"]),
        ("reference 1, disc at 420, 180", ["reference 1"]),
        ("Scene of references and predictions", []),
    ]


def test_the_delete_button_keeps_the_focus_in_the_scene(page: Any, address: str) -> None:
    show(page, address + TWO)
    page.mouse.click(*place(page, 170, 180))
    page.click("#inspector .danger")
    settle(page)
    assert (xs(page, "prediction"), selected(page)) == ([400], [])
    assert focused(page) == "Scene of references and predictions"


def test_caps_lock_makes_no_difference(page: Any, address: str) -> None:
    show(page, address + link_of([], []))
    for key in ("R", "C"):  # without Shift: as with Caps Lock
        page.keyboard.press(key)
    page.keyboard.press("Enter")
    page.keyboard.press("D")
    settle(page)
    assert xs(page, "reference") == [300, 312]
    page.keyboard.press("Control+Z")
    settle(page)
    assert xs(page, "reference") == [300]


def test_no_more_shapes_are_added_than_a_side_can_have(page: Any, address: str) -> None:
    discs = [[10 + 14 * (at % 40), 10 + 30 * (at // 40), 5] for at in range(400)]
    show(page, address + link_of([], discs))
    page.keyboard.press("c")
    page.keyboard.press("Enter")
    page.keyboard.press("Control+a")
    page.keyboard.press("d")
    settle(page)
    assert page.locator("#scene .shape").count() == 400
    assert "Each side can have at most 400 objects." in page.inner_text("#about")
    assert page.is_hidden("#trouble")


def test_the_explanation_of_a_preset_stays_when_something_is_dragged(
    page: Any, address: str
) -> None:
    show(page, address)
    page.select_option("#preset", "many-to-one")
    settle(page)
    assert "found in four pieces" in page.inner_text("#about")
    assert not page.get_by_text("Reset the scene").is_visible()
    page.select_option("#strategy", "one-to-one/optimal")
    drag(page, "prediction", 2, 40, 0)
    changed = "Changed from the preset “Many-to-one: a split object”."
    assert "found in four pieces" in page.inner_text("#about")
    assert changed in page.inner_text("#about")
    page.reload()
    settle(page)
    assert changed in page.inner_text("#about")
    page.get_by_text("Reset the scene").click()
    settle(page)
    assert changed not in page.inner_text("#about")
    assert xs(page, "prediction")[2] == 300
    assert state(page)["view"]["strategy"] == "one-to-one/optimal"
    page.keyboard.press("Control+z")
    settle(page)
    assert changed in page.inner_text("#about")


def test_a_new_scene_is_not_explained_but_the_one_before_is_again(page: Any, address: str) -> None:
    show(page, address)
    page.select_option("#preset", "many-to-one")
    settle(page)
    page.keyboard.press("n")
    settle(page)
    assert page.is_hidden("#about")
    page.keyboard.press("Control+z")
    settle(page)
    assert "found in four pieces" in page.inner_text("#about")
    assert page.input_value("#preset") == "many-to-one"


def lines(page: Any) -> list[list[float]]:
    """Return the ends of all match lines."""
    names = ("x1", "y1", "x2", "y2")
    found = page.locator("#scene .match line:not(.halo)").all()
    return [[float(one.get_attribute(name)) for name in names] for one in found]


def test_lines_join_the_centres_of_what_is_matched(page: Any, address: str) -> None:
    link = link_of(
        [[150, 180, 70], [420, 180, 70]],
        [[120, 180, 35], [190, 180, 30], [420, 190, 60], [560, 60, 20]],
        strategy="many-to-one/merge/seed",
        threshold=0.1,
    )
    show(page, address + link)
    expected = [[150, 180, 120, 180], [150, 180, 190, 180], [420, 180, 420, 190]]
    assert sorted(lines(page)) == expected
    pairs = library(link, pm.ManyToOne(), 0.1)
    assert (pairs.tp, pairs.fp) == (2, 1)
    page.fill("#threshold-value", "0.5")
    page.keyboard.press("Enter")
    settle(page)
    assert lines(page) == [[420, 180, 420, 190]]
    page.uncheck("#match-lines")
    assert lines(page) == []
    assert "match" not in str(state(page)["view"])
    page.reload()
    settle(page)
    assert (lines(page), page.is_checked("#match-lines")) == ([], False)


def test_pointing_at_an_object_lights_its_match_lines(page: Any, address: str) -> None:
    show(page, address + TWO)
    page.locator("#matrix .cell").first.hover()
    assert page.locator("#scene .match.lit").count() == 1
    assert page.locator("#scene .match").count() == 2


def test_the_guide_has_the_keys_of_the_page(page: Any, address: str) -> None:
    show(page, address + TWO)
    guide = (ROOT / "docs" / "how-to" / "playground.md").read_text(encoding="utf-8")
    for key in page.locator("#keys kbd").all_text_contents():
        assert f"`{key}`" in guide


def test_all_keys_are_listed(page: Any, address: str) -> None:
    show(page, address + TWO)
    page.keyboard.press("?")
    assert page.locator("#keys").is_visible()
    text = page.inner_text("#keys")
    for button in page.locator(".toolbar [title], #edit-menu [title]").all():
        title = button.get_attribute("title")
        if "(" in title:
            assert title.split("(")[1].split(")")[0] in text
    page.keyboard.press("Escape")
    assert page.locator("#keys").is_hidden()
