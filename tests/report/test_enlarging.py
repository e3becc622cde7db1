"""Pictures of cases in a real browser: enlarging, stepping, both views, and every width."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from panmatch.datasets import DatasetPaths, Job, RunOptions, pair, run_dataset
from panmatch.report import write_report
from panmatch.spec import as_spec
from tests.browser import needs_chromium, open_browser
from tests.datasets.folders import save_nifti
from tests.report.part_runs import run_with_parts

pytestmark = needs_chromium

MARKUP = "<b>bold</b> & co"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with open_browser() as found:
        yield found


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the report of three cases: a square is found, and one is missed on the right.

    The image is black, but for a white quarter at the lower left.
    """
    folder = tmp_path_factory.mktemp("pictures")
    for at in range(3):
        labels = np.zeros((40, 40, 3), np.uint8)  # x to the right, y to the front, z upwards
        labels[4:16, 4:16, 1] = 1
        labels[22:36, 4 + at : 16, 1] = 2
        grey = np.zeros(labels.shape, np.uint8)
        grey[20:, :20] = 200  # right and posterior
        for side, stored in (
            ("ref", labels), ("pred", np.where(labels == 1, 1, 0)), ("images", grey),
        ):  # fmt: skip
            save_nifti(folder / side / f"case{at}.nii.gz", stored, (1.0, 1.0, 5.0))
    layout = DatasetPaths(folder / "ref", {MARKUP: folder / "pred"})
    run_dataset(pair(layout), Job(as_spec({}).canonical()), folder / "out", RunOptions())
    return write_report(folder / "out", images=folder / "images")


@pytest.fixture
def page(browser: Any, report: Path) -> Iterator[Any]:
    found = browser.new_page(viewport={"width": 1440, "height": 900})
    complaints: list[str] = []
    found.on("console", lambda message: complaints.append(message.text))
    found.on("pageerror", lambda error: complaints.append(str(error)))
    found.goto(f"file://{report}")
    yield found
    assert complaints == []
    found.close()


def colour_at(page: Any, x: float, y: float) -> tuple[int, ...]:
    """Return the colour of the first large picture, at shares of its width and height."""
    from io import BytesIO

    from PIL import Image

    shot = Image.open(BytesIO(page.locator("#enlarged .picture").first.screenshot())).convert("RGB")
    pixel = shot.getpixel((int(x * shot.width), int(y * shot.height)))
    assert isinstance(pixel, tuple)
    return pixel


def wait_for_focus(page: Any, position: int) -> None:
    """Wait until a picture has the focus: a dialog that closes says so a moment later."""
    page.wait_for_function(
        "(i) => document.activeElement === document.querySelectorAll('#cases .enlarge')[i]",
        arg=position,
    )


def test_a_click_opens_the_picture_and_escape_gives_the_focus_back(page: Any) -> None:
    second = page.locator("#cases .enlarge").nth(1)
    second.click()
    dialog = page.get_by_role("dialog")
    name = second.locator("svg").get_attribute("aria-label")
    assert dialog.is_visible()
    assert dialog.get_attribute("aria-labelledby") == "enlarged-title"
    assert page.locator("#enlarged-title").inner_text() == name
    assert name.endswith(f", {MARKUP}")
    assert page.locator("#enlarged b").count() == 0
    assert page.locator("#enlarged .count").inner_text() == "2 of 3"
    page.keyboard.press("Escape")
    assert not dialog.is_visible()
    wait_for_focus(page, 1)


def test_the_caption_tells_slice_box_and_scores(page: Any) -> None:
    page.locator("#cases .enlarge").first.click()
    told = page.locator("#enlarged .caption").inner_text()
    assert told == (
        "slice 1 of 2, axial · box: missed reference 2 · PQ 0.667 · 1 found, 1 missed, "
        "0 false positives"
    )


