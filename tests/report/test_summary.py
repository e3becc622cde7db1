"""What a report shows first: cards, classes, cases, the title, and what to be careful about."""

from __future__ import annotations

import json
import re
from colorsys import hls_to_rgb
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import panmatch as pm
from panmatch.datasets import (
    Job,
    RunOptions,
    averages_with_samples,
    compare,
    listed_cases,
    load_run,
    pair,
    resampling_of,
    run_dataset,
    spread,
)
from panmatch.evaluation import CaseResult, Findings, matcher_of
from panmatch.report import write_report
from panmatch.report._cautions import cautions
from panmatch.report._curve_charts import coinciding_curves, curve_charts
from panmatch.report._page import render
from panmatch.report._style import luminance
from panmatch.report._summary import places_to_look
from panmatch.report._tables import ShadedValue
from panmatch.scoring import LOSS_LOOKS
from panmatch.spec import as_spec
from tests.datasets.folders import make_folders
from tests.report.pages import data, without_scripts
from tests.report.part_runs import run_with_parts

SPEC = as_spec(
    {"matching": ["one-to-one", "many-to-one"], "thresholds": [0.3, 0.5], "metrics": ["dice"]}
)


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("summary")
    layout = make_folders(folder, 4, models=("near", "far"))
    run_dataset(pair(layout), Job(SPEC.canonical()), folder / "out", RunOptions())
    write_report(folder / "out")
    return folder / "out"


