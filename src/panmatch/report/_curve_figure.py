"""PQ, SQ or RQ over the threshold as exact steps (D7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from panmatch.errors import OptionError
from panmatch.evaluation import Result, Score, number
from panmatch.matching import Dash, Matcher, Strategy
from panmatch.overlap import Floats
from panmatch.report import _selection as selection
from panmatch.report import _style as style
from panmatch.report._matched_class import SHORT_BOUNDS, matcher_title
from panmatch.report._selection import Names, Quantity
from panmatch.report._style import Look, Width
from panmatch.scoring import Curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LEAST_PANEL_IN = 2.2
HEIGHT_IN = (0.55, 2.2)  # of the axes: a share of the width, and the most
HANDLE_IN = 0.65  # of the legend, with space around
LEGEND_IN = 0.4  # below the axes
LABELS_IN = 0.6  # title above, ticks and their label below
MOST_NAMED = 5  # thresholds that the legend names; more are counted
NO_MARKER = ""
MARKER_PT2 = 16.0
LINE_PT, MORE_PT = 1.2, 0.3


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """A score over the threshold, by the quality that the curve has, and how it is drawn."""

    label: str
    look: Look
    curve: Curve
    score: Score

    @property
    def heights(self) -> Floats:
        """The score on every step of the curve."""
        heights: Floats = getattr(self.curve, self.score.name.removeprefix("part_"))
        return heights

    @property
    def area(self) -> float:
        """The area under the line."""
        return float(getattr(self.curve, area_score(self.score).name.removeprefix("part_")))

    @property
    def words(self) -> str:
        """What the legend says."""
        return f"{self.label}: {number(self.area)}"


@style.in_paper_style
def plot_curve(
    result: Result,
    *,
    quantity: Quantity = "pq",
    classes: Names = None,
    models: Names = None,
    strategies: Names = None,
    width: Width = "single",
) -> Figure:
    """Draw scores over all thresholds, cases pooled, with the areas in the legend (D7).

    Parameters
    ----------
    result
        Of a spec with `curve`.
    quantity
        ``"pq"``, ``"sq"`` or ``"rq"``; where classes have parts also ``"part_pq"`` or
        ``"part_sq"`` (D9).
    classes
        One panel each; all by default.
    models, strategies
        One line for every pair of them; all by default. A strategy is named as in the spec, or
        with its options as in the summary.
    width
        ``"single"`` or ``"double"`` for the columns of a page, or a width in inches.

    Returns
    -------
    matplotlib.figure.Figure
        Lines of exact steps: a step starts at its threshold and holds up to the next. Dashes show
        the strategy. With several models, colours and markers show the model, and markers are at
        the thresholds of the spec. With a single model, strategies have the same colours as in the
        playground.

    Examples
    --------
    >>> from panmatch.datasets import evaluate
    >>> result = evaluate(reference=[[1, 1, 0, 2]], prediction=[[3, 3, 0, 0]])
    >>> plot_curve(result, strategies="one-to-one").axes[0].get_ylabel()
    'PQ'
    """
    score = selection.choose_quantity(result, quantity)
    if not result.spec.curve:
        raise OptionError(
            "the result has no curves, because its spec says `curve: false`: evaluate with "
            "`curve: true`."
        )
    panels = selection.choose_classes(result, classes, score=score)
    shown = selection.choose_models(result, models)
    matchers = selection.choose_matchers(result.spec, strategies)
    lines = [_lines(result, name, shown, matchers, score) for name in panels]
    words = [line.words for panel in lines for line in panel]
    marks = result.spec.thresholds if len(shown) > 1 else ()
    title = _legend_title(shown, matchers, score, marks)
    columns = _columns(style.width_in(width), [*words, title], len(panels))
    panel_in = style.width_in(width) / columns
    fitting = max(1, int(panel_in / (style.text_width_in(words) + HANDLE_IN)))
    legend_columns = _legend_columns(fitting, len(shown), len(matchers))
    rows = -(-max(map(len, lines)) // legend_columns) + 1 + title.count("\n")
    height = min(HEIGHT_IN[0] * panel_in, HEIGHT_IN[1]) + LABELS_IN + style.LINE_IN * rows
    figure = style.new_figure(style.width_in(width), height * -(-len(panels) // columns))
    axes = style.make_panels(figure, len(panels), columns)
    limits = score_limits_of([line for panel in lines for line in panel])
    for ax, name, drawn in zip(axes, panels, lines, strict=True):
        draw_steps(ax, drawn, score, limits, marks)
        ax.set_title(name if len(panels) > 1 else "")
        if drawn:
            by_matcher = 1 < legend_columns == len(matchers) and len(shown) > 1
            add_legend(ax, figure, title, legend_columns, len(matchers) if by_matcher else 1)
    return figure


def area_score(score: Score) -> Score:
    """Return the area under the threshold curve of PQ, SQ or RQ.

    Examples
    --------
    >>> area_score(Score("part_sq", "parts")).title
    'PartAUTC_SQ'
    """
    name = score.name.replace("pq", "autc").replace("sq", "autc_sq").replace("rq", "autc_rq")
    return replace(score, name=name, is_area=True)


def score_limits_of(lines: Sequence[Line]) -> tuple[float, float]:
    """Return the ends of the axis on which to draw some lines."""
    return style.score_limits(np.concatenate([np.zeros(0), *(line.heights for line in lines)]))


def draw_steps(
    ax: Axes,
    lines: Sequence[Line],
    score: Score,
    limits: tuple[float, float],
    marks: Sequence[float] = (),
) -> None:
    """Draw curves as exact steps, each with a legend label, and with markers at some thresholds.

    Parameters
    ----------
    limits
        Ends of the axis of the score.
    marks
        Thresholds at which lines have their markers.
    """
    for i, line in enumerate(lines):
        ax.step(
            np.append(line.curve.thresholds, 1.0),
            np.append(line.heights, line.heights[-1]),
            where="post",
            color=line.look.color,
            linestyle=style.line_style(line.look.dash),
            linewidth=_line_pt(len(lines) - 1 - i, line.look.marker),
            marker=line.look.marker,
            markevery=[],  # for the legend
            label=line.words,
            clip_on=False,
        )
        if len(marks):
            at = np.searchsorted(line.curve.thresholds, marks, side="right") - 1
            ax.scatter(
                marks, line.heights[at], MARKER_PT2, color=line.look.color,
                marker=line.look.marker, linewidths=0, clip_on=False, zorder=3,
            )  # fmt: skip
    ax.set(xlim=(0, 1), xlabel="threshold τ", ylabel=score.title)
    style.set_score_axis(ax, limits)
    ax.grid(visible=True)


def _lines(
    result: Result, class_name: str, models: list[str], matchers: list[Matcher], score: Score
) -> list[Line]:
    """Return the lines of a class; a model that has the class in no case has no line."""
    labels = selection.short_labels(result.spec)
    found = []
    for series in result.series:
        matcher = series.setting.matcher
        curve = series.pooled_part_curve if score.quality == "parts" else series.pooled_curve
        shown = series.model in models and matcher in matchers
        if series.setting.class_name != class_name or not shown or curve is None:
            continue
        names = [series.model] if len(models) > 1 else []
        if len(matchers) > 1 or not names:
            names.append(f"{labels[matcher]} ({matcher.strategy.short_bounds})")
        place = models.index(series.model), matchers.index(matcher)
        look = style.series_look(place[0], matcher.dash)
        if len(models) == 1:
            look = strategy_look(matcher.strategy, matcher.dash)
        found.append((place, Line(", ".join(names), look, curve, score)))
    return [line for _, line in sorted(found, key=lambda item: item[0])]


def _columns(width: float, words: list[str], panels: int) -> int:
    panel = max(LEAST_PANEL_IN, style.text_width_in(words) + HANDLE_IN)
    return max(1, min(panels, int(width / panel)))


def strategy_look(strategy: Strategy, dash: Dash) -> Look:
    """Return how to draw a strategy's line if there is only one model: as in the playground."""
    return Look(strategy.hue[0], dash, NO_MARKER)


