"""The page for everybody: what axe-core finds, contrast, and narrow screens."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from panmatch import phantoms
from panmatch.playground import State, View, write_link
from panmatch.playground._score_rows import loss_looks
from tests.browser import needs_chromium
from tests.colour_vision import contrast
from tests.playground.drawn_scenes import EMPTY, MIXED
from tests.playground.shown_pages import served, settle, show

pytestmark = needs_chromium

BAD = ("serious", "critical")
SCREENS = [(1440, "light"), (1024, "dark"), (390, "light"), (390, "dark")]
LEAST_CONTRAST = 4.5
INK = "#1a1a1a"  # of the names in the bar of losses
PAGES = {
    "heuristic": write_link(State(MIXED, View(strategy="one-to-one/greedy", threshold=0.3))),
    "parts": write_link(State(MIXED, View(parts=True, threshold=0.3))),
    "regions": write_link(State(MIXED, View(strategy="union", regions=True, voronoi=True))),
    "dense": "#dense-cells",
    "confidence": "#confidence",
    "empty": write_link(State(EMPTY, View())),
    "refused": "#nothing",
}


def violations(page: Any) -> list[str]:
    """Return what axe-core finds to be serious or critical, contrast included."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="no axe-core here")
    found = axe.Axe().run(page).response["violations"]
    return [f"{one['id']}: {one['nodes'][0]['html']}" for one in found if one["impact"] in BAD]


@pytest.mark.parametrize(("width", "scheme"), SCREENS)
def test_axe_finds_nothing_serious(browser: Any, address: str, width: int, scheme: str) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    for name, link in PAGES.items():
        page.goto("about:blank")
        page.goto(address + link)
        if name == "refused":
            page.wait_for_selector("#refusal:not([hidden])")
        else:
            settle(page)
            page.wait_for_selector("#related .metric")
            page.wait_for_timeout(300)  # panels out of sight are drawn, too
            page.evaluate("document.querySelector('#key').open = true")
        assert violations(page) == [], name
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
    context.close()


@pytest.mark.parametrize(("width", "scheme"), SCREENS)
def test_axe_finds_nothing_serious_with_a_pair_of_files(
    browser: Any, tmp_path: Path, width: int, scheme: str
) -> None:
    files = tmp_path / "reference.npy", tmp_path / "prediction.npy"
    blobs = phantoms.blobs((30, 120, 160), 20, radius=(5, 8), gap=2, seed=4)
    for file, labels in zip(files, (blobs, phantoms.shift(blobs, (0, 2, 1))), strict=True):
        np.save(file, labels)
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    with served(*files) as address:
        show(page, address)
        page.wait_for_selector("#related .metric")
        page.wait_for_timeout(300)
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    context.close()


def test_axe_would_find_a_button_without_a_name(page: Any, address: str) -> None:
    show(page, address + PAGES["parts"])
    page.evaluate("document.querySelector('#undo').removeAttribute('aria-label')")
    page.evaluate("document.querySelector('#undo').removeAttribute('title')")
    page.evaluate("document.querySelector('#undo').textContent = ''")
    assert [one.split(":")[0] for one in violations(page)] == ["button-name"]


def test_axe_finds_nothing_serious_without_a_server_or_while_copying(
    page: Any, address: str
) -> None:
    show(page, address + PAGES["parts"])
    page.evaluate("document.querySelector('#offline').hidden = false")
    page.click("#export summary")
    assert violations(page) == []
    page.click("[data-export=python]")
    page.wait_for_selector("#copied[open]")
    assert violations(page) == []


@pytest.mark.parametrize("look", loss_looks(), ids=lambda look: look["kind"])
def test_names_in_the_bar_of_losses_are_readable(look: dict[str, str]) -> None:
    """Patterns are white, so that the plain colour is the worst ground of dark letters."""
    assert contrast(look["colour"], INK) >= LEAST_CONTRAST


def test_on_a_phone_wide_tables_scroll_and_the_budget_fits(page: Any, address: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    show(page, address + PAGES["heuristic"])
    page.locator("#budget").scroll_into_view_if_needed()
    page.wait_for_timeout(300)
    for selector in (".repairs", ".mistakes", ".losses"):
        box = page.locator(selector).bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
    for table in ("#table", "#legend"):
        inner, outer = page.evaluate(
            f"[document.querySelector('{table}').scrollWidth,"
            f" document.querySelector('{table}').parentElement.clientWidth]"
        )
        assert inner > outer  # its columns keep their width
    for bar in page.locator(".losses .loss").all():
        assert bar.evaluate("one => one.scrollWidth <= one.clientWidth + 1")
