"""Curves over the threshold for the report: which coincide, and where they end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from panmatch.evaluation import PARTS, PLAIN, CaseSeries, Result, Score
from panmatch.overlap import Floats
from panmatch.report._charts import (
    LINE_PX,
    Chart,
    Trace,
    as_text,
    dash_pixels,
    defined,
    line_colour,
    plain_layout,
    plotly_dash,
    up_to,
)
from panmatch.scoring import Curve

MOST_STEPS = 800  # of a line that is drawn
CURVE_SCORES = (*PLAIN[:3], *PARTS)  # what is drawn over the threshold


@dataclass(frozen=True, slots=True)
class MatcherKey:
    """How a matcher is drawn, for the key beside the charts."""

    label: str
    symbol: str  # as text
    dashes: str  # of its lines, as `stroke-dasharray` of SVG
    colours: tuple[str, str] | None  # on light and dark pages; None where models have colours


MARKS = ("●", "■", "◆", "▲", "✚", "✖", "★")  # the symbols of `SYMBOLS` as text


def matcher_keys(result: Result) -> list[MatcherKey]:
    """Return how every matcher of the spec is drawn."""
    return [
        MatcherKey(
            matcher.label,
            MARKS[i % len(MARKS)],
            " ".join(dash_pixels(matcher.dash)),
            matcher.strategy.hue if len(result.models) == 1 else None,
        )
        for i, matcher in enumerate(result.spec.matching)
    ]


def curve_charts(result: Result, class_name: str) -> dict[str, Chart]:
    """Return PQ, SQ, RQ, and with parts PartPQ and PartSQ, over the threshold, by score.

    Matchers differ in dash. Models differ in colour; with a single model, matchers do. A line ends
    where its score becomes undefined.
    """
    charts: dict[str, Chart] = {}
    for score in CURVE_SCORES:
        curves = _curves(result, class_name, score)
        if curves:
            grid = _common_grid([curve for _, curve in curves])
            lines = [_line(result, series, curve, grid, score) for series, curve in curves]
            layout = plain_layout("threshold τ", score.title, up_to(1), up_to(1.02))
            charts[score.name] = {"data": lines, "layout": layout | {"hovermode": False}}
    return charts


def coinciding_curves(result: Result, class_name: str) -> list[list[str]]:
    """Return the names of curves that are the same at all thresholds, in PQ, SQ and RQ.

    The first curve of a model is named in full, and the others by their strategies.
    """
    curves = _curves(result, class_name, PLAIN[0])
    if not curves:
        return []
    grid = np.unique(np.concatenate([curve.thresholds for _, curve in curves]))
    groups: dict[bytes, list[CaseSeries]] = {}
    for series, curve in curves:
        counts = np.ascontiguousarray(curve.sampled(grid).counts)
        groups.setdefault(counts.tobytes(), []).append(series)
    return [_group_names(result, group) for group in groups.values() if len(group) > 1]


def _group_names(result: Result, group: Sequence[CaseSeries]) -> list[str]:
    if len({series.model for series in group}) > 1:
        return [_name(result, series) for series in group]
    return [_name(result, group[0]), *(series.setting.label for series in group[1:])]


def _curves(result: Result, class_name: str, score: Score) -> list[tuple[CaseSeries, Curve]]:
    return [
        (series, curve)
        for series in result.series
        if series.setting.class_name == class_name
        and (curve := _pooled_curve(series, score)) is not None
    ]


def _line(result: Result, series: CaseSeries, curve: Curve, grid: Floats, score: Score) -> Trace:
    x, y = _steps(grid, _heights(curve, grid, score))
    matcher = series.setting.matcher
    return {
        "type": "scatter",
        "mode": "lines",
        "name": as_text(_name(result, series)),
        "meta": {
            "model": result.models.index(series.model),
            "matcher": result.spec.matching.index(matcher),
        },
        "x": x,
        "y": y,
        "line": {
            "shape": "hv",
            "width": LINE_PX,
            "color": line_colour(result, series.model, matcher),
            "dash": plotly_dash(matcher.dash),
        },
        "hoverinfo": "skip",
    }


def _steps(grid: Floats, heights: Floats) -> tuple[list[float], list[float | None]]:
    """Return the corners of a step function from 0 to 1; None ends the line before it.

    Examples
    --------
    >>> _steps(np.array([0.0, 0.5, 0.7]), np.array([0.9, 0.8, np.nan]))
    ([0.0, 0.5, 0.7, 0.7, 1.0], [0.9, 0.8, 0.8, None, None])
    """
    x, y = grid.round(6).tolist(), [defined(value) for value in heights.round(6).tolist()]
    for i in range(len(y) - 1, 0, -1):
        if y[i] is None and y[i - 1] is not None:  # the step before lasts until here
            x.insert(i, x[i])
            y.insert(i, y[i - 1])
    return [*x, 1.0], [*y, y[-1]]


def _pooled_curve(series: CaseSeries, score: Score) -> Curve | None:
    return series.pooled_part_curve if score.quality == "parts" else series.pooled_curve


def _heights(curve: Curve, grid: Floats, score: Score) -> Floats:
    """Return the score at every threshold; SQ is undefined where nothing is found (D11)."""
    sampled = curve.sampled(grid)
    name = score.name.removeprefix("part_")
    heights: Floats = getattr(sampled, name)
    return np.where(sampled.tp > 0, heights, np.nan) if name == "sq" else heights


def _common_grid(curves: Sequence[Curve]) -> Floats:
    """Return the steps of all curves, thinned to what a screen can show."""
    steps = np.unique(np.concatenate([curve.thresholds for curve in curves]))
    kept = np.linspace(0, len(steps) - 1, min(len(steps), MOST_STEPS)).round().astype(np.int64)
    return steps[np.unique(kept)]


def _name(result: Result, series: CaseSeries) -> str:
    label = series.setting.label
    return f"{series.model}, {label}" if len(result.models) > 1 else label
