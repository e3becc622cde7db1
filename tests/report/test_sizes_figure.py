"""Recall by size as it is drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.container import ErrorbarContainer

import panmatch as pm
from panmatch.errors import OptionError
from panmatch.report import plot_sizes
from panmatch.report._sizes_figure import wilson_interval
from tests.report.results import made, row, two_classes, two_models

# Sizes of references are 10, 5, 2 in case a and 4, 4, 6 in case b. One-to-one at τ = 0.5 finds
# 10 (6/10) and 5 (4/5); in b 4 (3/5), 4 (3/4) and neither 6 (3/6) nor, in a, 2.
EDGES = [2, 5, 10]


def points(ax: Axes, at: int) -> list[list[float]]:
    drawn = ax.containers[at]
    assert isinstance(drawn, ErrorbarContainer)
    return np.asarray(drawn.lines[0].get_xydata()).tolist()  # type: ignore[no-any-return]


def bars(ax: Axes, at: int) -> list[list[list[float]]]:
    drawn = ax.containers[at]
    assert isinstance(drawn, ErrorbarContainer)
    return [segment.tolist() for segment in drawn.lines[2][0].get_segments()]


def test_recall_per_bin_by_hand() -> None:
    figure = plot_sizes(made(), bins=EDGES, threshold=0.5)
    (ax,) = figure.axes
    assert points(ax, 0) == [[0, 2 / 3], [1, 2 / 3]]  # 4, 4 of 2, 4, 4; 5, 10 of 5, 6, 10
    low, high = wilson_interval(2, 3)
    for place, bar in enumerate(bars(ax, 0)):
        assert np.allclose(bar, [[place, low], [place, high]])
    assert [label.get_text() for label in ax.get_xticklabels()] == ["2–5\nn = 3", "5–10\nn = 3"]
    assert ax.get_xlabel() == "reference size (voxels)"
    assert ax.get_ylabel() == "recall (95 % interval)"


def test_threshold_and_strategy_are_those_asked_for() -> None:
    (ax,) = plot_sizes(made(), bins=EDGES, threshold=0.3).axes
    assert points(ax, 0) == [[0, 2 / 3], [1, 1.0]]  # 6 is found at 3/6
    merged = made(None, {"": {"a": ("aaaabbbbbb", "aaaaaaaaaa")}})
    (ax,) = plot_sizes(merged, bins=[1, 5, 10], threshold=0.3).axes
    assert points(ax, 0) == [[0, 0.0], [1, 1.0]]
    figure = plot_sizes(merged, bins=[1, 5, 10], threshold=0.3, strategy="one-to-many")
    assert points(figure.axes[0], 0) == [[0, 1.0], [1, 1.0]]
    assert figure.get_suptitle() == (
        "τ = 0.3, one-to-many (best)\nat most 1 prediction per reference\n"
        "any number of references per prediction"
    )


def test_models_stand_side_by_side_in_every_bin() -> None:
    (ax,) = plot_sizes(two_models(), bins=EDGES, threshold=0.5).axes
    assert points(ax, 0) == [[-0.125, 2 / 3], [0.875, 2 / 3]]
    assert points(ax, 1) == [[0.125, 1 / 3], [1.125, 0.0]]  # the poor one finds one cell of size 4
    figure = plot_sizes(two_models(), bins=EDGES)
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["good", "poor"]
    assert plot_sizes(two_models(), models="poor").legends == []


def test_a_bin_without_references_is_left_out() -> None:
    (ax,) = plot_sizes(made(), bins=[2, 5, 7, 9, 11], threshold=0.5).axes
    assert [x for x, _ in points(ax, 0)] == [0, 1, 3]
    assert ax.get_xticklabels()[2].get_text() == "7–9\nn = 0"


def test_counts_that_differ_between_models_are_a_range() -> None:
    result = made(None, {"all": {"a": ("aabbbb", "aabbbb"), "b": ("cc", "cc")},
                         "some": {"a": ("aabbbb", "aabbbb")}})  # fmt: skip
    (ax,) = plot_sizes(result, bins=[1, 3, 5]).axes
    assert [label.get_text() for label in ax.get_xticklabels()] == [
        "1–3\nn = 1–2",
        "3–5\nn = 1",
    ]


def test_volumes_follow_the_spacing() -> None:
    result = pm.evaluate(reference=row("aabbbb"), prediction=row("aabbbb"), spacing=(2, 3))
    (ax,) = plot_sizes(result, bins=[12, 20, 24]).axes
    assert points(ax, 0) == [[0, 1.0], [1, 1.0]]
    assert ax.get_xlabel() == "reference size (mm²)"


@pytest.mark.parametrize(
    ("axes", "unit", "title"),
    [(2, "µm", "µm²"), (3, "mm", "mm³"), (3, "voxel", "voxels"), (1, "mm", "mm")],
)
def test_the_unit_is_that_of_the_spacing(axes: int, unit: Any, title: str) -> None:
    image = np.ones((3,) * axes, np.int64)
    result = pm.evaluate(reference=image, prediction=image, spacing=2, unit=unit)
    assert plot_sizes(result).axes[0].get_xlabel() == f"reference size ({title})"


def test_different_units_are_not_one() -> None:
    evaluator = pm.Evaluator({})
    for case, unit in (("a", "mm"), ("b", "µm")):
        image = row("aabb")
        evaluator.update(reference=image, prediction=image, case=case, spacing=1, unit=unit)  # type: ignore[arg-type]
    figure = plot_sizes(evaluator.compute())
    assert figure.axes[0].get_xlabel() == "reference size (mixed units)"


def test_a_panel_per_class() -> None:
    figure = plot_sizes(two_classes(), width="double", bins=1)
    assert [ax.get_title() for ax in figure.axes] == ["cell", "lesion"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bins": 0}, "bins=0 is neither a number of bins, 1 or more, nor two or more rising "
         "edges."),
        ({"threshold": 0.7}, "there are no scores at threshold=0.7: the spec lists 0.3, 0.5. "
         "Pass one of these, or add yours to the spec and evaluate again."),
        ({"strategy": "same"}, "strategy='same' is not known. Accepted: 'one-to-one', 'one-to-one "
         "(optimal)', 'many-to-one', 'many-to-one (merge, seed)', 'one-to-many', 'one-to-many "
         "(best)'."),
        ({"classes": "lesion"}, "classes='lesion' is not known. Accepted: 'object'."),
    ],
)  # fmt: skip
def test_what_is_not_there_is_an_error(options: Any, message: str) -> None:
    with pytest.raises(OptionError) as caught:
        plot_sizes(made(), **options)
    assert str(caught.value) == message


def test_a_class_without_references_is_an_error() -> None:
    spec = {"classes": {"cell": {"labels": [1, 2, 3, 4, 5]}, "absent": {"labels": 9}}}
    with pytest.raises(OptionError) as caught:
        plot_sizes(made(spec))
    assert str(caught.value) == (
        "the class 'absent' has no reference in any case, so recall is undefined: choose "
        "other classes with classes=[…]."
    )
