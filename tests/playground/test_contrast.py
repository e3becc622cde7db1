"""Every text is readable on what lies behind it, in both themes, also where axe does not look."""

from __future__ import annotations

from typing import Any

import pytest

from panmatch.playground import State, View, write_link
from tests.browser import needs_chromium
from tests.playground.drawn_scenes import MIXED, STRATEGIES
from tests.playground.shown_pages import show

pytestmark = needs_chromium

LEAST = 4.5
PAGES = {
    "parts": write_link(
        State(MIXED, View(parts=True, threshold=0.3, curves=("pq", "sq", "rq", "ap")))
    ),
    "regions": write_link(
        State(
            MIXED,
            View(strategy="union", compared=tuple(STRATEGIES), regions=True, threshold=0.37),
        )
    ),
    "heuristic": "#merge-or-optimal",
    "same": write_link(State(MIXED, View(strategy="same-id", compared=("same-id",)))),
}

# Texts whose contrast is too low, as [contrast, text]. Letters of the scene have a halo.
FAINT = """(least) => {
  const context = Object.assign(document.createElement('canvas'), { width: 1, height: 1 })
    .getContext('2d', { willReadFrequently: true });
  const known = new Map();
  const rgba = (colour) => {
    if (known.has(colour)) return known.get(colour);
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = colour;
    context.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = context.getImageData(0, 0, 1, 1).data;
    known.set(colour, [r, g, b, a / 255]);
    return known.get(colour);
  };
  const over = ([r, g, b, a], below, share = 1) =>
    [r, g, b].map((value, at) => value * a * share + below[at] * (1 - a * share));
  const ground = (element) => {
    const layers = [];
    for (let one = element; one; one = one.parentElement) layers.push(rgba(getComputedStyle(one).backgroundColor));
    const shade = element.closest('.cell')?.querySelector('.shade');
    if (shade) layers.unshift(rgba(getComputedStyle(shade).fill));
    return layers.reduceRight((below, layer) => over(layer, below), [255, 255, 255]);
  };
  const light = (colour) => {
    const [r, g, b] = colour.map((value) => value / 255)
      .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
  };
  const opacity = (element) => {
    let share = 1;
    for (let one = element; one; one = one.parentElement) share *= Number(getComputedStyle(one).opacity);
    return share;
  };
  const found = [], texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = texts.currentNode.data.trim(), element = texts.currentNode.parentElement;
    if (!text || !element.checkVisibility({ contentVisibilityAuto: true })) continue;
    if (element.closest('.unseen, :disabled, dialog, script, title, option, #scene')) continue;
    const style = getComputedStyle(element), below = ground(element);
    const colour = over(rgba(element.closest('svg') ? style.fill : style.color), below, opacity(element));
    const [one, other] = [light(colour), light(below)].sort((a, b) => a - b);
    if (other / one < least) found.push([Math.round(100 * other / one) / 100, text]);
  }
  return found;
}"""  # noqa: E501


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("link", PAGES)
def test_all_text_has_enough_contrast(browser: Any, address: str, scheme: str, link: str) -> None:
    context = browser.new_context(viewport={"width": 1440, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    show(page, address + PAGES[link])
    page.wait_for_selector("#related .metric")
    page.evaluate("document.querySelector('#key').open = true")
    page.evaluate("document.querySelector('#export').open = true")
    page.wait_for_timeout(500)  # panels out of sight are drawn, too
    assert page.evaluate(FAINT, LEAST) == []
    page.evaluate("document.querySelector('#curves .tick').style.fill = 'rgb(128 128 128)'")
    assert len(page.evaluate(FAINT, LEAST)) == 1
    context.close()
