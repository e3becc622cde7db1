"""Threshold curves: exact steps, areas, and who is drawn how."""

from __future__ import annotations

import re
from io import BytesIO
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

import panmatch as pm
from panmatch.errors import OptionError
from panmatch.matching import Dash
from panmatch.report import plot_curve
from panmatch.report._style import score_limits, series_look
from tests.report.results import CASES, WORSE, made, row, two_classes, two_models, with_parts


def pooled_curve(strategy: str, cases: dict[str, tuple[str, str]] = CASES) -> pm.Curve:
    overlaps = [pm.count_overlaps(row(ref), row(pred)) for ref, pred in cases.values()]
    first, *rest = (pm.curve(overlap, strategy) for overlap in overlaps)
    for other in rest:
        first = first + other
    return first


def dashes(figure: Figure) -> list[Dash]:
    """Return strokes and gaps in line widths: of the curves, then of those in the legend."""
    file = BytesIO()
    figure.savefig(file, format="svg")
    lines = re.findall(
        r'<g id="line2d_\d+">\s*<path d="[^"]*" style="([^"]*)"/>', file.getvalue().decode()
    )
    found: list[Dash] = []
    for line in lines:
        width, dash = (
            re.search(pattern, line)
            for pattern in (r"stroke-width: ([\d.]+)", r"stroke-dasharray: ([\d., ]+)")
        )
        if width is not None and float(width[1]) > 1:
            lengths = [] if dash is None else re.split("[, ]+", dash[1])
            found.append(tuple(round(float(n) / float(width[1]), 6) for n in lengths))
    return found


@pytest.mark.parametrize("quantity", ["pq", "sq", "rq"])
def test_steps_are_those_of_the_summed_curves(quantity: Any) -> None:
    figure = plot_curve(made(), quantity=quantity)
    lines = figure.axes[0].get_lines()
    assert len(lines) == 3
    for line, strategy in zip(lines, ("one-to-one", "many-to-one", "one-to-many"), strict=True):
        curve = pooled_curve(strategy)
        heights = getattr(curve, quantity)
        assert np.array_equal(line.get_xdata(), [*curve.thresholds, 1.0])
        assert np.allclose(line.get_ydata(), [*heights, heights[-1]], rtol=0, atol=1e-15)
        assert line.get_drawstyle() == "steps-post"
    assert figure.axes[0].get_ylabel() == quantity.upper()


@pytest.mark.parametrize(
    ("quantity", "area", "name"),
    [("pq", "autc", "AUTC"), ("sq", "autc_sq", "AUTC_SQ"), ("rq", "autc_rq", "AUTC_RQ")],
)
def test_the_legend_has_areas_and_both_bounds(quantity: Any, area: str, name: str) -> None:
    legend = plot_curve(made(), quantity=quantity).axes[0].get_legend()
    assert legend is not None
    assert legend.get_title().get_text() == f"strategy (preds per ref : refs per pred): {name}"
    found = [text.get_text() for text in legend.get_texts()]
    bounds = {"one-to-one": "≤ 1 : ≤ 1", "many-to-one": "any : ≤ 1", "one-to-many": "≤ 1 : any"}
    assert found == [
        f"{strategy} ({both}): {getattr(pooled_curve(strategy), area):.3f}"
        for strategy, both in bounds.items()
    ]
    assert len(set(found)) == 3


def test_colour_tells_models_and_dash_strategies_where_there_are_several_of_both() -> None:
    figure = plot_curve(two_models(), strategies=["one-to-one", "many-to-one"])
    lines = figure.axes[0].get_lines()
    looks = [(line.get_color(), line.get_marker()) for line in lines]
    assert looks[0] == looks[1] != looks[2] == looks[3]
    assert looks[0] == (series_look(0).color, series_look(0).marker)
    styles = [line.get_linestyle() for line in lines]
    assert styles[0] == styles[2] != styles[1] == styles[3]
    label = lines[3].get_label()
    assert isinstance(label, str)
    assert label.startswith("poor, many-to-one (any : ≤ 1): ")


def test_models_under_one_strategy_differ_in_colour_and_marker() -> None:
    result = two_models()
    figure = plot_curve(result, strategies="many-to-one")
    lines = figure.axes[0].get_lines()
    assert [line.get_color() for line in lines] == [series_look(i).color for i in (0, 1)]
    assert [line.get_marker() for line in lines] == [series_look(i).marker for i in (0, 1)]
    assert dashes(figure)[:2] == [pm.ManyToOne().dash] * 2
    areas = [
        average.value for average in result.average_scores
        if (average.score.name, average.averaging) == ("autc", "pooled")
        and average.setting.strategy == "many-to-one"
    ]  # fmt: skip
    labels = [f"good: {areas[0]:.3f}", f"poor: {areas[1]:.3f}"]
    assert len(figure.axes[0].collections) == 2
    assert [line.get_label() for line in lines] == labels
    legend = figure.axes[0].get_legend()
    assert legend is not None
    assert legend.get_title().get_text() == (
        "many-to-one (merge, seed)\nany number of predictions per reference\n"
        "at most 1 reference per prediction\nmarkers at τ = 0.3, 0.5\nmodel: AUTC"
    )


