"""The section about detections: charts over the cut, and a table of scores (D17)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from panmatch.datasets import detections_with_intervals, resampling_of
from panmatch.evaluation import Cell, DetectionSeries, Result, Row
from panmatch.overlap import Floats
from panmatch.report._charts import (
    AXIS,
    FAINT,
    INK,
    LINE_PX,
    NAMED,
    Chart,
    Layout,
    Trace,
    as_text,
    defined,
    model_colour,
    plain_layout,
    up_to,
)
from panmatch.scoring import CPM_RATES, Surface

MOST_POINTS = 800  # of a line that is drawn
GRID = 60  # thresholds and cuts of a contour
LEAST_RATE = 1 / 16  # false positives per case at the left end of the chart
FRACTIONS = {0.125: "⅛", 0.25: "¼", 0.5: "½"}
# Columns of the table: what to call each score, and whether it has a threshold.
COLUMNS = {
    "ap": "AP",
    "ap_101": "AP, 101 points",
    "cpm": "CPM",
    "best_cut": "best cut",
    "best_pq": "PQ there",
    "ece": "ECE",
    "map": "mAP",
    "ar": "AR",
}


@dataclass(frozen=True, slots=True)
class ShownScore:
    """A score with its interval; NaN where it is undefined."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class DetectionRow:
    """The scores of a model under a setting, in the order of `COLUMNS`."""

    model: str
    strategy: str
    threshold: str
    scores: list[ShownScore]


def detection_scores(result: Result) -> list[Row]:
    """Return the rows of the table of detections, with intervals."""
    resamplings = {model: resampling_of(result, model) for model in result.models}
    return detections_with_intervals(result, resamplings).rows()


def detection_context(result: Result) -> dict[str, object]:
    """Return what the section says, whatever the class."""
    return {
        "cut": result.spec.cut,
        "detection_hint": " ".join(about_detections(result)),
        "detection_columns": list(COLUMNS.values()),
    }


def about_detections(result: Result) -> list[str]:
    """Return sentences about confidences; none without them."""
    if result.spec.confidence is None:
        return []
    sentences = [
        "At a cut, only predictions with at least that confidence are matched, as if there were no "
        "others. Scores of detections look at every cut."
    ]
    if result.spec.cut is not None:
        sentences.append(
            f"All other scores count only predictions with a confidence of at least "
            f"{result.spec.cut:g}."
        )
    return sentences


def detection_rows(
    rows: Iterable[Mapping[str, Cell]], result: Result, class_name: str
) -> list[DetectionRow]:
    """Return the table of a class, given the rows of the table of detections."""
    labels = {tuple(one.columns.values()): one.label for one in result.spec.matching}
    columns = list(result.spec.matching[0].columns)
    found: dict[tuple[str, str, float], dict[str, ShownScore]] = {}
    for row in rows:
        if row["class"] == class_name:
            matcher = labels[tuple(str(row.get(name) or "") for name in columns)]
            threshold = _number(row["threshold"])
            scores = found.setdefault((str(row.get("model") or ""), matcher, threshold), {})
            ends = (_number(row[name]) for name in ("value", "low", "high"))
            scores[str(row["measure"])] = ShownScore(*ends)
    over = {key[:2]: scores for key, scores in found.items() if math.isnan(key[2])}
    places = {label: i for i, label in enumerate(labels.values())}
    shown = [key for key in found if not math.isnan(key[2])]
    none = ShownScore(math.nan, math.nan, math.nan)
    table = []
    for key in sorted(shown, key=lambda key: (places[key[1]], key[2])):
        scores = found[key] | over.get(key[:2], {})
        cells = [scores.get(name, none) for name in COLUMNS]
        table.append(DetectionRow(key[0], key[1], f"{key[2]:g}", cells))
    return table


def _number(cell: Cell) -> float:
    return float(cell) if isinstance(cell, int | float) else math.nan


