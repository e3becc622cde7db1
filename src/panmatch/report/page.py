"""One HTML file that opens offline: everything a person wants to see of a run."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

import panmatch
from panmatch.datasets.case import Case
from panmatch.datasets.comparing import compare_models
from panmatch.datasets.outputs import read_run
from panmatch.datasets.run import listed_cases, load_run
from panmatch.evaluation import Result
from panmatch.evaluation.wording import way_title
from panmatch.formats import write_atomically
from panmatch.report import charts
from panmatch.report.gallery import make_gallery
from panmatch.report.headline import Summary, Value
from panmatch.report.ranks import rank_section
from panmatch.report.style import SERIES_COLORS, luminance
from panmatch.report.words import what_to_be_careful_about, what_was_computed

GRID = tuple(round(0.1 * step, 1) for step in range(10))
MOST_FAILURES = 50
READABLE = 0.25  # white text up to this luminance, black text beyond


def write_report(folder: Path, path: Path | None = None) -> Path:
    """Write the report of a run, by default into its folder, and return where it is."""
    target = folder / "report.html" if path is None else path
    run = read_run(folder)
    text = render(load_run(folder), listed_cases(folder), run, title=folder.resolve().name)
    write_atomically(target, text.encode())
    return target


def render(
    result: Result,
    cases: Mapping[tuple[str, str], Case],
    run: Mapping[str, Any],
    title: str = "panmatch",
) -> str:
    """Return the report as HTML."""
    from jinja2 import Environment
    from plotly.offline import get_plotlyjs

    templates = files("panmatch.report") / "templates"
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters["score"] = score
    page = environment.from_string((templates / "report.html").read_text(encoding="utf-8"))
    return page.render(
        title=title,
        style=(templates / "report.css").read_text(encoding="utf-8") + _model_colours(),
        script=(templates / "report.js").read_text(encoding="utf-8"),
        plotly=get_plotlyjs(),
        **context(result, cases, run),
    )


def _model_colours() -> str:
    """Return the colours of models as CSS, with text that can be read on them."""
    rules = []
    for at, colour in enumerate(SERIES_COLORS):
        red, green, blue = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
        ink = "#fff" if luminance((red, green, blue)) < READABLE else "#000"
        rules.append(f".m{at} {{ background: {colour}; color: {ink}; }}")
    return "\n".join(rules)


def context(
    result: Result, cases: Mapping[tuple[str, str], Case], run: Mapping[str, Any]
) -> dict[str, Any]:
    """Return all that the template shows."""
    if not any(result.evaluated(model) for model in result.models):
        return _frame(result, run) | {"classes": [], "ranks": None, "charts": "{}"}
    summary = Summary(result)
    drawn: dict[str, Any] = {}
    classes = [_class(result, summary, cases, kind, drawn) for kind in summary.classes]
    comparison = compare_models(result) if len(result.models) > 1 else None
    return _frame(result, run) | {
        "classes": classes,
        "ranks": None if comparison is None else rank_section(comparison),
        # A closing tag within a string would end the script.
        "charts": json.dumps(drawn, allow_nan=False).replace("</", "<\\/"),
    }


def score(value: float) -> str:
    """Return a score with three digits, and a dash where it is not defined."""
    return "–" if math.isnan(value) else f"{value:.3f}"


def _frame(result: Result, run: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "models": result.models,
        "n_cases": len({one.case for one in result.cases}),
        "failures": result.failures[:MOST_FAILURES],
        "more_failures": max(len(result.failures) - MOST_FAILURES, 0),
        "computed": what_was_computed(result),
        "careful": what_to_be_careful_about(result),
        "spec": json.dumps(result.spec.model_dump(mode="json"), indent=2),
        "versions": run.get("versions", {"panmatch": panmatch.__version__}),
        "began": run.get("began", ""),
        "threshold": f"{result.spec.thresholds[0]:g}",
        "version": panmatch.__version__,
    }


def _class(
    result: Result,
    summary: Summary,
    cases: Mapping[tuple[str, str], Case],
    kind: str,
    drawn: dict[str, Any],
) -> dict[str, Any]:
    """Return what is shown of a class, and add its charts to those that are drawn."""
    ways = summary.ways_of(kind)
    is_mean = kind.startswith("mean of ")
    number = f"c{len(drawn)}"
    made: dict[str, Any] = {"quality": charts.quality_chart(result, summary, kind)}
    if not is_mean:
        for name, chart in zip(("pq", "sq", "rq"), charts.curve_charts(result, kind), strict=True):
            if chart["data"]:
                made[name] = chart
        made["mistakes"] = charts.mistake_chart(result, kind)
        if (sizes := charts.size_chart(result, kind)) is not None:
            made["sizes"] = sizes
        for metric in result.spec.metrics:
            if (boxes := charts.distribution_chart(result, kind, metric)) is not None:
                made[f"metric-{metric}"] = boxes
    drawn |= {f"{number}-{name}": chart for name, chart in made.items()}
    return {
        "name": kind,
        "id": number,
        "is_mean": is_mean,
        "charts": list(made),
        "metrics": [name for name in result.spec.metrics if f"metric-{name}" in made],
        "key": charts.key_of_ways(summary, kind),
        "summary": _summary_rows(result, summary, ways),
        "grid": _grid(result, kind) if result.spec.curve and not is_mean else None,
        "gallery": [] if is_mean else make_gallery(result, cases, kind),
    }


def _summary_rows(result: Result, summary: Summary, ways: list[Any]) -> list[dict[str, Any]]:
    rows = []
    for way in ways:
        for threshold in result.spec.thresholds:
            for model in result.models:
                values: dict[str, Value] = {
                    name: summary.value(model, way, threshold, name) for name in ("pq", "sq", "rq")
                }
                values["mean"] = summary.value(model, way, threshold, "pq", "mean of cases")
                values["autc"] = summary.value(model, way, None, "autc")
                rows.append(
                    {
                        "model": model,
                        "way": way_title(way),
                        "threshold": f"{threshold:g}",
                        "values": values,
                        "is_first": threshold == result.spec.thresholds[0],
                    }
                )
    return rows


def _grid(result: Result, kind: str) -> list[dict[str, Any]]:
    """Return pooled PQ of every model and way to match at ten thresholds, with AUTC."""
    rows = []
    ways = list(dict.fromkeys(group.way for group in result.curve_groups))
    for group in sorted(result.curve_groups, key=lambda group: ways.index(group.way)):
        if group.way[0] == kind:
            curve = charts.pooled_curve(group)
            cells = [_cell(value) for value in curve.at(np.array(GRID))[0].tolist()]
            rows.append(
                {
                    "model": group.model,
                    "way": way_title(group.way),
                    "cells": cells,
                    "autc": curve.area,
                }
            )
    return rows


def _cell(value: float) -> dict[str, Any]:
    """Return a value with its shade; text is white on the dark ones."""
    shade = 0.0 if math.isnan(value) else min(max(value, 0.0), 1.0)
    return {"value": value, "shade": round(100 - 62 * shade), "dark": shade > 0.55}