@pytest.fixture(scope="module")
def html(out: Path) -> str:
    return (out / "report.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def out_with_parts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = run_with_parts(tmp_path_factory.mktemp("parts"))
    write_report(folder)
    return folder


def card_of(html: str, class_id: str, model: str) -> str:
    """Return the text of a card, with single spaces."""
    summary = html.split('<section id="summary"')[1].split("</section>")[0]
    block = summary.split(f'data-class="{class_id}"')[1].split('class="of-class')[0]
    card = block.split(f'aria-label="{model}"')[1].split("</article>")[0]
    return " ".join(re.sub(r"<[^>]*>", " ", card).split())


@pytest.mark.parametrize("model", ["near", "far"])
def test_a_card_has_the_numbers_of_the_averages(out_with_parts: Path, model: str) -> None:
    result = load_run(out_with_parts)
    card = card_of((out_with_parts / "report.html").read_text(encoding="utf-8"), "c0", model)
    found = {
        one.score.name: one
        for one in averages_with_samples(result, model, result.spec.matching[0])
        if one.setting.class_name == "cell"
        and one.averaging == "pooled"
        and one.threshold in (None, 0.3)
    }
    for name, title in (("pq", "PQ"), ("part_pq", "PartPQ"), ("autc", "AUTC")):
        ends = spread(found[name], resampling_of(result, model))
        assert f"{title} {found[name].value:.3f} {ends.low:.3f} – {ends.high:.3f}" in card
    series = next(
        one for one in result.series
        if (one.model, one.setting.class_name, one.setting.matcher)
        == (model, "cell", result.spec.matching[0])
    )  # fmt: skip
    tally = sum((entry.level(0.3).tally for entry in series.entries if entry), pm.Tally(0, 0, 0, 0))
    assert f"TP, FP, FN {tally.tp}, {tally.fp}, {tally.fn}" in card
    assert f"precision, recall {tally.precision:.3f}, {tally.recall:.3f}" in card
    assert f"SQ (hd95) {found['sq_hd95'].value:.3f} mm" in card
    gains = dict(re.findall(r"(\w+(?: \w+)?) \+([\d.]+)", card.split("PQ to gain by fixing:")[1]))
    lost = {LOSS_LOOKS[kind].title: f"{loss:.3f}" for kind, loss in series.losses(0.3).items()}
    assert gains == {kind: loss for kind, loss in lost.items() if loss != "0.000"}
    place = next(one for one in first_ranking(result) if one.model == model)
    assert f"rank {place.rank:g} of 2" in card
    assert f"first in resamples {100 * place.first_share:.0f} %" in card


def first_ranking(result: pm.Result) -> list[Any]:
    return next(
        placings
        for criterion, placings in compare(result).rankings.items()
        if criterion.setting.class_name == "cell"
    )


def test_every_class_and_model_has_its_pq_and_the_best_is_marked(out_with_parts: Path) -> None:
    html = (out_with_parts / "report.html").read_text(encoding="utf-8")
    rows = html.split('<section id="classes">')[1].split("<tbody>")[1].split("</tbody>")[0]
    result = load_run(out_with_parts)
    pooled = {
        (one.setting.class_name, one.model): one.value
        for one in result.average_scores
        if (one.score.name, one.averaging, one.threshold) == ("pq", "pooled", 0.3)
        and matcher_of(one.setting) == result.spec.matching[0]
    }
    for row in rows.split("</tr>")[:-1]:
        name = re.search(r"<bdi[^>]*>(.*?)</bdi>", row)
        assert name is not None
        shown = re.findall(r'<td class="n( best)?">(0\.\d+|1\.000)', row)
        values = [pooled[name[1], model] for model in result.models]
        assert [text for _, text in shown] == [f"{value:.3f}" for value in values]
        assert [bool(mark) for mark, _ in shown] == [value == max(values) for value in values]


def test_the_script_gets_the_scores_of_every_case(out_with_parts: Path) -> None:
    found = data((out_with_parts / "report.html").read_text(encoding="utf-8"))["cases"]
    titles = [f"{column['title']} {column['unit']}".strip() for column in found["columns"]]
    assert titles == [
        "PQ", "TP", "FP", "FN", "PartPQ", "SQ", "RQ", "AUTC", "PartAUTC", "SQ (dice)",
        "SQ (hd95) mm",
    ]  # fmt: skip
    scores = load_run(out_with_parts).scores
    first = scores[(scores["strategy"] == "one-to-one") & (scores["threshold"] == 0.3)]
    keys = [
        "pq",
        "tp",
        "fp",
        "fn",
        "part_pq",
        "sq",
        "rq",
        "autc",
        "part_autc",
        "sq_dice",
        "sq_hd95",
    ]
    for one in found["classes"].values():
        for i, (case, model) in enumerate(zip(one["case"], one["model"], strict=True)):
            row = first[
                (first["case"] == found["cases"][case])
                & (first["model"] == found["models"][model])
                & (first["class"] == one["name"])
            ].iloc[0]
            expected = [None if np.isnan(row[key]) else round(row[key], 3) for key in keys]
            assert [column[i] for column in one["values"]] == expected
    assert len(found["classes"]["c0"]["case"]) == 10
    assert len(found["classes"]["c0"]["pictures"]) == 8


def test_sq_ends_where_nothing_is_found_and_pq_is_zero_there() -> None:
    result = pm.evaluate(reference=[[1, 1, 1, 1]], prediction=[[1, 1, 1, 0]])
    drawn: Any = curve_charts(result, "object")
    assert (drawn["sq"]["data"][0]["x"], drawn["sq"]["data"][0]["y"]) == (
        [0, 0.75, 0.75, 1], [0.75, 0.75, None, None],
    )  # fmt: skip
    assert drawn["pq"]["data"][0]["y"] == [0.75, 0, 0]


def test_curves_that_coincide_are_named_together() -> None:
    evaluator = pm.Evaluator({"thresholds": 0.5})
    halves = [[1, 1, 1, 2, 2]]
    for model, prediction in (("a", halves), ("b", halves), ("c", [[1, 1, 1, 1, 1]])):
        evaluator.update(reference=[[1] * 5], prediction=prediction, case="x", model=model)
    one, many, other = (matcher.label for matcher in as_spec({}).matching)
    # Pieces count once under many-to-one, and nothing else tells the strategies apart.
    assert coinciding_curves(evaluator.compute(), "object") == [
        [f"a, {one}", f"a, {other}", f"b, {one}", f"b, {other}"],
        [f"a, {many}", f"b, {many}"],
        [f"c, {one}", many, other],
    ]


def test_what_is_undefined_failed_or_unproven_is_said_on_top() -> None:
    evaluator = pm.Evaluator({"matching": "one-to-one", "thresholds": 0.5})
    for case, labels in (("a", [[1, 1]]), ("b", [[0, 0]]), ("c", [[0, 0]])):
        evaluator.update(reference=labels, prediction=labels, case=case)
    result = evaluator.compute()
    assert cautions(result)[0] == (
        "PQ is undefined for cases without any object: object (2 of 3 cases). Means of cases "
        "leave them out; pooled scores are not affected."
    )
    broken = CaseResult("d", "", "failed", "headers differ:\nsecond line")
    assert cautions(result + pm.Result(result.spec, (broken,)))[0] == (
        "1 case failed and is not included in any score: d; headers differ:"
    )
    first = result.cases[0]
    level = replace(first.entries[0].levels[0], gap=0.25)
    entry = replace(first.entries[0], levels=(level,))
    unproven = pm.Result(result.spec, (replace(first, found=Findings((entry,))),))
    said = "Some optimal matchings are not proven: up to 0.25 of PQ may be missing (column gap)."
    assert said in cautions(unproven)


def test_text_on_shades_and_on_models_can_be_read(html: str) -> None:
    for value in np.linspace(0, 1, 101):
        shade = ShadedValue(float(value))
        behind = luminance(hls_to_rgb(205 / 360, shade.lightness / 100, 0.65))
        ink = 1.0 if shade.is_dark else 0.0
        assert (max(behind, ink) + 0.05) / (min(behind, ink) + 0.05) > 4.5
    for paper, ink in re.findall(r"--m\d: (#\w{6}); --on-m\d: (#\w+);", html):
        red, green, blue = bytes.fromhex(paper[1:])
        lightness = luminance((red / 255, green / 255, blue / 255))
        other = 1.0 if ink == "#fff" else 0.0
        assert (max(lightness, other) + 0.05) / (min(lightness, other) + 0.05) > 4.5


def escaped(text: str) -> str:
    """Return text as it stands in HTML."""
    for sign, entity in (
        ("&", "&amp;"),
        ("<", "&lt;"),
        (">", "&gt;"),
        ("'", "&#39;"),
        ('"', "&#34;"),
    ):
        text = text.replace(sign, entity)
    return text


def test_the_title_is_that_of_the_folder_or_the_one_that_is_given(
    out: Path, tmp_path: Path
) -> None:
    page = without_scripts((out / "report.html").read_text(encoding="utf-8"))
    assert "<title>out · panmatch report</title>" in page
    for option in ("Fold 0", "<b>'\"&"):
        page = write_report(out, tmp_path / "page.html", title=option).read_text(encoding="utf-8")
        assert f"<title>{escaped(option)} · panmatch report</title>" in page
        assert f"<h1><bdi>{escaped(option)}</bdi></h1>" in page
        assert option == "Fold 0" or option not in without_scripts(page)


def test_it_says_where_the_data_are_and_when_they_were_evaluated(html: str, out: Path) -> None:
    page = without_scripts(html)
    run = json.loads((out / "run.json").read_text())
    assert "4 cases · 2 models ·" in " ".join(page.split())
    assert "references in <bdi>ref</bdi>" in page
    assert run["began"][:10] in page.split("</header>")[0]
    for folder in ("ref", "near", "far"):
        assert f"<bdi>{out.parent / folder}</bdi>" in page.split('<section id="spec">')[1]


def test_a_page_of_200_cases_and_3_models_stays_below_8_megabytes(out_with_parts: Path) -> None:
    result = load_run(out_with_parts)
    of_model = result.evaluated("near")
    cases = tuple(
        replace(of_model[i % len(of_model)], case=f"case {i:03}", model=model)
        for model in ("a", "b", "c")
        for i in range(200)
    )
    text = render(pm.Result(result.spec, cases), {}, {})
    assert len(text.encode()) < 8_000_000
    assert len(data(text)["cases"]["classes"]["c0"]["case"]) == 600
    assert without_scripts(text).count("case 123") == 1  # rows are drawn by the script


def test_the_costliest_mistakes_are_listed_with_commands(out: Path, html: str) -> None:
    section = html.split('<section id="look-first">')[1].split("</section>")[0]
    result = load_run(out)
    rows = section.split("<tbody>")[1].split("</tr>")[:-1]
    expected = [one for model in result.models for one in result.look_first(4, model)]
    assert len(rows) == len(expected) == 8
    for row, one in zip(rows, expected, strict=True):
        assert f">{one.case}</bdi>" in row
        assert one.what in row
        assert f'<td class="n">{one.cost:.3f}</td>' in row
        assert f'<td class="n">{one.slice}</td>' in row
        command = f"panmatch play {out} --case {one.case} --model {one.model} --slice {one.slice}"
        assert command in unescape(row)
        ends = zip(one.start, one.stop, strict=True)
        box = " × ".join(f"{a}–{b - 1}" if b - a > 1 else f"{a}" for a, b in ends)
        assert f'<td class="box">{box}</td>' in row


def test_without_a_folder_or_mistakes_there_are_no_commands_or_places(out: Path) -> None:
    result, cases = load_run(out), listed_cases(out)
    assert {one.command for one in places_to_look(result, cases, None)} == {None}
    same = np.array([[1, 1, 0, 2]])
    perfect = pm.evaluate(reference=same, prediction=same)
    assert 'id="look-first"' not in render(perfect, {}, {})


def test_strategies_of_one_model_have_the_colours_of_the_playground(out: Path) -> None:
    one = pm.evaluate(reference=[[1, 1, 0, 2]], prediction=[[3, 3, 0, 0]])
    hues = [matcher.strategy.hue for matcher in one.spec.matching]
    assert _colours(one) == [hue[0] for hue in hues]
    assert len(set(hues)) == 3
    page = render(one, {}, {})
    for light, dark in hues:
        assert f"stroke: light-dark({light}, {dark})" in page
        assert data(page)["dark"][light] == dark
    models = set(_colours(load_run(out)))
    assert len(models) == 2
    assert not models & {hue[0] for hue in hues}


def _colours(result: pm.Result) -> list[str]:
    drawn: Any = curve_charts(result, "object")["pq"]["data"]
    return [line["line"]["color"] for line in drawn]
