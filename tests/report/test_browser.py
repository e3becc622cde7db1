"""The report in a real browser: no errors, the numbers of the tables, every class in sight."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from panmatch.datasets import (
    Comparison,
    DatasetPaths,
    Job,
    RunOptions,
    compare,
    load_run,
    pair,
    run_dataset,
)
from panmatch.evaluation import Result
from panmatch.report import write_report
from panmatch.spec import as_spec
from tests.browser import needs_chromium, open_browser
from tests.datasets.folders import make_folders
from tests.report.part_runs import run_with_parts

pytestmark = needs_chromium

PAPER_PX = 1039  # of A4, on its side, without margins
TOO_WIDE = """() => [...document.querySelectorAll("body, table, .wide, pre, .cards, .strips")]
    .filter((one) => one.clientWidth && one.scrollWidth > one.clientWidth + 1)
    .map((one) => `${one.tagName}.${one.className}: ${one.scrollWidth} > ${one.clientWidth}`)"""


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("browser")
    layout = make_folders(folder, 3, models=("near", "far"))
    spec = as_spec({"metrics": ["dice", "hd95"]})
    run_dataset(pair(layout), Job(spec.canonical()), folder / "out", RunOptions())
    write_report(folder / "out")
    return folder / "out"


@pytest.fixture(scope="module")
def out_with_parts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = run_with_parts(tmp_path_factory.mktemp("parts"))
    write_report(folder)
    return folder


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a run in which every name is markup, turned around, or long."""
    folder = tmp_path_factory.mktemp("hostile")
    names = [
        "<img src=x onerror=hacked=1>",
        "'\"</script><!--<script>hacked=1",
        "مرحبا \u202eabc",
        "x" * 200,
    ]
    labels = np.array([[1, 1, 0, 2, 2, 0, 3, 3, 0, 4, 4]])
    for side in ("ref", "pred"):
        (folder / side).mkdir()
        for name in (*names[:1], "long" * 45, names[2]):
            np.save(folder / side / f"{name}.npy", labels)
    classes = {name: {"labels": label} for label, name in enumerate(names, start=1)}
    spec = as_spec({"classes": classes, "metrics": ["dice"]})
    layout = DatasetPaths(folder / "ref", dict.fromkeys((*names, "7"), folder / "pred"))
    run_dataset(pair(layout), Job(spec.canonical()), folder / "out", RunOptions())
    write_report(folder / "out", title=names[1])
    return folder / "out"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with open_browser() as found:
        yield found


@contextmanager
def opened(
    browser: Any, out: Path, width: int = 1440, scheme: str = "light", class_name: str = ""
) -> Iterator[Any]:
    """Yield the page of a run; whatever it complains about, or asks for, is an error."""
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", lambda dialog: complaints.append(dialog.message))
    page.on(
        "request",
        lambda r: None if r.url.startswith(("file:", "data:")) else complaints.append(r.url),
    )
    page.goto(f"file://{out / 'report.html'}")
    if class_name:
        page.select_option("#class", label=class_name)
    yield page
    assert complaints == []
    page.close()


def scroll_through(page: Any) -> None:
    """Bring everything into sight once, so that all charts are drawn."""
    for y in range(0, page.evaluate("document.documentElement.scrollHeight"), 700):
        page.evaluate(f"scrollTo({{top: {y}, behavior: 'instant'}})")
        page.wait_for_timeout(60)


def cells(page: Any, selector: str) -> list[list[str]]:
    """Return the texts of a table, row by row."""
    return page.evaluate(  # type: ignore[no-any-return]
        """(selector) => [...document.querySelectorAll(selector)]
            .filter((row) => row.offsetParent)
            .map((row) => [...row.cells].map((cell) => cell.textContent.trim()))""",
        selector,
    )


@pytest.mark.parametrize("width", [1440, 800, 390])
def test_it_opens_without_errors_and_shows_the_numbers(browser: Any, out: Path, width: int) -> None:
    with opened(browser, out, width) as page:
        near = next(
            average.value
            for average in load_run(out).average_scores
            if (average.model, average.score.name, average.averaging) == ("near", "pq", "pooled")
        )
        assert f"{near:.3f}" in page.locator("#scores tbody tr", has_text="near").first.inner_text()
        assert f"{near:.3f}" in page.locator(".card", has_text="near").inner_text()
        scroll_through(page)
        assert page.locator(".js-plotly-plot").count() == page.locator(".chart").count()
        assert page.evaluate("document.scrollingElement.scrollWidth") <= width
        assert page.locator("#cases svg.picture").count() == 6


