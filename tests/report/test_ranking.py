"""The ranking in the report: ranks, circles, and who beats whom."""

from __future__ import annotations

import re

import numpy as np
import pytest

import panmatch as pm
from panmatch.report._page import render
from panmatch.report._ranking import ranking_section
from tests.datasets.covering import TWO_CLASSES, covering
from tests.report.pages import charts, without_scripts

THREE = {"a": [10, 10, 6, 6, 6, 6], "b": [7, 7, 7, 7, 7, 7], "c": [5, 5, 5, 5, 5, 5]}


def test_methods_stand_side_by_side() -> None:
    section = ranking_section(covering(THREE))
    assert section is not None
    assert section.methods == ["mean-then-rank", "rank-then-mean", "test-based"]
    assert {row.model: row.ranks for row in section.rows} == {
        "a": [1, 2, 1], "b": [2, 1, 1], "c": [3, 3, 1]
    }  # fmt: skip
    assert (section.classes, section.where) == (["object"], "one-to-one (optimal) at τ = 0.05")
    assert (section.cases, section.resamples) == (6, 2000)
    ranking = pm.rank(covering(THREE))
    assert section.same == float((ranking.bootstrap == [1, 2, 3]).all(axis=1).mean())


def test_areas_of_circles_are_shares_of_resamples() -> None:
    result = covering(THREE)
    ranking, section = pm.rank(result), ranking_section(result)
    assert section is not None
    assert section.chart is not None
    blobs = [one for one in section.chart["data"] if one.get("name")]
    assert [one["name"] for one in blobs] == ["c", "b", "a"]  # the best on top
    of_a = blobs[2]
    assert of_a["x"] == [1, 2]
    sizes = np.array(of_a["marker"]["size"])  # type: ignore[index]
    assert (sizes**2 / (sizes**2).sum()).tolist() == pytest.approx(
        ranking.rank_shares[0, :2].tolist(), abs=0.01
    )
    assert blobs[0]["text"] == ["100.0 %"]


def test_two_models_have_a_table_but_no_circles_and_one_has_neither() -> None:
    section = ranking_section(covering({"a": [9] * 8, "b": [5] * 8}))
    assert section is not None
    assert section.chart is None
    win = section.wins[0][1]
    assert win is not None
    assert (win.wins, win.share, win.p_value) == (1, 1.0, 2 / 256)
    assert section.wins[0][0] is None
    assert ranking_section(covering({"a": [9] * 8})) is None


def test_wins_are_counted_over_classes() -> None:
    models = {"a": [(10, 5)] * 8, "b": [(5, 6)] * 8, "c": [(4, 9)] * 8}
    section = ranking_section(covering(models, TWO_CLASSES))
    assert section is not None
    order = [row.model for row in section.rows]
    wins = {
        (first, second): win.wins
        for first, row in zip(order, section.wins, strict=True)
        for second, win in zip(order, row, strict=True)
        if win is not None
    }
    assert wins == {("a", "b"): 1, ("a", "c"): 1, ("b", "a"): 1, ("b", "c"): 1,
                    ("c", "a"): 1, ("c", "b"): 1}  # fmt: skip
    assert section.n_criteria == 2


def test_the_page_has_the_section() -> None:
    html = render(covering(THREE), {}, {})
    page = without_scripts(html)
    section = re.findall(r'<section id="ranking">.*?</section>', page, re.S)
    assert len(section) == 1
    assert "95 % of ranks" in section[0]
    assert 'id="ranking-blobs"' in section[0]
    assert "ranking-blobs" in charts(html)
    assert 'id="ranking"' not in without_scripts(render(covering({"a": [9]}), {}, {}))
