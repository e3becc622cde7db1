"""What the page says to those who hear it, and how they reach what scrolls."""

from __future__ import annotations

from typing import Any

import panmatch as pm
from panmatch.playground import State, View, write_link
from tests.browser import needs_chromium
from tests.playground.drawn_scenes import EMPTY, MIXED, count
from tests.playground.shown_pages import TWO, settle, show

pytestmark = needs_chromium

REST_MS = 1_300  # longer than the page waits before it speaks


def spoken(page: Any) -> str:
    text: str = page.locator("#spoken").text_content()
    return text


def words(page: Any, picture: str) -> list[str]:
    """Return the lines that describe a picture."""
    described = page.get_attribute(f"{picture} svg", "aria-describedby")
    lines: list[str] = page.locator(f"#{described} li").all_text_contents()
    return lines


def test_scores_are_spoken_when_they_come_to_rest(page: Any, address: str) -> None:
    view = View(threshold=0.3)
    show(page, address + write_link(State(MIXED, view)))
    assert page.get_attribute("#spoken", "role") == "status"
    page.wait_for_timeout(REST_MS)
    tally = pm.match(count(MIXED, view), pm.OneToOne(), 0.3).tally
    assert spoken(page) == (
        f"PQ {tally.pq:.3f}, SQ {tally.sq:.3f}, RQ {tally.rq:.3f}; "
        "5 true positives, 5 false positives, 2 false negatives. one-to-one (optimal), τ = 0.3."
    )
    page.check("#parts")
    settle(page)
    page.wait_for_timeout(REST_MS)
    assert spoken(page).startswith("PartPQ ")


def test_nothing_is_spoken_while_something_is_dragged(page: Any, address: str) -> None:
    show(page, address + TWO)
    page.wait_for_timeout(REST_MS)
    before = spoken(page)
    box = page.locator("#scene .layer.prediction .shape").first.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    for step in range(4):
        page.mouse.move(x - 8 * step, y, steps=3)
        page.wait_for_timeout(REST_MS // 2)
    assert page.inner_text("#big-pq") not in before
    assert spoken(page) == before
    page.mouse.up()
    settle(page)
    page.wait_for_timeout(2 * REST_MS)
    assert page.inner_text("#big-pq") in spoken(page)


def test_an_empty_scene_is_spoken_of_in_words(page: Any, address: str) -> None:
    show(page, address + write_link(State(EMPTY, View())))
    page.wait_for_timeout(REST_MS)
    assert spoken(page) == (
        "PQ is undefined, because neither side has an object. one-to-one (optimal), τ = 0.5."
    )


def test_graph_and_matrix_are_described_in_words(page: Any, address: str) -> None:
    view = View(strategy="many-to-one/merge/seed", threshold=0.3)
    show(page, address + write_link(State(MIXED, view)))
    page.wait_for_timeout(REST_MS)
    overlap = count(MIXED, view)
    matching = pm.match(overlap, pm.ManyToOne(), 0.3)
    told = words(page, "#graph")
    assert len(told) == len(overlap.ref_ids) + matching.tally.fp
    for ref, pred in matching.pairs.tolist():
        (line,) = [one for one in told if one.startswith(f"R{ref} ")]
        assert f"P{pred} (IoU " in line
    assert "R7 has no match: a false negative." in told
    assert "P7 has no match: a false positive." in told
    pairs = words(page, "#matrix")
    assert len(pairs) == len(overlap.edges.ref)
    at = int(overlap.iou.argmax())
    best = (overlap.ref_ids[overlap.edges.ref[at]], overlap.pred_ids[overlap.edges.pred[at]])
    assert pairs[0] == f"R{best[0]} and P{best[1]}: IoU {overlap.iou.max():.3f}, matched."


def test_many_objects_are_described_up_to_a_limit(page: Any, address: str) -> None:
    show(page, address + "#dense-cells")
    page.wait_for_timeout(REST_MS)
    told = words(page, "#graph")
    assert len(told) == 101
    assert told[-1] == "… and 44 more objects."


def test_the_keyboard_reaches_what_scrolls_and_nothing_else(page: Any, address: str) -> None:
    show(page, address + TWO)
    page.wait_for_timeout(400)
    assert page.locator(".terms[tabindex], .tall[tabindex], .scroll[tabindex]").count() == 0
    show(page, address + "#dense-cells")
    page.wait_for_timeout(400)
    assert page.get_attribute(".terms", "tabindex") == "0"
    assert page.get_attribute(".terms", "aria-label") == "Where the numbers come from"
    page.locator(".terms").focus()
    page.keyboard.press("End")
    page.wait_for_timeout(300)
    assert page.evaluate("document.querySelector('.terms').scrollTop") > 100
