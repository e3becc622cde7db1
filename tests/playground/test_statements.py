"""What the page says in words is true: about proofs, about its server, and about links."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from typing import Any

import pytest

import panmatch as pm
from panmatch.matching import Certificate
from panmatch.playground import State, View, _answers, _sources, read_link, write_link
from panmatch.playground._score_rows import certificate_row
from panmatch.playground._sources import CountedOverlap
from tests.browser import needs_chromium
from tests.playground.drawn_scenes import DISCS, EMPTY, MIXED, STRATEGIES, WAYS, count
from tests.playground.pages import serving
from tests.playground.shown_pages import TWO, crashing, number, served, settle, show, state

pytestmark = needs_chromium

PANELS = ("#headline", "#certificate", "#curves", "#table", "#budget", "#graph", "#related")
NUMBERS_TO_TAKE = ("python", "command", "curves png", "table csv", "pairs csv")


def certificate(page: Any) -> str:
    text: str = page.inner_text("#certificate")
    return text


def test_by_parts_the_page_says_that_the_proof_is_about_whole_objects(
    page: Any, address: str
) -> None:
    view = View(parts=True, threshold=0.0)
    show(page, address + write_link(State(MIXED, view)))
    matching = pm.match(count(MIXED, view), pm.OneToOne(), 0.0)
    assert matching.part_tally is not None
    assert f"{matching.part_tally.pq:.3f}" == page.inner_text("#big-pq")
    assert certificate(page) == (
        "proven for PQ By the IoU of whole objects, no matching of this strategy has a higher PQ "
        f"than {matching.tally.pq:.3f}. Nothing is proven about PartPQ: another matching may have "
        "a higher PartPQ. Maximise that with one-to-one (optimal, parts)"
    )
    page.click("#certificate button")
    settle(page)
    best = pm.match(count(MIXED, view), pm.OneToOne(objective="parts"), 0.0)
    assert best.part_tally is not None
    assert best.part_tally.pq >= matching.part_tally.pq
    assert f"{best.part_tally.pq:.3f}" == page.inner_text("#big-pq")
    assert certificate(page) == (
        f"proven No matching of this strategy has a higher PartPQ than {best.part_tally.pq:.3f}."
    )
    page.uncheck("#parts")
    settle(page)
    assert certificate(page) == (
        f"proven No matching of this strategy has a higher PQ than {matching.tally.pq:.3f}."
    )


@pytest.mark.parametrize(
    ("value", "bound", "words"),
    [
        (1.0, 1.8, "proven No matching of this strategy has a higher PQ than 1.000."),
        (0.4, 1.8, "bounded The maximum PQ of this strategy is proven to be at most 1.000."),
        (0.4, 0.7, "bounded The maximum PQ of this strategy is proven to be at most 0.700."),
        (0.4, 0.7001, "bounded The maximum PQ of this strategy is proven to be at most 0.701."),
        (0.4, 0.3, "proven No matching of this strategy has a higher PQ than 0.400."),
    ],
)
def test_a_bound_is_at_most_one_and_never_below_the_value(
    page: Any, monkeypatch: pytest.MonkeyPatch, value: float, bound: float, words: str
) -> None:
    found = Certificate(value, bound, 1, 0, 0.0)

    def match(*arguments: Any) -> pm.Matching:
        return replace(pm.match(*arguments), certificate=found)

    monkeypatch.setattr(_answers, "match", match)
    with serving() as port:
        show(page, f"http://127.0.0.1:{port}/{TWO}")
        assert certificate(page) == words
        page.goto("about:blank")
    row = certificate_row(found)
    assert row is not None
    assert value <= row["bound"] <= 1
    assert row["gap"] == row["bound"] - value


def test_about_an_empty_scene_nothing_is_proven(page: Any, address: str) -> None:
    show(page, address + write_link(State(EMPTY, View())))
    assert certificate(page) == (
        "Neither side has an object, so PQ is undefined and there is nothing to prove."
    )


@pytest.mark.parametrize(("name", "regions", "parts"), WAYS)
def test_what_is_said_to_be_proven_is_the_pq_of_whole_objects(
    name: str, regions: bool, parts: bool
) -> None:
    view = View(strategy=name, compared=(name,), regions=regions, parts=parts, threshold=0.1)
    overlap = count(MIXED, view)
    told = _answers.describe(CountedOverlap(overlap), view)
    matching = pm.match(overlap, STRATEGIES[name], 0.1)
    row, shortfall = told["certificate"], told["shortfall"]
    assert (row is not None) == (matching.certificate is not None)
    if row is not None:
        assert row["value"] == pytest.approx(matching.tally.pq, rel=1e-12)
        assert row["value"] <= row["bound"] <= 1
        assert row["proven"] == (row["bound"] - row["value"] <= 1e-9)
    if shortfall is not None:
        assert not parts
        assert matching.tally.pq <= shortfall["pq"] + 1e-12 <= 1 + 1e-12
    (steps,) = told["curves"]
    assert steps["proven"] is (True if "optimal" in name else None)


@pytest.mark.parametrize(
    ("best", "proven", "words"),
    [
        (0.0, True, "optimal Proven: no matching of this strategy has a higher PQ."),
        (0.0, False, "not proven No matching with a higher PQ was found, but the search stopped "
                     "early."),
        (0.1, True, "− 0.100 This heuristic falls short of the maximum PQ, {pq:.3f}. Switch to "
                    "one-to-one (optimal)"),
        (0.1, False, "− 0.100 This heuristic falls short of the best PQ found, {pq:.3f}. Switch "
                     "to one-to-one (optimal)"),
        (0.0001, True, "− less than 0.001 This heuristic falls short of the maximum PQ, {pq:.3f}. "
                       "Switch to one-to-one (optimal)"),
    ],
)  # fmt: skip
def test_a_heuristic_is_optimal_only_if_the_optimum_is_proven(
    page: Any, monkeypatch: pytest.MonkeyPatch, best: float, proven: bool, words: str
) -> None:
    view = View(strategy="one-to-one/greedy")
    pq = pm.match(count(DISCS, view), pm.OneToOne("greedy")).tally.pq + best
    found = {"optimal": "one-to-one/optimal", "pq": pq, "proven": proven}
    monkeypatch.setattr(_answers, "shortfall", lambda *_: found)
    with serving() as port:
        show(page, f"http://127.0.0.1:{port}/{write_link(State(DISCS, view))}")
        assert certificate(page) == words.format(pq=pq)
        page.goto("about:blank")


def test_a_curve_whose_search_stopped_early_is_marked(
    page: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = "* Here the search for the maximum stopped early, so the maximum may be higher"
    link = write_link(State(DISCS, View(compared=("one-to-one/optimal", "one-to-one/greedy"))))

    def unproven(*arguments: Any, **options: Any) -> pm.Curve:
        steps = pm.curve(*arguments, **options)
        return steps if steps.proven is None else replace(steps, proven=False)

    def labels() -> list[str]:
        found = page.locator("#legend tbody th").all_inner_texts()
        return [" ".join(label.split()) for label in found]

    with serving() as port:
        show(page, f"http://127.0.0.1:{port}/{link}")
        assert labels() == ["one-to-one (optimal)", "one-to-one (greedy)"]
        assert page.is_hidden("#legend-note")
        monkeypatch.setattr(_sources, "curve", unproven)
        page.reload()
        settle(page)
        assert labels() == ["one-to-one (optimal) *", "one-to-one (greedy)"]
        assert note in page.inner_text("#legend-note")
        page.goto("about:blank")


def opacities(page: Any) -> list[float]:
    found: list[float] = page.evaluate(
        "panels => panels.map(one => document.querySelector(one))"
        ".map(one => Number(getComputedStyle(one).opacity))",
        list(PANELS),
    )
    return found


def test_without_a_server_old_numbers_look_old_and_stay_so(browser: Any) -> None:
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    with served() as address:
        show(page, address + TWO)
        page.wait_for_selector("#related .metric")
        port = address.rstrip("/").rsplit(":", 1)[1]
        assert opacities(page) == [1] * len(PANELS)
    page.wait_for_selector("#offline:not([hidden])")
    assert max(opacities(page)) < 0.5
    before = page.inner_text("#big-pq")
    page.locator("#scene .layer.prediction .shape").first.focus()
    page.keyboard.press("Shift+ArrowLeft")
    page.wait_for_timeout(3500)  # while it has tried to connect again, twice
    assert page.inner_text("#big-pq") == before
    assert max(opacities(page)) < 0.5
    assert page.is_visible("#offline")
    with served("--port", port):
        page.wait_for_selector("#offline", state="hidden", timeout=15_000)
        settle(page)
        assert opacities(page) == [1] * len(PANELS)
        assert page.inner_text("#big-pq") != before
    page.close()


def test_without_a_server_the_page_says_how_to_go_on_with_its_scene(browser: Any) -> None:
    context = browser.new_context()
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = context.new_page()
    with served() as address:
        show(page, address + TWO)
        port = address.rstrip("/").rsplit(":", 1)[1]
    page.wait_for_selector("#offline:not([hidden])")
    said = page.inner_text("#offline")
    assert f"run panmatch play --port {port}, and this page will reconnect on its own." in said
    assert "A plain panmatch play opens a new page at another address." in said
    for what in NUMBERS_TO_TAKE:
        assert page.locator(f"[data-export='{what}']").is_disabled()
    page.locator("#scene .layer.prediction .shape").first.focus()
    page.keyboard.press("ArrowLeft")
    page.click("#keep-scene")
    page.wait_for_selector("#copied[open]")
    program, play, *arguments = shlex.split(page.input_value("#copied-text"))
    assert (program, play) == ("panmatch", "play")
    shown = state(page)
    assert shown["scene"]["prediction"][0]["x"] == 169
    context.close()
    with served(*arguments) as address:
        assert re.match(r"http://127\.0\.0\.1:\d+/", address)
    assert read_link(arguments[1])[0].to_dict() == shown


def test_nothing_of_a_refused_link_can_be_taken_away(page: Any, address: str) -> None:
    page.goto(address + "#%7B%22format%22%3A1%2C")
    page.wait_for_selector("#refusal:not([hidden])")
    buttons = page.locator("[data-export]")
    assert buttons.count() == 12
    for button in buttons.all():
        assert button.is_disabled()
        button.dispatch_event("click")
    assert page.is_hidden("#copied")
    assert page.input_value("#copied-text") == ""
    page.click("#open-example")
    settle(page)
    assert all(button.is_enabled() for button in buttons.all())
    assert number(page, "pq") > 0


def test_a_scene_before_a_refused_link_is_neither_copied_nor_undone(
    page: Any, address: str
) -> None:
    show(page, address + TWO)
    page.locator("#scene .layer.prediction .shape").first.focus()
    page.keyboard.press("ArrowLeft")
    settle(page)
    assert page.locator("#undo").is_enabled()
    page.evaluate("location.hash = 'nothing'")
    page.wait_for_selector("#refusal:not([hidden])")
    assert page.locator("#undo").is_disabled()
    assert page.locator("[data-export=link]").is_disabled()
    page.keyboard.press("Control+z")
    page.wait_for_timeout(200)
    assert page.evaluate("location.hash") == "#nothing"
    page.go_back()
    page.wait_for_selector("#refusal", state="hidden")
    settle(page)
    assert state(page)["scene"]["prediction"][0]["x"] == 169
    assert page.locator("[data-export=link]").is_enabled()


def test_after_a_crash_of_the_server_the_page_says_so_at_once_and_can_still_be_used(
    browser: Any,
) -> None:
    page = browser.new_page(viewport={"width": 1440, "height": 900}, accept_downloads=True)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    with crashing() as (address, process):
        show(page, address + TWO)
        process.kill()
        process.wait()
        page.wait_for_selector("#offline:not([hidden])", timeout=1000)
    assert max(opacities(page)) < 0.5
    before = page.inner_text("#big-pq")
    box = page.locator("#scene .layer.prediction .shape").first.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 40, y + 10, steps=5)
    page.mouse.up()
    assert max(opacities(page)) < 0.5
    assert page.inner_text("#big-pq") == before
    shown = state(page)
    assert shown["scene"]["prediction"][0]["x"] > 170
    page.click("[data-export=link]")
    assert read_link(page.input_value("#share-0"))[0].to_dict() == shown
    page.click("#share button:has-text('Close')")
    page.click("#export summary")
    with page.expect_download() as saved:
        page.click("[data-export='scene svg']")
    assert saved.value.path().read_text().startswith("<svg")
    assert errors == []
    page.close()
