"""The panel of losses: its numbers are the library's, and its mistakes lead to their objects."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import panmatch as pm
from panmatch.playground import Disc, Scene, State, View, read_link, write_link
from panmatch.playground._answers import answer_numbers, describe
from panmatch.playground._score_rows import loss_looks
from panmatch.playground._sources import CountedOverlap, DrawnScene
from panmatch.scoring import LOSS_LOOKS, Mistake
from tests.browser import needs_chromium
from tests.playground.drawn_scenes import EMPTY, MIXED, STRATEGIES, WAYS, count
from tests.playground.shown_pages import TWO, drag, settle, show

KINDS = ("split", "merged", "missed", "spurious", "outline")
TALL = {"width": 1440, "height": 1900}  # with the panel in sight
WITHOUT_REPAIRS = ("same-id", "union")
STATES = 60


def matching_of(scene: Scene, view: View) -> pm.Matching:
    return pm.match(count(scene, view), STRATEGIES[view.strategy], view.threshold)


def view_of(name: str, regions: bool = False, parts: bool = False, threshold: float = 0.3) -> View:
    return View(strategy=name, compared=(name,), threshold=threshold, regions=regions, parts=parts)


def costs(matching: pm.Matching) -> list[tuple[str, list[int], list[int], float]]:
    def row(one: Mistake) -> tuple[str, list[int], list[int], float]:
        return one.kind, list(one.ref_ids), list(one.pred_ids), one.cost(matching.tally)

    return [row(mistake) for mistake in pm.find_mistakes(matching)]


@pytest.mark.parametrize(("name", "regions", "parts"), WAYS)
def test_the_budget_is_that_of_the_library(name: str, regions: bool, parts: bool) -> None:
    view = view_of(name, regions, parts)
    found = answer_numbers(DrawnScene(MIXED), view)["budget"]
    matching = matching_of(MIXED, view)
    budget = pm.error_budget(matching)
    assert found["pq"] == matching.tally.pq  # of whole objects, also by parts
    assert found["loss"] == 1 - budget.pq
    shown = KINDS[2:] if name in WITHOUT_REPAIRS else KINDS
    assert [row["kind"] for row in found["repairs"]] == list(shown)
    for row in found["repairs"]:
        kind = row["kind"]
        numbers = budget.repaired[kind], budget.last[kind], budget.shares[kind]
        assert (row["alone"], row["last"], row["share"]) == numbers
    listed = [
        (one["kind"], list(one["references"]), list(one["predictions"]), one["cost"])
        for one in found["mistakes"]
    ]
    assert listed == costs(matching)
    assert found["more_mistakes"] == 0


def test_without_an_object_everything_is_undefined() -> None:
    found = answer_numbers(DrawnScene(EMPTY), View())["budget"]
    assert found["pq"] is found["loss"] is None
    assert all(row[key] is None for row in found["repairs"] for key in ("alone", "last", "share"))
    assert found["mistakes"] == []


def test_of_many_mistakes_the_costliest_are_listed() -> None:
    n = 40
    shared = np.diag(np.arange(n, 2 * n))
    overlap = pm.Overlap.from_dense(shared, [100] * n, [100] * n)
    found = describe(CountedOverlap(overlap), View(threshold=0.0))["budget"]
    assert [one["references"] for one in found["mistakes"]] == [(k + 1,) for k in range(30)]
    assert found["more_mistakes"] == 10


@pytest.mark.parametrize(
    ("name", "n", "listed"),
    [("one-to-one/optimal", 500, True), ("one-to-one/optimal", 501, False),
     ("many-to-one/optimal/seed", 60, True), ("many-to-one/optimal/seed", 61, False),
     ("same-id", 500, True)],
)  # fmt: skip
def test_mistakes_are_not_looked_for_where_it_would_be_felt(
    name: str, n: int, listed: bool
) -> None:
    overlap = pm.Overlap.from_dense(np.eye(n, dtype=int) * 3, [4] * n, [5] * n)
    found = describe(CountedOverlap(overlap), view_of(name, threshold=0.0))["budget"]
    assert (found["mistakes"] is not None) == listed
    assert found["loss"] == 0.5


def test_no_budget_is_computed_where_nobody_sees_it() -> None:
    whole, rest = (answer_numbers(DrawnScene(MIXED), View(), budget) for budget in (True, False))
    assert rest == {**whole, "budget": None}


def test_losses_look_as_in_the_report() -> None:
    found = {row["kind"]: row for row in loss_looks()}
    assert tuple(found) == KINDS
    for kind, row in found.items():
        look = LOSS_LOOKS[kind]
        assert (row["title"], row["colour"], row["pattern"]) == (
            look.title,
            look.colour,
            look.pattern,
        )


def random_state(number: int) -> State:
    rng = np.random.default_rng(number)
    name = list(STRATEGIES)[number % len(STRATEGIES)]

    def discs() -> tuple[Disc, ...]:
        places = rng.uniform((60, 60, 15), (420, 300, 80), size=(rng.integers(1, 7), 3)).tolist()
        return tuple(Disc(x, y, r, (0.5,) if rng.integers(2) else ()) for x, y, r in places)

    scene = Scene(discs(), discs())
    regions = name == "union" or bool(rng.integers(2))
    view = view_of(name, regions, bool(rng.integers(2)), round(float(rng.uniform(0, 0.5)), 3))
    return State(scene, view)


def go(page: Any, state: State) -> None:
    """Follow a link without loading the page again."""
    before = page.get_attribute("#round-trip", "data-seq")
    page.evaluate("link => { location.hash = link; }", write_link(state))
    page.wait_for_selector(f"#round-trip:not([data-seq='{before}'])", state="attached")
    settle(page)


def read(page: Any, selector: str) -> list[float]:
    """Return the numbers of elements, with all their digits."""
    return [float(text) for text in titles(page, selector)]


def titles(page: Any, selector: str) -> list[str]:
    found: list[str] = page.eval_on_selector_all(selector, "all => all.map(one => one.title)")
    return found


@needs_chromium
def test_the_panel_shows_the_numbers_of_the_library(page: Any, address: str) -> None:
    page.set_viewport_size(TALL)
    show(page, address + TWO)
    seen = set()
    for number in range(STATES):
        state = random_state(number)
        assert state.scene is not None
        go(page, state)
        matching = matching_of(state.scene, state.view)
        check_panel(page, matching)
        seen |= {mistake.kind for mistake in pm.find_mistakes(matching)}
    assert seen == set(KINDS)


def check_panel(page: Any, matching: pm.Matching) -> None:
    budget = pm.error_budget(matching)
    kinds = KINDS if matching.strategy.takes_repairs else KINDS[2:]
    for kind in kinds:
        expected = budget.repaired[kind], budget.last[kind], budget.shares[kind]  # type: ignore[index]
        assert near(read(page, f"[data-repair={kind}] td"), expected)
    assert near(read(page, ".repairs .together td"), [1 - budget.pq])
    assert page.locator("[data-repair]").count() == len(kinds)
    check_bar(page, budget)
    items = page.eval_on_selector_all(
        ".mistakes li",
        "all => all.map(one => [one.children[1].textContent, ...JSON.parse(one.dataset.objects),"
        " Number(one.querySelector('b').title)])",
    )
    expected_items = costs(matching)
    assert [item[:3] for item in items] == [list(item[:3]) for item in expected_items]
    assert near([item[3] for item in items], [item[3] for item in expected_items])


def check_bar(page: Any, budget: pm.ErrorBudget) -> None:
    """Check that the bar has PQ and all shares that are not 0, and their widths."""
    parts = page.eval_on_selector_all(
        ".losses .loss",
        "all => all.map(one => [one.title, one.getBoundingClientRect().width])",
    )
    names = {"PQ": budget.pq} | {
        LOSS_LOOKS[kind].title: share for kind, share in budget.shares.items() if share
    }
    found = {title.split(": ")[0]: float(title.split(": ")[1]) for title, _ in parts}
    assert set(found) == {name for name, value in names.items() if value}
    assert near(list(found.values()), [names[name] for name in found])
    span = math.fsum(map(abs, found.values()))
    whole = math.fsum(width for _, width in parts)
    for (_, width), value in zip(parts, found.values(), strict=True):
        assert width == pytest.approx(whole * abs(value) / span, abs=1.5)


def near(found: list[float], expected: Any) -> bool:
    return found == pytest.approx(list(expected), rel=1e-11, abs=1e-15)


@needs_chromium
@pytest.mark.parametrize("how", ["hover", "focus"])
def test_a_mistake_lights_its_objects(page: Any, address: str, how: str) -> None:
    page.set_viewport_size(TALL)
    view = view_of("one-to-one/optimal")
    show(page, address + write_link(State(MIXED, view)))
    rows = costs(matching_of(MIXED, view))
    for at, (_, references, predictions, _) in enumerate(rows):
        item = page.locator(".mistakes li").nth(at)
        getattr(item, how)()
        assert lit(page, "#scene .shape") == (references, predictions)
        assert lit(page, "#graph .vertex") == (references, predictions)
        assert page.locator(".mistakes li.lit").count() >= 1
        assert "lit" in item.get_attribute("class")
    page.locator("header h1").hover()
    page.locator("#theme").focus()
    assert page.locator(".lit").count() == 0


def lit(page: Any, selector: str) -> tuple[list[int], list[int]]:
    ids = [
        page.eval_on_selector_all(
            f"{selector}.lit[data-{side}]", f"all => all.map(one => Number(one.dataset.{side}))"
        )
        for side in "rp"
    ]
    return sorted(ids[0]), sorted(ids[1])


@needs_chromium
def test_an_object_lights_the_mistakes_it_is_part_of(page: Any, address: str) -> None:
    page.set_viewport_size(TALL)
    view = view_of("one-to-one/optimal")
    show(page, address + write_link(State(MIXED, view)))
    page.locator("#graph .vertex[data-p='4'] rect").hover()
    concerned = [at for at, row in enumerate(costs(matching_of(MIXED, view))) if 4 in row[2]]
    assert len(concerned) == 2  # it merges references 3 and 4, and has the outline of 3
    found = page.eval_on_selector_all(
        ".mistakes li", "all => all.flatMap((one, at) => one.matches('.lit') ? [at] : [])"
    )
    assert found == concerned


@needs_chromium
@pytest.mark.parametrize(
    ("name", "reason"),
    [("same-id", "the ids"), ("union", "the Voronoi regions"), ("one-to-one/optimal", None)],
)
def test_a_strategy_that_takes_no_repairs_says_so(
    page: Any, address: str, name: str, reason: str | None
) -> None:
    page.set_viewport_size(TALL)
    show(page, address + write_link(State(MIXED, view_of(name, name == "union"))))
    label = STRATEGIES[name].label
    text = (
        f"Under {label} nothing counts as split or merged: {reason} say which objects belong "
        f"together."
    )
    assert page.inner_text("#budget > p") == (text if reason else "")
    assert page.locator("[data-repair=split]").count() == (0 if reason else 1)


@needs_chromium
def test_by_parts_the_panel_says_that_it_is_about_whole_objects(page: Any, address: str) -> None:
    page.set_viewport_size(TALL)
    view = view_of("one-to-one/optimal", parts=True)
    show(page, address + write_link(State(MIXED, view)))
    pq = matching_of(MIXED, view).tally.pq
    text = (
        f"This is about PQ by the IoU of whole objects, which is {pq:.3f}; PartPQ has no such "
        f"budget."
    )
    assert page.inner_text("#budget > p") == text


@needs_chromium
def test_the_empty_scene_has_no_budget_until_something_is_drawn(page: Any, address: str) -> None:
    page.set_viewport_size(TALL)
    show(page, address + write_link(State(EMPTY, View())))
    assert page.inner_text("#budget") == (
        "Neither side has an object, so PQ is undefined and nothing is lost."
    )
    go(page, State(Scene(reference=(Disc(100, 100, 30),)), View()))
    assert page.inner_text("#budget > p") == ""
    assert read(page, ".repairs .together td") == [1]
    assert page.locator(".mistakes li").all_inner_texts() == ["missed\nR1\n1.000"]


@needs_chromium
def test_after_a_drag_the_panel_out_of_sight_is_about_the_scene_of_the_moment(
    page: Any, address: str
) -> None:
    show(page, address + TWO)
    assert page.evaluate("document.querySelector('#budget').getBoundingClientRect().top > 900")
    drag(page, "prediction", 1, 40, 10)
    page.locator("#budget").scroll_into_view_if_needed()
    settle(page)
    page.wait_for_timeout(300)
    moved, _ = read_link(page.url)
    assert moved.scene is not None
    check_panel(page, pm.match(pm.count_overlaps(*moved.scene.label_images())))


@needs_chromium
def test_while_an_object_is_held_still_the_panel_is_about_where_it_is(
    page: Any, address: str
) -> None:
    page.set_viewport_size(TALL)
    show(page, address + TWO)
    before = page.inner_text("#budget")
    box = page.locator("#scene .layer.prediction .shape").nth(1).bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    for step in range(12):
        page.mouse.move(x + 2 * step, y)
    page.wait_for_timeout(600)
    settle(page)
    held = page.inner_text("#budget")
    page.mouse.up()
    settle(page)
    assert held == page.inner_text("#budget") != before
    moved, _ = read_link(page.url)
    assert moved.scene is not None
    check_panel(page, pm.match(pm.count_overlaps(*moved.scene.label_images())))