def test_the_first_screen_has_the_verdict_and_all_models(browser: Any, out: Path) -> None:
    with opened(browser, out) as page:
        for selector in (".answer", ".change", ".careful", ".card >> nth=0", ".card >> nth=1"):
            box = page.locator(selector).bounding_box()
            assert box["y"] + box["height"] <= 900


@pytest.mark.parametrize("run", ["out_with_parts", "hostile"])
def test_nothing_makes_the_page_wider_than_the_screen(
    browser: Any, request: pytest.FixtureRequest, run: str
) -> None:
    with opened(browser, request.getfixturevalue(run), 390) as page:
        page.evaluate("document.querySelectorAll('details').forEach((one) => one.open = true)")
        for i in (0, page.locator("#class option").count() - 1):
            page.select_option("#class", index=i)
            for width in (390, 800):
                page.set_viewport_size({"width": width, "height": 900})
                scroll_through(page)
                assert page.evaluate("document.scrollingElement.scrollWidth") <= width
        assert page.evaluate("window.hacked") is None


def test_names_do_not_turn_sentences_around(browser: Any, hostile: Path) -> None:
    with opened(browser, hostile) as page:
        assert "\u202e" not in page.locator(".answer").inner_text()
        assert page.locator("h1").inner_text() == "'\"</script><!--<script>hacked=1"
        scroll_through(page)
        labels = page.locator("#objects .ytick text >> visible=true").all_text_contents()
        assert "'\"</script><!--<scrip…" in labels
        assert "7" in labels


def test_tables_of_classes_show_the_scores_that_these_have(
    browser: Any, out_with_parts: Path
) -> None:
    with opened(browser, out_with_parts) as page:
        assert page.locator("#class >> css=option:checked").inner_text() == "mean of classes"
        page.select_option("#class", label="cell")
        assert "PartPQ" in page.locator("#scores thead >> visible=true").first.inner_text()
        page.locator("#classes button", has_text="debris").click()
        assert "PartPQ" not in page.locator("#scores thead >> visible=true").first.inner_text()
        assert page.locator("[data-about]").all_inner_texts() == ["debris"] * 6


def test_the_ranking_is_that_of_the_chosen_class(browser: Any, out_with_parts: Path) -> None:
    comparison = compare(load_run(out_with_parts))
    with opened(browser, out_with_parts) as page:
        for name in ("cell", "debris", "mean of classes"):
            page.select_option("#class", label=name)
            row = page.locator("#ranks tbody tr >> visible=true").first.inner_text()
            first = leader(comparison, name)
            assert f"{first.model} {first.value:.3f}" in " ".join(row.split())


def leader(comparison: Comparison, class_name: str) -> Any:
    return next(
        placings[0]
        for criterion, placings in comparison.rankings.items()
        if criterion.setting.class_name == class_name
    )


def test_models_and_strategies_can_be_switched_off_and_on_again(browser: Any, out: Path) -> None:
    seen = """(id) => document.getElementById(id)._fullData
        .filter((trace) => trace.visible === true && trace.meta).map((trace) => trace.name)"""
    with opened(browser, out) as page:
        page.locator("#curves").scroll_into_view_if_needed()
        page.wait_for_selector("#c0-pq.js-plotly-plot")
        every = page.evaluate(seen, "c0-pq")
        assert len(every) == len(cells(page, ".readout tbody tr")) == 6
        page.uncheck("#curves input[data-model='0']")
        assert page.evaluate(seen, "c0-pq") == [name for name in every if name.startswith("near")]
        page.uncheck("#curves input[data-matcher='1']")
        left = ["near, one-to-one (optimal)", "near, one-to-many (best)"]
        assert page.evaluate(seen, "c0-pq") == left
        assert [row[0] for row in cells(page, ".readout tbody tr")] == left
        scroll_through(page)
        assert page.evaluate(seen, "c0-quality") == left
        page.check("#curves input[data-model='0']")
        page.check("#curves input[data-matcher='1']")
        assert page.evaluate(seen, "c0-pq") == every


