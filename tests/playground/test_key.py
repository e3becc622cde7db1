"""The key shows what the page draws, and explains every abbreviation on it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from panmatch.playground import State, View, write_link
from tests.browser import needs_chromium
from tests.playground.drawn_scenes import MIXED
from tests.playground.shown_pages import served, show

pytestmark = needs_chromium

LINK = write_link(State(MIXED, View(parts=True, threshold=0.3, curves=("pq", "sq", "rq", "ap"))))
PLAIN = write_link(State(MIXED, View(threshold=0.3)))  # without parts, shapes are filled
ABBREVIATIONS = r"\b(?:Part)?(?:[A-Z]{2,4}|IoU|τ)\b"

# What is drawn in a panel, and the sample that the key has of it.
SAMPLES = {
    "#scene .layer.reference .shape.tp .part-1": ".stage .key-line .reference .shape:not(.fn) *",
    "#scene .layer.prediction .shape.matched .part-1": ".stage .key-line .prediction .part",
    "#scene .shape.fn .part-1": ".stage .key-line .shape.fn .part",
    "#graph .vertex.reference.tp circle": "#graph ~ .key-line .vertex.reference.tp circle",
    "#graph .vertex.prediction.matched rect": "#graph ~ .key-line .vertex.prediction rect",
    "#graph .vertex.reference.fn circle": "#graph ~ .key-line .vertex.fn circle",
    "#graph .edge.chosen": "#graph ~ .key-line .edge.chosen",
    "#graph .edge.fails": "#graph ~ .key-line .edge.fails",
    "#matrix .cell.chosen .shade": "#matrix ~ .key-line .cell.chosen .shade",
}
LOOK = """one => {
  const { fill, stroke, strokeDasharray } = getComputedStyle(one);
  return one.matches('.shade') ? stroke : [fill, one.matches('.part:not(.fn *)') ? '' : stroke, strokeDasharray].join();
}"""  # noqa: E501


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_samples_look_like_what_they_stand_for(browser: Any, address: str, scheme: str) -> None:
    context = browser.new_context(viewport={"width": 1440, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    show(page, address + PLAIN)
    page.wait_for_timeout(400)
    for drawn, sample in SAMPLES.items():
        found = page.locator(sample).first
        assert found.evaluate("one => one.checkVisibility()"), sample
        assert found.evaluate(LOOK) == page.locator(drawn).first.evaluate(LOOK), drawn
    context.close()


def test_every_abbreviation_on_the_page_is_in_the_key(page: Any, address: str) -> None:
    show(page, address + LINK)
    page.locator("#key summary").click()
    explained = page.locator("#key dt").all_inner_texts()
    seen = set()
    for panel in ("#strip", "#legend", "#table", "#curves", "#derivation", "#graph", "#budget"):
        seen |= set(re.findall(ABBREVIATIONS, page.locator(panel).text_content()))
    seen = {word.removeprefix("Part") for word in seen}
    assert {"PQ", "SQ", "RQ", "AP", "TP", "FP", "FN", "IoU", "τ", "AUTC"} <= set(explained)
    assert seen <= set(explained), seen - set(explained)


def test_a_pair_of_files_has_a_key_without_dashes(browser: Any, tmp_path: Path) -> None:
    files = tmp_path / "reference.npy", tmp_path / "prediction.npy"
    for file in files:
        np.save(file, np.eye(9, dtype=np.uint8))
    page = browser.new_page()
    with served(*files) as address:
        show(page, address)
        keys = page.locator(".stage .key-line li").all_inner_texts()
        assert keys == ["reference", "prediction", "both"]
    page.close()
