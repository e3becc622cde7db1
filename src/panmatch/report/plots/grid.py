"""Scores of every strategy at every threshold, as a table of shaded cells."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from panmatch.errors import OptionError, check_choice
from panmatch.evaluation import Result
from panmatch.evaluation.averages import MEANS
from panmatch.evaluation.groups import Key
from panmatch.evaluation.wording import number
from panmatch.overlap import Floats
from panmatch.report.plots.curve import QUANTITIES, Quantity
from panmatch.report.plots.drawing import (
    LINE_IN,
    in_paper_style,
    make_panels,
    new_figure,
    text_width_in,
)
from panmatch.report.plots.selection import (
    MOST_PANELS,
    Names,
    choose_classes,
    choose_models,
    choose_thresholds,
    choose_ways,
)
from panmatch.report.style import GREY, SMALLEST_PT, Width, luminance, width_in
from panmatch.report.wording import SHORT_BOUNDS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDE_CELL_IN, NARROW_CELL_IN = 0.42, 0.26  # three digits, or two without the zero before them
SHADES = "Blues"
DARKEST = 0.9  # of the shades, so that white reads well on it
MIDDLE = 0.179  # luminance on which black and white stand out alike


@in_paper_style
def plot_grid(
    result: Result,
    *,
    quantity: Quantity = "pq",
    classes: Names = None,
    models: Names = None,
    strategies: Names = None,
    thresholds: float | Sequence[float] | None = None,
    width: Width = "single",
) -> Figure:
    """Draw a table of pooled scores, strategy by threshold: a panel per model and class.

    Parameters
    ----------
    result
        Of one model or several.
    quantity
        ``"pq"``, ``"sq"`` or ``"rq"``.
    classes
        By default the only class, or else the mean of classes; ``"mean of things"`` and
        ``"mean of stuff"`` can be named, too.
    models, strategies, thresholds
        All of the result by default.
    width
        As for `plot_curve`.

    Examples
    --------
    >>> from panmatch.evaluation import evaluate
    >>> result = evaluate(reference=[[1, 1, 0, 2]], prediction=[[3, 3, 0, 0]])
    >>> [text.get_text() for text in plot_grid(result).axes[0].texts]
    ['0.667', '0.667', '0.667']
    """
    check_choice("quantity", quantity, QUANTITIES)
    names = _classes(result, classes)
    panels = [(model, name) for name in names for model in choose_models(result, models)]
    if len(panels) > MOST_PANELS:
        raise OptionError(
            f"{len(panels)} panels, one per model and class, are more than a figure holds: name "
            f"fewer, up to {MOST_PANELS} in all, with models=[…] and classes=[…]."
        )
    ways = choose_ways(result.spec, strategies)
    levels = choose_thresholds(result.spec, thresholds)
    rows = [f"{way.label}\n{way.bounds}" for way in ways]
    label_in = text_width_in([line for row in rows for line in row.split("\n")]) + 0.2
    columns, digits = _layout(width_in(width) - label_in, len(levels), len(panels))
    lines = -(-len(panels) // columns)
    height = lines * (0.45 + 2.6 * LINE_IN * len(ways)) + 0.35
    figure = new_figure(width_in(width), height)
    values = _values(result, quantity)
    axes = make_panels(figure, len(panels), columns)
    for at, (ax, (model, name)) in enumerate(zip(axes, panels, strict=True)):
        cells = [[values.get((model, name, way.key, level), math.nan) for level in levels]
                 for way in ways]  # fmt: skip
        _draw_cells(ax, np.array(cells), digits)
        ax.set_title(_title(model, name, len(names) > 1))
        ax.set_xticks(range(len(levels)), [f"{level:g}" for level in levels])
        if at % columns == 0:
            ax.set_yticks(range(len(ways)), rows)
        else:
            ax.set_yticks([])
    words = f"threshold τ (cells: pooled {quantity.upper()})\nbelow each strategy: {SHORT_BOUNDS}"
    figure.supxlabel(words, fontsize=8)
    return figure


def _classes(result: Result, classes: Names) -> list[str]:
    means = {str(row.way[0]) for row in result.average_rows} & set(MEANS)
    if classes is None and "mean of classes" in means:
        return ["mean of classes"]
    return choose_classes(result, classes, sorted(means))


def _layout(room_in: float, levels: int, panels: int) -> tuple[int, int]:
    """Return how many panels fit side by side, and with how many digits."""
    for cell_in, digits in ((WIDE_CELL_IN, 3), (NARROW_CELL_IN, 2)):
        columns = int(room_in / (cell_in * levels + 0.1))
        if columns >= 1:
            return min(columns, panels), digits
    raise OptionError(
        f"{levels} thresholds do not fit into {room_in:.1f} inches beside the names of strategies: "
        f"name fewer with thresholds=[…], or pass a larger width."
    )


def _values(result: Result, quantity: Quantity) -> dict[Key, float]:
    return {
        (row.model, row.way[0], row.way[2:], row.threshold): row.value
        for row in result.average_rows
        if row.measure == quantity and row.averaging == "pooled"
    }


def _draw_cells(ax: Axes, values: Floats, digits: int) -> None:
    from matplotlib import colormaps
    from matplotlib.patches import Rectangle

    shades = colormaps[SHADES]
    for (row, column), value in np.ndenumerate(values):
        undefined = math.isnan(value)
        color = (1.0, 1.0, 1.0) if undefined else shades(DARKEST * value)[:3]
        corner = (column - 0.5, row - 0.5)
        ax.add_patch(Rectangle(corner, 1, 1, facecolor=color, edgecolor=GREY, linewidth=0.4,
                               clip_on=False))  # fmt: skip
        ink = "black" if undefined or luminance(color) > MIDDLE else "white"
        ax.text(column, row, _text(value, digits), color=ink, fontsize=SMALLEST_PT,
                ha="center", va="center")  # fmt: skip
    rows, columns = values.shape
    ax.set(xlim=(-0.5, columns - 0.5), ylim=(rows - 0.5, -0.5))
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)


def _text(value: float, digits: int) -> str:
    if digits == 3 or math.isnan(value):
        return number(value)
    return f"{value:.2f}".removeprefix("0")


def _title(model: str, name: str, several: bool) -> str:
    return ", ".join(part for part in (model, name if several else "") if part)