def test_the_line_of_a_strategy_has_its_dash() -> None:
    matching = [
        {"strategy": "one-to-one", "solver": "greedy"},
        {"strategy": "many-to-one", "gate": "edge"},
        {"strategy": "many-to-one", "regions": True},
    ]
    result = made({"matching": matching})
    expected = [matcher.dash for matcher in result.spec.matching]
    assert expected == [(4.0, 1.6), (7.0, 2.0, 1.5, 2.0), (14.0, 1.5, 7.0, 2.0)]
    assert dashes(plot_curve(result))[:3] == expected
    only = plot_curve(result, strategies="many-to-one (merge, edge)")
    assert dashes(only)[:1] == expected[1:2]


def test_a_single_model_has_the_colours_of_the_playground_and_no_markers() -> None:
    ax = plot_curve(made()).axes[0]
    lines = ax.get_lines()
    hues = [strategy.hue[0] for strategy in (pm.OneToOne, pm.ManyToOne, pm.OneToMany)]
    assert [line.get_color() for line in lines] == hues
    assert {line.get_marker() for line in lines} == {""}
    assert len(ax.collections) == 0
    widths = [line.get_linewidth() for line in lines]
    assert widths == sorted(widths, reverse=True)  # so that all are seen where they coincide


def test_markers_stand_on_the_curves_at_the_thresholds_of_the_spec() -> None:
    ax = plot_curve(two_models(), strategies="many-to-one").axes[0]
    for points, cases in zip(ax.collections, (CASES, WORSE), strict=True):
        curve = pooled_curve("many-to-one", cases)
        expected = [[0.3, curve.at(0.3).pq], [0.5, curve.at(0.5).pq]]
        assert np.allclose(np.asarray(points.get_offsets()), expected, rtol=0, atol=1e-12)


def test_many_markers_are_counted_in_the_legend() -> None:
    result = two_models({"thresholds": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]})
    legend = plot_curve(result, width="double").axes[0].get_legend()
    assert legend is not None
    assert legend.get_title().get_text() == (
        "model, strategy (preds per ref : refs per pred): AUTC\n"
        "markers at the 6 thresholds of the spec"
    )


def test_a_wide_legend_has_a_column_per_strategy() -> None:
    ax = plot_curve(two_models(), strategies=["one-to-one", "many-to-one"], width="double").axes[0]
    legend = ax.get_legend()
    assert legend is not None
    names = [text.get_text().split(" (")[0] for text in legend.get_texts()]
    assert names == ["good, one-to-one", "poor, one-to-one", "good, many-to-one",
                     "poor, many-to-one"]  # fmt: skip


def test_panels_share_an_axis_that_fits_all_their_curves() -> None:
    figure = plot_curve(two_classes(), width="double")
    heights = np.concatenate([np.asarray(line.get_ydata(), np.float64) for ax in figure.axes
                              for line in ax.get_lines()])  # fmt: skip
    assert {ax.get_ylim() for ax in figure.axes} == {score_limits(heights)}


@pytest.mark.parametrize(
    ("quantity", "title", "area"),
    [("part_pq", "PartPQ", "PartAUTC"), ("part_sq", "PartSQ", "PartAUTC_SQ")],
)
def test_part_aware_scores_have_curves_of_their_own(quantity: Any, title: str, area: str) -> None:
    result = with_parts()
    (ax,) = plot_curve(result, quantity=quantity, strategies="one-to-one").axes  # cells only
    assert ax.get_ylabel() == title
    (entry,) = result.series[0].entries
    assert entry is not None
    assert entry.part_curve is not None
    heights = getattr(entry.part_curve, quantity.removeprefix("part_"))
    assert heights[0] < getattr(entry.curve, quantity.removeprefix("part_"))[0]
    (line,) = ax.get_lines()
    assert np.array_equal(line.get_ydata(), [*heights, heights[-1]])
    legend = ax.get_legend()
    assert legend is not None
    assert legend.get_title().get_text().endswith(f": {area}")
    name = area.lower().removeprefix("part")
    assert str(line.get_label()).endswith(f": {getattr(entry.part_curve, name):.3f}")


def test_part_aware_scores_without_parts_are_an_error() -> None:
    with pytest.raises(OptionError) as caught:
        plot_curve(made(), quantity="part_pq")
    assert str(caught.value) == (
        "quantity='part_pq' needs parts, but no class of the result has any: declare them with "
        "`parts` in the spec and evaluate again, or pass 'pq'."
    )
    with pytest.raises(OptionError, match="classes='rest' is not known"):
        plot_curve(with_parts(), quantity="part_pq", classes="rest")