def values_at(result: Result, threshold: float, class_name: str = "object") -> list[list[str]]:
    """Return what the table below the curves should say, by the definition of SQ (D3)."""
    rows = []
    for series in result.series:
        if series.setting.class_name != class_name:
            continue
        assert series.pooled_curve is not None
        tally = series.pooled_curve.at(threshold)
        sq = f"{tally.sq:.3f}" if tally.tp else "–"
        name = f"{series.model}, {series.setting.label}"
        rows.append([name, f"{tally.pq:.3f}", sq, f"{tally.rq:.3f}"])
    return rows


def test_pointing_at_a_chart_reads_all_curves_below_it(browser: Any, out: Path) -> None:
    result = load_run(out)
    with opened(browser, out) as page:
        chart = page.locator("#c0-rq")
        chart.scroll_into_view_if_needed()
        page.wait_for_selector("#c0-rq .nsewdrag")
        box = page.locator("#c0-rq .nsewdrag").bounding_box()
        page.mouse.move(box["x"] + box["width"] * 0.4, box["y"] + box["height"] * 0.3)
        threshold = float(page.locator(".readout output").inner_text())
        assert threshold == pytest.approx(0.4, abs=0.01)
        assert cells(page, ".readout tbody tr") == values_at(result, threshold)
        assert page.locator("#curves .hoverlayer *").count() == 0  # nothing lies on the plot
        table = page.locator(".readout table").bounding_box()
        assert table["y"] > box["y"] + box["height"]


def test_a_slider_reads_curves_too_and_sq_is_undefined_where_nothing_is_found(
    browser: Any, out_with_parts: Path
) -> None:
    result = load_run(out_with_parts)
    with opened(browser, out_with_parts, class_name="cell") as page:
        page.locator("#curves").scroll_into_view_if_needed()
        page.locator(".readout input >> visible=true").focus()
        page.keyboard.press("End")
        rows = cells(page, ".readout tbody tr")
        assert [row[:4] for row in rows] == values_at(result, 0.999, "cell")
        assert {row[2] for row in rows if row[0].startswith("far")} == {"–"}


def case_values(result: Result, column: str) -> dict[tuple[str, str], float]:
    first = result.spec.matching[0], result.spec.thresholds[0]
    return {
        (case.case, case.model): getattr(entry.level(first[1]).tally, column)
        for case in result.cases
        for entry in case.entries
        if entry.setting.matcher == first[0]
    }


def test_cases_are_sorted_filtered_and_linked_to_their_pictures(browser: Any, out: Path) -> None:
    pq, missed = (case_values(load_run(out), name) for name in ("pq", "fn"))
    with opened(browser, out) as page:
        head = [text.strip(" ▲▼") for text in cells(page, "#case-rows thead tr")[0]]
        assert head[:6] == ["case", "model", "PQ", "TP", "FP", "FN"]
        rows = cells(page, "#case-rows tbody tr")
        assert [row[2] for row in rows] == [f"{value:.3f}" for value in sorted(pq.values())]
        for row in rows:
            assert row[2] == f"{pq[row[0], row[1]]:.3f}"
            assert row[5] == str(missed[row[0], row[1]])
        page.locator("#case-rows thead button", has_text="FN").click()
        page.locator("#case-rows thead button", has_text="FN").click()
        shown = [int(row[5]) for row in cells(page, "#case-rows tbody tr")]
        assert shown == sorted(missed.values(), reverse=True)
        assert page.locator("#case-rows th[aria-sort='descending']").inner_text() == "FN ▼"
        page.fill("#case-filter", "SE01")
        page.select_option("#case-model", label="near")
        assert [row[:2] for row in cells(page, "#case-rows tbody tr")] == [["case01", "near"]]
        page.locator("#case-rows tbody a").click()
        target = page.evaluate("document.querySelector(':target').textContent")
        assert "case01" in target
        assert "near" in target
        page.fill("#case-filter", "nothing like this")
        assert page.locator("#case-count").inner_text() == "no case matches"


