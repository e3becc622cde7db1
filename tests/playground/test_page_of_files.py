"""Files that are dropped on the page or chosen, in a real browser."""

from __future__ import annotations

import base64
import json
from itertools import permutations
from pathlib import Path
from typing import Any

import nibabel
import numpy as np
import pytest

import panmatch as pm
from panmatch import phantoms
from panmatch.playground import PRESETS
from tests.browser import needs_chromium
from tests.playground.shown_pages import TWO, number, served, settle, show
from tests.playground.shown_slices import colour_at

pytestmark = needs_chromium

REFERENCE = phantoms.blobs((90, 120), 40, radius=(3, 6), gap=1, seed=8)
PREDICTION = phantoms.miss(phantoms.shift(REFERENCE, (1, 1)), ids=[2, 5])
DROP = """([files, target]) => {
  const carried = new DataTransfer();
  for (const [name, text] of files) {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    carried.items.add(new File([bytes], name));
  }
  for (const kind of ["dragenter", "dragover", "drop"]) {
    const options = { dataTransfer: carried, bubbles: true, cancelable: true };
    document.querySelector(target).dispatchEvent(new DragEvent(kind, options));
    if (kind === "dragover") window.curtain = !document.querySelector("#drop-here").hidden;
  }
}"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("files")
    np.save(found / "case7_ref.npy", REFERENCE)
    np.save(found / "case7_pred.npy", PREDICTION)
    np.save(found / "one.npy", REFERENCE)
    np.save(found / "two.npy", PREDICTION)
    np.save(found / "image.npy", np.where(REFERENCE > 0, 900.0, 100.0))
    np.save(found / "small.npy", REFERENCE[:50])
    (found / "broken.nii.gz").write_bytes(b"this is not an image")
    return found


def drop(page: Any, *paths: Path, target: str = "main") -> None:
    files = [[path.name, base64.b64encode(path.read_bytes()).decode()] for path in paths]
    page.evaluate(DROP, [files, target])


def open_pair(page: Any) -> None:
    page.wait_for_selector("body.of-pair")
    page.wait_for_selector("#volume[data-index]")
    page.wait_for_selector("body:not(.outdated)")
    settle(page)


def check_numbers(page: Any, reference: Any = REFERENCE, prediction: Any = PREDICTION) -> None:
    rows = pm.evaluate(reference=reference, prediction=prediction).scores
    (row,) = rows[(rows.strategy == "one-to-one") & (rows.threshold == 0.5)].to_dict("records")
    assert 0 < row["pq"] < 1
    assert number(page, "pq") == pytest.approx(row["pq"], rel=1e-11)
    for name in ("tp", "fp", "fn"):
        assert page.inner_text(f"#count-{name}") == str(row[name])


@pytest.mark.parametrize("target", ["main", "header", "#scene"])
def test_two_files_are_dropped_anywhere(page: Any, address: str, folder: Path, target: str) -> None:
    show(page, address + TWO)
    drop(page, folder / "case7_pred.npy", folder / "case7_ref.npy", target=target)
    assert page.evaluate("window.curtain")
    open_pair(page)
    assert page.locator("#drop-here").is_hidden()
    about = page.inner_text("#pair-about")
    assert about == "case7_ref.npy against case7_pred.npy 90 × 120"
    check_numbers(page)


def test_files_are_chosen_and_asked_about_if_their_names_do_not_tell(
    page: Any, address: str, folder: Path
) -> None:
    show(page, f"{address}#{PRESETS[0].id}")  # where a page without files begins
    before = number(page, "pq")
    with page.expect_file_chooser() as chosen:
        page.click("#open-files")
    chosen.value.set_files([folder / "two.npy", folder / "one.npy"])
    page.wait_for_selector("#files[open]")
    assert page.locator("#file-reference option:checked").inner_text() == "two.npy"
    page.click("#files-swap")
    assert page.locator("#file-reference option:checked").inner_text() == "one.npy"
    assert number(page, "pq") == before
    page.click("#files-open")
    open_pair(page)
    check_numbers(page)
    page.click("#swap-files")
    page.wait_for_selector("#pair-about .reference:has-text('two.npy')")
    page.wait_for_selector("body:not(.outdated)")
    settle(page)
    check_numbers(page, PREDICTION, REFERENCE)
    page.click("#close-files")
    page.wait_for_selector("body:not(.of-pair)")
    settle(page)
    page.wait_for_selector("body:not(.outdated)")
    assert number(page, "pq") == before
    page.locator("#scene .shape").first.wait_for()


def test_a_single_file_waits_for_a_second_one(page: Any, address: str, folder: Path) -> None:
    show(page, address)
    drop(page, folder / "case7_ref.npy")
    page.wait_for_selector("#files[open]")
    assert page.inner_text("#files-problem") == "Add a second label file to compare it with."
    assert page.locator("#files-open").is_disabled()
    page.set_input_files("#file-chooser", [folder / "case7_pred.npy"])
    page.wait_for_selector("#files-open:enabled")
    page.click("#files-open")
    open_pair(page)
    check_numbers(page)


def test_a_third_file_is_shown_beneath(page: Any, address: str, folder: Path) -> None:
    show(page, address)
    drop(page, folder / "image.npy", folder / "case7_ref.npy", folder / "case7_pred.npy")
    open_pair(page)
    assert page.locator("#slice-brightness").is_visible()
    assert page.locator("#slice-contrast").is_visible()
    page.fill("#slice-labels", "0")
    page.wait_for_timeout(100)
    inside = np.argwhere(REFERENCE == 9).mean(axis=0).astype(int)
    places = [(0, 0), (int(inside[0]), int(inside[1]))]
    assert [colour_at(page, y, x, REFERENCE.shape)[0] for y, x in places] == [0, 255]
    page.fill("#slice-brightness", "60")
    page.wait_for_timeout(100)
    assert [colour_at(page, y, x, REFERENCE.shape)[0] for y, x in places] == [60, 255]


@pytest.mark.parametrize(
    ("names", "message"),
    [(("case7_ref.npy", "small.npy"), "(50, 120)"), (("case7_ref.npy", "broken.nii.gz"), "NIfTI")],
)
def test_what_cannot_be_opened_is_said_and_the_scene_stays(
    page: Any, address: str, folder: Path, names: tuple[str, str], message: str
) -> None:
    show(page, address + TWO)
    before = number(page, "pq")
    drop(page, *(folder / name for name in names))
    page.wait_for_selector("#files-problem:not([hidden])")
    assert message in page.inner_text("#files-problem")
    assert all(name in page.inner_text("#files-problem") for name in names[1:])
    page.click("#files-cancel")
    assert number(page, "pq") == before
    assert page.locator("#scene").is_visible()
    page.locator("#scene .shape").last.click()
    page.wait_for_selector("#inspector input[name=x]")


def test_headers_that_disagree_may_be_ignored(page: Any, address: str, tmp_path: Path) -> None:
    shifted = np.eye(4)
    shifted[0, 3] = 9
    for name, affine in (("ref.nii", np.eye(4)), ("pred.nii", shifted)):
        labels = REFERENCE if name == "ref.nii" else PREDICTION
        nibabel.save(nibabel.Nifti1Image(labels.astype(np.uint8), affine), tmp_path / name)
    show(page, address)
    drop(page, tmp_path / "ref.nii", tmp_path / "pred.nii")
    page.wait_for_selector("#ignore-headers")
    assert "place the same voxel up to 9 voxel steps apart" in page.inner_text("#files-problem")
    page.check("#ignore-headers")
    page.click("#files-open")
    open_pair(page)
    check_numbers(page)


def test_other_pages_keep_what_they_show(page: Any, address: str, folder: Path) -> None:
    show(page, address + TWO)
    other = page.context.new_page()
    show(other, address + TWO)
    drop(page, folder / "case7_ref.npy", folder / "case7_pred.npy")
    open_pair(page)
    other.check("#regions")
    settle(other)
    assert not other.locator("body.of-pair").count()
    assert other.locator("#trouble").is_hidden()


def test_a_link_of_files_opens_once_they_are_there(page: Any, address: str, folder: Path) -> None:
    show(page, address)
    drop(page, folder / "case7_ref.npy", folder / "case7_pred.npy")
    open_pair(page)
    page.fill("#threshold-value", "0.3")
    page.press("#threshold-value", "Enter")
    settle(page)
    page.reload()
    page.wait_for_selector("#refusal:not([hidden])")
    assert "Open them on the page" in page.inner_text("#refusal")
    drop(page, folder / "case7_ref.npy", folder / "case7_pred.npy", target="header")
    open_pair(page)
    assert page.locator("#refusal").is_hidden()
    assert page.input_value("#threshold-value") == "0.3"


def test_files_come_back_with_the_server(browser: Any, folder: Path) -> None:
    page = browser.new_page()  # which may complain that nobody answers
    with served() as address:
        show(page, address)
        drop(page, folder / "case7_ref.npy", folder / "case7_pred.npy")
        open_pair(page)
        page.fill("#threshold-value", "0.3")
        page.press("#threshold-value", "Enter")
        settle(page)
        expected = number(page, "pq")
    page.wait_for_selector("#offline:not([hidden])")
    page.evaluate("document.querySelector('#round-trip').removeAttribute('data-seq')")
    with served("--port", address.split(":")[-1].strip("/")):
        page.wait_for_selector("#offline", state="hidden")
        page.wait_for_selector("body:not(.outdated)")
        settle(page)
        assert page.input_value("#threshold-value") == "0.3"
        assert number(page, "pq") == expected
        page.close()


BODY = phantoms.balls((20, 26, 22), 7, radius=(2, 4), seed=3)


def stored(labels: Any, order: tuple[int, ...], flip: int) -> Any:
    """Return the labels as an image with axes in another order, one of them reversed."""
    image = nibabel.Nifti1Image(labels.astype(np.uint8), np.diag([1.0, 1.0, 1.5, 1.0]))
    orientation = np.empty((3, 2))
    for at, axis in enumerate(order):
        orientation[axis] = at, -1 if axis == flip else 1
    return image.as_reoriented(orientation)


@pytest.mark.parametrize("axis_name", ["axial", "coronal", "sagittal"])
def test_the_same_body_gives_the_same_picture_however_it_is_stored(
    page: Any, tmp_path: Path, axis_name: str
) -> None:
    pictures = set()
    prediction = phantoms.shift(BODY, (1, 0, 1))
    for at, order in enumerate(list(permutations(range(3)))[::2]):
        paths = tmp_path / f"ref{at}.nii.gz", tmp_path / f"pred{at}.nii.gz"
        for path, labels in zip(paths, (BODY, prediction), strict=True):
            nibabel.save(stored(labels, order, at), path)
        affine = stored(BODY, order, at).affine
        world = {"sagittal": 0, "coronal": 1, "axial": 2}[axis_name]
        axis = int(np.argmax(np.abs(affine[world, :3])))
        wanted = 9 if affine[world, axis] > 0 else BODY.shape[world] - 10
        with served(*paths) as address:
            view = {"axis": axis, "slice": wanted}
            show(page, f"{address}#{json.dumps({'format': 1, 'scene': None, 'view': view})}")
            page.wait_for_selector(f"#volume[data-axis='{axis}'][data-index='{wanted}']")
            page.mouse.move(2, 2)
            page.wait_for_timeout(200)
            assert page.locator("#axis option:checked").inner_text().startswith(axis_name)
            pictures.add(page.evaluate("document.querySelector('#volume').toDataURL()"))
            page.goto("about:blank")
    assert len(pictures) == 1
