"""A pair of files in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nibabel
import numpy as np
import pandas as pd
import pytest

import panmatch as pm
from panmatch import phantoms
from panmatch.formats import read_labels
from tests.browser import needs_chromium
from tests.commands import panmatch
from tests.playground.class_files import VOID, write_lesions
from tests.playground.shown_pages import number, served, settle, show, state
from tests.playground.shown_slices import click_pixel

pytestmark = needs_chromium


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("pair")
    reference = phantoms.balls((24, 60, 50), 9, radius=(4, 7), seed=3)
    prediction = phantoms.shift(reference, (0, 2, 1))
    paths = folder / "reference.nii.gz", folder / "prediction.nii.gz"
    for labels, path in zip((reference, prediction), paths, strict=True):
        image = nibabel.Nifti1Image(labels.astype(np.int16), np.diag([3.0, 1.0, 1.0, 1.0]))
        nibabel.save(image, path)
    return paths


def test_a_pair_of_nifti_files_is_shown_in_slices(page: Any, pair: tuple[Path, Path]) -> None:
    reference, prediction = (read_labels(path).labels for path in pair)
    overlap = pm.count_overlaps(reference, prediction)
    with served(*pair) as address:
        show(page, address)
        assert "reference.nii.gz" in page.inner_text("#pair-about")
        assert number(page, "pq") == pytest.approx(pm.match(overlap).tally.pq, rel=1e-11)
        assert not page.locator("#scene").is_visible()
        page.wait_for_selector("#volume[data-index]")
        page.select_option("#axis", "0")
        page.fill("#slice", "5")
        settle(page)
        page.wait_for_selector("#volume[data-axis='0'][data-index='5']")
        assert state(page)["view"]["slice"] == 5
        assert number(page, "pq") == pytest.approx(pm.match(overlap).tally.pq, rel=1e-11)
        _click_an_object(page, reference, set(pm.match(overlap).pairs[:, 0].tolist()))
        page.wait_for_selector("#inspector .chip.chosen")
        page.select_option("#axis", "1")
        page.wait_for_selector("#volume[data-axis='1']")
        page.check("#regions")
        settle(page)
        regions = pm.count_region_overlaps(reference, prediction, spacing=(3, 1, 1))
        assert number(page, "pq") == pytest.approx(pm.match(regions).tally.pq, rel=1e-11)


def test_a_class_is_named_and_its_objects_are_shown(page: Any, tmp_path: Path) -> None:
    reference, prediction = write_lesions(tmp_path)
    spec, out = tmp_path / "spec.yaml", tmp_path / "out"
    spec.write_text(f"preset: brats-mets\nbackground: {VOID}\n")
    done = panmatch("evaluate", reference, prediction, "--spec", spec, "-o", out)
    assert done.returncode == 0, done.stderr
    rows = pd.read_csv(out / "scores.csv").set_index(["class", "strategy", "threshold"])
    expected = rows.pq["metastasis", "one-to-one", 0.5]
    assert 0 < expected < 1
    with served(out, "--case", "ref") as address:
        show(page, address)
        about = page.inner_text("#pair-about")
        assert about.startswith("ref.nii.gz against pred.nii.gz, class metastasis 24 × 30 × 26")
        assert number(page, "pq") == pytest.approx(expected, rel=1e-11)


def _click_an_object(page: Any, reference: np.ndarray[Any, Any], matched: set[int]) -> None:
    shown = reference[5].T[::-1, ::-1]  # superior is up, anterior is left
    labels = [label for label in np.unique(shown) if label in matched]
    places = np.argwhere(shown == labels[0])
    y, x = places[len(places) // 2]
    click_pixel(page, int(y), int(x), shown.shape)
    page.wait_for_selector(f"#inspector b:has-text('Reference {shown[y, x]}')")


def test_a_mistake_of_a_pair_lights_its_voxels(page: Any, pair: tuple[Path, Path]) -> None:
    page.set_viewport_size({"width": 1440, "height": 1900})
    with served(*pair) as address:
        show(page, address)
        page.wait_for_selector("#volume[data-index]")
        page.locator("header h1").hover()

        def picture() -> str:
            drawn: str = page.evaluate("document.querySelector('#volume').toDataURL()")
            return drawn

        whole = picture()
        for at in range(2):
            page.locator(".mistakes li").nth(at).hover()
            page.wait_for_timeout(100)
            assert picture() != whole
        page.locator("header h1").hover()
        page.wait_for_timeout(100)
        assert picture() == whole
        page.goto("about:blank")
