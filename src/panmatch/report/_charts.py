"""The charts of a report, as plain data for plotly.js."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict

import numpy as np

from panmatch.evaluation import (
    MISTAKES,
    PARTS,
    PLAIN,
    CaseSeries,
    Result,
    Score,
    Setting,
    metric_scores,
    unit_text,
)
from panmatch.matching import Dash
from panmatch.overlap import Floats
from panmatch.report._selection import find_levels
from panmatch.report._sizes_figure import (
    SizeBin,
    recall_by_size,
    reference_sizes,
    size_edges,
    size_title,
)
from panmatch.report._style import GREEN, ORANGE, PURPLE, SERIES_COLORS, SKY
from panmatch.report._tables import Averages
from panmatch.scoring import Curve, Repair

Trace = dict[str, object]
Layout = dict[str, object]
Mistakes = Mapping[str, Mapping[str, Mapping[str, int]]]  # what `count_mistakes` says, by model

MOST_STEPS = 800  # of a line that is drawn
LINE_PX = 2
SIZE_BINS, SMALLEST_BIN = 5, 5  # not more bins, and not fewer objects in each
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star")
MARKS = ("●", "■", "◆", "▲", "✚", "✖", "★")  # the symbols as text
PATTERNS = ("", "/", ".", "x", "-")
CURVE_SCORES = (*PLAIN[:3], *PARTS)  # what is drawn over the threshold
LOSS_TITLES: dict[Repair, str] = {
    "outline": "outlines",
    "missed": "missed",
    "spurious": "spurious",
    "split": "splits",
    "merged": "merges",
    "class": "wrong class",
}
LOSS_LOOKS = {  # fill and pattern, so that neighbours also differ in print
    "outlines": (SKY, ""),
    "missed": (PURPLE, "/"),
    "spurious": ("#e8904f", "\\"),
    "splits": (ORANGE, "."),
    "merges": (GREEN, "x"),
    "wrong class": ("#b8b8b8", "-"),
}
SHORTEST = 0.08  # part of a bar that has room for its name
NAMED = "<extra>%{fullData.name}</extra>"


class Chart(TypedDict):
    """A chart as plotly.js takes it."""

    data: list[Trace]
    layout: Layout


@dataclass(frozen=True, slots=True)
class MatcherKey:
    """How a matcher is drawn, for the key beside the charts."""

    label: str
    symbol: str  # as text
    dashes: str  # of its lines, as `stroke-dasharray` of SVG


def matcher_keys(averages: Averages, class_name: str) -> list[MatcherKey]:
    """Return how every matcher of a class is drawn."""
    return [
        MatcherKey(setting.label, _cycled(MARKS, i), " ".join(_pixels(setting.matcher.dash)))
        for i, setting in enumerate(averages.settings(class_name))
    ]


def curve_charts(result: Result, class_name: str) -> dict[str, Chart]:
    """Return PQ, SQ, RQ, and with parts PartPQ and PartSQ, over the threshold, by score.

    Models differ in colour, matchers in dash.
    """
    charts: dict[str, Chart] = {}
    for score in CURVE_SCORES:
        curves = [
            (series.model, series.setting, curve)
            for series in result.series
            if series.setting.class_name == class_name
            and (curve := _pooled_curve(series, score)) is not None
        ]
        if not curves:
            continue
        grid = _common_grid([curve for _, _, curve in curves])
        lines = [
            _line(result, model, setting, (grid, _heights(curve, grid, score)), score)
            for model, setting, curve in curves
        ]
        layout = _layout("threshold τ", score.title, _up_to(1), _up_to(1.02))
        charts[score.name] = {"data": lines, "layout": layout | {"hovermode": "x unified"}}
    return charts


def quality_chart(result: Result, averages: Averages, class_name: str) -> Chart:
    """Return SQ against RQ of every model and matcher, with lines of equal PQ."""
    threshold = result.spec.thresholds[0]
    data: list[Trace] = [_equal_pq(level) for level in (0.2, 0.4, 0.6, 0.8)]
    for i, setting in enumerate(averages.settings(class_name)):
        for model in result.models:
            rq, sq, pq = (
                averages.find(model, setting, threshold, name).value for name in ("rq", "sq", "pq")
            )
            data.append(
                {
                    "type": "scatter",
                    "mode": "markers",
                    "name": _name(result, model, setting),
                    "x": [_number(rq)],
                    "y": [_number(sq)],
                    "marker": {
                        "size": 11,
                        "color": _colour(result, model),
                        "symbol": _cycled(SYMBOLS, i),
                    },
                    "hovertemplate": f"RQ %{{x:.3f}}<br>SQ %{{y:.3f}}<br>PQ {pq:.3f}{NAMED}",
                }
            )
    layout = _layout(f"RQ at τ = {threshold:g}", "SQ", _up_to(1.02), _up_to(1.03))
    return {"data": data, "layout": layout}


def size_chart(result: Result, class_name: str) -> Chart | None:
    """Return recall by size of the reference, under the first matcher and threshold."""
    first = result.spec.matching[0], result.spec.thresholds[0]
    objects = {
        model: reference_sizes(find_levels(result, model, class_name, *first))
        for model in result.models
    }
    every = np.concatenate([sizes for sizes, _ in objects.values()])
    if len(every) < SMALLEST_BIN:
        return None
    edges = size_edges(every, min(SIZE_BINS, len(every) // SMALLEST_BIN))
    data: list[Trace] = []
    for i, (model, (sizes, found)) in enumerate(objects.items()):
        rows = [row for row in recall_by_size(sizes, found, edges) if row.references]
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
                    "symbol": _cycled(SYMBOLS, i),
                    "size": 9,
                    "color": _colour(result, model),
                },
            }
        )
    return {"data": data, "layout": _layout(size_title(result), "recall", y_axis=_up_to(1.05))}


def metric_charts(result: Result, class_name: str) -> dict[str, Chart]:
    """Return the distribution of every metric over matched objects, a box per model, by metric.

    Objects are those of the first matcher and threshold. A metric that is defined for none of
    them has no chart.
    """
    first = result.spec.matching[0], result.spec.thresholds[0]
    levels = {model: find_levels(result, model, class_name, *first) for model in result.models}
    charts: dict[str, Chart] = {}
    for metric in result.spec.metric_objects:
        data: list[Trace] = []
        for model, of_model in levels.items():
            values = [np.zeros(0)]
            for level in of_model:
                columns = level.measurements.columns
                values.append(columns[metric.name][columns["status"] == "matched"])
            column = np.concatenate(values)
            column = column[~np.isnan(column)]
            if len(column):
                data.append(_box(model or metric.name, column, _colour(result, model)))
        if data:
            unit = unit_text(metric_scores(metric)[0], result.unit)
            title = f"{metric.name} ({unit})" if unit else metric.name
            charts[metric.name] = {"data": data, "layout": _layout("", title)}
    return charts


def mistake_chart(result: Result, mistakes: Mistakes, class_name: str) -> Chart:
    """Return how many objects are split, merged, missed and spurious, a bar per model."""
    data: list[Trace] = []
    for i, model in enumerate(result.models):
        counts = mistakes[model].get(class_name, dict.fromkeys(MISTAKES, 0))
        data.append(
            {
                "type": "bar",
                "name": model or "objects",
                "x": list(counts),
                "y": list(counts.values()),
                "marker": {
                    "color": _colour(result, model),
                    "pattern": {"shape": _cycled(PATTERNS, i)},
                },
            }
        )
    layout = _layout("", "objects", y_axis={"rangemode": "tozero"}) | {"barmode": "group"}
    return {"data": data, "layout": layout}


def loss_chart(result: Result, class_name: str) -> Chart:
    """Return PQ and what is lost to each kind of mistake, a bar of length 1 per model.

    By the first matcher at the lowest threshold, pooled over cases; kinds without any loss are left
    out.
    """
    threshold = result.spec.thresholds[0]
    losses = {
        one.model: one.losses(threshold)
        for one in result.series
        if (one.setting.class_name, one.setting.matcher) == (class_name, result.spec.matching[0])
    }
    parts: dict[str, dict[str, float]] = {"PQ": {}}
    for model, kinds in losses.items():
        parts["PQ"][model] = 1 - math.fsum(kinds.values())
        for kind, loss in kinds.items():
            if round(loss, 3):
                parts.setdefault(LOSS_TITLES[kind], {})[model] = loss
    models = [model for model in losses if not math.isnan(parts["PQ"][model])][::-1]
    data: list[Trace] = [
        {
            "type": "bar",
            "orientation": "h",
            "name": name,
            "y": [model or "all" for model in models],
            "x": [round(values.get(model, 0.0), 6) for model in models],
            "text": [
                f"{name} {values[model]:.2f}" if values.get(model, 0.0) >= SHORTEST else ""
                for model in models
            ],
            "textposition": "inside",
            "insidetextanchor": "middle",
            "textangle": 0,
            "insidetextfont": {"color": "#1a1a1a"},
            "hovertemplate": f"{name} %{{x:.3f}}<extra>%{{y}}</extra>",
            "marker": {
                "color": LOSS_LOOKS.get(name, ("#d9dde3", ""))[0],
                "pattern": {
                    "shape": LOSS_LOOKS.get(name, ("", ""))[1],
                    "fillmode": "overlay",
                    "fgcolor": "#fff",
                    "fgopacity": 0.3,
                },
                "line": {"color": "#fff", "width": 1},
            },
        }
        for name, values in parts.items()
    ]
    layout = _layout("", "", _up_to(1), {"showline": False, "automargin": True})
    layout |= {
        "barmode": "relative",
        "height": 110 + 44 * max(len(models), 1),
        "uniformtext": {"minsize": 11, "mode": "hide"},  # on a phone the key says it instead
        "showlegend": True,
        "legend": {"orientation": "h", "traceorder": "normal", "y": 1, "yanchor": "bottom"},
        "margin": {"l": 52, "r": 12, "t": 44, "b": 30},
    }
    return {"data": data, "layout": layout}


def plotly_dash(dash: Dash) -> str:
    """Return a dash as plotly spells it.

    Examples
    --------
    >>> plotly_dash((4.0, 1.5)), plotly_dash(())
    ('8px,3px', 'solid')
    """
    return ",".join(f"{length}px" for length in _pixels(dash)) or "solid"


def _line(
    result: Result, model: str, setting: Setting, points: tuple[Floats, Floats], score: Score
) -> Trace:
    heights = [_number(value) for value in points[1].round(6).tolist()]
    return {
        "type": "scatter",
        "mode": "lines",
        "name": _name(result, model, setting),
        "x": [*points[0].round(6).tolist(), 1.0],
        "y": [*heights, heights[-1]],
        "line": {
            "shape": "hv",
            "width": LINE_PX,
            "color": _colour(result, model),
            "dash": plotly_dash(setting.matcher.dash),
        },
        "hovertemplate": f"τ %{{x:.3f}}<br>{score.title} %{{y:.3f}}{NAMED}",
    }


def _pooled_curve(series: CaseSeries, score: Score) -> Curve | None:
    return series.pooled_part_curve if score.quality == "parts" else series.pooled_curve


def _heights(curve: Curve, grid: Floats, score: Score) -> Floats:
    heights: Floats = getattr(curve.sampled(grid), score.name.removeprefix("part_"))
    return heights


def _common_grid(curves: Sequence[Curve]) -> Floats:
    """Return the steps of all curves, thinned to what a screen can show.

    All lines have the same points, so that hovering shows all of them.
    """
    steps = np.unique(np.concatenate([curve.thresholds for curve in curves]))
    kept = np.linspace(0, len(steps) - 1, min(len(steps), MOST_STEPS)).round().astype(np.int64)
    return steps[np.unique(kept)]


def _box(name: str, values: Floats, colour: str) -> Trace:
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


def _equal_pq(level: float) -> Trace:
    rq = np.linspace(level, 1.0, 30)
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
    x_title: str, y_title: str, x_axis: Layout | None = None, y_axis: Layout | None = None
) -> Layout:
    axis = {"showline": True, "linecolor": "#444", "gridcolor": "#e5e5e5", "zeroline": False}
    return {
        "xaxis": {**axis, "title": {"text": x_title}, **(x_axis or {})},
        "yaxis": {**axis, "title": {"text": y_title}, **(y_axis or {})},
        "margin": {"l": 52, "r": 12, "t": 12, "b": 46},
        "font": {"family": "system-ui, sans-serif", "size": 13, "color": "#222"},
        "plot_bgcolor": "#fff",
        "paper_bgcolor": "#fff",
        "showlegend": False,
        "hoverlabel": {"namelength": -1},
    }


def _up_to(most: float) -> Layout:
    return {"range": [0, most]}


def _name(result: Result, model: str, setting: Setting) -> str:
    label = setting.label
    return f"{model}, {label}" if len(result.models) > 1 else label


def _colour(result: Result, model: str) -> str:
    return _cycled(SERIES_COLORS, result.models.index(model))


def _pixels(dash: Dash) -> list[str]:
    return [f"{LINE_PX * length:g}" for length in dash]


def _range(row: SizeBin) -> str:
    return " – ".join(f"{v:,.0f}" if v >= 100 else f"{v:.3g}" for v in (row.low, row.high))


def _cycled(choices: Sequence[str], i: int) -> str:
    return choices[i % len(choices)]


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value
