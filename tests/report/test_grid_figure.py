"""The table of strategies and thresholds."""

from __future__ import annotations

import math
from typing import Any

import pytest
from matplotlib.colors import to_rgb
from matplotlib.patches import Rectangle

import panmatch as pm
from panmatch.errors import OptionError
from panmatch.evaluation import matcher_of
from panmatch.report import plot_grid
from panmatch.report._style import luminance
from tests.report.results import CASES, draw, made, row, two_classes, two_models, with_parts


def pooled(strategy: str, threshold: float, quantity: str) -> float:
    matchings = [
        pm.match(pm.count_overlaps(row(ref), row(pred)), strategy, threshold)
        for ref, pred in CASES.values()
    ]
    tally = sum((matching.tally for matching in matchings), start=pm.Tally(0, 0, 0, 0.0))
    return float(getattr(tally, quantity))


@pytest.mark.parametrize("quantity", ["pq", "sq", "rq"])
def test_cells_are_pooled_scores(quantity: Any) -> None:
    (ax,) = plot_grid(made({"thresholds": [0.1, 0.3, 0.5]}), quantity=quantity).axes
    strategies = ["one-to-one", "many-to-one", "one-to-many"]
    expected = {
        (column, at): f"{pooled(strategy, threshold, quantity):.3f}"
        for at, strategy in enumerate(strategies)
        for column, threshold in enumerate([0.1, 0.3, 0.5])
    }
    assert {text.get_position(): text.get_text() for text in ax.texts} == expected
    assert len(set(expected.values())) > 3
    assert [label.get_text() for label in ax.get_xticklabels()] == ["0.1", "0.3", "0.5"]
    assert [label.get_text() for label in ax.get_yticklabels()] == [
        "one-to-one\n≤ 1 : ≤ 1",
        "many-to-one\nany : ≤ 1",
        "one-to-many\n≤ 1 : any",
    ]


def test_part_aware_scores_are_those_of_the_class_with_parts() -> None:
    result = with_parts()
    figure = plot_grid(result, quantity="part_pq", strategies="one-to-one")
    (ax,) = figure.axes
    scores = result.scores
    expected = scores[(scores["class"] == "cell") & (scores["strategy"] == "one-to-one")]
    assert [text.get_text() for text in ax.texts] == [f"{pq:.3f}" for pq in expected["part_pq"]]
    assert figure.get_supxlabel().startswith("threshold τ (values: pooled PartPQ)")
    with pytest.raises(OptionError, match=r"^quantity='part_sq' needs parts, but no class"):
        plot_grid(made(), quantity="part_sq")


def test_the_first_strategy_is_on_top() -> None:
    (ax,) = plot_grid(made()).axes
    low, high = ax.get_ylim()
    assert low > high


def test_higher_scores_are_darker_and_every_number_is_readable() -> None:
    scores = ["a" * n + "b" * (20 - n) for n in range(1, 21)]
    cases = {text: ("a" * 20, text.replace("b", ".")) for text in scores}
    result = made({"thresholds": 0.0, "matching": "one-to-one"}, {k: {k: v} for k, v in
                                                                 cases.items()})  # fmt: skip
    shades = []
    for chosen in (scores[:10], scores[10:]):
        for ax in plot_grid(result, models=chosen, width="double").axes:
            (cell,) = [patch for patch in ax.patches if isinstance(patch, Rectangle)]
            (text,) = ax.texts
            ink = luminance(to_rgb(text.get_color()))
            paper = luminance(to_rgb(cell.get_facecolor()))
            contrast = (max(ink, paper) + 0.05) / (min(ink, paper) + 0.05)
            assert contrast > 4.5
            shades.append((float(text.get_text()), paper))
    assert len(shades) == 20
    papers = [paper for _, paper in sorted(shades)]
    assert papers == sorted(papers, reverse=True)
    assert len(set(papers)) == 20


