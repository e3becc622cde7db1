"""PQ, SQ or RQ over the threshold as exact steps (D7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from panmatch.errors import OptionError, check_choice
from panmatch.evaluation import Result
from panmatch.evaluation.averages import areas_under
from panmatch.evaluation.groups import CurveGroup, scores_of
from panmatch.evaluation.wording import number
from panmatch.overlap import Floats
from panmatch.report.plots.drawing import (
    LINE_IN,
    in_paper_style,
    make_panels,
    new_figure,
    text_width_in,
)
from panmatch.report.plots.selection import (
    Names,
    Way,
    choose_classes,
    choose_models,
    choose_ways,
)
from panmatch.report.style import Look, Width, line_style, series_look, width_in
from panmatch.report.wording import SHORT_BOUNDS, strategy_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Quantity = Literal["pq", "sq", "rq"]

QUANTITIES: tuple[Quantity, ...] = ("pq", "sq", "rq")
AREA_NAMES: dict[Quantity, str] = {"pq": "AUTC", "sq": "AUTC_SQ", "rq": "AUTC_RQ"}
LEAST_PANEL_IN = 2.2
HEIGHT_IN = (0.55, 2.2)  # of the axes: a share of the width, and the most
HANDLE_IN = 0.65  # of the legend, with space around
LEGEND_IN = 0.4  # below the axes
LABELS_IN = 0.6  # title above, ticks and their label below
MARKS = 0.17  # between markers, as a share of the axes
NO_MARKER = ""


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """One curve, and how it is drawn.

    Attributes
    ----------
    label, look
        What it is called, and how it looks.
    thresholds, heights
        Where each step begins, and how high it is; the last one reaches to 1.
    area
        Under the curve.
    """

    label: str
    look: Look
    thresholds: Floats
    heights: Floats
    area: float

    @property
    def words(self) -> str:
        """What the legend says."""
        return f"{self.label}: {number(self.area)}"


@in_paper_style
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
        ``"pq"``, ``"sq"`` or ``"rq"``.
    classes
        One panel each; all by default.
    models, strategies
        One line for every pair of them; all by default. A strategy is named as in the spec, or
        with its options as in the summary.
    width
        ``"single"`` or ``"double"`` for columns of a page, or inches.

    Returns
    -------
    matplotlib.figure.Figure
        Steps as lines: a step begins at its threshold and holds up to the next.

    Examples
    --------
    >>> from panmatch.evaluation import evaluate
    >>> result = evaluate(reference=[[1, 1, 0, 2]], prediction=[[3, 3, 0, 0]])
    >>> plot_curve(result, strategies="one-to-one").axes[0].get_ylabel()
    'PQ'
    """
    check_choice("quantity", quantity, QUANTITIES)
    if not result.spec.curve:
        raise OptionError(
            "the result has no curves, because its spec says `curve: false`: evaluate with "
            "`curve: true`."
        )
    panels = choose_classes(result, classes)
    chosen = choose_models(result, models), choose_ways(result.spec, strategies)
    lines = [_lines(result, name, *chosen, quantity) for name in panels]
    words = [line.words for one in lines for line in one]
    title = _legend_title(*chosen, quantity)
    columns = _columns(width_in(width), [*words, *title.split("\n")], len(panels))
    panel_in = width_in(width) / columns
    legend_columns = max(1, int(panel_in / (text_width_in(words) + HANDLE_IN)))
    rows = -(-max(map(len, lines)) // legend_columns) + 1 + title.count("\n")
    height = min(HEIGHT_IN[0] * panel_in, HEIGHT_IN[1]) + LABELS_IN + LINE_IN * rows
    figure = new_figure(width_in(width), height * -(-len(panels) // columns))
    for ax, name, drawn in zip(
        make_panels(figure, len(panels), columns), panels, lines, strict=True
    ):
        draw_steps(ax, drawn, quantity)
        ax.set_title(name if len(panels) > 1 else "")
        if drawn:
            _add_legend(ax, figure, title, legend_columns)
    return figure


def draw_steps(ax: Axes, lines: Sequence[Line], quantity: Quantity) -> None:
    """Draw curves as exact steps, with a label for the legend each."""
    for line in lines:
        ax.step(
            np.append(line.thresholds, 1.0),
            np.append(line.heights, line.heights[-1]),
            where="post",
            color=line.look.color,
            linestyle=line_style(line.look.dash),
            marker=line.look.marker,
            markevery=MARKS,
            label=line.words,
            clip_on=False,
        )
    ax.set(xlim=(0, 1), ylim=(0, 1), xlabel="threshold τ", ylabel=quantity.upper())
    ax.grid(visible=True)


def _lines(
    result: Result, name: str, models: list[str], ways: list[Way], quantity: Quantity
) -> list[Line]:
    groups = {(one.model, one.way[0], one.way[2:]): one for one in result.curve_groups}
    found = []
    for model_at, model in enumerate(models):
        for way_at, way in enumerate(ways):
            group = groups.get((model, name, way.key))
            if group is not None:  # else none of the model's cases has the class
                parts = [model] if len(models) > 1 else []
                parts += [f"{way.label} ({way.bounds})"] if len(ways) > 1 or not parts else []
                look = _look(model_at, way_at, len(models), len(ways))
                found.append(_line(group, ", ".join(parts), look, quantity))
    return found


def _look(model: int, way: int, models: int, ways: int) -> Look:
    """Return colour and marker by model and dash by strategy, where there are several of both."""
    if models > 1 and ways > 1:
        return replace(series_look(model), dash=series_look(way).dash)
    look = series_look(model if models > 1 else way)
    return replace(look, marker=NO_MARKER)


def _line(group: CurveGroup, label: str, look: Look, quantity: Quantity) -> Line:
    at, counts = QUANTITIES.index(quantity), group.summed()
    area = float(areas_under(group.thresholds, counts)[at])
    return Line(label, look, group.thresholds, scores_of(counts)[at], area)


def _columns(width: float, words: list[str], panels: int) -> int:
    panel = max(LEAST_PANEL_IN, text_width_in(words) + HANDLE_IN)
    return max(1, min(panels, int(width / panel)))


def _legend_title(models: list[str], ways: list[Way], quantity: Quantity) -> str:
    area = AREA_NAMES[quantity]
    if len(models) > 1 and len(ways) == 1:
        bounds = ", ".join(strategy_title(ways[0].matcher.made())[1])
        return f"{ways[0].label}: {bounds}\n{area}"
    return f"strategy ({SHORT_BOUNDS}): {area}"


def _add_legend(ax: Axes, figure: Figure, title: str, columns: int) -> None:
    from matplotlib.transforms import ScaledTranslation

    below = ScaledTranslation(0, -LEGEND_IN, figure.dpi_scale_trans)
    legend = ax.legend(
        title=title,
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        bbox_transform=ax.transAxes + below,
        borderaxespad=0,
        ncols=columns,
        labelspacing=0.25,
        handlelength=4.2,
    )
    legend.get_title().set_multialignment("center")
