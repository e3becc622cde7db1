"""The scene under fingers, on a screen as wide as a phone's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.browser import needs_chromium
from tests.playground.shown_pages import link_of, number, settle, show, state, wait_until

pytestmark = needs_chromium

SCENE = link_of([[150, 120, 60], [420, 120, 70]], [[170, 120, 60], [420, 130, 50]])
FINGER = 44  # pixels that a finger can hit


class Fingers:
    """Touches a page at places of its scene, as the system's driver would."""

    def __init__(self, page: Any) -> None:
        self._page = page
        self._session = page.context.new_cdp_session(page)

    def place(self, x: float, y: float) -> dict[str, float]:
        box = self._page.locator("#scene").bounding_box()
        return {"x": box["x"] + x * box["width"] / 600, "y": box["y"] + y * box["height"] / 362}

    def send(self, kind: str, *places: tuple[float, float]) -> None:
        points = [{**self.place(*place), "id": at} for at, place in enumerate(places)]
        self._session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    def swipe(self, begin: tuple[float, float], end: tuple[float, float], steps: int = 8) -> None:
        start, stop = self.place(*begin), self.place(*end)
        self._touch("touchStart", start)
        for step in range(1, steps + 1):
            share = step / steps
            self._touch("touchMove", {k: start[k] + share * (stop[k] - start[k]) for k in start})
            self._page.wait_for_timeout(16)
        self._session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        settle(self._page)

    def _touch(self, kind: str, place: dict[str, float]) -> None:
        self._session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [place]})

    def tap(self, x: float, y: float) -> None:
        place = self.place(x, y)
        self._page.touchscreen.tap(place["x"], place["y"])


@pytest.fixture
def phone(browser: Any, address: str) -> Iterator[Any]:
    """Yield the page of a phone with the scene in sight."""
    context = browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True
    )
    page = context.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    show(page, address + SCENE)
    yield page
    context.close()
    assert complaints == []


def xs(page: Any) -> list[float]:
    return [shape["x"] for shape in state(page)["scene"]["prediction"]]


def test_a_finger_scrolls_the_page_on_the_ground_of_the_scene(phone: Any) -> None:
    Fingers(phone).swipe((300, 320), (300, 60))
    wait_until(phone, "scrollY > 60")
    assert xs(phone) == [170, 420]
    assert phone.locator("#scene .band").count() == 0


def test_a_finger_moves_a_shape_without_scrolling_the_page(phone: Any) -> None:
    before = number(phone, "pq")
    Fingers(phone).swipe((170, 120), (150, 250))
    shape = state(phone)["scene"]["prediction"][0]
    assert (shape["x"], shape["y"]) == pytest.approx((150, 250), abs=8)
    assert phone.evaluate("scrollY") == 0
    assert number(phone, "pq") < before


def test_a_tap_selects_and_a_tap_on_the_ground_selects_nothing(phone: Any) -> None:
    fingers = Fingers(phone)
    fingers.tap(420, 130)
    assert phone.locator("#scene .shape.selected").count() == 1
    fingers.tap(300, 330)
    assert phone.locator("#scene .shape.selected").count() == 0


def test_a_second_finger_takes_back_what_the_first_has_moved(phone: Any) -> None:
    fingers = Fingers(phone)
    fingers.send("touchStart", (170, 120))
    for step in range(1, 6):
        fingers.send("touchMove", (170 + 12 * step, 120))
    wait_until(phone, "document.querySelector('[data-p=\"1\"] circle').cx.baseVal.value > 200")
    fingers.send("touchStart", (230, 120), (400, 300))
    for step in range(1, 6):
        fingers.send("touchMove", (230 + 8 * step, 120), (400 - 8 * step, 300))
    fingers.send("touchEnd")
    settle(phone)
    assert xs(phone) == [170, 420]
    assert phone.is_disabled("#undo")


def test_handles_are_large_enough_for_a_finger(phone: Any) -> None:
    fingers = Fingers(phone)
    fingers.tap(420, 130)
    box = phone.locator("#scene .grip").bounding_box()
    assert min(box["width"], box["height"]) >= FINGER
    fingers.swipe((490, 130), (540, 130))  # beside the handle at 470
    shape = state(phone)["scene"]["prediction"][1]
    assert shape["r"] == pytest.approx(100, abs=6)
    assert (shape["x"], shape["y"]) == (420, 130)


def test_the_middle_of_a_small_shape_is_free_of_its_handles(phone: Any, address: str) -> None:
    small = link_of([], [[200, 150, 12]])
    show(phone, address + small)
    fingers = Fingers(phone)
    fingers.tap(200, 150)
    fingers.swipe((198, 150), (298, 150))
    (shape,) = state(phone)["scene"]["prediction"]
    assert (shape["r"], shape["x"]) == (12, pytest.approx(300, abs=8))


def test_the_handles_of_an_ellipse_are_apart(phone: Any, address: str) -> None:
    show(phone, address + link_of([], []))
    phone.click("[data-tool=ellipse]")
    fingers = Fingers(phone)
    fingers.swipe((240, 150), (360, 230))
    grips = {
        one: phone.locator(f"#scene .grip.{one}").bounding_box() for one in ("rx", "far-angle")
    }
    assert abs(grips["rx"]["x"] - grips["far-angle"]["x"]) > FINGER


def test_a_finger_draws_with_a_tool_and_the_tool_goes_back(phone: Any) -> None:
    phone.click("[data-tool=stroke]")
    Fingers(phone).swipe((300, 240), (300, 340))
    stroke = state(phone)["scene"]["prediction"][2]
    assert stroke["kind"] == "stroke"
    assert len(stroke["points"]) > 4
    assert phone.evaluate("scrollY") == 0
    assert phone.get_attribute("[data-tool=select]", "aria-pressed") == "true"


def test_several_shapes_are_selected_with_taps_and_moved_together(phone: Any) -> None:
    fingers = Fingers(phone)
    phone.click("#several")
    fingers.tap(170, 120)
    fingers.tap(420, 130)
    assert phone.inner_text("#inspector b") == "2 predictions selected"
    phone.click("#several")
    fingers.swipe((170, 120), (200, 120))
    moved = xs(phone)
    assert moved[0] - 170 == pytest.approx(moved[1] - 420)
    assert moved[0] == pytest.approx(200, abs=8)
