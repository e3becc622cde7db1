"""The charts of a report, as plain data for plotly.js."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from panmatch.evaluation import Result
from panmatch.evaluation.groups import CurveGroup, Key, scores_of
from panmatch.evaluation.wording import way_title
from panmatch.overlap import Floats
from panmatch.report.headline import Summary
from panmatch.report.recall import SizeBin, recall_by_size, size_edges
from panmatch.report.selection import MISTAKES, metric_values, mistakes, reference_sizes
from panmatch.report.style import DASHES as DASHED
from panmatch.report.style import SERIES_COLORS as COLOURS

Chart = dict[str, Any]

MOST_STEPS = 800  # of a line that is drawn
DASHES = tuple(DASHED)
SIZE_BINS, SMALLEST_BIN = 5, 5  # not more bins, and not fewer objects in each
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star")
MARKS = ("●", "■", "◆", "▲", "✚", "✖", "★")  # the symbols as text
QUANTITIES = ("PQ", "SQ", "RQ")
NAMED = "<extra>%{fullData.name}</extra>"


def curve_charts(result: Result, kind: str) -> list[Chart]:
    """Return PQ, SQ and RQ over the threshold: a colour per model, a dash per way to match."""
    groups = [group for group in result.curve_groups if group.way[0] == kind]
    ways = list(dict.fromkeys(group.way for group in groups))
    curves = [pooled_curve(group) for group in groups]
    grid = _common_grid(curves)
    charts = []
    for at, quantity in enumerate(QUANTITIES):
        lines = []
        for group, curve in zip(groups, curves, strict=True):
            heights = [_number(value) for value in curve.at(grid)[at].round(6).tolist()]
            lines.append(
                {
                    "type": "scatter",
                    "mode": "lines",
                    "name": _point_name(result, group.model, group.way),
                    "x": [*grid.round(6).tolist(), 1.0],
                    "y": [*heights, heights[-1]],
                    "line": {
                        "shape": "hv",
                        "width": 2,
                        "color": _of(COLOURS, result.models.index(group.model)),
                        "dash": _of(DASHES, ways.index(group.way)),
                    },
                    "hovertemplate": f"τ %{{x:.3f}}<br>{quantity} %{{y:.3f}}{NAMED}",
                }
            )
        charts.append(
            {
                "data": lines,
                "layout": _layout("threshold τ", quantity, x_range=(0, 1), y_range=(0, 1.02))
                | {"hovermode": "x unified"},
            }
        )
    return charts


def quality_chart(result: Result, summary: Summary, kind: str) -> Chart:
    """Return SQ against RQ of every model and way to match, with lines of equal PQ."""
    threshold = result.spec.thresholds[0]
    data: list[Chart] = [_equal_pq(level) for level in (0.2, 0.4, 0.6, 0.8)]
    for at, way in enumerate(summary.ways_of(kind)):
        for model in result.models:
            rq, sq, pq = (
                summary.value(model, way, threshold, name).value for name in ("rq", "sq", "pq")
            )
            name = _point_name(result, model, way)
            data.append(
                {
                    "type": "scatter",
                    "mode": "markers",
                    "name": name,
                    "x": [_number(rq)],
                    "y": [_number(sq)],
                    "marker": {
                        "size": 11,
                        "color": _of(COLOURS, result.models.index(model)),
                        "symbol": _of(SYMBOLS, at),
                    },
                    "hovertemplate": f"RQ %{{x:.3f}}<br>SQ %{{y:.3f}}<br>PQ {pq:.3f}{NAMED}",
                }
            )
    layout = _layout(f"RQ at τ = {threshold:g}", "SQ", x_range=(0, 1.02), y_range=(0, 1.03))
    return {"data": data, "layout": layout}


def key_of_ways(summary: Summary, kind: str) -> list[dict[str, str]]:
    """Return how every way to match of a class is drawn, for the key beside the charts."""
    return [
        {"name": way_title(way), "dash": _of(DASHES, at), "symbol": _of(MARKS, at)}
        for at, way in enumerate(summary.ways_of(kind))
    ]


def size_chart(result: Result, kind: str) -> Chart | None:
    """Return recall by size of the reference, under the first strategy and threshold."""
    sizes = {model: reference_sizes(result, model, kind) for model in result.models}
    every = np.concatenate([volumes for volumes, _ in sizes.values()])
    if len(every) < SMALLEST_BIN:
        return None
    edges = size_edges(every, min(SIZE_BINS, len(every) // SMALLEST_BIN))
    data = []
    for model, (volumes, found) in sizes.items():
        rows = [row for row in recall_by_size(volumes, found, edges) if row.references]
        data.append(
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": model or "recall",
                "x": [_range(row) for row in rows],
                "y": [row.recall for row in rows],
                "error_y": {
                    "type": "data",
                    "symmetric": False,
                    "array": [row.interval[1] - row.recall for row in rows],
                    "arrayminus": [row.recall - row.interval[0] for row in rows],
                },
                "text": [f"{row.found} of {row.references}" for row in rows],
                "hovertemplate": f"%{{y:.3f}} (%{{text}}){NAMED}",
                "marker": {
                    "symbol": _of(SYMBOLS, result.models.index(model)),
                    "size": 9,
                    "color": _of(COLOURS, result.models.index(model)),
                },
            }
        )
    return {"data": data, "layout": _layout("volume of the reference", "recall", y_range=(0, 1.05))}


def distribution_chart(result: Result, kind: str, metric: str) -> Chart | None:
    """Return the distribution of a metric over matched objects, a box per model."""
    data = []
    for model in result.models:
        values = metric_values(result, model, kind, metric)
        if len(values):
            data.append(_box(model or metric, values, _of(COLOURS, result.models.index(model))))
    if not data:
        return None
    return {"data": data, "layout": _layout("", metric)}


def mistake_chart(result: Result, kind: str) -> Chart:
    """Return how many objects were split, merged, missed and made up, a bar per model."""
    data = []
    for at, model in enumerate(result.models):
        sums = mistakes(result, model, kind)
        data.append(
            {
                "type": "bar",
                "name": model or "objects",
                "x": list(MISTAKES.values()),
                "y": [sums[name] for name in MISTAKES],
                "marker": {
                    "color": _of(COLOURS, at),
                    "pattern": {"shape": _of(("", "/", ".", "x", "-"), at)},
                },
            }
        )
    layout = _layout("", "objects") | {"barmode": "group"}
    layout["yaxis"] |= {"rangemode": "tozero"}
    return {"data": data, "layout": layout}


def _box(name: str, values: Floats, colour: str) -> Chart:
    """Return a box of the quartiles, with whiskers from the 5th to the 95th percentile."""
    low, q1, median, q3, high = np.quantile(values, (0.05, 0.25, 0.5, 0.75, 0.95)).tolist()
    return {
        "type": "box",
        "name": name,
        "x": [name],
        "lowerfence": [low],
        "q1": [q1],
        "median": [median],
        "q3": [q3],
        "upperfence": [high],
        "mean": [float(values.mean())],
        "marker": {"color": colour},
        "hoverinfo": "y",
    }


@dataclass(frozen=True, slots=True, eq=False)
class PooledCurve:
    """PQ, SQ and RQ of all cases together, as steps."""

    thresholds: Floats
    scores: tuple[Floats, Floats, Floats]

    def at(self, thresholds: Floats) -> tuple[Floats, Floats, Floats]:
        """Return PQ, SQ and RQ at thresholds."""
        place = np.searchsorted(self.thresholds, thresholds, "right") - 1
        pq, sq, rq = (score[place] for score in self.scores)
        return pq, sq, rq

    @property
    def area(self) -> float:
        """Return AUTC."""
        return float(self.scores[0] @ np.diff(self.thresholds, append=1.0))


def pooled_curve(group: CurveGroup) -> PooledCurve:
    """Return the curve of all cases of a group together."""
    return PooledCurve(group.thresholds, scores_of(group.summed()))


def _common_grid(curves: Sequence[PooledCurve]) -> Floats:
    """Return the steps of all curves, thinned to what a screen can show.

    All lines have the same points, so that hovering shows all of them.
    """
    steps = np.unique(np.concatenate([np.zeros(1), *(curve.thresholds for curve in curves)]))
    at = np.linspace(0, len(steps) - 1, min(len(steps), MOST_STEPS)).round().astype(np.int64)
    return steps[np.unique(at)]


def _equal_pq(level: float) -> Chart:
    rq: npt.NDArray[np.float64] = np.linspace(level, 1.0, 30)
    return {
        "type": "scatter",
        "mode": "lines",
        "x": rq.round(4).tolist(),
        "y": (level / rq).round(4).tolist(),
        "line": {"color": "#bbbbbb", "width": 1, "dash": "dot"},
        "hoverinfo": "text",
        "text": f"PQ = {level:g}",
        "showlegend": False,
    }


def _layout(
    x_title: str,
    y_title: str,
    *,
    x_range: tuple[float, float] | None = None,
    y_range: tuple[float, float] | None = None,
) -> Chart:
    axis = {"showline": True, "linecolor": "#444", "gridcolor": "#e5e5e5", "zeroline": False}
    x_axis: Chart = axis | {"title": {"text": x_title}}
    y_axis: Chart = axis | {"title": {"text": y_title}}
    if x_range is not None:
        x_axis["range"] = list(x_range)
    if y_range is not None:
        y_axis["range"] = list(y_range)
    return {
        "xaxis": x_axis,
        "yaxis": y_axis,
        "margin": {"l": 52, "r": 12, "t": 12, "b": 46},
        "font": {"family": "system-ui, sans-serif", "size": 13, "color": "#222"},
        "plot_bgcolor": "#fff",
        "paper_bgcolor": "#fff",
        "showlegend": False,
        "hoverlabel": {"namelength": -1},
    }


def _point_name(result: Result, model: str, way: Key) -> str:
    title = way_title(way)
    return f"{model}, {title}" if len(result.models) > 1 else title


def _range(row: SizeBin) -> str:
    return " – ".join(f"{v:,.0f}" if v >= 100 else f"{v:.3g}" for v in (row.low, row.high))


def _of(choices: Sequence[str], at: int) -> str:
    return choices[at % len(choices)]


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value