def test_a_panel_per_model() -> None:
    figure = plot_grid(two_models(), strategies="one-to-one", thresholds=0.5, width="double")
    assert [ax.get_title() for ax in figure.axes] == ["good", "poor"]
    assert [len(ax.texts) for ax in figure.axes] == [1, 1]
    assert [len(ax.get_yticklabels()) for ax in figure.axes] == [1, 0]
    stacked = plot_grid(two_models({"thresholds": [0.1, 0.2, 0.3, 0.4, 0.5]}))
    draw(stacked)
    first, second = (ax.get_position() for ax in stacked.axes)
    assert [len(ax.get_yticklabels()) for ax in stacked.axes] == [3, 3]
    assert (first.x0, first.x1) == (second.x0, second.x1)
    assert first.y0 > second.y1


def test_several_classes_are_averaged_unless_they_are_named() -> None:
    result = two_classes()
    (good, _) = plot_grid(result, width="double").axes
    means = {
        (matcher_of(one.setting), one.threshold): one.value for one in result.average_scores
        if (one.model, one.setting.class_name, one.score.name, one.averaging)
        == ("good", "mean of classes", "pq", "pooled")
    }  # fmt: skip
    assert [text.get_text() for text in good.texts] == [f"{mean:.3f}" for mean in means.values()]
    named = plot_grid(result, classes=["cell", "lesion"], width="double")
    assert [ax.get_title() for ax in named.axes] == [
        "good, cell", "poor, cell", "good, lesion", "poor, lesion"
    ]  # fmt: skip


def test_undefined_is_a_dash_on_white() -> None:
    spec = {"classes": {"cell": {"labels": [1, 2, 3, 4, 5]}, "absent": {"labels": 9}}}
    (ax,) = plot_grid(made(spec), classes="absent", strategies="one-to-one").axes
    assert [text.get_text() for text in ax.texts] == ["–"] * 3
    assert ax.patches[0].get_facecolor() == (1, 1, 1, 1)
    assert ax.texts[0].get_color() == "black"


def test_many_thresholds_have_two_digits() -> None:
    levels = [at / 20 for at in range(8)]
    result = made({"thresholds": levels})
    (ax,) = plot_grid(result).axes
    expected = pooled("one-to-one", 0.0, "pq")
    assert ax.texts[0].get_text() == f"{expected:.2f}"[1:]
    (wide,) = plot_grid(result, width="double").axes
    assert wide.texts[0].get_text() == f"{expected:.3f}"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"quantity": "PQ"}, "quantity='PQ' is not known. Accepted: 'pq', 'sq', 'rq', "
         "'part_pq', 'part_sq'."),
        ({"thresholds": 0.4}, "there are no scores at threshold=0.4: the spec lists 0.3, 0.5. Pass "
         "one of these, or add yours to the spec and evaluate again."),
        ({"thresholds": []}, "thresholds is empty: name at least one, or pass None for all."),
        ({"classes": "mean of things"}, "classes='mean of things' is not known. Accepted: "
         "'object'."),
    ],
)  # fmt: skip
def test_what_is_not_there_is_an_error(options: Any, message: str) -> None:
    with pytest.raises(OptionError) as caught:
        plot_grid(made(), **options)
    assert str(caught.value) == message


def test_thresholds_that_do_not_fit_are_an_error() -> None:
    result = made({"thresholds": [at / 40 for at in range(40)], "curve": False})
    with pytest.raises(OptionError, match=r"^40 thresholds do not fit into 2\.\d inches next to "
                       r"the names of strategies: choose fewer with thresholds=\[…\], or pass a "
                       r"larger width\.$"):  # fmt: skip
        plot_grid(result)
    assert len(plot_grid(result, thresholds=[0.0, 0.5]).axes[0].texts) == 6


def test_too_many_panels_are_an_error() -> None:
    result = made({"matching": "one-to-one"}, {f"m{at}": CASES for at in range(13)})
    with pytest.raises(OptionError) as caught:
        plot_grid(result)
    assert str(caught.value) == (
        "13 panels, one per model and class, do not fit into one figure: choose up to 12 with "
        "models=[…] and classes=[…]."
    )
    assert not math.isnan(float(plot_grid(result, models="m12").axes[0].texts[0].get_text()))
