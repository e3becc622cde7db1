"""Curves that lie on each other are all seen, and the legend says so."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

from panmatch.playground import State, View, write_link
from tests.browser import needs_chromium
from tests.playground.drawn_scenes import DISCS, MIXED, STRATEGIES
from tests.playground.shown_pages import settle, show

pytestmark = needs_chromium

NEAR = 24  # of 255, per channel
SEEN = 40  # pixels


def same(page: Any) -> list[str]:
    """Return the column "same as", in words."""
    cells = page.locator("#legend .same").all_text_contents()
    return [" ".join(cell.split()) for cell in cells]


def test_the_legend_says_which_curves_are_the_same_everywhere(page: Any, address: str) -> None:
    show(page, address + write_link(State(DISCS, View())))
    one = "same as one-to-one (optimal) at every τ"
    assert same(page) == ["", one, one]
    title = page.get_attribute("#legend .same >> nth=1", "title")
    assert title == "Same as one-to-one (optimal) at every τ: the curves lie on each other"


def test_the_legend_says_which_curves_meet_at_the_threshold(page: Any, address: str) -> None:
    show(page, address + write_link(State(MIXED, View(threshold=0.1))))
    assert same(page) == ["", "", ""]
    page.fill("#threshold-value", "0.6")
    page.keyboard.press("Enter")
    settle(page)
    one = "same as one-to-one (optimal) at this τ"
    assert same(page) == ["", one, one]
    page.fill("#threshold-value", "0.1")
    page.keyboard.press("Enter")
    settle(page)
    assert same(page) == ["", "", ""]


def pixels_of(page: Any, hue: str) -> int:
    """Return how many pixels of the curves, the names of areas aside, have that colour."""
    from PIL import Image

    shot = page.locator("#curves").screenshot()
    image = np.asarray(Image.open(io.BytesIO(shot)).convert("RGB")).astype(int)[24:]
    wanted = [int(hue[at : at + 2], 16) for at in (1, 3, 5)]
    return int((np.abs(image - wanted).max(axis=2) <= NEAR).sum())


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("chosen", [*list(STRATEGIES)[:3], "one-to-many/best"])
def test_curves_that_lie_on_each_other_are_all_seen(
    browser: Any, address: str, scheme: str, chosen: str
) -> None:
    compared = ("one-to-one/optimal", "many-to-one/merge/seed", "one-to-many/best")
    view = View(strategy=chosen, compared=tuple(dict.fromkeys([*compared, chosen])))
    context = browser.new_context(viewport={"width": 1366, "height": 768}, color_scheme=scheme)
    page = context.new_page()
    show(page, address + write_link(State(DISCS, view)))
    page.wait_for_timeout(300)
    assert same(page).count("") == 1
    for name in compared:
        assert pixels_of(page, STRATEGIES[name].hue[scheme == "dark"]) > SEEN, name
    context.close()


def test_the_chosen_strategy_has_the_thickest_line(page: Any, address: str) -> None:
    show(page, address + write_link(State(DISCS, View(strategy="one-to-many/best"))))
    widths = page.locator("#curves .curve").evaluate_all(
        "all => all.map(one =>"
        " [one.dataset.strategy, parseFloat(getComputedStyle(one).strokeWidth)])"
    )
    assert widths == [
        ["one-to-many/best", 5],
        ["one-to-one/optimal", 3],
        ["many-to-one/merge/seed", 1.6],
    ]
