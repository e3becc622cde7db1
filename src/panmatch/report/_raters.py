"""The report of a run with several references: raters, and models among them (D18)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import panmatch
from panmatch.datasets import (
    CHOOSABLE,
    FEWEST_CASES,
    RaterComparison,
    Spread,
    load_raters,
)
from panmatch.evaluation import Setting
from panmatch.formats import write_atomically
from panmatch.report._page import colour_rules, template_environment, write_report
from panmatch.scoring import ChoiceBounds, Curve

STYLES = ("report.css", "subgroups.css", "raters.css")
POINTS = 401  # of a curve that is drawn
WIDTH, HEIGHT = 400.0, 240.0  # of the chart of curves, without its labels


@dataclass(frozen=True, slots=True)
class SpreadLine:
    """A model compared with one rater, the worst or the best, with places in percent."""

    name: str
    value: float
    low: float
    high: float
    at: float
    start: float
    stop: float


@dataclass(frozen=True, slots=True)
class SpreadPlot:
    """A model compared with all raters."""

    model: str
    verdict: str
    cases: int
    scale: tuple[float, float]
    zero: float  # place of no difference
    lines: list[SpreadLine]


@dataclass(frozen=True, slots=True)
class DrawnCurve:
    """PQ over the threshold as the path of an SVG."""

    who: str
    path: str
    place: int | None  # of the model; None for two raters


@dataclass(frozen=True, slots=True)
class RaterPage:
    """What is shown about a class."""

    name: str
    where: str
    pq: list[tuple[str, list[float | None]]]  # a row for each rater as the reference
    curves: list[DrawnCurve]
    spreads: list[SpreadPlot]
    seen: list[tuple[int, int, list[float]]]  # by how many, how many objects, recall of models
    confirmed: list[tuple[str, list[int]]]  # predictions of each model by how many raters
    bounds: list[tuple[str, list[ChoiceBounds | None]]]
    groups: tuple[int, int]  # and how many of them are consistent


def write_rater_report(folder: Path, path: Path | None = None, title: str | None = None) -> Path:
    """Write the report of a run with several references, and one for each rater as reference.

    Parameters
    ----------
    folder
        Output of ``panmatch evaluate --reference``.
    path
        Where to write; by default ``report.html`` in the folder.
    title
        The heading; by default the name of the folder.
    """
    found, margin = load_raters(folder)
    target = folder / "report.html" if path is None else path
    for rater in found.raters:
        write_report(folder / rater, title=f"{rater} as the reference")
    environment = template_environment()
    style = "\n".join(environment.get_template(name).render() for name in STYLES)
    text = environment.get_template("raters.html").render(
        title=title or folder.resolve().name,
        style=style,
        found=found,
        margin=margin,
        pages=[_page(found, setting, margin) for setting in found.first_settings],
        choosable=list(CHOOSABLE),
        links=[(rater, (folder / rater / "report.html").resolve().as_uri()) if path else
               (rater, f"{rater}/report.html") for rater in found.raters],
        colours=colour_rules(),
        fewest=FEWEST_CASES,
        version=panmatch.__version__,
        width=WIDTH,
        height=HEIGHT,
    )  # fmt: skip
    write_atomically(target, text.encode())
    return target


def _page(found: RaterComparison, setting: Setting, margin: float) -> RaterPage:
    threshold = found.spec.thresholds[0]
    others = (*found.raters, *found.models)
    rows: list[tuple[str, list[float | None]]] = []
    for rater in found.raters:
        values = found.mean_pq(rater, setting)
        rows.append((rater, [None if one == rater else values.get(one, math.nan)
                             for one in others]))  # fmt: skip
    spreads = [
        _spread_plot(one, margin)
        for one in found.spreads
        if (one.setting, one.threshold) == (setting, threshold)
    ]
    known = {(key.model, key.chosen): (bounds, found.choices.choices[key])
             for key, bounds in found.choices.bounds().items()
             if (key.class_name, key.threshold) == (setting.class_name, threshold)}  # fmt: skip
    choices = [one for _, one in known.values()]
    nothing = (None, None)
    return RaterPage(
        setting.class_name,
        f"{setting.label} at τ = {threshold:g}",
        rows,
        _curves(found, setting),
        spreads,
        _seen(found, setting, threshold),
        _confirmed(found, setting, threshold),
        [
            (model, [known.get((model, chosen), nothing)[0] for chosen in CHOOSABLE])
            for model in found.models
        ],
        (choices[0].n_groups, choices[0].n_consistent) if choices else (0, 0),
    )


def _confirmed(
    found: RaterComparison, setting: Setting, threshold: float
) -> list[tuple[str, list[int]]]:
    counts: dict[str, list[int]] = {model: [] for model in found.models}
    for key, n in found.seen.predictions.items():
        if (key.setting, key.threshold) == (setting, threshold):
            counts[key.model].append(n)
    return list(counts.items())


def _seen(
    found: RaterComparison, setting: Setting, threshold: float
) -> list[tuple[int, int, list[float]]]:
    counted = found.seen.recall(setting, threshold, "")
    recalls = [found.seen.recall(setting, threshold, model) for model in found.models]
    return [
        (seen_by, tally.fn, [one[seen_by].recall for one in recalls])
        for seen_by, tally in counted.items()
    ]


def _spread_plot(spread: Spread, margin: float) -> SpreadPlot:
    given = [(one.rater, one.difference, one.interval) for one in spread.differences]
    given += [
        ("the worst rater", spread.over_worst, spread.over_worst_interval),
        ("the best rater", spread.over_best, spread.over_best_interval),
    ]
    ends = [0.0, *(end for _, value, one in given for end in (value, one.low, one.high)
                   if math.isfinite(end))]  # fmt: skip
    space = 0.05 * (max(ends) - min(ends)) or 0.1
    low, high = min(ends) - space, max(ends) + space

    def place(value: float) -> float:
        return 100 * (value - low) / (high - low)

    lines = [
        SpreadLine(name, value, one.low, one.high, place(value), place(one.low), place(one.high))
        for name, value, one in given
    ]
    cases = min(one.cases for one in spread.differences)
    return SpreadPlot(spread.model, spread.verdict(margin), cases, (low, high), place(0.0), lines)


def _curves(found: RaterComparison, setting: Setting) -> list[DrawnCurve]:
    """Return the pooled curves of every two raters, then of every model against every rater."""
    drawn = []
    for rater, result in found.results.items():
        for series in result.series:
            if series.setting == setting and series.pooled_curve is not None:
                place = found.models.index(series.model) if series.model in found.models else None
                who = f"{series.model} against {rater}"
                drawn.append(DrawnCurve(who, _path(series.pooled_curve), place))
    return sorted(drawn, key=lambda one: -1 if one.place is None else one.place)


def _path(curve: Curve) -> str:
    """Return PQ over the threshold as steps."""
    pq, thresholds = np.nan_to_num(curve.tallies.pq), curve.thresholds
    if len(thresholds) > POINTS:
        grid = np.linspace(0.0, 1.0, POINTS)
        pq = pq[np.searchsorted(thresholds, grid, side="right") - 1]
        thresholds = grid
    places = zip((WIDTH * thresholds).tolist(), (HEIGHT * (1 - pq)).tolist(), strict=True)
    steps = [f"H{x:.1f}V{y:.1f}" for x, y in places]
    return f"M0,{HEIGHT * (1 - float(pq[0])):.1f}{''.join(steps)}H{WIDTH:.1f}"
