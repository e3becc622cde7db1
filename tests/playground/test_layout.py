"""Where things are: in sight on usual screens, on a phone, at 200 % zoom, and on paper."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from panmatch.playground import State, View, write_link
from tests.browser import needs_chromium
from tests.playground.drawn_scenes import MIXED, STRATEGIES
from tests.playground.shown_pages import TWO, settle, show, state

pytestmark = needs_chromium

PHONE = (390, 844)
ZOOMED = (720, 450)  # 1440 × 900 at 200 %
SIZES = [(1440, 900), (1366, 768), (1024, 768), ZOOMED, PHONE]
THIRD = 1 / 3
ALL = write_link(
    State(
        MIXED,
        View(
            strategy="many-to-one/optimal/edge",
            compared=tuple(STRATEGIES),
            threshold=THIRD,
            regions=True,
            voronoi=True,
            parts=True,
            curves=("pq", "sq", "rq", "ap"),
        ),
    )
)
LINKS = {"two": TWO, "all": ALL, "dense": "#dense-cells"}
PRINTED = ("#headline", "#scene", "#curves svg", "#legend", "#table", "#budget", "#derivation",
           "#graph svg", "#matrix svg", "#related", "#key dl")  # fmt: skip
ALWAYS = ["#headline > div", "#threshold", "#threshold-value"]

# Texts that are seen, with their boxes, cut by whatever scrolls or clips them.
TEXTS = """() => {
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode, parent = node.parentElement;
    if (!node.data.trim() || parent.closest('.unseen, select, dialog, script')) continue;
    if (!parent.checkVisibility({ contentVisibilityAuto: true })) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const box of range.getClientRects()) {
      let [left, top, right, bottom] = [box.left, box.top, box.right, box.bottom];
      for (let over = parent; over; over = over.parentElement) {
        const { overflowX, overflowY } = getComputedStyle(over), edge = over.getBoundingClientRect();
        if (overflowX !== 'visible') [left, right] = [Math.max(left, edge.left), Math.min(right, edge.right)];
        if (overflowY !== 'visible') [top, bottom] = [Math.max(top, edge.top), Math.min(bottom, edge.bottom)];
      }
      if (right - left > 2 && bottom - top > 4) found.push({ text: node.data.trim(), left, top, right, bottom, svg: !!parent.closest('svg') });
    }
  }
  return found;
}"""  # noqa: E501


@contextmanager
def opened(browser: Any, size: tuple[int, int], **options: Any) -> Iterator[Any]:
    width, height = size
    context = browser.new_context(viewport={"width": width, "height": height}, **options)
    yield context.new_page()
    context.close()


def boxes(page: Any, selector: str) -> list[dict[str, float]]:
    found = [one.bounding_box() for one in page.locator(selector).all() if one.is_visible()]
    assert found, selector
    return found


def in_sight(page: Any, selector: str) -> bool:
    size = page.viewport_size
    return all(
        box["x"] >= 0
        and box["y"] >= 0
        and box["x"] + box["width"] <= size["width"]
        and box["y"] + box["height"] <= size["height"]
        for box in boxes(page, selector)
    )


def overprinted(page: Any) -> list[tuple[str, str]]:
    """Return texts that lie on each other; numbers of the graph may touch."""
    texts = [one for one in page.evaluate(TEXTS) if not one["svg"]]
    return [
        (one["text"], other["text"])
        for at, one in enumerate(texts)
        for other in texts[:at]
        if min(one["right"], other["right"]) - max(one["left"], other["left"]) > 1
        and min(one["bottom"], other["bottom"]) - max(one["top"], other["top"]) > 4
    ]


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("link", LINKS)
def test_nothing_is_wider_than_the_screen_or_printed_over(
    browser: Any, address: str, size: tuple[int, int], link: str
) -> None:
    with opened(browser, size) as page:
        show(page, address + LINKS[link])
        page.wait_for_selector("#related .metric")
        page.wait_for_timeout(400)
        assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
        assert overprinted(page) == []


def test_overprint_would_be_found(page: Any, address: str) -> None:
    show(page, address + TWO)
    assert overprinted(page) == []
    page.evaluate("document.querySelector('#headline').children[1].style.marginLeft = '-60px'")
    assert overprinted(page) == [("0.581", "0.581")]  # PQ and SQ


@pytest.mark.parametrize("size", SIZES[:3], ids=str)
@pytest.mark.parametrize("link", LINKS)
def test_score_scene_and_threshold_stay_in_sight(
    browser: Any, address: str, size: tuple[int, int], link: str
) -> None:
    with opened(browser, size) as page:
        show(page, address + LINKS[link])
        page.wait_for_selector("#related .metric")
        for way in (0, 700, 2000, 9000):
            page.mouse.move(0.75 * size[0], 0.7 * size[1])  # over the panels
            page.mouse.wheel(0, way)
            page.wait_for_timeout(200)
            for selector in (*ALWAYS, "#strategy", "#scene"):
                assert in_sight(page, selector), (way, selector)
        assert page.evaluate("scrollY") > 700


@pytest.mark.parametrize("size", [ZOOMED, PHONE], ids=str)
def test_on_small_screens_scores_and_threshold_stay_and_leave_room(
    browser: Any, address: str, size: tuple[int, int]
) -> None:
    with opened(browser, size, has_touch=size == PHONE, is_mobile=size == PHONE) as page:
        show(page, address + ALL)
        assert in_sight(page, "#strategy")
        for selector in ALWAYS:
            assert in_sight(page, selector)
        page.evaluate("scrollTo(0, 1500)")
        page.wait_for_timeout(200)
        for selector in ALWAYS:
            assert in_sight(page, selector)
        strip = page.locator("#strip").bounding_box()
        assert strip["y"] + strip["height"] < 0.2 * size[1]


@pytest.mark.parametrize("size", [(1024, 768), ZOOMED, PHONE], ids=str)
def test_what_has_the_focus_is_never_below_the_strip(
    browser: Any, address: str, size: tuple[int, int]
) -> None:
    with opened(browser, size) as page:
        show(page, address + ALL)
        page.wait_for_timeout(400)
        page.evaluate("scrollTo(0, document.body.scrollHeight)")
        page.locator("#table button").last.focus()
        for _ in range(22):  # back through the table and the legend above it
            page.keyboard.press("Shift+Tab")
            focused = page.evaluate(
                "(one => [one.getBoundingClientRect().top, one.closest('#strip, header') !== null])"
                "(document.activeElement)"
            )
            strip = page.locator("#strip").bounding_box()
            assert focused[1] or focused[0] >= strip["y"] + strip["height"]


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_all_of_the_scene_fits_on_the_screen(
    browser: Any, address: str, size: tuple[int, int]
) -> None:
    with opened(browser, size) as page:
        show(page, address + TWO)
        scene = page.locator("#scene").bounding_box()
        strip = page.locator("#headline").bounding_box()["height"]
        assert scene["height"] + strip < size[1]
        assert scene["width"] / scene["height"] == pytest.approx(600 / 362, rel=0.01)


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_the_gate_of_a_strategy_is_readable_everywhere(
    browser: Any, address: str, size: tuple[int, int]
) -> None:
    room = """select => {
      const context = document.createElement('canvas').getContext('2d');
      const style = getComputedStyle(select);
      context.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
      const widths = [...select.options].map((option) => context.measureText(option.label).width);
      const around = 2 * parseFloat(style.paddingLeft) + 12; // the arrow, too
      return select.clientWidth - around - Math.max(...widths);
    }"""
    cut = """label => {
      const [text, cell] = [label.getBoundingClientRect(), label.closest('th').getBoundingClientRect()];
      return text.right > cell.right + 0.5 || text.bottom > cell.bottom + 0.5;
    }"""  # noqa: E501
    with opened(browser, size) as page:
        show(page, address + ALL)
        assert page.locator("#strategy").evaluate(room) >= 0
        for table in ("#legend", "#table"):
            page.wait_for_selector(f"{table} tbody th .label")
            labels = page.locator(f"{table} tbody th .label")
            said = [" ".join(one.split()) for one in labels.all_inner_texts()]
            assert said == [strategy.label for strategy in STRATEGIES.values()]
            assert not any(label.evaluate(cut) for label in labels.all())


def test_the_threshold_is_short_and_its_digits_are_there_to_read_and_type(
    page: Any, address: str
) -> None:
    show(page, address + ALL)
    box = page.locator("#threshold-value")
    assert box.input_value() == "0.333"
    assert box.get_attribute("title") == f"τ = {THIRD}"
    assert "at τ ≈ 0.333" in page.inner_text("#legend")
    box.focus()
    assert box.input_value() == str(THIRD)
    page.locator("#strategy").focus()
    assert box.input_value() == "0.333"
    assert state(page)["view"]["threshold"] == THIRD
    box.fill("0.123456789")
    page.keyboard.press("Enter")
    settle(page)
    assert state(page)["view"]["threshold"] == 0.123456789
    page.locator("#strategy").focus()
    assert box.input_value() == "0.123"
    box.fill("0.25")
    page.keyboard.press("Tab")
    settle(page)
    assert box.input_value() == "0.25"
    assert "at τ = 0.25" in page.inner_text("#legend")
    box.fill("2")
    page.keyboard.press("Tab")
    assert box.input_value() == "0.25"


def test_no_threshold_is_written_as_one(page: Any, address: str) -> None:
    show(page, address + write_link(State(MIXED, View(threshold=0.9999))))
    assert page.input_value("#threshold-value") == "0.999"
    assert "at τ ≈ 0.999" in page.inner_text("#legend")


def test_on_a_phone_whatever_can_be_pressed_is_44_pixels_high(browser: Any, address: str) -> None:
    with opened(browser, PHONE, has_touch=True, is_mobile=True) as page:
        show(page, address + ALL)
        page.wait_for_timeout(400)
        page.evaluate("document.querySelector('#key').open = true")
        small = page.evaluate(
            """() => [...document.querySelectorAll('button, select, input, summary, [tabindex]')]
              .filter((one) => one.checkVisibility() && !one.closest('svg, dialog'))
              .filter((one) => getComputedStyle(one).pointerEvents !== 'none')
              .map((one) => [one.closest('label') ?? one, one.outerHTML.slice(0, 80)])
              .filter(([one]) => one.getBoundingClientRect().height < 43.9)
              .map(([, text]) => text)"""
        )
        assert small == []


def test_a_finger_scrolls_over_the_curves_and_moves_the_threshold(
    browser: Any, address: str
) -> None:
    with opened(browser, PHONE, has_touch=True, is_mobile=True) as page:
        show(page, address + TWO)
        curves = page.locator("#curves")
        curves.scroll_into_view_if_needed()
        assert curves.evaluate("one => getComputedStyle(one).touchAction") == "pan-y"
        box = curves.bounding_box()
        page.touchscreen.tap(box["x"] + 0.25 * box["width"], box["y"] + 100)
        settle(page)
        tapped = state(page)["view"]["threshold"]
        assert 0.1 < tapped < 0.25
        # A finger that goes down is the browser's, which scrolls.
        swipe = """([x, y, dx, dy, end]) => {
          const fire = (type, x, y) => document.querySelector('#curves').dispatchEvent(new PointerEvent(
            type, { pointerId: 7, pointerType: 'touch', isPrimary: true, bubbles: true, clientX: x, clientY: y }));
          fire('pointerdown', x, y);
          fire('pointermove', x + dx / 2, y + dy / 2);
          fire(end, x + dx, y + dy);
        }"""  # noqa: E501
        x, y = box["x"] + 0.6 * box["width"], box["y"] + 100
        page.evaluate(swipe, [x, y, 2, 80, "pointercancel"])
        settle(page)
        assert state(page)["view"]["threshold"] == tapped


@pytest.mark.parametrize("size", [(1440, 900), PHONE], ids=str)
def test_paper_has_everything_in_light_colours(
    browser: Any, address: str, size: tuple[int, int]
) -> None:
    with opened(browser, size, color_scheme="dark") as page:
        show(page, address + "#dense-cells")
        page.wait_for_selector("#related .metric")
        page.wait_for_timeout(400)
        page.emulate_media(media="print")
        page.set_viewport_size({"width": 718, "height": 1000})  # A4 with its margins
        page.wait_for_timeout(400)
        assert page.evaluate("document.documentElement.scrollWidth") <= 718
        clipped = page.evaluate(
            """() => [...document.querySelectorAll('.column, .scroll, .tall, .terms, .mistakes')]
              .filter((one) => one.scrollHeight > one.clientHeight + 2)
              .map((one) => one.className)"""
        )
        assert clipped == []
        colours = page.evaluate(
            """() => ['.card', '.card h2'].map((one) => document.querySelector(one))
              .map((one) => getComputedStyle(one))
              .map((style, at) => at ? style.color : style.backgroundColor)"""
        )
        assert colours == ["rgb(255, 255, 255)", "rgb(28, 36, 48)"]
        for selector in PRINTED:
            found = boxes(page, selector)
            assert max(box["height"] for box in found) > 30, selector
            assert all(box["x"] + box["width"] <= 719 for box in found), selector
        assert page.is_hidden(".toolbar")
        breaks = page.locator(".card").evaluate_all(
            "all => all.map(one => getComputedStyle(one).breakInside)"
        )
        assert set(breaks) == {"avoid"}
        if size != PHONE:
            assert page.pdf(format="A4").count(b"/Type /Page\n") >= 3


def test_on_a_phone_names_are_readable_and_the_first_question_is_in_sight(
    browser: Any, address: str
) -> None:
    with opened(browser, PHONE) as page:
        show(page, address + "#tour-overlap")
        names = boxes(page, "#scene .name")
        assert len(names) == 2
        assert min(name["height"] for name in names) >= 10
        assert len({round(box["y"]) for box in boxes(page, "header > :is(button, select)")}) == 2
        assert in_sight(page, "#tour b:has-text('Take a guess')")
