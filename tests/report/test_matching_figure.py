"""The bipartite graph as it is drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import Collection, PathCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

import panmatch as pm
from panmatch.errors import OptionError
from panmatch.report import plot_matching
from panmatch.report._style import OTHER, STATUSES
from tests import scenes
from tests.scenes import overlap, strip

# Reference a (10) has fragments a (6) and b (4); b (5) is covered by c (4); c is missed, d
# spurious.
SCENE = overlap("aaaaaaaaaabbbbb...cc...", "aaaaaabbbbcccc.......dd")


def lines(figure: Figure) -> tuple[list[Any], list[Any]]:
    """Return thin and bold edges as ((x, y), (x, y))."""
    thin, bold = figure.axes[0].collections[:2]
    return [[line.tolist() for line in edges.get_segments()] for edges in (thin, bold)]  # type: ignore[attr-defined, return-value]


def color_of(dots: Collection) -> str:
    return to_hex(np.atleast_2d(dots.get_facecolor())[0]).upper()


def nodes(ax: Axes, status: str) -> list[list[float]]:
    look = STATUSES[status]
    return [
        point
        for dots in ax.collections[2:]
        if color_of(dots) == look.color
        for point in np.asarray(dots.get_offsets()).tolist()
    ]


def words(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.texts]


def test_edges_above_the_threshold_are_thin_and_chosen_ones_bold() -> None:
    figure = plot_matching(pm.match(SCENE, "one-to-one", 0.3))
    thin, bold = lines(figure)
    assert (len(thin), len(bold)) == (1, 2)  # a–b (0.4) loses to a–a (0.6)
    assert {"0.60", "0.80"} <= set(words(figure.axes[0]))
    assert "0.40" not in words(figure.axes[0])
    higher = plot_matching(pm.match(SCENE, "one-to-one", 0.5))
    assert [len(found) for found in lines(higher)] == [0, 2]


def test_edges_below_the_threshold_are_bold_where_they_were_chosen() -> None:
    figure = plot_matching(pm.match(SCENE, "many-to-one", 0.5))
    assert [len(found) for found in lines(figure)] == [0, 3]
    assert {"0.60", "0.40", "0.80"} <= set(words(figure.axes[0]))


def test_edges_end_at_their_nodes() -> None:
    matching = pm.match(SCENE, "many-to-one", 0.3)
    figure = plot_matching(matching)
    (ax,) = figure.axes
    matched = nodes(ax, "matched")
    for start, end in lines(figure)[1]:
        assert start[0] == 0.0
        assert end[0] == 1.0
        assert start in matched
        assert end in matched
    assert len(matched) == 2 + 3


def test_missed_and_false_objects_are_marked() -> None:
    (ax,) = plot_matching(pm.match(SCENE, "one-to-one", 0.5)).axes
    assert [x for x, _ in nodes(ax, "missed")] == [0.0]
    assert [x for x, _ in nodes(ax, "false positive")] == [1.0, 1.0]
    assert [text for text in words(ax) if "FN" in text] == ["FN  3 · 2"]
    assert sorted(text for text in words(ax) if "FP" in text) == ["2 · 4  FP", "4 · 2  FP"]
    assert {"1 · 10", "2 · 5", "1 · 6", "3 · 4"} <= set(words(ax))


def test_nodes_grow_with_voxels() -> None:
    (ax,) = plot_matching(pm.match(SCENE, "one-to-one", 0.5)).axes
    refs = next(dots for dots in ax.collections[2:] if np.asarray(dots.get_offsets())[0, 0] == 0)
    areas = np.asarray(refs.get_sizes()).tolist()  # type: ignore[attr-defined]
    assert areas == [14 + 110 * 10 / 10, 14 + 110 * 5 / 10]


def test_words_name_the_strategy_its_bounds_and_the_tally() -> None:
    (ax,) = plot_matching(pm.match(SCENE, pm.ManyToOne(gate="edge"), 0.3)).axes
    assert ax.get_title() == (
        "many-to-one (merge, edge)\n"
        "any number of predictions per reference\nat most 1 reference per prediction"
    )
    tally = pm.match(SCENE, pm.ManyToOne(gate="edge"), 0.3).tally
    assert ax.get_xlabel() == f"τ = 0.3:  TP 2   FP 1   FN 1   PQ {tally.pq:.3f}"


def test_another_score_is_shown_by_its_name() -> None:
    figure = plot_matching(pm.match(SCENE, "one-to-one", 0.5, score="dice"))
    assert "0.75" in words(figure.axes[0])  # 2·6/(10 + 6)
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()][:2] == ["Dice > τ", "chosen, with Dice"]


def test_pieces_of_matched_predictions_are_no_false_positives() -> None:
    reference, prediction = strip("aaaa....bb"), strip("aaaaaaaaaa")
    regions = pm.count_region_overlaps(reference, prediction)
    (ax,) = plot_matching(pm.match(regions, "one-to-one", 0.5)).axes
    assert nodes(ax, "false positive") == []
    colours = {color_of(dots) for dots in ax.collections[2:]}
    assert OTHER.color in colours
    united = pm.match(pm.count_region_overlaps(strip("aaaa"), strip("aabb")), "union", 0.5)
    assert "1+2 · 4" in words(plot_matching(united).axes[0])


def test_what_does_not_fit_is_counted() -> None:
    graph = pm.Overlap.from_dense(np.eye(9, dtype=int) * 5, [5] * 9, [5] * 9)
    figure = plot_matching(pm.match(graph), most=4)
    assert [len(found) for found in lines(figure)] == [0, 4]
    assert figure.axes[0].get_xlabel().endswith("\nnot shown: 5 references, 5 predictions")
    assert "not shown" not in plot_matching(pm.match(graph), most=9).axes[0].get_xlabel()


def test_entangled_objects_come_before_lone_ones_and_pairs_last() -> None:
    (ax,) = plot_matching(pm.match(SCENE, "many-to-one", 0.3)).axes
    rows = {text.get_text(): text.xy[1] for text in ax.texts if hasattr(text, "xy")}
    assert rows["1 · 10"] < rows["FN  3 · 2"] < rows["2 · 5"]
    assert rows["FN  3 · 2"] == rows["4 · 2  FP"]


def test_partners_stand_in_the_same_order_so_that_few_edges_cross() -> None:
    graph = pm.Overlap.from_dense([[1, 0, 5], [0, 5, 1], [5, 1, 0]], [9] * 3, [9] * 3)
    figure = plot_matching(pm.match(graph, "one-to-one", 0.0))
    thin, bold = lines(figure)
    edges = [(start[1], end[1]) for start, end in thin + bold]
    crossings = sum((a - c) * (b - d) < 0 for at, (a, b) in enumerate(edges) for c, d in edges[:at])
    assert crossings <= 3  # a cycle of six edges in two columns; as numbered there are 5


@pytest.mark.parametrize("name", ["empty", "no reference", "no prediction"])
def test_empty_sides_are_fine(name: str) -> None:
    figure = plot_matching(pm.match(scenes.ALL[name]))
    assert [len(found) for found in lines(figure)] == [0, 0]
    if name == "empty":
        assert figure.axes[0].get_xlabel().endswith("PQ –")


@pytest.mark.parametrize("most", [0, True, 2.5])
def test_no_rows_is_an_error(most: Any) -> None:
    with pytest.raises(OptionError) as caught:
        plot_matching(pm.match(SCENE), most=most)
    assert str(caught.value) == f"most={most!r} is not a number of rows: pass 1 or more."


def test_the_legend_explains_every_marker_that_is_drawn() -> None:
    reference = np.array([[1, 1, 1, 0, 2, 0, 0, 0]])
    prediction = np.array([[4, 4, 0, 0, 0, 0, 5, 6]])
    void = np.array([[0, 0, 0, 0, 0, 0, 0, 1]], np.bool_)
    matching = pm.match(pm.count_overlaps(reference, prediction, void=void))
    figure = plot_matching(matching)
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [
        "IoU > τ", "chosen, with IoU", "matched (area: voxels)", "missed (FN)",
        "false positive (FP)", "neither matched nor FP",
    ]  # fmt: skip
    handles = [handle for handle in legend.legend_handles if isinstance(handle, Line2D)]
    nodes = [one for one in figure.axes[0].collections if isinstance(one, PathCollection)]
    drawn = {to_hex(np.asarray(one.get_facecolor())[0]) for one in nodes}
    assert drawn == {str(handle.get_markerfacecolor()).lower() for handle in handles[2:]}
    plain = plot_matching(pm.match(pm.count_overlaps(reference, reference)))
    assert len(plain.legends[0].get_texts()) == 5