def _line_pt(above: int, marker: str) -> float:
    """Return the width of a line; strategies of a model often coincide, so lower ones are wider."""
    return LINE_PT + (MORE_PT * min(above, 3) if marker == NO_MARKER else 0.0)


def _legend_title(
    models: list[str], matchers: list[Matcher], score: Score, marks: Sequence[float]
) -> str:
    area = area_score(score).title
    where = f"τ = {', '.join(f'{mark:g}' for mark in marks)}"
    if len(marks) > MOST_NAMED:
        where = f"the {len(marks)} thresholds of the spec"
    explained = f"\nmarkers at {where}" if len(marks) else ""
    if len(models) > 1 and len(matchers) == 1:
        return f"{matcher_title(matchers[0])}{explained}\nmodel: {area}"
    who = "model, strategy" if len(models) > 1 else "strategy"
    return f"{who} ({SHORT_BOUNDS}): {area}{explained}"


def _legend_columns(fitting: int, models: int, matchers: int) -> int:
    """Return how many columns a legend has: one per strategy, or per model if there are several."""
    if models == 1 or matchers == 1:
        return fitting
    return next((n for n in (matchers, models) if n <= fitting), 1)


def add_legend(ax: Axes, figure: Figure, title: str, columns: int, stride: int = 1) -> None:
    """Add a legend below the axes, where it hides nothing; every `stride`-th line comes first."""
    from matplotlib.transforms import ScaledTranslation

    below = ScaledTranslation(0, -LEGEND_IN, figure.dpi_scale_trans)
    lines = ax.get_lines()
    legend = ax.legend(
        handles=[line for first in range(stride) for line in lines[first::stride]],
        title=title,
        numpoints=2,
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        bbox_transform=ax.transAxes + below,
        borderaxespad=0,
        ncols=columns,
        labelspacing=0.25,
        handlelength=4.2,
    )
    legend.get_title().set_multialignment("center")