def test_enter_opens_and_arrows_step_around(page: Any) -> None:
    buttons = page.locator("#cases .enlarge")
    names = [buttons.nth(i).locator("svg").get_attribute("aria-label") for i in range(3)]
    buttons.first.focus()
    page.keyboard.press("Enter")
    title = page.locator("#enlarged-title")
    seen = []
    for key in ("ArrowRight", "ArrowRight", "ArrowRight", "ArrowLeft"):
        page.keyboard.press(key)
        seen.append(title.inner_text())
    assert seen == [names[1], names[2], names[0], names[2]]
    page.keyboard.press("Escape")
    wait_for_focus(page, 2)


def test_both_sides_can_be_seen_apart_and_stay_so(page: Any) -> None:
    page.locator("#cases .enlarge").first.click()
    panes = page.locator("#enlarged .pane")
    assert panes.count() == 1
    assert page.locator("#enlarged .prediction:visible").count() == 1
    page.get_by_role("button", name="Side by side").click()
    assert panes.locator("figcaption").all_inner_texts() == ["Reference", "Prediction"]
    for at, (shown, hidden) in enumerate(
        [("reference", "prediction"), ("prediction", "reference")]
    ):
        assert panes.nth(at).locator(f".{shown}:visible").count() == 3 - at - 1
        assert panes.nth(at).locator(f".{hidden}:visible").count() == 0
        assert panes.nth(at).locator(".box").count() == 1
    page.keyboard.press("ArrowRight")
    assert panes.count() == 2
    pressed = page.locator("#enlarged [aria-pressed=true]").inner_text()
    assert pressed == "Side by side"


def test_ids_stay_unique_when_a_picture_is_copied(page: Any) -> None:
    page.locator("#cases .enlarge").first.click()
    page.get_by_role("button", name="Side by side").click()
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map((one) => one.id)")
    assert len(ids) == len(set(ids))


def test_objects_image_and_box_are_painted_where_they_are(page: Any) -> None:
    page.locator("#cases .enlarge").first.click()
    page.get_by_role("button", name="Side by side").click()
    view, box = page.evaluate(
        """() => {
          const svg = document.querySelector("#enlarged .picture"), box = svg.querySelector(".box");
          const { width, height } = svg.viewBox.baseVal;
          const inside = box.getBBox();
          return [[width, height], [inside.x, inside.y, inside.width, inside.height]];
        }"""
    )
    middle = (box[0] + box[2] / 2) / view[0], (box[1] + box[3] / 2) / view[1]
    # The patient's right is on the left, and so is what lies there; posterior is below.
    assert middle[0] < 0.5 < middle[1]
    red, green, blue = colour_at(page, *middle)
    assert red > blue > green > 60  # stripes of missed references over a white quarter
    found = colour_at(page, 1 - middle[0], middle[1])
    assert found[2] > found[1] > found[0]  # blue on black
    assert colour_at(page, 0.5, 0.03) == (0, 0, 0)


@pytest.mark.parametrize("width", [1440, 800, 390])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_is_cut_off_at_any_width(page: Any, width: int, theme: str) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
    page.locator("#cases .enlarge").first.click()
    for view in ("Outlines", "Side by side"):
        page.get_by_role("button", name=view).click()
        inside = page.locator("#enlarged").evaluate(
            "(one) => one.scrollWidth <= one.clientWidth && one.scrollHeight <= one.clientHeight"
        )
        assert inside
        for picture in page.locator("#enlarged .picture").all():
            box = picture.bounding_box()
            assert min(box["width"], box["height"]) > 150
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= width


def test_arrows_stay_with_the_class_that_is_shown(
    browser: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    report = write_report(run_with_parts(tmp_path_factory.mktemp("classes")))
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto(f"file://{report}")
    page.select_option("#class", label="debris")
    page.locator("#cases .enlarge >> visible=true").first.click()
    assert page.locator("#enlarged .count").inner_text() == "1 of 8"
    page.close()
