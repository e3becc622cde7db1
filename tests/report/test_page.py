"""The HTML report: what it says, that it is whole without a network, and that it stays small."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import panmatch as pm
from panmatch.datasets import (
    DatasetPaths,
    Job,
    RunOptions,
    averages_with_samples,
    compare,
    load_run,
    pair,
    resampling_of,
    run_dataset,
    spread,
)
from panmatch.report import write_report
from panmatch.report._cautions import cautions
from panmatch.report._charts import size_chart
from panmatch.report._page import what_was_computed
from panmatch.spec import as_spec
from tests.datasets.folders import make_folders
from tests.report.pages import charts, without_scripts
from tests.report.part_runs import run_with_parts

SPEC = as_spec(
    {"matching": ["one-to-one", "many-to-one"], "thresholds": [0.3, 0.5], "metrics": ["dice"]}
)


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    layout = make_folders(folder, 4, models=("near", "far"))
    (folder / "far" / "case03.nii.gz").write_bytes(b"broken")
    run_dataset(pair(layout), Job(SPEC.canonical()), folder / "out", RunOptions())
    write_report(folder / "out")
    return folder / "out"


@pytest.fixture(scope="module")
def html(out: Path) -> str:
    return (out / "report.html").read_text(encoding="utf-8")


def test_it_loads_nothing_from_elsewhere(html: str) -> None:
    page = without_scripts(html)
    assert not re.findall(r'(?:src|href)="(?!data:|#)[^"]*"', page)
    assert "@import" not in page
    assert not re.findall(r"url\((?!#)", page)


def test_it_says_who_is_better_what_failed_and_what_was_computed(html: str, out: Path) -> None:
    result = pm.Result(SPEC, tuple(load_run(out).cases))
    assert "near has the highest mean PQ of cases" in html
    assert "far</strong>" not in html
    assert "case03.nii.gz" in html
    assert "1 failed" in html
    assert "at most 1 prediction per reference, at most 1 reference per prediction" in html
    assert what_was_computed(result) in html
    assert "left out" in html.lower()


def test_scores_and_grid_are_those_of_the_tables(html: str, out: Path) -> None:
    result = load_run(out)
    for series in result.series:
        tally = sum(
            (entry.level(0.3).tally for entry in series.entries if entry is not None),
            start=pm.Tally(0, 0, 0, 0.0),
        )
        assert f"{tally.pq:.3f}" in html
    cells = re.findall(r'style="background: hsl\(205 65% (\d+)%\)">([\d.]+)<', html)
    assert len(cells) == 10 * 4
    for shade, value in cells:
        assert abs(int(shade) - (100 - 62 * float(value))) < 1


def test_charts_hold_the_exact_steps(html: str, out: Path) -> None:
    drawn = charts(html)
    (name,) = [key for key in drawn if key.endswith("-pq")]
    lines = drawn[name]["data"]
    assert isinstance(lines, list)
    result = load_run(out)
    pooled = [
        pm.scoring.Curves.of([None if entry is None else entry.curve for entry in series.entries])
        for series in result.series
    ]
    every = np.unique(np.concatenate([curves.thresholds for curves in pooled]))
    assert lines[0]["name"] == "far, one-to-one (optimal)"
    assert lines[0]["x"] == pytest.approx([*every, 1.0], abs=1e-6)
    expected = [pooled[0].sum().at(threshold).pq for threshold in every]
    assert lines[0]["y"] == pytest.approx([*expected, expected[-1]], abs=1e-6)
    assert lines[0]["line"]["shape"] == "hv"
    dashes = {line["name"]: (line["line"]["color"], line["line"]["dash"]) for line in lines}
    assert len(set(dashes.values())) == 4


def test_bars_share_out_what_is_lost(html: str, out: Path) -> None:
    result = load_run(out)
    chart: Any = charts(html)["c0-losses"]
    assert chart["data"][0]["name"] == "PQ"
    lengths: dict[str, float] = {}
    for bar in chart["data"]:
        for model, length in zip(bar["y"], bar["x"], strict=True):
            lengths[model] = lengths.get(model, 0.0) + length
    assert lengths == pytest.approx({"near": 1.0, "far": 1.0}, abs=1e-5)
    for model, losses in result.losses.items():
        where = chart["data"][0]["y"].index(model)
        drawn = {bar["name"]: bar["x"][where] for bar in chart["data"]}
        assert drawn["PQ"] == pytest.approx(1 - sum(losses.values()), abs=1e-6)
        assert drawn["outlines"] == pytest.approx(losses["outline"], abs=1e-6)


def test_charts_are_valid_for_plotly(html: str) -> None:
    from plotly import graph_objects

    for chart in charts(html).values():
        graph_objects.Figure(chart)  # raises for unknown attributes


def test_worst_and_best_cases_have_pictures(html: str) -> None:
    pictures = re.findall(r'<svg class="picture".*?</svg>', without_scripts(html), re.S)
    assert len(pictures) == 4 + 3
    assert all(len(picture) < 100_000 for picture in pictures)


def test_images_that_are_gone_leave_a_reason_in_place_of_the_picture(tmp_path: Path) -> None:
    layout = make_folders(tmp_path, 1)
    run_dataset(pair(layout), Job(SPEC.canonical()), tmp_path / "out", RunOptions())
    (tmp_path / "ref" / "case00.nii.gz").unlink()
    text = write_report(tmp_path / "out", tmp_path / "mine.html").read_text()
    assert "case00.nii.gz&#39; does not exist" in text
    assert '<svg class="picture"' not in text


def test_a_run_in_which_everything_failed_has_a_report(tmp_path: Path) -> None:
    layout = make_folders(tmp_path, 1)
    (tmp_path / "model" / "case00.nii.gz").write_bytes(b"broken")
    run_dataset(pair(layout), Job(SPEC.canonical()), tmp_path / "out", RunOptions())
    assert "case00.nii.gz" in write_report(tmp_path / "out").read_text()


def test_models_without_a_common_case_are_shown_but_not_compared(tmp_path: Path) -> None:
    layout = make_folders(tmp_path, 2, models=("near", "far"))
    for name in ("case00", "case01"):
        (tmp_path / "far" / f"{name}.nii.gz").write_bytes(b"broken")
    run_dataset(pair(layout), Job(SPEC.canonical()), tmp_path / "out", RunOptions())
    page = without_scripts(write_report(tmp_path / "out").read_text())
    assert "No case has a result from every model, so the models are not compared." in page
    assert 'id="ranks"' not in page
    assert 'id="c0-pq"' in page


def test_names_from_files_cannot_become_code(tmp_path: Path) -> None:
    evil = "<img src=x onerror=alert(1)>"
    (tmp_path / "ref").mkdir()
    (tmp_path / "pred").mkdir()
    for side in ("ref", "pred"):
        np.save(tmp_path / side / "a.npy", np.ones((4, 4), np.uint8))
    spec = as_spec({"classes": {f"{evil}</script>": {}}, "metrics": []})
    layout = DatasetPaths(tmp_path / "ref", {evil: tmp_path / "pred"})
    run_dataset(pair(layout), Job(spec.canonical()), tmp_path / "out", RunOptions())
    text = write_report(tmp_path / "out").read_text()
    page = re.sub(r'<script type="application/json".*?</script>', "", without_scripts(text))
    assert "<img src=x" not in page
    assert len(charts(text)) > 0


def test_what_the_run_warned_of_stands_on_top_with_a_spec_to_copy(tmp_path: Path) -> None:
    labels = np.array([[1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 0, 2, 2, 2, 0, 2, 2, 2, 0, 2, 2, 2]])
    (tmp_path / "ref").mkdir()
    for name in ("<b>a", "b"):
        np.save(tmp_path / "ref" / f"{name}.npy", labels)
    layout = DatasetPaths(tmp_path / "ref", {"m": tmp_path / "ref"})
    run_dataset(pair(layout), Job(SPEC.canonical()), tmp_path / "out", RunOptions())
    page = without_scripts(write_report(tmp_path / "out").read_text())
    box = page.split('<aside class="careful warnings"')[1].split("</aside>")[0]
    assert page.index('class="answer"') < page.index(box) < page.index('class="cards"')
    assert box.count("<li>") == 3 + 1  # of the run, and of its result
    assert "m: 2 of 2 cases compare a file with itself (&lt;b&gt;a, b)" in box
    assert "Labels 1, 2 of the references form 12 connected components" in box
    assert "<pre>classes:\n  label_1: {labels: 1, instances: components}" in box
    assert "No interval: 2 cases are too few" in box
    assert re.findall(r'class="ci">(.*?)<', page.split('<section id="curves">')[0]) == [
        "no interval: 2 cases", "no interval: 2 cases",
    ]  # fmt: skip


def test_several_classes_can_be_chosen(tmp_path: Path) -> None:
    (tmp_path / "ref").mkdir()
    (tmp_path / "pred").mkdir()
    for side in ("ref", "pred"):
        np.save(tmp_path / side / "a.npy", np.array([[1, 1, 0, 2, 2]]))
    spec = as_spec({"classes": {"left": {"labels": 1}, "right": {"labels": 2}}, "metrics": []})
    layout = DatasetPaths(tmp_path / "ref", {"m": tmp_path / "pred"})
    run_dataset(pair(layout), Job(spec.canonical()), tmp_path / "out", RunOptions())
    text = write_report(tmp_path / "out").read_text()
    options = re.findall(r'<option value="c\d+"( selected)?>([^<]+)</option>', text)
    assert options == [("", "left"), ("", "right"), (" selected", "mean of classes")]


@pytest.fixture(scope="module")
def out_with_parts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = run_with_parts(tmp_path_factory.mktemp("parts"))
    write_report(folder)
    return folder


def test_pq_and_part_pq_stand_side_by_side_with_their_intervals(out_with_parts: Path) -> None:
    html = (out_with_parts / "report.html").read_text(encoding="utf-8")
    scores = html.split('<section id="scores">')[1].split("</section>")[0]
    sections = re.findall(
        r'<div class="of-class(?: hidden)?" data-class="c\d">\s*<h3>(.*?)</div>\s*</div>',
        scores,
        re.S,
    )
    tables = {text.split(",")[0]: text for text in sections}
    titles = re.findall(r'title="quality: ([^"]+)">(\w+)</th>', tables["cell"])[:9]
    parts = "the mean IoU of the parts"
    assert titles == [
        ("IoU", "PQ"), (parts, "PartPQ"), ("IoU", "SQ"), (parts, "PartSQ"), ("IoU", "RQ"),
        ("IoU", "AUTC"), (parts, "PartAUTC"), ("IoU", "PQ"), (parts, "PartPQ"),
    ]  # fmt: skip
    result = load_run(out_with_parts)
    row = tables["cell"].split("far</bdi></span></td>")[1].split("</tr>")[0]
    values = re.findall(r"([\d.]+)\s*<span class=\"ci\">([\d.]+) – ([\d.]+)</span>", row)
    averages = averages_with_samples(result, "far")
    for place, name in enumerate(("pq", "part_pq", "sq", "part_sq", "rq")):
        average = next(
            one for one in averages
            if (one.setting.class_name, one.score.name, one.averaging) == ("cell", name, "pooled")
        )  # fmt: skip
        ends = spread(average, resampling_of(result, "far"))
        numbers = (average.value, ends.low, ends.high)
        assert values[place] == tuple(f"{number:.3f}" for number in numbers)
    assert values[0] != values[1]
    assert "PartPQ" not in tables["debris"].split("</table>")[0]
    assert "Pooled PartPQ over thresholds" in tables["cell"]
    assert "with the background of the whole image as one more label" in tables["cell"]


def test_captions_have_both_qualities(out_with_parts: Path) -> None:
    html = (out_with_parts / "report.html").read_text(encoding="utf-8")
    expected = {}
    for series in load_run(out_with_parts).series:
        if (series.setting.class_name, series.setting.matcher.name) == ("cell", "one-to-one"):
            for case, entry in zip(series.cases, series.entries, strict=True):
                assert entry is not None
                level = entry.level(0.3)
                assert level.part_tally is not None
                qualities = f"PQ {level.tally.pq:.3f} · PartPQ {level.part_tally.pq:.3f}<br>"
                expected[case, series.model] = qualities
    captions = re.findall(r"<figcaption>(.*?)</figcaption>", html, re.S)
    with_parts = [caption for caption in captions if "PartPQ" in caption]
    assert len(with_parts) == 8  # of 10, and none of debris
    assert len(captions) == 16
    for caption in with_parts:
        case, model = re.findall(
            r"<strong><bdi>(\w+)</bdi></strong>.*?</span><bdi>(\w+)</bdi><br>", caption, re.S
        )[0]
        assert expected[case, model] in caption


def test_charts_have_units_and_dashes_of_strategies(out_with_parts: Path) -> None:
    html = (out_with_parts / "report.html").read_text(encoding="utf-8")
    drawn = charts(html)
    titles = {
        name: (chart["layout"]["xaxis"]["title"]["text"], chart["layout"]["yaxis"]["title"]["text"])  # type: ignore[index]
        for name, chart in drawn.items()
    }
    assert titles["c0-sizes"] == ("reference size (mm³)", "recall")
    assert titles["c0-metric-hd95"] == ("", "hd95 (mm)")
    assert titles["c0-metric-dice"] == ("", "dice")
    assert titles["c0-part_pq"] == ("threshold τ", "PartPQ")
    assert titles["c0-part_sq"] == ("threshold τ", "PartSQ")
    assert "c1-part_pq" not in titles
    dashes = {line["name"]: line["line"]["dash"] for line in drawn["c0-pq"]["data"]}  # type: ignore[attr-defined]
    assert dashes["near, one-to-one (optimal)"] == "solid"
    assert dashes["far, many-to-one (merge, seed)"] == "14px,4px"
    assert dashes["near, one-to-many (best) in regions"] == "28px,3px,2px,2.8px"
    key = html.split('class="line"')[1:4]
    assert key[0].startswith("/>")
    assert key[1].startswith(' stroke-dasharray="14 4"/>')
    assert key[2].startswith(' stroke-dasharray="28 3 2 2.8"/>')


def test_part_pq_is_compared_too(out_with_parts: Path) -> None:
    html = (out_with_parts / "report.html").read_text(encoding="utf-8")
    of_class = ranks_by_class(html)
    headline = re.findall(SCORE, of_class["mean of classes"])
    assert list(dict.fromkeys(headline)) == ["PQ", "PartPQ (cell)", "AUTC"]
    assert headline.count("PQ") == headline.count("PartPQ (cell)") == 6 + 6


SCORE = r"<td>((?:Part)?(?:PQ|AUTC)(?: \(\w+\))?)</td>"


def ranks_by_class(html: str) -> dict[str, str]:
    """Return the parts of the section of ranks by the name of their class."""
    names = dict(re.findall(r'<option value="(c\d+)"(?: selected)?>([^<]+)</option>', html))
    section = html.split('<section id="ranks">')[1].split("</section>")[0]
    parts = re.split(r'<div class="of-class(?: hidden)?" data-class="(c\d+)">', section)[1:]
    return {names[key]: text for key, text in zip(parts[::2], parts[1::2], strict=True)}


def test_ranks_are_there_for_every_class_with_its_own_numbers(out_with_parts: Path) -> None:
    of_class = ranks_by_class((out_with_parts / "report.html").read_text(encoding="utf-8"))
    assert list(of_class) == ["cell", "debris", "mean of classes"]
    assert list(dict.fromkeys(re.findall(SCORE, of_class["cell"]))) == ["PQ", "PartPQ", "AUTC"]
    assert list(dict.fromkeys(re.findall(SCORE, of_class["debris"]))) == ["PQ", "AUTC"]
    comparison = compare(load_run(out_with_parts))
    for name, text in of_class.items():
        rankings = [
            placings
            for criterion, placings in comparison.rankings.items()
            if criterion.setting.class_name == name and criterion.score.name == "pq"
        ]
        shown = re.findall(r"(\w+)</bdi></span>\s+([\d.]+) <span", text)
        expected = [(one.model, f"{one.value:.3f}") for ranking in rankings for one in ranking]
        assert shown[: len(expected)] == expected
        titles = re.findall(r'class="strip-title">(.*?)</div>', text)
        labels = [matcher.label for matcher in load_run(out_with_parts).spec.matching]
        assert titles == (
            labels if name != "mean of classes"
            else [f"<bdi>{one}</bdi>, {label}" for one in ("cell", "debris") for label in labels]
        )  # fmt: skip


def test_different_units_have_a_warning() -> None:
    evaluator = pm.Evaluator({})
    for case, unit in (("a", "mm"), ("b", "µm")):
        evaluator.update(reference=[[1]], prediction=[[1]], case=case, spacing=1, unit=unit)  # type: ignore[arg-type]
    found = cautions(evaluator.compute())
    assert "Cases have different units, so sizes and distances cannot be compared." in found


def test_recall_by_size_counts_every_reference_once() -> None:
    reference = np.zeros(400, int)
    prediction = np.zeros(400, int)
    at = 0
    for label, size in enumerate([1] * 5 + [4] * 5 + [200] + [9] * 4, start=1):
        reference[at : at + size] = label
        if size > 1:
            prediction[at : at + size] = label
        at += size + 1
    result = pm.evaluate(reference=reference, prediction=prediction)
    chart = size_chart(result, "object")
    assert chart is not None
    (line,) = chart["data"]
    assert line["text"] == ["0 of 5", "5 of 5", "5 of 5"]
    assert line["y"] == [0, 1, 1]
    assert line["x"] == ["1 – 4", "4 – 9", "9 – 200"]
    assert size_chart(pm.evaluate(reference=[[1]], prediction=[[1]]), "object") is None


def test_warnings_appear_where_there_is_reason() -> None:
    reference = np.zeros(1000, int)
    prediction = np.zeros(1000, int)
    for label in range(1, 9):
        reference[100 * label : 100 * label + 50] = label
        prediction[100 * label : 100 * label + 26] = label  # an IoU of 0.52
    result = pm.evaluate(reference=reference, prediction=prediction)
    found = " ".join(cautions(result))
    assert "8 of 8 true positives of object under one-to-one (optimal) at τ = 0.5" in found
    assert "There are few references of object (8)" in found
    assert "There is only one case" in found
    parts = pm.evaluate(
        reference=[[1, 2]], prediction=[[1, 2]],
        spec={"classes": {"a": {"labels": [1, 2], "instances": "components", "parts": [1, 2]}}},
    )  # fmt: skip
    assert "rises with the field of view" in " ".join(cautions(parts))


def test_components_of_the_graph_are_counted_for_every_model(html: str, out: Path) -> None:
    result = load_run(out)
    (table,) = re.findall(r'<table class="numbers structure">(.*?)</table>', html, re.S)
    rows = [
        re.sub(r"<[^>]+>", " ", row).split() for row in re.findall(r"<tr>(.*?)</tr>", table, re.S)
    ]
    for row, model in zip(rows[1:], result.models, strict=True):
        found = next(
            one
            for (_, _, threshold), one in result.structures[model].items()
            if threshold == SPEC.thresholds[0]
        )
        cells = [model]
        for kind, count in found.components.items():
            cells += [str(count)] + ([f"{100 * found.shares[kind]:.0f}", "%"] if count else [])
        assert row[: len(cells)] == cells
    assert "nothing more" in table


def test_the_report_says_which_question_each_component_asks(html: str) -> None:
    assert "<h3>Which question to ask</h3>" in html
    for text in ("do pieces of an object count?", "may objects share a prediction?",
                 "ask the clustering question as well"):  # fmt: skip
        assert text in html
