"""Slices in a real browser: colours of matches and objects, zoom, pan, and many objects."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nibabel
import numpy as np
import pytest

import panmatch as pm
from panmatch import phantoms
from tests.browser import needs_chromium
from tests.playground.shown_pages import served, settle, show
from tests.playground.shown_slices import blended, click_pixel, colour_at, place_of
from tests.playground.test_accessibility import violations

pytestmark = needs_chromium

SHAPE = (60, 80)
# By name, a pixel well inside of what it stands for.
PIXELS = {"tp": (15, 15), "missed part": (15, 8), "excess": (15, 26), "fn": (45, 15),
          "fp": (45, 65), "ground": (2, 40)}  # fmt: skip


def boxes() -> tuple[Any, Any]:
    reference, prediction = np.zeros((2, *SHAPE), np.uint8)
    reference[6:26, 6:24] = 3
    prediction[6:26, 11:29] = 8
    reference[38:54, 8:24] = 4
    prediction[38:54, 56:74] = 9
    return reference, prediction


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("boxes")
    for name, labels in zip(("ref", "pred"), boxes(), strict=True):
        np.save(folder / f"{name}.npy", labels)
    with served(folder / "ref.npy", folder / "pred.npy") as found:
        yield found


def look(page: Any, address: str) -> None:
    show(page, address)
    page.wait_for_selector("#volume[data-index]")
    page.mouse.move(2, 2)
    page.wait_for_timeout(150)


def colours(page: Any) -> dict[str, str]:
    names = ["ground", "tp", "fn", "fp", "reference", "prediction"]
    script = "(names) => names.map((name) => getComputedStyle(document.documentElement)" \
             ".getPropertyValue(`--slice-${name}`).trim())"  # fmt: skip
    return dict(zip(names, page.evaluate(script, names), strict=True))


def test_matches_are_coloured_by_what_became_of_them(page: Any, address: str) -> None:
    look(page, address)
    known = colours(page)
    shares = {"tp": ("tp", 0.85), "missed part": ("fn", 0.42), "excess": ("fp", 0.42)}
    for name, (colour, share) in shares.items():
        expected = blended(known["ground"], known[colour], 0.85 * share)
        assert colour_at(page, *PIXELS[name], SHAPE) == pytest.approx(expected, abs=2), name
    ground = blended(known["ground"], known["ground"], 1)
    assert colour_at(page, *PIXELS["ground"], SHAPE) == ground


@pytest.mark.parametrize("kind", ["fn", "fp"])
def test_what_has_no_match_is_hatched(page: Any, address: str, kind: str) -> None:
    look(page, address)
    known = colours(page)
    row, column = PIXELS[kind]
    seen = {tuple(colour_at(page, row, column + at, SHAPE)) for at in range(-5, 6)}
    base = blended(known["ground"], known[kind], 0.85 * 0.3)
    stripe = blended(known["ground"], known[kind], 0.85**0.5)
    for one in seen:
        near = [
            all(abs(a - b) <= 3 for a, b in zip(one, two, strict=True)) for two in (base, stripe)
        ]
        assert any(near)
    assert len(seen) > 1


def test_a_lower_threshold_changes_fates_but_not_the_slice(page: Any, address: str) -> None:
    look(page, address)
    found = colour_at(page, *PIXELS["tp"], SHAPE)
    page.fill("#threshold-value", "0.9")
    page.press("#threshold-value", "Enter")
    settle(page)
    page.wait_for_timeout(150)
    assert colour_at(page, *PIXELS["tp"], SHAPE) != found
    assert page.inner_text("#count-tp") == "0"


def test_objects_have_colours_of_their_own_and_matches_share_one(page: Any, address: str) -> None:
    look(page, address)
    page.click("[data-mode=objects]")
    page.wait_for_timeout(150)
    assert page.get_attribute("[data-mode=objects]", "aria-pressed") == "true"
    assert "outline of a reference" in page.inner_text(".slice-legend")
    seen = {name: colour_at(page, *at, SHAPE) for name, at in PIXELS.items()}
    assert seen["missed part"] == seen["excess"] != seen["tp"]
    assert seen["fn"] != seen["missed part"] != seen["fp"] != seen["fn"]


def test_both_sides_are_outlined(page: Any, address: str) -> None:
    look(page, address)
    known = colours(page)
    x, y = place_of(page, 15, 6, SHAPE)
    edge = page.evaluate(
        """([x, y]) => {
      const canvas = document.querySelector("#volume");
      const copy = new OffscreenCanvas(40, 1).getContext("2d", { willReadFrequently: true });
      copy.drawImage(canvas, -Math.floor(x) + 20, -Math.floor(y));
      const { data } = copy.getImageData(0, 0, 40, 1);
      return Array.from({ length: 40 }, (_, at) => [...data.slice(4 * at, 4 * at + 3)]);
    }""",
        [x, y],
    )
    assert blended(known["reference"], known["reference"], 1) in edge


def test_the_wheel_with_ctrl_zooms_around_the_pointer_and_a_drag_pans(
    page: Any, address: str
) -> None:
    look(page, address)
    box = page.locator("#volume").bounding_box()
    x, y = place_of(page, *PIXELS["fn"], SHAPE)
    page.mouse.move(box["x"] + x, box["y"] + y)
    page.keyboard.down("Control")
    page.mouse.wheel(0, -400)
    page.keyboard.up("Control")
    page.wait_for_selector("#volume.zoomed")
    assert float(page.get_attribute("#volume", "data-zoom")) == pytest.approx(np.exp(1.2), abs=0.01)
    page.wait_for_selector("#inspector")
    page.mouse.click(box["x"] + x, box["y"] + y)
    page.wait_for_selector("#inspector b:has-text('Reference 4')")
    page.mouse.move(box["x"] + x, box["y"] + y)
    page.mouse.down()
    page.mouse.move(box["x"] + x + 60, box["y"] + y - 40, steps=4)
    page.mouse.up()
    page.mouse.click(box["x"] + x + 60, box["y"] + y - 40)
    page.wait_for_selector("#inspector b:has-text('Reference 4')")
    page.mouse.dblclick(box["x"] + x, box["y"] + y)
    page.wait_for_selector("#volume:not(.zoomed)")
    for key, zoom in (("+", "1.50"), ("+", "2.25"), ("-", "1.50"), ("0", "1.00")):
        page.press("#volume", key)
        page.wait_for_selector(f"#volume[data-zoom='{zoom}']")
    page.click("#zoom-in")
    page.wait_for_selector("#volume.zoomed")
    page.click("#zoom-all")
    page.wait_for_selector("#volume:not(.zoomed)")


def test_two_fingers_zoom(page: Any, address: str) -> None:
    look(page, address)
    script = """() => {
      const canvas = document.querySelector("#volume");
      canvas.setPointerCapture = () => {};
      const { left, top, width, height } = canvas.getBoundingClientRect();
      const send = (kind, pointerId, dx) => canvas.dispatchEvent(new PointerEvent(kind, {
        pointerId, pointerType: "touch", button: 0, bubbles: true,
        clientX: left + width / 2 + dx, clientY: top + height / 2 }));
      send("pointerdown", 1, -50); send("pointerdown", 2, 50);
      send("pointermove", 1, -100); send("pointermove", 2, 100);
      send("pointerup", 1, -100); send("pointerup", 2, 100);
    }"""
    page.evaluate(script)
    page.wait_for_selector("#volume[data-zoom='2.00']")


def test_a_slice_that_is_larger_than_the_screen_is_sent_in_tiles(page: Any, tmp_path: Path) -> None:
    labels = np.zeros((2600, 3000), np.int32)
    labels[::50, ::50] = np.arange(1, 3121).reshape(52, 60)  # single pixels
    labels[1290:1330, 1490:1530] = 9999
    np.save(tmp_path / "ref.npy", labels)
    np.save(tmp_path / "pred.npy", np.roll(labels, 3, axis=1))
    with served(tmp_path / "ref.npy", tmp_path / "pred.npy") as address:
        look(page, address)
        assert int(page.get_attribute("#volume", "data-step")) >= 4
        box = page.locator("#volume").bounding_box()
        x, y = place_of(page, 1310, 1510, labels.shape)
        for _ in range(6):
            page.mouse.move(box["x"] + x, box["y"] + y)
            page.keyboard.down("Control")
            page.mouse.wheel(0, -200)
            page.keyboard.up("Control")
        page.wait_for_selector("#volume[data-step='1']")
        page.mouse.click(box["x"] + x, box["y"] + y)
        page.wait_for_selector("#inspector b:has-text('Reference 9999')")
        page.goto("about:blank")


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, pm.Matching]]:
    folder = tmp_path_factory.mktemp("many")
    reference = phantoms.blobs((300, 400), 120, radius=(5, 9), gap=2, seed=1)
    prediction = phantoms.miss(phantoms.shift(reference, (1, 2)), ids=[7, 8])
    prediction[prediction == 20] = 21  # a merge of two that do not touch
    for name, labels in (("ref", reference), ("pred", prediction)):
        image = nibabel.Nifti1Image(labels.astype(np.int16), np.eye(4))
        nibabel.save(image, folder / f"{name}.nii.gz")
    with served(folder / "ref.nii.gz", folder / "pred.nii.gz") as found:
        yield found, pm.match(pm.count_overlaps(reference, prediction))


def test_many_objects_are_shown_in_groups_with_matches_folded(
    page: Any, many: tuple[str, pm.Matching]
) -> None:
    address, matching = many
    page.set_viewport_size({"width": 1440, "height": 2600})
    look(page, address)
    page.wait_for_selector("#graph .vertex")
    text = page.inner_text("#matrix .fold-line")
    found = re.match(r"(\d+) one-to-one matches, mean IoU (0\.\d+)", text)
    assert found
    assert page.inner_text(".group-tools .fold-line") == text
    unfolded, folded = int(found[1]), page.locator("#graph .vertex").count()
    assert folded == len(matching.overlap.ref_ids) + len(matching.overlap.pred_ids) - 2 * unfolded
    for missed in (7, 8):
        assert page.locator(f"#graph .vertex.reference.fn[data-r='{missed}']").count() == 1
    page.click("#matrix .fold")
    assert page.locator("#graph .vertex").count() == folded + 2 * unfolded
    assert page.locator("#matrix svg.block").count() >= unfolded
    page.click("#matrix .fold")
    assert page.locator("#graph .vertex").count() == folded


def test_an_object_is_found_by_its_id_and_lit_everywhere(
    page: Any, many: tuple[str, pm.Matching]
) -> None:
    page.set_viewport_size({"width": 1440, "height": 2600})
    look(page, many[0])
    page.wait_for_selector("#graph .vertex")
    page.fill(".find-object", "r33")
    assert (
        page.locator("#graph .vertex").count() == page.locator("#matrix svg.block text").count() - 1
    )
    page.locator("#graph .vertex[data-r='33']").hover()
    assert page.locator("#matrix .cell.lit").count() == 1
    page.press(".find-object", "Enter")
    page.wait_for_selector("#inspector b:has-text('Reference 33')")
    page.fill(".find-object", "999")
    assert page.inner_text("#graph-note") == "No object has this id."
    page.fill(".find-object", "")
    page.wait_for_selector("#graph .vertex[data-r='7']")


@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(
    browser: Any, many: tuple[str, pm.Matching], width: int, scheme: str
) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    look(page, many[0])
    page.wait_for_timeout(300)
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    context.close()


def test_an_object_of_a_flat_image_is_picked_where_it_is_shown(
    page: Any, many: tuple[str, pm.Matching]
) -> None:
    look(page, many[0])
    reference = phantoms.blobs((300, 400), 120, radius=(5, 9), gap=2, seed=1)
    shown = reference.T[::-1, ::-1]  # axial: anterior is up, right is left
    row, column = np.argwhere(shown == 33).mean(axis=0).astype(int)
    click_pixel(page, int(row), int(column), shown.shape)
    page.wait_for_selector("#inspector b:has-text('Reference 33')")
