"""The report in a real browser: no errors, the numbers of the tables, every class in sight."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from panmatch.datasets import Job, RunOptions, load_run, pair, run_dataset
from panmatch.report import write_report
from panmatch.spec import as_spec
from tests.browser import needs_chromium, open_browser
from tests.datasets.folders import make_folders
from tests.report.part_runs import run_with_parts

pytestmark = needs_chromium


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("browser")
    layout = make_folders(folder, 3, models=("near", "far"))
    spec = as_spec({"metrics": ["dice", "hd95"]})
    run_dataset(pair(layout), Job(spec.canonical()), folder / "out", RunOptions())
    write_report(folder / "out")
    return folder / "out"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with open_browser() as found:
        yield found


@pytest.mark.parametrize("width", [1440, 1024])
def test_it_opens_without_errors_and_shows_the_numbers(browser: Any, out: Path, width: int) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900})
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda r: complaints.append(r.url) if r.url.startswith("http") else None)
    page.goto(f"file://{out / 'report.html'}")
    page.locator("#curves").scroll_into_view_if_needed()
    page.wait_for_selector(".js-plotly-plot")
    near = next(
        average.value
        for average in load_run(out).average_scores
        if (average.model, average.score.name, average.averaging) == ("near", "pq", "pooled")
    )
    row = page.locator("#scores tbody tr", has_text="near").first
    assert f"{near:.3f}" in row.inner_text()
    for section in ("curves", "ranks", "objects", "cases"):
        page.locator(f"#{section}").scroll_into_view_if_needed()
        page.wait_for_timeout(150)
    assert page.locator(".js-plotly-plot").count() == page.locator(".chart").count()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("#cases svg.picture").count() == 6
    assert complaints == []
    page.close()


def test_tables_of_classes_with_parts_stay_inside_the_page(
    browser: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    page_file = write_report(run_with_parts(tmp_path_factory.mktemp("parts")))
    for width in (1440, 1024):
        page = browser.new_page(viewport={"width": width, "height": 900})
        complaints: list[str] = []
        page.on("console", lambda message, found=complaints: found.append(message.text))
        page.on("pageerror", lambda error, found=complaints: found.append(str(error)))
        page.goto(f"file://{page_file}")
        header = page.locator("#scores thead").first.inner_text()
        assert "PartPQ" in header
        page.select_option("#class", label="debris")
        assert "PartPQ" not in page.locator("#scores thead >> visible=true").first.inner_text()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert complaints == []
        page.close()


def test_hovering_a_curve_shows_its_value(browser: Any, out: Path) -> None:
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto(f"file://{out / 'report.html'}")
    chart = page.locator("#curves .chart").first
    chart.scroll_into_view_if_needed()
    page.wait_for_selector("#curves .js-plotly-plot .nsewdrag")
    box = chart.bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + box["height"] * 0.3)
    page.wait_for_selector("#curves .hoverlayer .legend", timeout=5000)
    shown = page.locator("#curves .hoverlayer .legend").first.text_content()
    assert "PQ" in shown
    assert "near, one-to-one (optimal)" in shown
    page.close()