def test_dots_say_which_case_they_are(browser: Any, out: Path) -> None:
    pq = case_values(load_run(out), "pq")
    worst = min((value, case) for (case, model), value in pq.items() if model == "far")
    with opened(browser, out) as page:
        assert page.locator("#dots circle").count() == len(pq)
        page.locator("#dots").focus()
        said = f"{worst[1]}, far, PQ {worst[0]:.3f}"
        assert page.locator("#dot-text").inner_text() == said
        page.keyboard.press("ArrowRight")
        assert page.locator("#dot-text").inner_text() != said
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("Enter")
        assert {row[0] for row in cells(page, "#case-rows tbody tr")} == {worst[1]}
        page.locator("#dots circle").last.hover()
        assert "near, PQ" in page.locator("#dot-text").inner_text()


def brightness(page: Any, selector: str, of: str = "backgroundColor") -> float:
    colour = page.evaluate(
        "([selector, of]) => getComputedStyle(document.querySelector(selector))[of]", [selector, of]
    )
    red, green, blue = (int(part) for part in colour.strip("rgba()").split(",")[:3])
    return (red + green + blue) / (3 * 255)


def test_it_is_dark_where_people_want_that_and_remembers_what_they_chose(
    browser: Any, out: Path
) -> None:
    with opened(browser, out, scheme="dark") as page:
        page.locator("#c0-losses").scroll_into_view_if_needed()
        page.wait_for_selector("#c0-losses.js-plotly-plot")
        assert brightness(page, "body") < 0.15
        assert brightness(page, "body", "color") > 0.8
        assert brightness(page, "#c0-losses .main-svg") < 0.15
        assert page.locator("#theme").get_attribute("aria-pressed") == "true"
        page.click("#theme")
        assert brightness(page, "body") == 1
        assert brightness(page, "#c0-losses .main-svg") == 1
        page.wait_for_timeout(500)  # a new process may read what is kept, once it has been told
        page.reload()
        page.locator("#c0-losses").scroll_into_view_if_needed()
        page.wait_for_selector("#c0-losses.js-plotly-plot")
        assert brightness(page, "body") == 1
        page.evaluate("localStorage.clear()")


@pytest.mark.parametrize("run", ["out", "out_with_parts", "hostile"])
def test_paper_is_light_and_cuts_nothing_off(
    browser: Any, request: pytest.FixtureRequest, run: str
) -> None:
    with opened(browser, request.getfixturevalue(run), PAPER_PX, "dark") as page:
        if page.locator("#class").count():
            page.select_option("#class", index=0)
        page.emulate_media(media="print", color_scheme="dark")
        page.wait_for_timeout(300)
        assert page.evaluate(TOO_WIDE) == []
        assert brightness(page, "body") == 1
        assert brightness(page, ".careful") < 1  # backgrounds are there, and printed
        adjust = "getComputedStyle(document.querySelector('.shaded td.n')).printColorAdjust"
        assert page.evaluate(adjust) == "exact"
        for control in ("nav", "#theme", ".controls", "#case-filter", ".slide input", "#case-on"):
            assert not page.locator(control).first.is_visible()
        assert page.locator("#curves fieldset").first.is_visible()  # the key stays
        assert not page.locator("#curves input[type=checkbox]").first.is_visible()
        titles = page.locator("main h2 >> visible=true").all_inner_texts()
        name = next(iter(load_run(request.getfixturevalue(run)).spec.classes), "object")
        assert f"Curves {name}" in titles
        drawn = page.evaluate(
            "[...document.querySelectorAll('.chart')].filter((one) => one.offsetParent)"
            ".map((one) => [one.clientWidth, one.querySelector('.main-svg').clientWidth])"
        )
        assert drawn
        assert all(inner <= outer for outer, inner in drawn)
        assert page.pdf(prefer_css_page_size=True).startswith(b"%PDF")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("run", "width"), [("out", 390), ("out_with_parts", 1440)])
def test_axe_finds_nothing_serious(
    browser: Any, request: pytest.FixtureRequest, run: str, width: int, scheme: str
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    with opened(browser, request.getfixturevalue(run), width, scheme) as page:
        page.evaluate("document.querySelectorAll('details').forEach((one) => one.open = true)")
        if page.locator("#class").count():
            page.select_option("#class", index=0)
        scroll_through(page)
        found = Axe().run(page).response["violations"]
        assert [
            (one["id"], one["nodes"][0]["html"])
            for one in found
            if one["impact"] in ("serious", "critical")
        ] == []