def detection_charts(result: Result, class_name: str) -> dict[str, Chart]:
    """Return the charts of a class under the first matcher at the lowest threshold, by name.

    There is one contour of PQ per model; the other charts have a line per model.
    """
    threshold = result.spec.thresholds[0]
    series = [
        one
        for one in result.detection_series
        if one.setting.class_name == class_name and one.matcher == result.spec.matching[0]
    ]
    if not series:
        return {}
    charts = {
        "d-froc": froc_chart(result, series, threshold),
        "d-pr": pr_chart(result, series, threshold),
        "d-cut": cut_chart(result, series, threshold),
    }
    if any(threshold in one.calibrations for one in series):
        charts["d-calibration"] = calibration_chart(result, series, threshold)
    return charts | {
        f"d-surface-{result.models.index(one.model)}": surface_chart(result, one, threshold)
        for one in series
    }


def froc_chart(result: Result, series: Sequence[DetectionSeries], threshold: float) -> Chart:
    """Return sensitivity over false positives per case."""
    data = []
    for one in series:
        froc = one.over_cuts(threshold).froc()
        rate = np.maximum(froc.false_positives, LEAST_RATE)
        best = np.maximum.accumulate(froc.sensitivity)
        kept = _thinned(len(rate))
        x, y = [*rate[kept].tolist(), 16.0], [*best[kept].tolist(), best[-1]]
        data.append(_line(result, one, x, y, "hv", "%{y:.3f} at %{x:.3f} per case"))
    names = {rate: FRACTIONS.get(rate, f"{rate:g}") for rate in CPM_RATES}
    axis: Layout = {
        "type": "log",
        "range": [math.log10(LEAST_RATE), math.log10(16)],
        "tickvals": list(names),
        "ticktext": list(names.values()),
    }
    layout = plain_layout("false positives per case", "sensitivity", axis, up_to(1.02))
    return {"data": data, "layout": layout}


def pr_chart(result: Result, series: Sequence[DetectionSeries], threshold: float) -> Chart:
    """Return precision over recall."""
    data = []
    for one in series:
        curve = one.over_cuts(threshold)
        known = np.flatnonzero(curve.tp + curve.fp > 0)
        kept = known[_thinned(len(known))]
        x, y = curve.recall[kept].tolist(), curve.precision[kept].tolist()
        data.append(_line(result, one, x, y, "linear", "precision %{y:.3f}, recall %{x:.3f}"))
    layout = plain_layout("recall", "precision", up_to(1.02), up_to(1.02))
    return {"data": data, "layout": layout}


def cut_chart(result: Result, series: Sequence[DetectionSeries], threshold: float) -> Chart:
    """Return PQ over the cut, with the best cut of each model."""
    data: list[Trace] = []
    for one in series:
        curve = one.over_cuts(threshold)
        cuts, pq = curve.cuts[1:][::-1], curve.pq[1:][::-1]
        kept = _thinned(len(cuts))
        x, y = cuts[kept].tolist(), pq[kept].tolist()
        data.append(_line(result, one, x, y, "vh", "PQ %{y:.3f} at confidence ≥ %{x:.3g}"))
        best = one.best_cut(threshold)
        if best is not None:
            data.append(_mark(result, one, best.high, best.tally.pq, "best cut %{x:.3g}"))
    layout = plain_layout("cut: lowest confidence kept", "PQ", None, up_to(1.02))
    if (cut := result.spec.cut) is not None:
        layout["shapes"] = [_upright(cut)]
    return {"data": data, "layout": layout}


def calibration_chart(result: Result, series: Sequence[DetectionSeries], threshold: float) -> Chart:
    """Return the share of matched predictions over their confidence."""
    data: list[Trace] = [
        {
            "type": "scatter",
            "mode": "lines",
            "x": [0, 1],
            "y": [0, 1],
            "line": {"color": FAINT, "width": 1, "dash": "dot"},
            "hoverinfo": "skip",
        }
    ]
    for one in series:
        if threshold in one.calibrations:
            pooled = one.calibrations[threshold].pooled()
            filled = pooled.counts > 0
            x, y = pooled.confidence[filled].tolist(), pooled.reliability[filled].tolist()
            line = _line(result, one, x, y, "linear", "%{y:.3f} of %{text} predictions matched")
            size = 5 + 9 * np.sqrt(pooled.counts[filled] / pooled.counts.max())
            marker = {"size": size.round(1).tolist(), "color": model_colour(result, one.model)}
            texts = [str(n) for n in pooled.counts[filled].tolist()]
            data.append(line | {"mode": "lines+markers", "marker": marker, "text": texts})
    layout = plain_layout("mean confidence", "share matched", up_to(1.02), up_to(1.02))
    return {"data": data, "layout": layout}


