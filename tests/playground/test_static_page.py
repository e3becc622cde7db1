"""The page without a server, in a real browser: its numbers are those of the library."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import panmatch as pm
from panmatch.playground import Disc, Scene, State, View, read_link, write_link
from panmatch.playground._presets import PRESETS
from panmatch.playground._request_handler import RequestHandler
from tests.browser import needs_chromium
from tests.datasets.folders import save_nifti
from tests.playground.random_states import random_state
from tests.playground.shown_pages import TWO, drag, library, number, settle, state
from tests.playground.static_site import file_server, needs_site
from tests.playground.test_layout import ALWAYS, LINKS, PHONE, in_sight, overprinted
from tests.playground.test_tour_page import BY_ID, GESTURES, answer, right

pytestmark = [needs_chromium, needs_site]

WIDE = (1440, 900)
SIZES = [WIDE, (1024, 768), PHONE]
STATES = 60
WITH_RELATED = 6  # of so many states one: metrics of whole images take longer than all others
LONGEST_START = 120_000  # milliseconds, on a machine with other things to do

approx = partial(pytest.approx, abs=1e-12)  # the page shows twelve digits

# Asks the worker of the page as the page does, and returns its answers.
ASK = """([text, wanted]) => new Promise(done => {
  const answers = [];
  const { seq } = JSON.parse(text);
  window.engine.onmessage = ({ data }) => {
    if (JSON.parse(data.text).seq !== seq) return; // metrics of the state before
    answers.push(data.text);
    if (answers.length === wanted) done(answers);
  };
  window.engine.postMessage(text);
})"""
START = """() => new Promise((done, fail) => {
  window.engine = new Worker("static/js/python_worker.js", { type: "module" });
  window.engine.onmessage = ({ data }) => {
    if (data.ready) done();
    if (data.failed) fail(new Error(data.failed));
  };
})"""


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    with file_server() as address:
        yield address


@dataclass(frozen=True, slots=True)
class Opened:
    """A tab; what it said while it loaded, whether it let nobody in, and what it asked for."""

    page: Any
    said: str
    locked: bool
    asked: list[str]


@pytest.fixture(scope="module")
def opened(browser: Any, site: str) -> Iterator[Opened]:
    """Yield one tab for all tests: it loads megabytes. Whatever it complains about fails them."""
    context = browser.new_context(viewport={"width": WIDE[0], "height": WIDE[1]})
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    tab = context.new_page()
    complaints: list[str] = []
    asked: list[str] = []
    loud = ("error", "warning")
    tab.on("console", lambda m: complaints.append(m.text) if m.type in loud else None)
    tab.on("pageerror", lambda error: complaints.append(str(error)))
    context.on("request", lambda request: asked.append(request.url))
    tab.set_default_timeout(LONGEST_START)
    tab.goto(site + TWO)
    tab.wait_for_selector("#loading:not([hidden])")
    said = tab.inner_text("body")
    locked = tab.evaluate("document.querySelector('main').inert")
    locked = locked and tab.locator("[data-export=link]").is_disabled()
    settle(tab)
    yield Opened(tab, said, locked, asked)
    context.close()
    assert complaints == []


@pytest.fixture
def static_page(opened: Opened) -> Any:
    return opened.page


def test_the_page_says_what_it_loads_and_then_shows_numbers(opened: Opened) -> None:
    assert "Loading panmatch into your browser." in opened.said
    loading = r"Python, NumPy and panmatch: .* of 1\d\.\d MB\."
    starting = r"Starting Python \(1\d\.\d MB loaded\)\."  # where all of it came at once
    assert re.search(f"{loading}|{starting}", opened.said)
    assert opened.locked
    assert "server cannot be reached" not in opened.said
    assert opened.page.is_hidden("#loading")
    assert number(opened.page, "pq") == approx(library(TWO).pq)


def test_everything_comes_from_the_site_itself(opened: Opened, site: str) -> None:
    files = [url for url in opened.asked if not url.startswith(("blob:", "data:"))]
    assert {"engine/core.wasm", "engine/numpy.zip"} <= {url.removeprefix(site) for url in files}
    assert [url for url in files if not url.startswith(site)] == []
    policy = opened.page.get_attribute("meta[http-equiv=Content-Security-Policy]", "content")
    assert "script-src 'self' 'wasm-unsafe-eval'" in policy


def test_random_states_have_the_numbers_of_the_library(static_page: Any) -> None:
    static_page.evaluate(START)
    rng, handler = np.random.default_rng(20), RequestHandler()
    for position in range(STATES):
        shown = random_state(rng).to_dict()
        asked = {"ask": "numbers", "seq": position, "state": shown, "budget": True}
        expected = [handler.answer(asked)]
        expected += handler.related(asked) if position % WITH_RELATED == 0 else []
        assert json.loads(expected[0])["is"] == "numbers"
        text = json.dumps(asked, separators=(",", ":"))
        found = static_page.evaluate(ASK, [text, len(expected)])
        # Areas of discs come from sines, which differ by a bit between systems; all else is exact.
        digits = 1e-12 if shown["view"]["areas"] == "analytic" else 0
        for mine, theirs in zip(found, expected, strict=True):
            assert different(json.loads(mine), json.loads(theirs), digits) == [], shown


def different(found: Any, expected: Any, digits: float, where: str = "") -> list[str]:
    """Return where two messages differ, times aside."""
    if isinstance(found, dict) and isinstance(expected, dict) and found.keys() == expected.keys():
        keys = [key for key in found if key != "milliseconds"]
        pairs = [(found[key], expected[key], f"{where}.{key}") for key in keys]
    elif isinstance(found, list) and isinstance(expected, list) and len(found) == len(expected):
        both = zip(found, expected, strict=True)
        pairs = [(one, other, f"{where}[{at}]") for at, (one, other) in enumerate(both)]
    else:
        close = isinstance(found, float) and isinstance(expected, float | int)
        close = close and math.isclose(found, expected, rel_tol=digits, abs_tol=digits)
        return [] if close or found == expected else [f"{where}: {found!r}, not {expected!r}"]
    return [problem for one, other, at in pairs for problem in different(one, other, digits, at)]


def go(page: Any, link: str) -> None:
    """Follow a link without loading Python again."""
    before = page.get_attribute("#round-trip", "data-seq")
    shown = page.evaluate("location.hash")
    page.evaluate("link => { location.hash = link; }", link)
    if page.evaluate("location.hash") != shown:
        page.wait_for_selector(f"#round-trip:not([data-seq='{before}'])", state="attached")
    settle(page)


def as_answered(page: Any) -> dict[str, Any]:
    """Return what the server would answer for the scene that is shown."""
    asked = {"ask": "numbers", "seq": 0, "state": state(page), "budget": False}
    found: dict[str, Any] = json.loads(RequestHandler().answer(asked))
    return found


def test_dragging_changes_numbers_and_the_address(static_page: Any) -> None:
    before = number(static_page, "pq")
    drag(static_page, "prediction", 0, 31, 17)
    link = static_page.evaluate("location.hash")
    assert number(static_page, "pq") == approx(library(link).pq)
    assert number(static_page, "pq") != approx(before)
    assert state(static_page)["scene"]["prediction"][0]["x"] != 170


def test_a_link_opens_the_same_in_both_engines(static_page: Any, site: str) -> None:
    scene = Scene((Disc(200, 150, 60, (0.5,)),), (Disc(215.125, 150, 55, (0.4,)),))
    view = View(strategy="many-to-one/merge/seed", threshold=0.25, regions=True, parts=True)
    link = write_link(State(scene, view))
    go(static_page, link)
    static_page.click("[data-export=link]")
    rows = static_page.locator("#share input")
    assert rows.first.input_value() == site + link
    assert rows.last.input_value() == f"panmatch play --link '{link}'"
    assert static_page.evaluate("navigator.clipboard.readText()") == site + link
    assert read_link(site + link)[0] == State(scene, view)
    static_page.click("#share button:has-text('Close')")


@pytest.mark.parametrize("name", GESTURES)
def test_every_step_of_the_tour_can_be_taken(static_page: Any, name: str) -> None:
    go(static_page, f"#{name}")
    answer(static_page, right(BY_ID[name]))
    assert static_page.is_hidden("#tour .cheer")
    GESTURES[name](static_page)
    static_page.wait_for_selector("#tour .cheer:visible")
    assert number(static_page, "pq") == approx(as_answered(static_page)["tally"]["pq"])


def test_every_scene_opens_with_the_numbers_of_the_server(static_page: Any) -> None:
    scenes = [preset.id for preset in PRESETS]
    assert len(scenes) > 10
    for scene in scenes:
        go(static_page, f"#{scene}")
        assert number(static_page, "pq") == approx(as_answered(static_page)["tally"]["pq"]), scene


@pytest.mark.parametrize("link", LINKS)
def test_the_page_fits_every_screen(static_page: Any, link: str) -> None:
    go(static_page, LINKS[link])
    static_page.wait_for_selector("#related .metric")
    for width, height in (*SIZES, WIDE):
        static_page.set_viewport_size({"width": width, "height": height})
        static_page.evaluate("scrollTo(0, 0)")
        static_page.wait_for_timeout(400)
        assert static_page.evaluate("document.documentElement.scrollWidth") <= width
        assert overprinted(static_page) == []
        for selector in (*ALWAYS, "#strategy"):
            assert in_sight(static_page, selector), (width, selector)


def test_a_link_that_is_refused_says_why(static_page: Any) -> None:
    static_page.evaluate("location.hash = '#1:a_b:c'")
    static_page.wait_for_selector("#refusal:not([hidden])")
    assert "It may have been cut off." in static_page.inner_text("#refusal")
    assert static_page.locator("[data-export=link]").is_disabled()
    assert static_page.evaluate("location.hash") == "#1:a_b:c"


def test_files_are_read_in_the_browser(static_page: Any, tmp_path: Path) -> None:
    reference, prediction = np.zeros((2, 12, 10, 8), np.uint8)
    reference[1:5, 1:5, 1:5], reference[7:11, 5:9, 2:7] = 1, 2
    prediction[2:5, 1:5, 1:5], prediction[7:11, 5:9, 3:7] = 4, 9
    paths = [tmp_path / "case_ref.nii.gz", tmp_path / "case_pred.nii.gz"]
    for path, labels in zip(paths, (reference, prediction), strict=True):
        save_nifti(path, labels, (1, 1, 2))
    static_page.set_input_files("#file-chooser", paths)
    static_page.wait_for_selector("body.of-pair:not(.outdated)")
    settle(static_page)
    tally = pm.match(pm.count_overlaps(reference, prediction)).tally
    assert number(static_page, "pq") == approx(tally.pq)
    assert static_page.inner_text("#pair-about").endswith("12 × 10 × 8, 1 × 1 × 2 mm")
    static_page.click("#close-files")
    static_page.wait_for_selector("body:not(.of-pair):not(.outdated)")
