"""One HTML file that opens offline: everything a person wants to see of a run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import panmatch
from panmatch.datasets import Case, compare, listed_cases, load_run, read_run
from panmatch.errors import needs_extra
from panmatch.evaluation import MEANS, Result, count_mistakes, number
from panmatch.formats import write_atomically
from panmatch.report import _charts as charts
from panmatch.report._case_pictures import CasePicture, show_cases
from panmatch.report._charts import Chart, MatcherKey, Mistakes
from panmatch.report._explanations import (
    QUALITIES,
    can_compare,
    part_background,
    what_to_be_careful_about,
    what_was_computed,
)
from panmatch.report._style import SERIES_COLORS, luminance
from panmatch.report._tables import (
    THRESHOLDS,
    Averages,
    ScoreTable,
    ThresholdRow,
    rank_models,
    score_table,
    threshold_tables,
)

MOST_FAILURES = 50
READABLE = 0.25  # white text up to this luminance, black text beyond


@dataclass(frozen=True, slots=True)
class ClassPage:
    """What is shown of a class, or of a mean over classes.

    Attributes
    ----------
    name, id
        What it is called, and what the ids of its charts begin with.
    is_mean
        Whether it is a mean over classes, which has no objects of its own.
    keys
        How its matchers are drawn.
    scores, thresholds
        Its tables.
    charts
        By name: PQ … over the threshold, ``"quality"``, ``"mistakes"``, ``"sizes"``, and
        ``"metric-…"``.
    pictures
        Its worst and best cases.
    """

    name: str
    id: str
    is_mean: bool
    keys: list[MatcherKey]
    scores: ScoreTable
    thresholds: dict[str, list[ThresholdRow]]
    charts: dict[str, Chart]
    pictures: list[CasePicture]

    @property
    def curves(self) -> list[str]:
        """Names of the charts over the threshold."""
        names = [score.name for score in charts.CURVE_SCORES]
        return [name for name in names if name in self.charts]

    @property
    def metrics(self) -> list[str]:
        """Names of the charts of metrics."""
        return [name for name in self.charts if name.startswith("metric-")]


def write_report(folder: Path, path: Path | None = None) -> Path:
    """Write the report of a run.

    Parameters
    ----------
    folder
        Output of ``panmatch evaluate``.
    path
        Where to write; by default ``report.html`` in the folder.

    Returns
    -------
    pathlib.Path
        Where it is.
    """
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
    with needs_extra("report", "Reports"):
        from jinja2 import Environment
        from plotly.offline import get_plotlyjs

    templates = files("panmatch.report") / "templates"
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters["score"] = number
    page = environment.from_string((templates / "report.html").read_text(encoding="utf-8"))
    return page.render(
        title=title,
        style=(templates / "report.css").read_text(encoding="utf-8") + _model_colours(),
        script=(templates / "report.js").read_text(encoding="utf-8"),
        plotly=get_plotlyjs(),
        **_context(result, cases, run),
    )


def _model_colours() -> str:
    """Return the colours of models as CSS, with text that can be read on them."""
    rules = []
    for i, colour in enumerate(SERIES_COLORS):
        red, green, blue = (value / 255 for value in bytes.fromhex(colour[1:]))
        ink = "#fff" if luminance((red, green, blue)) < READABLE else "#000"
        rules.append(f".m{i} {{ background: {colour}; color: {ink}; }}")
    return "\n".join(rules)


def _context(
    result: Result, cases: Mapping[tuple[str, str], Case], run: Mapping[str, Any]
) -> dict[str, object]:
    """Return all that the template shows."""
    classes = []
    if any(result.evaluated(model) for model in result.models):
        averages = Averages(result)
        mistakes = {model: count_mistakes(result, model) for model in result.models}
        classes = [
            ClassPage(
                name=name,
                id=f"c{i}",
                is_mean=name in MEANS,
                keys=charts.matcher_keys(averages, name),
                scores=score_table(result, averages, name),
                thresholds=threshold_tables(result, name),
                charts=_class_charts(result, averages, mistakes, name),
                pictures=[] if name in MEANS else show_cases(result, cases, name),
            )
            for i, name in enumerate(averages.classes)
        ]
    drawn = {f"{page.id}-{name}": chart for page in classes for name, chart in page.charts.items()}
    return {
        "classes": classes,
        "ranks": rank_models(compare(result)) if can_compare(result) else None,
        # A closing tag within a string would end the script.
        "charts": json.dumps(drawn, allow_nan=False).replace("</", "<\\/"),
        "models": result.models,
        "n_cases": len({case.case for case in result.cases}),
        "failures": result.failures[:MOST_FAILURES],
        "more_failures": max(len(result.failures) - MOST_FAILURES, 0),
        "computed": what_was_computed(result),
        "careful": what_to_be_careful_about(result),
        "spec": json.dumps(result.spec.model_dump(mode="json"), indent=2),
        "versions": run.get("versions", {"panmatch": panmatch.__version__}),
        "began": run.get("began", ""),
        "threshold": f"{result.spec.thresholds[0]:g}",
        "qualities": QUALITIES,
        "background": part_background(result),
        "first_matcher": result.spec.matching[0].label,
        "thresholds": THRESHOLDS,
        "version": panmatch.__version__,
    }


def _class_charts(
    result: Result, averages: Averages, mistakes: Mistakes, name: str
) -> dict[str, Chart]:
    drawn = {"quality": charts.quality_chart(result, averages, name)}
    if name in MEANS:
        return drawn
    drawn |= charts.curve_charts(result, name)
    drawn["mistakes"] = charts.mistake_chart(result, mistakes, name)
    if (sizes := charts.size_chart(result, name)) is not None:
        drawn["sizes"] = sizes
    boxes = charts.metric_charts(result, name)
    return drawn | {f"metric-{metric}": chart for metric, chart in boxes.items()}
