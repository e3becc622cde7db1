"""Scores of every strategy at every threshold, as a table of shaded cells."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from panmatch.errors import OptionError
from panmatch.evaluation import Result, Score, matcher_of, number
from panmatch.matching import Matcher
from panmatch.overlap import Floats
from panmatch.report import _selection as selection
from panmatch.report import _style as style
from panmatch.report._matched_class import SHORT_BOUNDS
from panmatch.report._selection import Names, Quantity
from panmatch.report._style import Width

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDE_CELL_IN, NARROW_CELL_IN = 0.42, 0.26  # three digits, or two without the zero before them
SHADES = "Blues"
DARKEST = 0.9  # of the shades, so that white reads well on it
MIDDLE = 0.179  # luminance on which black and white stand out alike


@style.in_paper_style
def plot_grid(
    result: Result,
    *,
    quantity: Quantity = "pq",
    width: Width = "single",
    thresholds: float | Sequence[float] | None = None,
    classes: Names = None,
    models: Names = None,
    strategies: Names = None,
) -> Figure:
    """Draw a table of pooled scores, strategy by threshold: a panel per model and class.

    Parameters
    ----------
    result
        Of one model or several.
    quantity, width
        As for `plot_curve`.
    classes
        By default the headline of the spec: the only class, or else the mean of classes, unless
        it names another; ``"mean of things"`` and ``"mean of stuff"`` can be named, too.
    models, strategies, thresholds
        All of the result by default.

    Examples
    --------
    >>> from panmatch.datasets import evaluate
    >>> result = evaluate(reference=[[1, 1, 0, 2]], prediction=[[3, 3, 0, 0]])
    >>> [text.get_text() for text in plot_grid(result, thresholds=[0.5]).axes[0].texts]
    ['0.667', '0.667', '0.667']
    """
    score = selection.choose_quantity(result, quantity)
    names = _classes(result, classes, score)
    panels = [(model, name) for name in names for model in selection.choose_models(result, models)]
    if len(panels) > selection.MOST_PANELS:
        raise OptionError(
            f"{len(panels)} panels, one per model and class, do not fit into one figure: choose up "
            f"to {selection.MOST_PANELS} with models=[…] and classes=[…]."
        )
    matchers = selection.choose_matchers(result.spec, strategies)
    levels = selection.choose_thresholds(result.spec, thresholds)
    labels = selection.short_labels(result.spec)
    rows = [f"{labels[matcher]}\n{matcher.strategy.short_bounds}" for matcher in matchers]
    room_in = style.width_in(width) - style.text_width_in(rows) - 0.2
    columns, digits = _columns_and_digits(room_in, len(levels), len(panels))
    lines = -(-len(panels) // columns)
    height = lines * (0.45 + 2.6 * style.LINE_IN * len(matchers)) + 0.35
    figure = style.new_figure(style.width_in(width), height)
    axes = style.make_panels(figure, len(panels), columns)
    for i, (ax, (model, name)) in enumerate(zip(axes, panels, strict=True)):
        values = _values(result, model, name, score, matchers, levels)
        _draw_cells(ax, values, digits)
        ax.set_title(_title(model, name, len(names) > 1))
        ax.set_xticks(range(len(levels)), [f"{level:g}" for level in levels])
        ax.set_yticks(range(len(matchers)), rows) if i % columns == 0 else ax.set_yticks([])
    words = f"threshold τ (values: pooled {score.title})\nbelow each strategy: {SHORT_BOUNDS}"
    figure.supxlabel(words, fontsize=8)
    return figure


def _classes(result: Result, classes: Names, score: Score) -> list[str]:
    settings = {one.setting for one in result.average_scores if one.score == score}
    if classes is None and result.headline_class in {one.class_name for one in settings}:
        return [result.headline_class]
    means = {one.class_name for one in settings if one.is_mean}
    return selection.choose_classes(result, classes, score=score, others=sorted(means))


def _columns_and_digits(room_in: float, levels: int, panels: int) -> tuple[int, int]:
    """Return how many panels fit side by side, and with how many digits."""
    for cell_in, digits in ((WIDE_CELL_IN, 3), (NARROW_CELL_IN, 2)):
        columns = int(room_in / (cell_in * levels + 0.1))
        if columns >= 1:
            return min(columns, panels), digits
    raise OptionError(
        f"{levels} thresholds do not fit into {room_in:.1f} inches next to the names of "
        f"strategies: choose fewer with thresholds=[…], or pass a larger width."
    )


def _values(
    result: Result,
    model: str,
    class_name: str,
    score: Score,
    matchers: list[Matcher],
    thresholds: list[float],
) -> Floats:
    """Return pooled scores, shape (matchers, thresholds); NaN where there is none."""
    values = np.full((len(matchers), len(thresholds)), np.nan)
    for average in result.average_scores:
        setting, threshold = average.setting, average.threshold
        is_shown = (average.model, setting.class_name) == (model, class_name) and (
            average.score,
            average.averaging,
        ) == (score, "pooled")
        matcher = matcher_of(setting)
        if is_shown and matcher in matchers and threshold in thresholds:
            values[matchers.index(matcher), thresholds.index(threshold)] = average.value
    return values


def _draw_cells(ax: Axes, values: Floats, digits: int) -> None:
    from matplotlib import colormaps
    from matplotlib.patches import Rectangle

    shades = colormaps[SHADES]
    for (row, column), value in np.ndenumerate(values):
        undefined = math.isnan(value)
        color = (1.0, 1.0, 1.0) if undefined else shades(DARKEST * value)[:3]
        corner = (column - 0.5, row - 0.5)
        ax.add_patch(Rectangle(corner, 1, 1, facecolor=color, edgecolor=style.GREY, linewidth=0.4,
                               clip_on=False))  # fmt: skip
        ink = "black" if undefined or style.luminance(color) > MIDDLE else "white"
        ax.text(column, row, _text(value, digits), color=ink, fontsize=style.SMALLEST_PT,
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
