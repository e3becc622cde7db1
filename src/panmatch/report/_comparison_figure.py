"""The picture of the demo: one scene under several strategies, and their threshold curves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from panmatch.evaluation import Score
from panmatch.labels import LabelArray
from panmatch.matching import Matching
from panmatch.overlap import Floats, Ints
from panmatch.report._curve_figure import NO_MARKER, Line, area_score, draw_steps
from panmatch.report._matched_class import counts_in_words, matching_title
from panmatch.report._scene_figure import draw_objects, scene_legend
from panmatch.report._style import in_paper_style, new_figure, series_look
from panmatch.scoring import Curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@in_paper_style
def draw_comparison(
    path: Path,
    reference: LabelArray,
    prediction: LabelArray,
    matchings: Sequence[Matching],
    curves: Sequence[Curve],
) -> None:
    """Write a figure: a scene per matching above, PQ, SQ and RQ over the threshold below."""
    from matplotlib.lines import Line2D

    figure = new_figure(3.0 * len(matchings), 5.5)
    axes = figure.subplots(2, len(matchings), height_ratios=(1.1, 1), squeeze=False)
    for ax, matching in zip(axes[0], matchings, strict=True):
        _draw_scene(ax, reference, prediction, matching)
    for ax, name in zip(axes[1], ("pq", "sq", "rq"), strict=False):
        _draw_curves(ax, curves, Score(name))
    match = Line2D([], [], color="black", marker="o", markersize=3)
    legend = {**scene_legend(), "match": match}
    figure.legend(legend.values(), legend.keys(), loc="outside upper center", ncols=len(legend))
    figure.savefig(path)


def _draw_scene(
    ax: Axes, reference: LabelArray, prediction: LabelArray, matching: Matching
) -> None:
    """Draw a 2-D scene with a line along every match."""
    draw_objects(ax, reference, prediction, matching)
    _draw_links(ax, _centres(reference), _centres(prediction), matching.pairs)
    ax.set_title(matching_title(matching))
    ax.set_xlabel(counts_in_words(matching))
    ax.set_aspect("equal")
    ax.spines[:].set_visible(True)


def _draw_curves(ax: Axes, curves: Sequence[Curve], score: Score) -> None:
    """Draw PQ, SQ or RQ of several curves, with the areas in the legend."""
    lines = [
        Line(
            curve.strategy.name,
            replace(series_look(i, curve.strategy.dash), marker=NO_MARKER),
            curve,
            score,
        )
        for i, curve in enumerate(curves)
    ]
    draw_steps(ax, lines, score)
    ax.legend(title=area_score(score).title, loc="lower left", handlelength=2.4)


def _draw_links(ax: Axes, refs: dict[int, Floats], preds: dict[int, Floats], pairs: Ints) -> None:
    for ref, pred in pairs.tolist():
        (y0, x0), (y1, x1) = refs[ref], preds[pred]
        ax.plot([x0, x1], [y0, y1], color="black", linewidth=0.9)
        ax.plot(x0, y0, "o", color="black", markersize=3)
        ax.plot(x1, y1, "o", markerfacecolor="white", markeredgecolor="black", markersize=3)


def _centres(labels: LabelArray) -> dict[int, Floats]:
    """Return for every object its voxel nearest to its centroid: a point that lies on it."""
    return {int(i): _inner_point(np.argwhere(labels == i)) for i in np.unique(labels) if i}


def _inner_point(voxels: Ints) -> Floats:
    distances = np.linalg.norm(voxels - voxels.mean(0), axis=1)
    nearest: Floats = voxels[np.argmin(distances)].astype(np.float64)
    return nearest
