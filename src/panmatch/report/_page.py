"""One HTML file that opens offline: everything a person wants to see of a run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

import panmatch
from panmatch.datasets import (
    FEWEST_CASES,
    RESAMPLES,
    Case,
    compare,
    find_images,
    listed_cases,
    load_run,
    read_run,
    verdict,
)
from panmatch.errors import needs_extra
from panmatch.evaluation import MEANS, Notice, Result, count_mistakes, number
from panmatch.formats import write_atomically
from panmatch.report import _charts as charts
from panmatch.report._case_pictures import CasePicture, image_notes, show_cases
from panmatch.report._charts import Chart, MatcherKey, Mistakes
from panmatch.report._style import SERIES_COLORS, luminance
from panmatch.report._tables import (
    THRESHOLDS,
    Averages,
    ClassScoreRow,
    ScoreTable,
    ThresholdRow,
    class_score_rows,
    rank_models,
    score_table,
    threshold_tables,
)

MOST_FAILURES = 50
READABLE = 0.25  # white text up to this luminance, black text beyond
FEW_OBJECTS = 10
MANY_NEAR = 0.2
QUALITIES = {"iou": "IoU", "parts": "the mean IoU of the parts"}
MOST_WARNINGS = 3  # about thresholds


@dataclass(frozen=True, slots=True)
class ClassPage:
    """What is shown of a class, or of a mean over classes, which has no objects of its own."""

    name: str
    id: str  # what the ids of its charts begin with
    is_mean: bool
    keys: list[MatcherKey]
    scores: ScoreTable
    class_scores: list[ClassScoreRow]
    thresholds: dict[str, list[ThresholdRow]]
    charts: dict[str, Chart]  # "pq" …, "quality", "mistakes", "sizes" and "metric-…"
    pictures: list[CasePicture]  # of its worst and best cases

    @property
    def curves(self) -> list[str]:
        """Names of the charts over the threshold."""
        names = [score.name for score in charts.CURVE_SCORES]
        return [name for name in names if name in self.charts]

    @property
    def metrics(self) -> list[str]:
        """Names of the charts of metrics."""
        return [name for name in self.charts if name.startswith("metric-")]


def write_report(folder: Path, path: Path | None = None, *, images: Path | None = None) -> Path:
    """Write the report of a run, and return where it is.

    Parameters
    ----------
    folder
        Output of ``panmatch evaluate``.
    path
        Where to write; by default ``report.html`` in the folder.
    images
        Folder of grey images with the names of the cases, to show below their labels.
    """
    target = folder / "report.html" if path is None else path
    run = read_run(folder)
    found = None if images is None else find_images(images)
    title = folder.resolve().name
    text = render(load_run(folder), listed_cases(folder), run, title=title, images=found)
    write_atomically(target, text.encode())
    return target


def render(
    result: Result,
    cases: Mapping[tuple[str, str], Case],
    run: Mapping[str, Any],
    title: str = "panmatch",
    images: Mapping[str, Path] | None = None,
) -> str:
    """Return the report as HTML; `images` are to be shown below the labels, by case."""
    with needs_extra("report", "Reports"):
        from jinja2 import Environment
        from plotly.offline import get_plotlyjs

    templates = files("panmatch.report") / "templates"
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters["score"] = number

    def text(*names: str) -> str:
        return "\n".join((templates / name).read_text(encoding="utf-8") for name in names)

    page = environment.from_string(text("report.html"))
    return page.render(
        title=title,
        style=text("report.css", "pictures.css") + _model_colours(),
        script=text("report.js", "pictures.js"),
        plotly=get_plotlyjs(),
        **_context(result, cases, run, images),
    )


def _model_colours() -> str:
    """Return the colours of models as CSS, with text that can be read on them."""
    rules = []
    for i, colour in enumerate(SERIES_COLORS):
        red, green, blue = bytes.fromhex(colour[1:])
        ink = "#fff" if luminance((red / 255, green / 255, blue / 255)) < READABLE else "#000"
        rules.append(f".m{i} {{ background: {colour}; color: {ink}; }}")
    return "\n".join(rules)


def _context(
    result: Result,
    cases: Mapping[tuple[str, str], Case],
    run: Mapping[str, Any],
    images: Mapping[str, Path] | None,
) -> dict[str, object]:
    """Return all that the template shows."""
    classes = []
    if any(result.evaluated(model) for model in result.models):
        averages = Averages(result)
        shown = [name for name in averages.classes if name not in MEANS]
        pictures = {
            name: show_cases(result, cases, name, images=images, n_classes=len(shown))
            for name in shown
        }
        mistakes = {model: count_mistakes(result, model) for model in result.models}
        classes = [
            ClassPage(
                name=name,
                id=f"c{i}",
                is_mean=name in MEANS,
                keys=charts.matcher_keys(averages, name),
                scores=score_table(result, averages, name),
                class_scores=class_score_rows(result, averages, name),
                thresholds=threshold_tables(result, name),
                charts=_class_charts(result, averages, mistakes, name),
                pictures=pictures.get(name, []),
            )
            for i, name in enumerate(averages.classes)
        ]
    drawn = {f"{page.id}-{name}": chart for page in classes for name, chart in page.charts.items()}
    return {
        "classes": classes,
        "over_images": images is not None,
        "image_notes": image_notes([one for page in classes for one in page.pictures]),
        "answer": verdict(result) if classes else "",
        "ranks": rank_models(compare(result)) if can_compare(result) else None,
        # A closing tag within a string would end the script.
        "charts": json.dumps(drawn, allow_nan=False).replace("</", "<\\/"),
        "models": result.models,
        "n_cases": len({case.case for case in result.with_status("ok", "failed")}),
        "failures": result.failures[:MOST_FAILURES],
        "more_failures": max(len(result.failures) - MOST_FAILURES, 0),
        "computed": what_was_computed(result),
        "warnings": [Notice.from_dict(one) for one in run.get("warnings", ())],
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
    drawn["losses"] = charts.loss_chart(result, name)
    drawn["mistakes"] = charts.mistake_chart(result, mistakes, name)
    if (sizes := charts.size_chart(result, name)) is not None:
        drawn["sizes"] = sizes
    boxes = charts.metric_charts(result, name)
    return drawn | {f"metric-{metric}": chart for metric, chart in boxes.items()}


def what_was_computed(result: Result) -> str:
    """Return one paragraph about strategies, bounds, thresholds, qualities and averages."""
    spec = result.spec
    strategies = "; ".join(
        f"{matcher.label} ({', '.join(matcher.strategy.bounds)})" for matcher in spec.matching
    )
    sentences = [
        f"Objects were matched by {strategies}. A pair may be matched if its score is strictly "
        f"above the threshold τ; scores are given at τ = "
        f"{', '.join(f'{t:g}' for t in spec.thresholds)}.",
        "A reference with a match is a true positive, and its quality is the IoU with the union of "
        "its predictions; PQ is the summed quality over TP + ½FP + ½FN.",
    ]
    if result.has_parts:
        sentences.append(
            f"PartPQ has the same matches and counts, but the quality of a true positive is the "
            f"mean IoU of the parts of its class, {part_background(result)}."
        )
    if spec.curve:
        sentences.append("AUTC is the exact area under PQ over all thresholds from 0 to 1.")
    if any(matcher.regions for matcher in spec.matching):
        sentences.append(
            "Where it says regions, predictions were cut by the Voronoi regions of the references: "
            "each voxel belongs to the reference nearest to it."
        )
    sentences.append(
        f"Pooled scores sum the counts of all cases, means average the scores of cases; intervals "
        f"hold 95 % of {RESAMPLES} resamples of the cases, and are left out where fewer than "
        f"{FEWEST_CASES} cases have a score."
    )
    if spec.edge_cases:
        said = "; ".join(f"{name}: {case}" for name, case in spec.edge_cases.items())
        sentences.append(f"Where there is nothing to average, scores were chosen: {said}.")
    return " ".join(sentences)


def part_background(result: Result) -> str:
    """Return what becomes of the background where parts are compared (D9)."""
    if result.spec.part_background == "image":
        return "with the background of the whole image as one more label"
    return "with the background left out"


def can_compare(result: Result) -> bool:
    """Return whether there are several models, and a case that all of them have."""
    cases = [{case.case for case in result.evaluated(model)} for model in result.models]
    return len(cases) > 1 and bool(set.intersection(*cases))


def what_to_be_careful_about(result: Result) -> list[str]:
    """Return warnings that this result gives reason for."""
    found = [*_near_thresholds(result), *_few_objects(result), *_gaps(result)]
    if result.has_parts and result.spec.part_background == "image":
        found.append(
            "PartPQ counts the background of the whole image: it rises with the field of view. "
            "Compare it only between images of one size, or set part_background to none."
        )
    if result.failures:
        found.append(f"{len(result.failures)} cases failed and are in no number here.")
    if len(result.models) > 1 and not can_compare(result):
        found.append("There is no case that all models have: they are not compared.")
    if any(len(result.evaluated(model)) == 1 for model in result.models):
        found.append("There is a single case: nothing can be said about other cases like it.")
    if result.unit is None and any(result.evaluated(model) for model in result.models):
        found.append("Cases have different units: sizes and distances cannot be compared.")
    return found


def _near_thresholds(result: Result) -> list[str]:
    lines = []
    for series in result.series:
        for threshold, counts in series.counts.items():
            sums = counts.sum()
            tp, near = int(sums.tallies.tp), int(sums.near_threshold)
            if tp and near / tp >= MANY_NEAR and near > 2:
                named = f"{series.model}: " if series.model else ""
                lines.append(
                    f"{named}{near} of {tp} true positives of {series.setting.class_name} under "
                    f"{series.setting.label} at τ = {threshold:g} would be lost at a "
                    f"threshold higher by 0.05. Look at the curve rather than at one threshold."
                )
    return lines[:MOST_WARNINGS]


def _few_objects(result: Result) -> list[str]:
    few = {}
    for series in result.series:
        if series.model == result.models[0]:
            tally = next(iter(series.counts.values())).sum().tallies
            references = int(tally.tp + tally.fn)
            if references < FEW_OBJECTS:
                few[series.setting.class_name] = references
    if not few:
        return []
    named = ", ".join(f"{name} ({n})" for name, n in few.items())
    return [f"There are few references of {named}: single objects decide their scores."]


def _gaps(result: Result) -> list[str]:
    gaps = [
        gap
        for series in result.series
        for level in series.levels.values()
        for gap in level.gaps[~np.isnan(level.gaps)].tolist()
    ]
    largest = max(gaps, default=0.0)
    if largest <= 1e-9:
        return []
    return [f"Some optimal matchings are proven only up to {largest:.2g} of PQ (column gap)."]
