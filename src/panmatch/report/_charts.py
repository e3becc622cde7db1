"""The charts of a report, as plain data for plotly.js."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TypedDict

import numpy as np

from panmatch.evaluation import MISTAKES, Result
from panmatch.matching import Dash, Matcher
from panmatch.report._selection import find_levels
from panmatch.report._sizes_figure import (
    SizeBin,
    recall_by_size,
    reference_sizes,
    size_edges,
    size_title,
)
from panmatch.report._style import BLACK, BLUE, SERIES_COLORS
from panmatch.report._tables import Averages, MetricNumbers, losses_of
from panmatch.scoring import LOSS_LOOKS

Trace = dict[str, object]
Layout = dict[str, object]
Mistakes = Mapping[str, Mapping[str, Mapping[str, int]]]  # what `count_mistakes` says, by model

LINE_PX = 2
SIZE_BINS, SMALLEST_BIN = 5, 5  # not more bins, and not fewer objects in each
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star")
PATTERNS = ("", "/", ".", "x", "-")
PAPER, INK, AXIS, GRID, FAINT = "#fff", "#222", "#444", "#e5e5e5", "#bbbbbb"
PQ_FILL = "#d9dde3"
LOOKS = {one.title: (one.colour, one.pattern) for one in LOSS_LOOKS.values()}
# What colours become on a dark page; the others can be read on both.
IN_DARK = MappingProxyType(
    {
        PAPER: "#14181f",
        INK: "#dfe4ea",
        AXIS: "#9aa4b2",
        GRID: "#2c343f",
        FAINT: "#667182",
        BLACK: "#f2f2f2",
        BLUE: "#3391d1",
        PQ_FILL: "#5a6472",
    }
)
SHORTEST = 0.08  # part of a bar that has room for its name
LONGEST_NAME = 22  # letters beside an axis
NAMED = "<extra>%{fullData.name}</extra>"


class Chart(TypedDict):
    """A chart as plotly.js takes it."""

    data: list[Trace]
    layout: Layout


def quality_chart(result: Result, averages: Averages, class_name: str) -> Chart:
    """Return SQ against RQ of every model and matcher, with lines of equal PQ."""
    threshold = result.spec.thresholds[0]
    data: list[Trace] = [_equal_pq(level) for level in (0.2, 0.4, 0.6, 0.8)]
    for setting in averages.settings(class_name):
        i = result.spec.matching.index(setting.matcher)
        for model in result.models:
            rq, sq, pq = (
                averages.find(model, setting, threshold, name).value for name in ("rq", "sq", "pq")
            )
            named = f"{model}, {setting.label}" if len(result.models) > 1 else setting.label
            data.append(
                {
                    "type": "scatter",
                    "mode": "markers",
                    "name": as_text(named),
                    "meta": {"model": result.models.index(model), "matcher": i},
                    "x": [defined(rq)],
                    "y": [defined(sq)],
                    "marker": {
                        "size": 11,
                        "color": line_colour(result, model, setting.matcher),
                        "symbol": _cycled(SYMBOLS, i),
                    },
                    "hovertemplate": f"RQ %{{x:.3f}}, SQ %{{y:.3f}}, PQ {pq:.3f}{NAMED}",
                }
            )
    layout = plain_layout(f"RQ at τ = {threshold:g}", "SQ", up_to(1.02), up_to(1.03))
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
                "name": as_text(model) or "recall",
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
                    "color": model_colour(result, model),
                },
            }
        )
    layout = plain_layout(size_title(result), "recall", {"type": "category"}, up_to(1.05))
    return {"data": data, "layout": layout}


def metric_charts(result: Result, rows: Sequence[MetricNumbers]) -> dict[str, Chart]:
    """Return the distribution of every metric over matched objects, a box per model, by metric."""
    charts: dict[str, Chart] = {}
    for row in rows:
        if not all(map(math.isfinite, row.numbers)):
            continue
        title = f"{row.metric} ({row.unit})" if row.unit else row.metric
        names = [one.model or one.metric for one in rows if one.metric == row.metric]
        empty: Chart = {
            "data": [],
            "layout": plain_layout("", title, named_axis(names)) | {"boxgap": 0.5},
        }
        chart = charts.setdefault(row.metric, empty)
        chart["data"].append(_box(row, model_colour(result, row.model)))
    return charts


def mistake_chart(result: Result, mistakes: Mistakes, class_name: str) -> Chart:
    """Return how many objects are split, merged, missed and spurious, a bar per model."""
    data: list[Trace] = []
    for i, model in enumerate(result.models):
        counts = mistakes[model].get(class_name, dict.fromkeys(MISTAKES, 0))
        data.append(
            {
                "type": "bar",
                "name": as_text(model) or "objects",
                "x": list(counts),
                "y": list(counts.values()),
                "text": [str(n) for n in counts.values()],
                "textposition": "outside",
                "cliponaxis": False,
                "hovertemplate": f"%{{x}}: %{{y}}{NAMED}",
                "marker": {
                    "color": model_colour(result, model),
                    "pattern": {"shape": _cycled(PATTERNS, i)},
                },
            }
        )
    layout = plain_layout("", "objects", y_axis={"rangemode": "tozero"}) | {"barmode": "group"}
    return {"data": data, "layout": layout}


def loss_chart(result: Result, class_name: str) -> Chart:
    """Return PQ and what is lost to each kind of mistake, a bar of length 1 per model.

    It uses the first matcher at the lowest threshold, pooled over cases. Kinds without any loss are
    left out.
    """
    parts: dict[str, dict[str, float]] = {"PQ": {}}
    losses = losses_of(result, class_name)
    for model, kinds in losses.items():
        parts["PQ"][model] = 1 - math.fsum(kinds.values())
        for kind, loss in kinds.items():
            if round(loss, 3):
                parts.setdefault(LOSS_LOOKS[kind].title, {})[model] = loss
    models = list(losses)[::-1]
    names = [model or "all" for model in models]
    data = [_loss_bar(name, values, models, names) for name, values in parts.items()]
    layout = plain_layout("", "", up_to(1), named_axis(names) | {"showline": False})
    layout |= {
        "barmode": "relative",
        "height": 110 + 44 * max(len(models), 1),
        "uniformtext": {"minsize": 11, "mode": "hide"},  # on a phone the key says it instead
        "showlegend": True,
        "legend": {"orientation": "h", "traceorder": "normal", "y": 1, "yanchor": "bottom"},
        "margin": {"l": 52, "r": 12, "t": 44, "b": 30},
    }
    return {"data": data, "layout": layout}


def _loss_bar(
    name: str, values: Mapping[str, float], models: Sequence[str], names: Sequence[str]
) -> Trace:
    fill, pattern = LOOKS.get(name, (PQ_FILL, ""))
    return {
        "type": "bar",
        "orientation": "h",
        "name": name,
        "y": [as_text(one) for one in names],
        "x": [round(values.get(model, 0.0), 6) for model in models],
        "text": [
            f"{name} {values[model]:.2f}" if values.get(model, 0.0) >= SHORTEST else ""
            for model in models
        ],
        "textposition": "inside",
        "insidetextanchor": "middle",
        "textangle": 0,
        "insidetextfont": {"color": INK if name == "PQ" else "#1a1a1a"},
        "hovertemplate": f"{name} %{{x:.3f}}<extra></extra>",
        "marker": {
            "color": fill,
            "pattern": {
                "shape": pattern,
                "fillmode": "overlay",
                "fgcolor": "#ffffff",
                "fgopacity": 0.3,
            },
            "line": {"color": PAPER, "width": 1},
        },
    }


def plotly_dash(dash: Dash) -> str:
    """Return a dash as plotly spells it.

    Examples
    --------
    >>> plotly_dash((4.0, 1.5)), plotly_dash(())
    ('8px,3px', 'solid')
    """
    return ",".join(f"{length}px" for length in dash_pixels(dash)) or "solid"


def dash_pixels(dash: Dash) -> list[str]:
    """Return the lengths of strokes and gaps in pixels."""
    return [f"{LINE_PX * length:g}" for length in dash]


def as_text(name: str) -> str:
    """Return a name in a form that plotly shows as it is, instead of reading markup in it.

    Examples
    --------
    >>> as_text("<b>a & b")
    '&lt;b&gt;a &amp; b'
    """
    return name.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def plain_layout(
    x_title: str, y_title: str, x_axis: Layout | None = None, y_axis: Layout | None = None
) -> Layout:
    """Return the layout that all charts share."""
    axis = {"showline": True, "linecolor": AXIS, "gridcolor": GRID, "zeroline": False}
    return {
        "xaxis": {**axis, "title": {"text": x_title}, **(x_axis or {})},
        "yaxis": {**axis, "title": {"text": y_title}, **(y_axis or {})},
        "margin": {"l": 52, "r": 12, "t": 12, "b": 46},
        "font": {"family": "system-ui, sans-serif", "size": 13, "color": INK},
        "plot_bgcolor": PAPER,
        "paper_bgcolor": PAPER,
        "showlegend": False,
        "hoverlabel": {"namelength": LONGEST_NAME},
    }


def up_to(most: float) -> Layout:
    """Return an axis from 0."""
    return {"range": [0, most]}


def line_colour(result: Result, model: str, matcher: Matcher) -> str:
    """Return the colour of a model; if there is only one, that of the strategy."""
    return model_colour(result, model) if len(result.models) > 1 else matcher.strategy.hue[0]


def model_colour(result: Result, model: str) -> str:
    """Return the colour of a model on a light page."""
    return _cycled(SERIES_COLORS, result.models.index(model))


def defined(value: float) -> float | None:
    """Return a number for JSON, which has neither NaN nor infinities."""
    return value if math.isfinite(value) else None


def named_axis(names: Sequence[str]) -> Layout:
    """Return an axis of names, even if they look like numbers; long ones are shortened."""
    short = [
        name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…" for name in names
    ]
    return {
        "type": "category",
        "tickmode": "array",
        "tickvals": list(range(len(names))),
        "ticktext": [as_text(name) for name in short],
        "automargin": True,
    }


def _box(row: MetricNumbers, colour: str) -> Trace:
    """Return a box of the quartiles, with whiskers from the 5th to the 95th percentile."""
    name = as_text(row.model or row.metric)
    return {
        "type": "box",
        "name": name,
        "x": [name],
        "lowerfence": [row.p5],
        "q1": [row.q1],
        "median": [row.median],
        "q3": [row.q3],
        "upperfence": [row.p95],
        "mean": [row.mean],
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
        "line": {"color": FAINT, "width": 1, "dash": "dot"},
        "hoverinfo": "text",
        "text": f"PQ = {level:g}",
        "showlegend": False,
    }


def _range(row: SizeBin) -> str:
    return " – ".join(f"{v:,.0f}" if v >= 100 else f"{v:.3g}" for v in (row.low, row.high))


def _cycled(choices: Sequence[str], i: int) -> str:
    return choices[i % len(choices)]