def surface_chart(result: Result, series: DetectionSeries, threshold: float) -> Chart:
    """Return PQ over threshold and cut as a contour, with the chosen point."""
    cuts, thresholds = _cut_grid(series.surface), np.linspace(0.0, 0.99, GRID)
    heights = [series.surface.over_thresholds(cut).sampled(thresholds).pq for cut in cuts.tolist()]
    data: list[Trace] = [
        {
            "type": "contour",
            "x": thresholds.round(4).tolist(),
            "y": cuts.round(6).tolist(),
            "z": [[defined(round(value, 4)) for value in row.tolist()] for row in heights],
            "colorscale": "Cividis",
            "zmin": 0,
            "zmax": 1,
            "contours": {"start": 0, "end": 1, "size": 0.1},
            "line": {"width": 0.5, "color": FAINT},
            "colorbar": {"title": {"text": "PQ"}, "thickness": 12, "outlinewidth": 0,
                         "tickfont": {"color": INK}},
            "hovertemplate": "PQ %{z:.3f} at τ = %{x:.2f}, confidence ≥ %{y:.3g}<extra></extra>",
        }
    ]  # fmt: skip
    best = series.best_cut(threshold)
    chosen = result.spec.cut
    if chosen is None and best is not None:
        chosen = best.high
    if chosen is not None:
        data.append(
            {
                "type": "scatter",
                "mode": "markers",
                "x": [threshold],
                "y": [chosen],
                "marker": {"symbol": "circle-open", "size": 13, "color": "#ffffff",
                           "line": {"width": 3, "color": "#d55e00"}},
                "hovertemplate": "τ = %{x:g}, confidence ≥ %{y:.3g}<extra></extra>",
            }
        )  # fmt: skip
    layout = plain_layout("threshold τ", "cut", up_to(0.99))
    return {"data": data, "layout": layout}


def _cut_grid(surface: Surface) -> Floats:
    """Return cuts from the lowest to the highest confidence."""
    known = surface.confidences[np.isfinite(surface.confidences)]
    if not len(known):
        return np.zeros(2)
    return np.linspace(known.min(), known.max(), GRID)


def _line(
    result: Result,
    one: DetectionSeries,
    x: list[float],
    y: list[float],
    shape: str,
    hover: str,
) -> Trace:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": as_text(one.model),
        "meta": {"model": result.models.index(one.model), "matcher": 0},
        "x": [round(value, 6) for value in x],
        "y": [defined(round(value, 6)) for value in y],
        "line": {
            "color": model_colour(result, one.model),
            "width": LINE_PX,
            "shape": shape,
        },
        "hovertemplate": hover + NAMED,
    }


def _mark(result: Result, one: DetectionSeries, x: float, y: float, hover: str) -> Trace:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": as_text(one.model),
        "meta": {"model": result.models.index(one.model), "matcher": 0},
        "x": [x],
        "y": [y],
        "marker": {"symbol": "diamond", "size": 11, "color": model_colour(result, one.model)},
        "hovertemplate": f"{hover}, PQ %{{y:.3f}}{NAMED}",
    }


def _upright(x: float) -> Layout:
    """Return a line at the cut of the spec."""
    line = {"color": AXIS, "width": 1, "dash": "dash"}
    return {"type": "line", "x0": x, "x1": x, "y0": 0, "y1": 1, "yref": "paper", "line": line}


def _thinned(n: int) -> np.ndarray:
    return np.unique(np.linspace(0, n - 1, min(n, MOST_POINTS)).round().astype(np.int64))
