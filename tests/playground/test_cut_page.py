"""Confidences on the page: the slider for the cut, what fades, the charts, and links."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import panmatch as pm
from panmatch import phantoms
from panmatch.playground import STRATEGIES, read_link
from tests.browser import needs_chromium
from tests.playground.shown_pages import TWO, drag, number, served, settle, show, state, wait_until
from tests.playground.shown_slices import click_pixel, colour_at
from tests.playground.test_page_of_files import drop, open_pair

pytestmark = needs_chromium


def surface_of(page: Any) -> pm.Surface:
    """Return the surface of what the address of a page says, by the library alone."""
    found, _ = read_link(page.evaluate("location.hash"))
    assert found.scene is not None
    overlap = pm.count_overlaps(*found.scene.label_images())
    return pm.surface(found.scene.with_confidence(overlap), STRATEGIES[found.view.strategy])


def check_numbers(page: Any) -> None:
    """Compare all that is shown at a cut with the surface."""
    settle(page)
    view = state(page)["view"]
    cut = -np.inf if view["cut"] is None else view["cut"]
    surface = surface_of(page)
    expected = surface.at(view["threshold"], cut)
    shown = [int(page.inner_text(f"#count-{name}")) for name in ("tp", "fp", "fn")]
    assert shown == [expected.tp, expected.fp, expected.fn]
    assert number(page, "pq") == pytest.approx(expected.pq, abs=1e-12)
    assert number(page, "sq") == pytest.approx(expected.sq, abs=1e-12)
    assert number(page, "rq") == pytest.approx(expected.rq, abs=1e-12)
    steps = surface.over_thresholds(cut)
    assert number(page, "autc") == pytest.approx(steps.autc, abs=1e-12)
    wait_until(page, "document.querySelector('#cut-ap').textContent !== ''")
    assert f"precision {surface.average_precision(view['threshold']):.3f};" in page.inner_text(
        "#cut-ap"
    )
    best = surface.best_cut(view["threshold"])
    assert f"highest, {best.tally.pq:.3f}," in page.inner_text("#cut-best")


def below(page: Any) -> list[int]:
    """Return the numbers of the predictions that fade."""
    shapes = page.locator("#scene .shape.below").evaluate_all(
        "all => all.map(one => one.dataset.p)"
    )
    return [int(one) for one in shapes]


def test_a_scene_without_confidences_shows_nothing_new(page: Any, address: str) -> None:
    show(page, address + TWO)
    assert page.locator(".of-confidence:visible").count() == 0
    page.locator("#scene .layer.prediction .shape").first.click()
    assert page.locator("#inspector input[name=confidence]").count() == 0


def test_dragging_the_slider_removes_what_is_below(page: Any, address: str) -> None:
    show(page, address + "#confidence")
    assert state(page)["view"]["cut"] is None
    check_numbers(page)
    box = page.locator("#cut").bounding_box()
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 8, y)
    page.mouse.down()
    for share in (0.1, 0.2, 0.3, 0.4):
        page.mouse.move(box["x"] + share * box["width"], y)
    page.mouse.up()
    settle(page)
    cut = state(page)["view"]["cut"]
    assert cut == pytest.approx(0.4, abs=0.02)
    assert below(page) == [7, 8, 9, 10, 11]
    check_numbers(page)
    page.click("#undo")  # the whole drag
    settle(page)
    assert state(page)["view"]["cut"] is None
    assert below(page) == []


def test_keys_move_the_cut_by_hundredths_and_are_undone_together(page: Any, address: str) -> None:
    show(page, address + "#confidence")
    page.focus("#cut")
    for _ in range(9):
        page.keyboard.press("ArrowRight")
    settle(page)
    assert state(page)["view"]["cut"] == 0.09
    assert below(page) == [11]
    said = page.locator("#cut").get_attribute("aria-valuetext")
    assert said == "0.09, 10 of 11 predictions kept"
    check_numbers(page)
    page.keyboard.press("End")
    settle(page)
    assert state(page)["view"]["cut"] == 1
    assert len(below(page)) == 11
    check_numbers(page)
    page.keyboard.press("Home")
    settle(page)
    assert state(page)["view"]["cut"] is None
    page.click("#undo")
    settle(page)
    assert state(page)["view"]["cut"] is None  # steps of the keys in a row are one


def test_a_cut_can_be_typed_and_removed(page: Any, address: str) -> None:
    show(page, address + "#confidence-fragments")
    for typed, cut in (("0.4653", 0.4653), ("7", 7), ("-1", -1), ("", None)):
        page.fill("#cut-value", typed)
        page.press("#cut-value", "Enter")
        settle(page)
        assert state(page)["view"]["cut"] == cut
        check_numbers(page)


def test_a_link_brings_back_confidences_and_the_cut(page: Any, address: str) -> None:
    show(page, address + "#confidence")
    page.fill("#cut-value", "0.5")
    page.press("#cut-value", "Enter")
    settle(page)
    link, numbers = page.evaluate("location.hash"), number(page, "pq")
    assert link.endswith(":cut=0.5")
    show(page, address + link)
    assert page.input_value("#cut-value") == "0.5"
    assert below(page) == [5, 7, 8, 9, 10, 11]
    assert number(page, "pq") == numbers
    drag(page, "prediction", 0, 12, 5)
    assert len(state(page)["scene"]["prediction"]) == 11
    assert [one["confidence"] for one in state(page)["scene"]["prediction"]][:2] == [0.97, 0.91]
    check_numbers(page)


def test_the_best_cut_is_marked_and_can_be_set(page: Any, address: str) -> None:
    show(page, address + "#confidence")
    assert "at cuts above 0.35 and up to 0.43" in page.inner_text("#cut-best")
    page.click("#best-cut")
    settle(page)
    assert state(page)["view"]["cut"] == 0.43
    assert below(page) == [7, 8, 9, 10, 11]  # and not 5, whose confidence is 0.43
    check_numbers(page)
    assert page.inner_text("#cut-about").endswith("6 of 11 predictions kept")
    label = page.locator("#over-recall").get_attribute("aria-label")
    assert "recall 0.833 and precision 0.833" in label
    page.select_option("#strategy", "many-to-one/merge/seed")
    check_numbers(page)


def test_the_chart_can_be_dragged(page: Any, address: str) -> None:
    show(page, address + "#confidence")
    box = page.locator("#over-cuts").bounding_box()
    page.mouse.move(box["x"] + 60, box["y"] + 100)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 100)
    page.mouse.up()
    check_numbers(page)
    assert 0.4 < state(page)["view"]["cut"] < 0.6


def test_the_confidence_of_a_prediction_can_be_edited(page: Any, address: str) -> None:
    show(page, address + "#confidence")
    page.fill("#cut-value", "0.5")
    page.press("#cut-value", "Enter")
    settle(page)
    page.locator("#scene .shape[data-p='7']").click()
    field = page.locator("#inspector input[name=confidence]")
    assert field.input_value() == "0.35"
    field.fill("0.8")
    field.press("Enter")
    settle(page)
    assert state(page)["scene"]["prediction"][6]["confidence"] == 0.8
    assert 7 not in below(page)
    check_numbers(page)
    for wrong in ("1.2", "-0.1", ""):
        field.fill(wrong)
        field.press("Enter")
        assert field.input_value() == "0.8"
    label = page.locator("#scene .shape[data-p='5']").get_attribute("aria-label")
    assert label.endswith("confidence 0.43, below the cut")


def test_any_scene_can_be_given_confidences(page: Any, address: str) -> None:
    show(page, address + TWO)
    for text, rated in (("Add confidences", True), ("Remove confidences", False)):
        page.click("[popovertarget=edit-menu]")
        assert page.inner_text("[data-edit=rate]") == text
        page.click("[data-edit=rate]")
        settle(page)
        given = [one["confidence"] for one in state(page)["scene"]["prediction"]]
        assert given == ([0.95, 0.05] if rated else [None, None])
        assert page.locator("#cut").is_visible() == rated
    page.click("#undo")
    check_numbers(page)


def test_the_scores_over_the_cut_can_be_saved(page: Any, address: str, tmp_path: Path) -> None:
    show(page, address + "#confidence-fragments")
    page.click("#export summary")
    with page.expect_download() as download:
        page.click("[data-export='cuts csv']")
    download.value.save_as(tmp_path / "cuts.csv")
    lines = (tmp_path / "cuts.csv").read_text().splitlines()
    curve = surface_of(page).over_cuts(0.4)
    assert lines[0] == "cut_above,cut_to,tp,fp,fn,precision,recall,pq"
    assert lines[1].startswith("0.93,,0,0,2,,0,0")
    assert [float(line.split(",")[-1]) for line in lines[1:]] == curve.pq.tolist()


def test_files_with_scores_have_the_slider_and_fade(page: Any, tmp_path: Path) -> None:
    reference = np.zeros((40, 60), np.uint8)
    reference[5:20, 5:20], reference[5:20, 30:45] = 1, 2
    prediction = np.zeros_like(reference)
    prediction[6:20, 5:20], prediction[25:35, 5:15], prediction[2:19, 30:45] = 3, 4, 8
    np.save(tmp_path / "reference.npy", reference)
    np.save(tmp_path / "prediction.npy", prediction)
    (tmp_path / "scores.csv").write_text("id,score\n3,2.5\n4,-1\n8,9\n")
    files = tmp_path / "reference.npy", tmp_path / "prediction.npy"
    overlap = pm.count_overlaps(reference, prediction).with_confidence([2.5, -1, 9])
    with served(*files, "--scores", tmp_path / "scores.csv") as address:
        show(page, address)
        assert (page.locator("#cut").get_attribute("min"), page.input_value("#cut")) == ("-1", "-1")
        for cut in (0.0, 5.0):
            page.fill("#cut-value", str(cut))
            page.press("#cut-value", "Enter")
            settle(page)
            assert number(page, "pq") == pytest.approx(pm.surface(overlap).at(0.5, cut).pq)
        page.wait_for_selector("#volume[data-index]")
        faded = colour_at(page, 30, 10, prediction.shape)
        click_pixel(page, 30, 10, prediction.shape)
        page.wait_for_selector("#inspector .fate.below")
        click_pixel(page, 3, 36, prediction.shape)
        page.wait_for_selector("#inspector .fate.matched")
        assert sum(faded) < sum(colour_at(page, 3, 36, prediction.shape))
        assert "cut=5" in page.evaluate("location.hash")


def test_a_dropped_csv_file_gives_confidences(page: Any, address: str, tmp_path: Path) -> None:
    reference = phantoms.blobs((60, 80), 12, radius=(3, 6), gap=1, seed=8)
    prediction = phantoms.shift(reference, (1, 1))
    ids = np.unique(prediction[prediction != 0]).tolist()
    files = [tmp_path / name for name in ("a_ref.npy", "a_pred.npy", "a.csv")]
    np.save(files[0], reference)
    np.save(files[1], prediction)
    files[2].write_text("id,score\n" + "".join(f"{one},{one / 20}\n" for one in ids))
    overlap = pm.count_overlaps(reference, prediction).with_confidence([one / 20 for one in ids])
    show(page, address)
    drop(page, *files)
    open_pair(page)
    page.fill("#cut-value", "0.3")
    page.press("#cut-value", "Enter")
    settle(page)
    assert number(page, "pq") == pytest.approx(pm.surface(overlap).at(0.5, 0.3).pq, rel=1e-11)
    page.click("#swap-files")  # they were those of the other file
    page.wait_for_selector("body:not(.with-confidence)")
    files[2].write_text("id,score\n1,0.5\n1,0.25\n")
    drop(page, *files)
    page.wait_for_selector("#files[open]")
    assert page.inner_text("#files-problem") == "Line 3 of 'a.csv' names id 1 again."
    assert page.locator("#file-scores option:checked").inner_text() == "a.csv"
