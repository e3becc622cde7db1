"""Everything you want to see of a run, in one HTML file that opens offline."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import panmatch
from panmatch.datasets import (
    FEWEST_CASES,
    RESAMPLES,
    Case,
    CaseDescription,
    Comparison,
    compare,
    find_images,
    holds_raters,
    listed_cases,
    load_run,
    read_run,
    verdict,
    verdict_on_models,
    what_would_change,
    what_would_change_between,
)
from panmatch.errors import needs_extra
from panmatch.evaluation import MEANS, Notice, Result, count_mistakes, number, p_text, signed
from panmatch.formats import write_atomically
from panmatch.report import _charts as charts
from panmatch.report._case_pictures import CasePicture, image_notes, show_cases
from panmatch.report._cautions import can_compare, cautions
from panmatch.report._charts import IN_DARK, Chart, Mistakes
from panmatch.report._curve_charts import (
    CURVE_SCORES,
    coinciding_curves,
    curve_charts,
    matcher_keys,
)
from panmatch.report._detections import (
    DetectionRow,
    about_detections,
    detection_charts,
    detection_context,
    detection_rows,
    detection_scores,
)
from panmatch.report._ranking import ranking_section
from panmatch.report._style import SERIES_COLORS, luminance
from panmatch.report._subgroups import forests
from panmatch.report._summary import (
    Card,
    cards,
    case_data,
    class_rows,
    data_folders,
    places_to_look,
)
from panmatch.report._tables import (
    EVEN_CONTRAST,
    THRESHOLDS,
    Averages,
    ClassScoreRow,
    MetricNumbers,
    Ranks,
    RankTables,
    ScoreTable,
    StructureRow,
    ThresholdRow,
    class_score_rows,
    metric_numbers,
    score_table,
    structure_rows,
    threshold_tables,
)
from panmatch.scoring import LOSS_LOOKS, MEANINGS

if TYPE_CHECKING:
    from jinja2 import Environment

MOST_FAILURES = 50
QUALITIES = {"iou": "IoU", "parts": "the mean IoU of the parts"}
INTERVALS = {"studentised": "studentised", "bca": "BCa", "percentile": "percentile"}
STYLES = ("report.css", "pictures.css", "subgroups.css", "ranking.css")
TURNING = (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F)
SCRIPTS = ("report.js", "curves.js", "cases.js", "pictures.js")


@dataclass(frozen=True, slots=True)
class ClassPage:
    """What is shown about a class, or about a mean over classes, which has no objects itself."""

    name: str
    id: str  # what the ids of its charts begin with
    is_mean: bool
    cards: list[Card]
    scores: ScoreTable
    class_scores: list[ClassScoreRow]
    thresholds: dict[str, list[ThresholdRow]]
    metric_rows: list[MetricNumbers]
    structure: list[StructureRow]
    charts: dict[str, Chart]  # "pq" …, "quality", "losses", "mistakes", "sizes" and "metric-…"
    coinciding: list[list[str]]  # names of curves that are the same
    ranks: Ranks | None
    pictures: list[CasePicture]  # of its worst and best cases
    detections: list[DetectionRow]  # empty without confidences

    @property
    def curves(self) -> list[str]:
        """Names of the charts over the threshold."""
        return [score.name for score in CURVE_SCORES if score.name in self.charts]

    @property
    def surfaces(self) -> list[str]:
        """Names of the charts of PQ over threshold and cut, a chart per model."""
        return [name for name in self.charts if name.startswith("d-surface-")]

    @property
    def metrics(self) -> list[str]:
        """Names of the charts of metrics."""
        return [name for name in self.charts if name.startswith("metric-")]


def write_report(
    folder: Path,
    path: Path | None = None,
    title: str | None = None,
    *,
    images: Path | None = None,
    how: CaseDescription = CaseDescription(),  # noqa: B008
) -> Path:
    """Write the report of a run, and return where it is.

    Parameters
    ----------
    folder
        Output of ``panmatch evaluate``; with several references, the report is about the raters.
    path
        Where to write; by default ``report.html`` in the folder.
    title
        The heading; by default the name of the folder.
    images
        Folder of grey-scale images with the names of the cases, to show behind their labels.
    how
        A case table and the column of clusters, if they are not those of the run.
    """
    if holds_raters(folder):
        from panmatch.report._raters import write_rater_report

        return write_rater_report(folder, path, title)
    target = folder / "report.html" if path is None else path
    run, title = read_run(folder), title or folder.resolve().name
    found = None if images is None else find_images(images)
    text = render(
        how.of(load_run(folder)),
        listed_cases(folder),
        run,
        title=title,
        images=found,
        folder=folder,
    )
    write_atomically(target, text.encode())
    return target


def render(
    result: Result,
    cases: Mapping[tuple[str, str], Case],
    run: Mapping[str, Any],
    title: str = "panmatch",
    images: Mapping[str, Path] | None = None,
    folder: Path | None = None,
) -> str:
    """Return the report as HTML; `images` are shown behind the labels, by case."""
    environment = template_environment()
    with needs_extra("report", "Reports"):
        from plotly.offline import get_plotlyjs

    return environment.get_template("report.html").render(
        title=title,
        style="\n".join([*map(_template, STYLES), colour_rules()]),
        script="\n".join(map(_template, SCRIPTS)),
        plotly=get_plotlyjs(),
        **_context(result, cases, run, images, folder),
    )


def template_environment() -> Environment:
    """Return what renders templates, with filters for numbers."""
    with needs_extra("report", "Reports"):
        from jinja2 import Environment, FunctionLoader

    environment = Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, loader=FunctionLoader(_template)
    )
    environment.filters |= {"score": number, "p": p_text, "signed": signed, "calm": _calm}
    return environment


def _template(name: str) -> str:
    return (files("panmatch.report") / "templates" / name).read_text(encoding="utf-8")


def _calm(sentence: str) -> str:
    """Return a sentence without control characters that could reverse the text after a name."""
    return sentence.translate(dict.fromkeys(TURNING))


def colour_rules() -> str:
    """Return the colours of models and of losses as CSS, with text that can be read on them."""
    rules = []
    for i, colour in enumerate(SERIES_COLORS):
        dark = IN_DARK.get(colour, colour)
        rules.append(f":root {{ --m{i}: {colour}; --on-m{i}: {_ink(colour)}; }}")
        rules.append(f":root.dark {{ --m{i}: {dark}; --on-m{i}: {_ink(dark)}; }}")
        rules.append(f".m{i} {{ background: var(--m{i}); color: var(--on-m{i}); }}")
        rules.append(f".f{i} {{ fill: var(--m{i}); }}")
    for look in LOSS_LOOKS.values():
        rules.append(f".lost-{look.title.split()[0]} {{ background: {look.colour}; }}")
    return "\n".join(rules)


def _ink(colour: str) -> str:
    red, green, blue = bytes.fromhex(colour[1:])
    lightness = luminance((red / 255, green / 255, blue / 255))
    return "#fff" if lightness < EVEN_CONTRAST else "#000"


def _context(
    result: Result,
    cases: Mapping[tuple[str, str], Case],
    run: Mapping[str, Any],
    images: Mapping[str, Path] | None,
    folder: Path | None,
) -> dict[str, object]:
    """Return everything that the template shows."""
    classes, rows, found = [], [], dict[str, object]()
    comparison = compare(result) if can_compare(result) else None
    if any(result.evaluated(model) for model in result.models):
        averages = Averages(result)
        classes = _class_pages(result, averages, comparison, cases, images)
        ids = {page.name: page.id for page in classes}
        rows = class_rows(result, averages, ids)
        found = case_data(result, ids, {page.name: page.pictures for page in classes})
    drawn = {f"{page.id}-{name}": chart for page in classes for name, chart in page.charts.items()}
    ranking = ranking_section(result)
    if ranking is not None and ranking.chart is not None:
        drawn["ranking-blobs"] = ranking.chart
    headline, folders = result.headline_class, data_folders(cases)
    return {
        "classes": classes,
        "has_detections": any(page.detections for page in classes),
        "over_images": images is not None,
        "image_notes": image_notes([one for page in classes for one in page.pictures]),
        "class_rows": rows,
        "places": places_to_look(result, cases, folder),
        "chosen": next((page.id for page in classes if page.name == headline), "c0"),
        "headline": headline,
        **_answers(result, comparison),
        "data": _as_json({"charts": drawn, "dark": in_dark(result), "cases": found}),
        "models": result.models,
        "keys": matcher_keys(result),
        "n_cases": len({case.case for case in result.with_status("ok", "failed")}),
        "folders": folders,
        "data_names": ", ".join(Path(place).name for place in folders.get("references", ())),
        "failures": result.failures[:MOST_FAILURES],
        "more_failures": max(len(result.failures) - MOST_FAILURES, 0),
        "computed": what_was_computed(result),
        "warnings": [Notice.from_dict(one) for one in run.get("warnings", ())],
        "careful": cautions(result),
        "forests": forests(result),
        "ranking": ranking,
        "spec": json.dumps(result.spec.model_dump(mode="json"), indent=2),
        "versions": run.get("versions", {"panmatch": panmatch.__version__}),
        "began": run.get("began", ""),
        "threshold": f"{result.spec.thresholds[0]:g}",
        "qualities": QUALITIES,
        "background": part_background(result),
        "kinds": MEANINGS,
        "first_matcher": result.spec.matching[0].label,
        **detection_context(result),
        "thresholds": THRESHOLDS,
        "fewest": FEWEST_CASES,
        "version": panmatch.__version__,
    }


def _answers(result: Result, comparison: Comparison | None) -> dict[str, object]:
    """Return the verdict, and what would change it."""
    if comparison is None:
        return {"answer": verdict(result), "change": what_would_change(result)}
    return {
        "answer": verdict_on_models(comparison),
        "change": what_would_change_between(comparison),
    }


def _as_json(content: object) -> str:
    """Return JSON with its text escaped, so that it cannot end the script or become markup."""
    text = json.dumps(content, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def in_dark(result: Result) -> dict[str, str]:
    """Return the colours that replace those of charts on a dark page."""
    strategies = [matcher.strategy for matcher in result.spec.matching]
    return {**IN_DARK, **{one.hue[0]: one.hue[1] for one in strategies}}


def _class_pages(
    result: Result,
    averages: Averages,
    comparison: Comparison | None,
    cases: Mapping[tuple[str, str], Case],
    images: Mapping[str, Path] | None,
) -> list[ClassPage]:
    n_shown = sum(name not in MEANS for name in averages.classes)
    mistakes = {model: count_mistakes(result, model) for model in result.models}
    detections = [] if result.spec.confidence is None else detection_scores(result)
    tables = None if comparison is None else RankTables(comparison)
    pages = []
    for i, name in enumerate(averages.classes):
        ranks = None if tables is None else tables.of(name)
        is_mean = name in MEANS
        metrics = [] if is_mean else metric_numbers(result, name)
        pages.append(
            ClassPage(
                name=name,
                id=f"c{i}",
                is_mean=is_mean,
                cards=cards(result, averages, name, [] if ranks is None else ranks.first),
                scores=score_table(result, averages, name),
                class_scores=class_score_rows(result, averages, name),
                thresholds=threshold_tables(result, name),
                metric_rows=metrics,
                structure=structure_rows(result, name, result.spec.thresholds[0]),
                charts=_class_charts(result, averages, mistakes, name, metrics),
                coinciding=coinciding_curves(result, name),
                ranks=ranks,
                pictures=[]
                if is_mean
                else show_cases(result, cases, name, images=images, n_classes=n_shown),
                detections=detection_rows(detections, result, name),
            )
        )
    return pages


def _class_charts(
    result: Result,
    averages: Averages,
    mistakes: Mistakes,
    name: str,
    metrics: list[MetricNumbers],
) -> dict[str, Chart]:
    drawn = {"quality": charts.quality_chart(result, averages, name)}
    has_losses = result.spec.encoding != "coco-instances"  # whose masks may share voxels
    if has_losses and (name not in MEANS or name == result.headline_class):
        drawn["losses"] = charts.loss_chart(result, name)
    if name in MEANS:
        return drawn
    drawn |= curve_charts(result, name)
    drawn["mistakes"] = charts.mistake_chart(result, mistakes, name)
    if (sizes := charts.size_chart(result, name)) is not None:
        drawn["sizes"] = sizes
    boxes = charts.metric_charts(result, metrics)
    drawn |= detection_charts(result, name)
    return drawn | {f"metric-{metric}": chart for metric, chart in boxes.items()}


def what_was_computed(result: Result) -> str:
    """Return one paragraph about strategies, bounds, thresholds, qualities and averages."""
    spec = result.spec
    strategies = "; ".join(
        f"{matcher.label} ({', '.join(matcher.strategy.bounds)})" for matcher in spec.matching
    )
    sentences = [
        f"Objects were matched by {strategies}. A pair can be matched if its score is strictly "
        f"above the threshold τ. Scores are given at τ = "
        f"{', '.join(f'{t:g}' for t in spec.thresholds)}.",
        "A reference with a match is a true positive. Its quality is its IoU with the union of its "
        "matched predictions. PQ is the summed quality divided by TP + ½FP + ½FN. It equals "
        "SQ · RQ: SQ is the mean quality of the true positives, and RQ is the F1 score of the "
        "objects, TP / (TP + ½FP + ½FN).",
    ]
    if result.has_parts:
        sentences.append(
            f"PartPQ uses the same matches and counts, but the quality of a true positive is the "
            f"mean IoU of the parts of its class, {part_background(result)}."
        )
    if spec.curve:
        sentences.append("AUTC is the exact area under PQ over all thresholds from 0 to 1.")
    if any(matcher.regions for matcher in spec.matching):
        sentences.append(
            "For strategies in regions, predictions were cut by the Voronoi regions of the "
            "references: each voxel belongs to the nearest reference."
        )
    sentences += about_detections(result)
    unit = spec.averaging.cluster or "case"
    sentences.append(
        f"Pooled scores add up the counts of all cases; means average the scores of cases. "
        f"Intervals are {INTERVALS[spec.averaging.interval]} 95 % intervals from {RESAMPLES} "
        f"bootstrap resamples of the {unit}s. They are left out if fewer than {FEWEST_CASES} "
        f"{unit}s have a score."
    )
    if spec.edge_cases:
        said = "; ".join(f"{name}: {case}" for name, case in spec.edge_cases.items())
        sentences.append(f"Where a score is undefined, the spec sets its value: {said}.")
    return " ".join(sentences)


def part_background(result: Result) -> str:
    """Return how the background counts when parts are compared (D9)."""
    if result.spec.part_background == "image":
        return "with the background of the whole image as one more label"
    return "with the background left out"