def test_a_panel_for_every_class() -> None:
    figure = plot_curve(two_classes(), width="double")
    assert [ax.get_title() for ax in figure.axes] == ["cell", "lesion"]
    assert [len(ax.get_lines()) for ax in figure.axes] == [6, 6]
    only = plot_curve(two_classes(), classes="lesion", models="poor", strategies="one-to-one")
    (ax,) = only.axes
    assert ax.get_title() == ""
    assert len(ax.get_lines()) == 1
    assert np.asarray(ax.get_lines()[0].get_ydata()).tolist() == [0.0, 0.0]  # all lesions missed


def test_strategies_with_options_are_named_with_them() -> None:
    matching = ["many-to-one", {"strategy": "many-to-one", "gate": "edge"}, "one-to-one"]
    result = made({"matching": matching})
    labels = [line.get_label() for line in plot_curve(result).axes[0].get_lines()]
    area = pooled_curve("one-to-one").autc
    assert labels[2] == f"one-to-one (≤ 1 : ≤ 1): {area:.3f}"
    assert [str(label).split(": ")[0] for label in labels[:2]] == [
        "many-to-one (merge, seed) (any ",
        "many-to-one (merge, edge) (any ",
    ]
    both = plot_curve(result, strategies="many-to-one").axes[0].get_lines()
    one = plot_curve(result, strategies="many-to-one (merge, edge)").axes[0].get_lines()
    assert (len(both), len(one)) == (2, 1)


def test_a_class_without_objects_has_no_area() -> None:
    spec = {"classes": {"cell": {"labels": [1, 2, 3, 4, 5]}, "absent": {"labels": 9}}}
    figure = plot_curve(made(spec), classes="absent", strategies="one-to-one")
    assert figure.axes[0].get_lines()[0].get_label() == "one-to-one (≤ 1 : ≤ 1): –"


def test_a_model_without_the_class_has_no_line() -> None:
    kinds = [pm.SegmentClass(1, "cell"), pm.SegmentClass(2, "nucleus")]
    evaluator = pm.Evaluator({"encoding": "coco", "matching": "one-to-one"})
    for model, name in (("first", 1), ("second", 2)):
        side = pm.from_maps(np.full((1, 3), name), np.ones((1, 3), np.int64), kinds)
        evaluator.update(reference=side, prediction=side, model=model, case="a")
    figure = plot_curve(evaluator.compute(), classes=["nucleus"], models=["first"])
    assert len(figure.axes[0].get_lines()) == 0
    assert figure.axes[0].get_legend() is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"quantity": "auc"}, "quantity='auc' is not known. Accepted: 'pq', 'sq', 'rq', "
         "'part_pq', 'part_sq'."),
        ({"classes": "objects"}, "classes='objects' is not known; did you mean 'object'? "
         "Accepted: 'object'."),
        ({"classes": []}, "classes is empty: name at least one, or pass None for all."),
        ({"models": ["u-net"]}, "models='u-net' is not known. Accepted: ''."),
        ({"strategies": "one-to-on"}, "strategies='one-to-on' is not known; did you mean "
         "'one-to-one'? Accepted: 'one-to-one', 'one-to-one (optimal)', 'many-to-one', "
         "'many-to-one (merge, seed)', 'one-to-many', 'one-to-many (best)'."),
        ({"strategies": ()}, "strategies is empty: name at least one, or pass None for all."),
    ],
)  # fmt: skip
def test_names_that_are_not_there_are_errors(options: Any, message: str) -> None:
    with pytest.raises(OptionError) as caught:
        plot_curve(made(), **options)
    assert str(caught.value) == message


def test_without_curves_the_spec_is_to_blame() -> None:
    with pytest.raises(OptionError) as caught:
        plot_curve(made({"curve": False}))
    assert str(caught.value) == (
        "the result has no curves, because its spec says `curve: false`: evaluate with "
        "`curve: true`."
    )


def test_too_many_classes_must_be_named() -> None:
    classes = {f"k{number}": {"labels": number} for number in range(1, 14)}
    result = made({"classes": classes, "matching": "one-to-one"})
    with pytest.raises(OptionError) as caught:
        plot_curve(result)
    assert str(caught.value) == (
        "the result has 13 classes, which do not fit into one figure: choose up to 12 with "
        "classes=[…], such as 'k1'."
    )
    assert len(plot_curve(result, classes=["k1", "k13"]).axes) == 2


def test_a_result_without_scores_says_so() -> None:
    failed = pm.evaluation.CaseResult("a", status="failed", reason="broken")
    with pytest.raises(OptionError) as caught:
        plot_curve(pm.Result(made().spec, (failed,)))
    assert str(caught.value) == (
        "the result has no scores to draw; all 1 cases failed: see `scores` and `failures` of the "
        "result."
    )
