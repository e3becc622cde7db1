"""Recall by the size of the reference: which objects a model finds."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from panmatch.errors import OptionError
from panmatch.evaluation import Result
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
    choose_threshold,
    choose_way,
)
from panmatch.report.recall import SizeBin, recall_by_size, size_edges
from panmatch.report.style import Width, line_style, series_look, width_in
from panmatch.report.wording import strategy_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Found = tuple[Floats, npt.NDArray[np.bool_]]

BIN_IN = 0.62
HEIGHT_IN = 2.3
SPREAD = 0.5  # of the models in a bin, as a share of its width
UNITS = ((1e9, "G"), (1e6, "M"), (1e3, "k"))


@in_paper_style
def plot_sizes(
    result: Result,
    *,
    classes: Names = None,
    models: Names = None,
    strategy: str | None = None,
    threshold: float | None = None,
    bins: int | Sequence[float] = 5,
    unit: str | None = None,
    width: Width = "single",
) -> Figure:
    """Draw recall by reference size with 95 % intervals (Wilson), objects of all cases pooled.

    Parameters
    ----------
    result
        Of one model or several: a line each.
    classes
        A panel each; all by default.
    models
        All by default.
    strategy, threshold
        Of the spec; the first of each by default.
    bins
        How many bins with about as many objects each, or their edges, rising. A bin holds sizes
        from its lower edge up to, but not including, its upper one; the last includes it.
    unit
        What to call the unit of size, such as ``"mm³"``. Sizes are voxels where no case has a
        spacing, otherwise volumes in the units of the spacing.
    width
        As for `plot_curve`.

    Examples
    --------
    >>> from panmatch.evaluation import evaluate
    >>> result = evaluate(reference=[[1, 1, 0, 2]], prediction=[[3, 3, 0, 0]])
    >>> plot_sizes(result).axes[0].get_xlabel()
    'reference size (voxels)'
    """
    names, chosen = choose_classes(result, classes), choose_models(result, models)
    way, level = choose_way(result.spec, strategy), choose_threshold(result.spec, threshold)
    panels = {name: _panel(result, name, chosen, way, level, bins) for name in names}
    columns = _columns(width_in(width), panels)
    rows = -(-len(panels) // columns)
    height = rows * HEIGHT_IN + LINE_IN * (4 + len(chosen))
    figure = new_figure(width_in(width), height)
    for ax, (name, found) in zip(make_panels(figure, len(panels), columns), panels.items(),
                                 strict=True):  # fmt: skip
        _draw_recall(ax, found)
        ax.set_title(name if len(panels) > 1 else "")
        ax.set_xlabel(f"reference size ({unit or _unit(result)})")
    if len(chosen) > 1:
        handles, labels = figure.axes[0].get_legend_handles_labels()
        across = max(1, int(width_in(width) / (text_width_in(labels) + 0.6)))
        figure.legend(handles, labels, loc="outside lower center", ncols=across)
    title, bounds = strategy_title(way.matcher.made())
    figure.suptitle(f"{title}, τ = {level:g}\n{bounds[0]}, {bounds[1]}", fontsize=8)
    return figure


def _panel(
    result: Result,
    name: str,
    models: list[str],
    way: Way,
    threshold: float,
    bins: int | Sequence[float],
) -> dict[str, list[SizeBin]]:
    objects = {model: _references(result, model, name, way, threshold) for model in models}
    sizes = np.concatenate([size for size, _ in objects.values()])
    if not len(sizes):
        raise OptionError(
            f"the class {name!r} has no reference in any case, so there is nothing to recall: name "
            f"other classes with classes=[…]."
        )
    edges = size_edges(sizes, bins)
    return {model: recall_by_size(*found, edges) for model, found in objects.items()}


def _references(result: Result, model: str, name: str, way: Way, threshold: float) -> Found:
    """Return size and whether it is matched of every reference of a model's cases."""
    sizes: list[float] = []
    found: list[bool] = []
    wanted = (name, *way.key, threshold)
    for case in result.evaluated(model):
        table = case.instances
        if not table:
            continue
        keys = zip(table["class"], *(table[column] for column in _WAY), table["threshold"],
                   strict=True)  # fmt: skip
        for key, size, status in zip(keys, table["ref_volume"], table["status"], strict=True):
            if key == wanted and status != "false positive":
                sizes.append(float(size))
                found.append(status == "matched")
    return np.array(sizes), np.array(found, np.bool_)


_WAY = ("strategy", "solver", "gate", "edge_score", "regions")


def _draw_recall(ax: Axes, found: dict[str, list[SizeBin]]) -> None:
    bins = next(iter(found.values()))
    for at, (model, rows) in enumerate(found.items()):
        there = [place for place, one in enumerate(rows) if one.references]
        look = series_look(at)
        shift = SPREAD * ((at + 0.5) / len(found) - 0.5)
        recall = [rows[place].recall for place in there]
        ends = [rows[place].interval for place in there]
        ax.errorbar(
            [place + shift for place in there],
            recall,
            [[value - low for value, (low, _) in zip(recall, ends, strict=True)],
             [high - value for value, (_, high) in zip(recall, ends, strict=True)]],
            color=look.color,
            linestyle=line_style(look.dash),
            marker=look.marker,
            elinewidth=0.8,
            capsize=2,
            label=model,
            clip_on=False,
        )  # fmt: skip
    ax.set(xlim=(-0.5, len(bins) - 0.5), ylim=(0, 1), ylabel="recall")
    ax.set_xticks(range(len(bins)), _tick_labels(found))
    ax.grid(visible=True, axis="y")


def _tick_labels(found: dict[str, list[SizeBin]]) -> list[str]:
    bins = next(iter(found.values()))
    edges = size_texts([bins[0].low, *(one.high for one in bins)])
    labels = []
    for at, (low, high) in enumerate(pairwise(edges)):
        counts = sorted({rows[at].references for rows in found.values()})
        n = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]}–{counts[-1]}"
        labels.append(f"{low}–{high}\nn = {n}" if low != high else f"{low}\nn = {n}")
    return labels


def size_texts(sizes: Sequence[float]) -> list[str]:
    """Return sizes in short, with as many digits as tell them apart.

    Examples
    --------
    >>> size_texts([5, 1234, 2_500_000])
    ['5', '1.23k', '2.5M']
    >>> size_texts([12341, 12344])
    ['12.341k', '12.344k']
    """
    for digits in range(3, 9):
        texts = [_short(size, digits) for size in sizes]
        if len(set(texts)) == len(set(sizes)):
            break
    return texts


def _short(size: float, digits: int) -> str:
    for scale, letter in UNITS:
        if size >= scale:
            return f"{size / scale:.{digits}g}{letter}"
    return f"{size:.{digits}g}"


def _unit(result: Result) -> str:
    spaced = any(case.spacing is not None for case in result.cases)
    return "volume in units of the spacing" if spaced else "voxels"


def _columns(width: float, panels: dict[str, dict[str, list[SizeBin]]]) -> int:
    most = max(len(bins) for found in panels.values() for bins in found.values())
    return max(1, min(len(panels), int(width / (0.6 + BIN_IN * most))))
