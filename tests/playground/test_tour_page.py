"""The guided tour in a real browser: a newcomer reads, guesses, drags and is told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tifffile import imwrite

import panmatch as pm
from panmatch.playground import State, read_link, write_link
from panmatch.playground._tour import STEPS, TourStep
from tests.browser import needs_chromium
from tests.playground.drawn_scenes import MIXED
from tests.playground.shown_pages import TWO, drag, library, served, settle, show, state
from tests.playground.test_accessibility import SCREENS, violations

pytestmark = needs_chromium

BY_ID = {step.id: step for step in STEPS}
NEXT = "#tour .tour-end button >> nth=1"
Gesture = Callable[[Any], None]


def dragging(at: int, dx: float, dy: float) -> Gesture:
    """Return a gesture: drag a prediction by units of the scene."""

    def gesture(page: Any) -> None:
        unit = page.locator("#scene").bounding_box()["width"] / 600
        drag(page, "prediction", at, dx * unit, dy * unit)

    return gesture


def sliding(threshold: float) -> Gesture:
    """Return a gesture: drag the slider of the threshold."""

    def gesture(page: Any) -> None:
        box = page.locator("#threshold").bounding_box()
        now = float(page.input_value("#threshold"))
        y = box["y"] + box["height"] / 2
        # The knob is 16 pixels wide, and its centre travels over the rest.
        at = [box["x"] + 8 + (box["width"] - 16) * value / 0.999 for value in (now, threshold)]
        page.mouse.move(at[0], y)
        page.mouse.down()
        page.mouse.move(at[1], y, steps=5)
        page.mouse.up()
        settle(page)

    return gesture


GESTURES: dict[str, Gesture] = {
    "tour-overlap": dragging(0, -100, 0),
    "tour-threshold": sliding(0.2),
    "tour-half": sliding(0.2),
    "tour-fragments": dragging(2, -185, -57),
    "tour-merged": dragging(0, 45, 0),
    "tour-many-to-many": sliding(0.3),
    "tour-greedy": dragging(1, 25, 0),
    "tour-regions": dragging(1, -46, -22),
}


def right(step: TourStep) -> int:
    return [answer.right for answer in step.guess.answers].index(True)


def answer(page: Any, position: int) -> None:
    page.locator("#tour .answers button").nth(position).click()


@pytest.mark.parametrize("name", BY_ID)
def test_a_guess_is_answered_and_a_real_gesture_meets_the_goal(
    page: Any, address: str, name: str
) -> None:
    step = BY_ID[name]
    show(page, f"{address}#{name}")
    assert step.title in page.inner_text("#tour h2")
    assert page.is_hidden("#tour .task")
    for position, reply in enumerate(step.guess.answers):
        answer(page, position)
        assert page.inner_text("#tour .verdict") == reply.says.replace("*", "")
    answer(page, right(step))
    assert (
        page.locator("#tour .answers .right").inner_text() == step.guess.answers[right(step)].text
    )
    assert page.is_visible("#tour .task")
    assert page.is_hidden("#tour .cheer")
    GESTURES[name](page)
    page.wait_for_selector("#tour .cheer:visible")
    assert step.goal.done.replace("*", "") in page.inner_text("#tour .cheer")
    assert page.locator("#tour .dot.met").count() == 1
    # The text stays while the scene is edited, and the address describes the scene.
    assert step.title in page.inner_text("#tour h2")
    assert state(page) != step.state.to_dict()
    assert read_link(page.url)[0] != step.state


def test_a_newcomer_sees_the_tour_first_and_the_scene_and_its_score_with_it(
    browser: Any, address: str
) -> None:
    context = browser.new_context(viewport={"width": 1366, "height": 768})
    page = context.new_page()
    show(page, address)
    assert page.inner_text("#tour h2") == f"1. {STEPS[0].title}"
    answer(page, 0)
    for selector in ("#tour .answers", "#scene", "#headline", "#threshold", "#tour .tour-end"):
        box = page.locator(selector).bounding_box()
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= 768, selector
    assert page.evaluate("document.activeElement === document.body") is False  # the answer
    context.close()


def test_the_tour_does_not_take_the_focus_by_itself(page: Any, address: str) -> None:
    show(page, address)
    assert page.evaluate("document.activeElement === document.body")


def test_skipping_is_remembered_and_the_button_brings_the_tour_back(
    page: Any, address: str
) -> None:
    show(page, address)
    page.get_by_text("Skip the tour").click()
    settle(page)
    assert page.is_hidden("#tour")
    assert page.input_value("#preset") == "figure-strategies"
    assert page.evaluate("document.activeElement.id") == "tour-open"
    show(page, address)
    assert page.is_hidden("#tour")
    assert page.locator("#scene .layer.reference .shape").count() == 4
    page.click("#tour-open")
    settle(page)
    assert page.is_visible("#tour")
    assert page.get_attribute("#tour-open", "aria-expanded") == "true"
    assert page.evaluate("document.activeElement.id") == "tour-title"


def test_a_skipped_tour_keeps_what_was_edited(page: Any, address: str) -> None:
    show(page, address)
    drag(page, "prediction", 0, -30, 0)
    kept = state(page)
    page.get_by_text("Skip the tour").click()
    settle(page)
    assert state(page) == kept
    assert page.locator("#scene .layer.prediction .shape").count() == 1


def test_a_link_shows_its_scene_and_no_tour(page: Any, address: str) -> None:
    show(page, address + TWO)
    assert page.is_hidden("#tour")
    show(page, address + "#split-lesion")
    assert page.is_hidden("#tour")


def test_files_are_shown_without_the_tour(page: Any, tmp_path: Path) -> None:
    labels = np.zeros((20, 30), np.uint8)
    labels[4:9, 5:12] = 1
    for name in ("a.tif", "b.tif"):
        imwrite(tmp_path / name, labels)
    with served(tmp_path / "a.tif", tmp_path / "b.tif") as address:
        show(page, address)
        assert page.is_hidden("#tour")
        assert page.is_hidden("#tour-open")
        page.locator("#greedy").scroll_into_view_if_needed()
        page.get_by_title("Visit the next pair").click()
        assert "R1 takes P1" in page.inner_text("#greedy .saying")
        assert page.locator("#multiples .multiple-pq").all_inner_texts() == ["1.000"] * 3


def test_next_and_back_walk_through_all_steps(page: Any, address: str) -> None:
    show(page, address + "#tour")
    titles = [page.inner_text("#tour h2")]
    for step in STEPS[1:]:
        page.click(NEXT)
        settle(page)
        assert page.url.endswith(f"#{step.id}")
        titles.append(page.inner_text("#tour h2"))
        assert page.evaluate("document.activeElement.id") == "tour-title"
    assert titles == [f"{at}. {step.title}" for at, step in enumerate(STEPS, start=1)]
    page.go_back()
    settle(page)
    assert page.inner_text("#tour h2") == titles[-2]
    page.locator("#tour .dot").nth(2).click()
    settle(page)
    assert page.inner_text("#tour h2") == titles[2]
    assert page.locator("#tour .dot[aria-current=step]").count() == 1
    page.locator("#tour .dot").last.click()
    page.click(NEXT)
    assert "Well done" in page.inner_text("#tour h2")
    page.click(NEXT)
    assert page.is_hidden("#tour")
    show(page, address)
    assert page.is_hidden("#tour")


def test_the_way_back_leads_to_the_first_step_of_a_plain_visit(page: Any, address: str) -> None:
    show(page, address)
    page.click(NEXT)
    settle(page)
    page.go_back()
    settle(page)
    assert page.inner_text("#tour h2") == f"1. {STEPS[0].title}"


def test_the_link_to_a_step_is_its_name_even_after_edits(page: Any, address: str) -> None:
    show(page, f"{address}#tour-merged")
    drag(page, "prediction", 0, 20, 0)
    assert not page.url.endswith("#tour-merged")
    page.get_by_text("Link to this step").click()
    page.wait_for_selector("#copied[open]")
    assert page.input_value("#copied-text") == f"{address}#tour-merged"


def test_a_reload_keeps_the_step_of_an_edited_scene(page: Any, address: str) -> None:
    show(page, f"{address}#tour-merged")
    drag(page, "prediction", 0, 20, 0)
    kept = state(page)
    page.reload()
    settle(page)
    assert state(page) == kept
    assert BY_ID["tour-merged"].title in page.inner_text("#tour h2")
    assert page.is_visible("#tour .task")


def test_another_scene_closes_the_card(page: Any, address: str) -> None:
    show(page, f"{address}#tour-merged")
    page.select_option("#preset", "gates")
    settle(page)
    assert page.is_hidden("#tour")


def test_a_step_can_be_started_again(page: Any, address: str) -> None:
    show(page, f"{address}#tour-merged")
    drag(page, "prediction", 0, 20, 0)
    page.get_by_text("Start this step again").click()
    settle(page)
    expected = library(write_link(BY_ID["tour-merged"].state), pm.OneToMany(), 0.25)
    assert page.inner_text("#big-pq") == f"{expected.pq:.3f}"


def test_many_to_many_shows_what_is_counted_twice_and_offers_clusters(
    page: Any, address: str
) -> None:
    show(page, f"{address}#tour-many-to-many")
    assert page.is_hidden("#tour .double")  # it would give the answer away
    assert page.locator("#tour .mini .tie").count() == 4
    answer(page, 2)
    assert page.locator("#tour .double .wrong").count() == 3
    page.wait_for_selector("#tour .all-edges:has-text('Cluster Dice')")
    scene = BY_ID["tour-many-to-many"].state.scene
    assert scene is not None
    images = scene.label_images()
    dice = pm.related.cluster_dice(reference=images[0], prediction=images[1])
    assert f"{dice:.3f}" in page.inner_text("#tour .all-edges")
    assert "1 tangle" in page.inner_text("#tour .all-edges")


def test_pieces_are_drawn_apart_with_their_iou(page: Any, address: str) -> None:
    show(page, f"{address}#tour-regions")
    answer(page, 2)
    rows = page.locator("#tour .pieces-table tbody tr")
    assert rows.count() == 3
    assert rows.nth(0).locator("canvas").count() == 3  # whole, and two parts
    assert "0.722" in rows.nth(0).inner_text()
    assert "no match" in rows.nth(2).inner_text()
    painted = page.locator("#tour canvas.apart").evaluate(
        "one => one.getContext('2d').getImageData(0, 0, one.width, one.height).data.some(Boolean)"
    )
    assert painted
    page.uncheck("#regions")
    settle(page)
    assert "Tick “Voronoi regions”" in page.inner_text("#tour .pieces")


@pytest.mark.parametrize(("width", "scheme"), SCREENS)
def test_axe_finds_nothing_serious_in_the_tour(
    browser: Any, address: str, width: int, scheme: str
) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
    )
    page = context.new_page()
    for step in STEPS:
        show(page, f"{address}#{step.id}")
        answer(page, right(step))
        page.wait_for_timeout(300)
        assert violations(page) == [], step.id
        assert page.evaluate("document.documentElement.scrollWidth") <= width, step.id
    context.close()


def test_the_keyboard_alone_guesses_and_goes_on(page: Any, address: str) -> None:
    show(page, f"{address}#tour-half")
    page.locator("#tour .answers button").first.focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.inner_text("#tour .verdict").startswith("Right.")
    assert page.get_attribute("#tour .verdict", "aria-live") == "polite"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Back"


def test_multiples_show_each_family_and_choose_it(page: Any, address: str) -> None:
    show(page, address + write_link(State(MIXED)))
    page.locator("#multiples").scroll_into_view_if_needed()
    page.wait_for_selector("#multiples .multiple")
    overlap = pm.count_overlaps(*MIXED.label_images())
    strategies = (pm.OneToOne(), pm.ManyToOne(), pm.OneToMany())
    for at, strategy in enumerate(strategies):
        matching = pm.match(overlap, strategy, 0.5)
        tile = page.locator("#multiples .multiple").nth(at)
        assert tile.locator(".multiple-pq").inner_text() == f"{matching.tally.pq:.3f}"
        assert tile.locator(".tie").count() == len(matching.pairs)
        assert tile.locator(".shape.fp").count() == matching.tally.fp
        assert tile.locator(".shape.fn").count() == matching.tally.fn
    page.locator("#multiples .multiple").nth(1).click()
    settle(page)
    assert state(page)["view"]["strategy"] == "many-to-one/merge/seed"
    assert page.get_attribute("#multiples .multiple >> nth=1", "aria-pressed") == "true"


def test_multiples_follow_a_drag_to_its_end(page: Any, address: str) -> None:
    page.set_viewport_size({"width": 1440, "height": 2600})
    show(page, address + TWO)
    page.wait_for_selector("#multiples .multiple")
    drag(page, "prediction", 0, -25, 0)
    expected = f"{library(page.url).pq:.3f}"
    assert page.locator("#multiples .multiple-pq").first.inner_text() == expected
    assert page.inner_text("#big-pq") == expected


def test_the_greedy_merge_can_be_watched_pair_by_pair(page: Any, address: str) -> None:
    show(page, address + "#merge-or-optimal")
    page.locator("#greedy").scroll_into_view_if_needed()
    page.wait_for_selector("#greedy .visits li")
    forward = page.locator("#greedy").get_by_title("Visit the next pair")
    said = []
    while forward.is_enabled():
        forward.click()
        said.append(page.inner_text("#greedy .saying"))
    assert len(said) == page.locator("#greedy .visits li").count()
    assert any("joins R1" in text for text in said)
    scene = read_link("#merge-or-optimal")[0].scene
    assert scene is not None
    overlap = pm.count_overlaps(*scene.label_images())
    merge, best = (pm.match(overlap, pm.ManyToOne(solver), 0.3) for solver in ("merge", "optimal"))
    assert f"a PQ of {merge.tally.pq:.3f}" in said[-1]
    assert f"reaches {best.tally.pq:.3f}" in said[-1]
    assert page.locator("#greedy .tie.match").count() == len(merge.pairs)
    page.select_option("#greedy-menu select", "one-to-one/greedy")
    settle(page)
    page.wait_for_selector("#greedy .visits .ahead")
    forward.click()
    assert page.locator("#greedy .tie.match").count() == 1


def test_the_walk_plays_by_itself_unless_motion_is_unwelcome(browser: Any, address: str) -> None:
    for motion in ("no-preference", "reduce"):
        context = browser.new_context(reduced_motion=motion)
        page = context.new_page()
        show(page, f"{address}#tour-greedy")
        play = page.locator("#tour .walk button").last
        assert play.is_visible() == (motion == "no-preference")
        if play.is_visible():
            play.click()
            assert play.inner_text() == "Pause"
            page.locator("#tour .visits .ahead").first.wait_for(state="detached")
            page.wait_for_selector("#tour .walk button:has-text('Play')")
        context.close()
