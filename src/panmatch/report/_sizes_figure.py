"""Recall by the size of references: which objects a model finds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from panmatch.errors import OptionError
from panmatch.evaluation import Level, Result
from panmatch.matching import Matcher
from panmatch.overlap import Floats
from panmatch.report import _selection as selection
from panmatch.report import _style as style
from panmatch.report._matched_class import matcher_title
from panmatch.report._selection import Names
from panmatch.report._style import Width

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LEVEL = 0.95
BIN_IN = 0.62
HEIGHT_IN = 2.3
SPREAD = 0.5  # of the models in a bin, as a share of its width
SCALES = ((1e9, "G"), (1e6, "M"), (1e3, "k"))


@style.in_paper_style
def plot_sizes(
    result: Result,
    *,
    classes: Names = None,
    models: Names = None,
    strategy: str | None = None,
    threshold: float | None = None,
    bins: int | Sequence[float] = 5,
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
        How many bins with about equally many objects each, or their edges, in increasing order. A
        bin holds sizes from its lower edge up to, but not including, its upper edge; the last bin
        includes it.
    width
        As for `plot_curve`.

    Examples
    --------
    >>> from panmatch.datasets import evaluate
    >>> result = evaluate(reference=[[1, 1, 0, 2]], prediction=[[3, 3, 0, 0]])
    >>> plot_sizes(result).axes[0].get_xlabel()
    'reference size (voxels)'
    """
    names = selection.choose_classes(result, classes)
    chosen = selection.choose_models(result, models)
    matcher = selection.choose_matcher(result.spec, strategy)
    level = selection.choose_threshold(result.spec, threshold)
    panels = {name: _panel(result, name, chosen, matcher, level, bins) for name in names}
    columns = _columns(style.width_in(width), panels)
    rows = -(-len(panels) // columns)
    height = rows * HEIGHT_IN + style.LINE_IN * (5 + len(chosen))
    figure = style.new_figure(style.width_in(width), height)
    axes = style.make_panels(figure, len(panels), columns)
    bins_of = [row for found in panels.values() for rows in found.values() for row in rows]
    limits = style.score_limits([end for row in bins_of for end in row.interval])
    for ax, (name, found) in zip(axes, panels.items(), strict=True):
        _draw_recall(ax, found, matcher)
        style.set_score_axis(ax, limits)
        ax.set_title(name if len(panels) > 1 else "")
        ax.set_xlabel(size_title(result))
    if len(chosen) > 1:
        handles, labels = figure.axes[0].get_legend_handles_labels()
        across = max(1, int(style.width_in(width) / (style.text_width_in(labels) + 0.6)))
        figure.legend(handles, labels, loc="outside lower center", ncols=across)
    figure.suptitle(f"τ = {level:g}, {matcher_title(matcher)}", fontsize=8)
    return figure


def size_title(result: Result) -> str:
    """Return what sizes of references are, with their unit (D14)."""
    axes = {len(case.shape) for case in result.cases if case.status == "ok"}
    if result.unit is None or len(axes) != 1:
        return "reference size (mixed units)"
    if result.unit == "voxel":
        return "reference size (voxels)"
    power = {1: "", 2: "²", 3: "³"}.get(axes.pop(), "ⁿ")
    return f"reference size ({result.unit}{power})"


@dataclass(frozen=True, slots=True)
class SizeBin:
    """References of similar size: from `low` up to, but not including, `high`."""

    low: float
    high: float  # the last bin includes it
    references: int
    found: int  # how many of them are matched

    @property
    def recall(self) -> float:
        """Share that is found; NaN without references."""
        return self.found / self.references if self.references else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval of the recall."""
        return wilson_interval(self.found, self.references)


def wilson_interval(successes: int, trials: int, level: float = LEVEL) -> tuple[float, float]:
    """Return Wilson's score interval of a share; NaN without trials.

    Unlike the textbook interval p ± z·√(p(1−p)/n), it stays within [0, 1], and does not shrink to a
    point if all or none succeed.

    Examples
    --------
    >>> low, high = wilson_interval(8, 10)
    >>> round(low, 4), round(high, 4)
    (0.4902, 0.9433)
    """
    if not trials:
        return math.nan, math.nan
    z = NormalDist().inv_cdf((1 + level) / 2)
    share = successes / trials
    centre = share + z * z / (2 * trials)
    spread = z * math.sqrt(share * (1 - share) / trials + (z / (2 * trials)) ** 2)
    scale = 1 + z * z / trials
    low, high = (centre - spread) / scale, (centre + spread) / scale
    return (0.0 if successes == 0 else low), (1.0 if successes == trials else high)


def size_edges(sizes: npt.ArrayLike, bins: int | Sequence[float]) -> Floats:
    """Return the edges of bins: as given, or chosen to hold about equally many objects each.

    There is at least one size. Sizes that occur often may lead to fewer bins.

    Examples
    --------
    >>> size_edges([1, 2, 3, 4, 5, 60], 3)
    array([ 1.,  3.,  5., 60.])
    """
    if isinstance(bins, int) and not isinstance(bins, bool) and bins >= 1:
        values = np.sort(np.asarray(sizes, np.float64))
        place = np.linspace(0, len(values), bins + 1).round().astype(np.int64)
        edges = np.unique(values[np.minimum(place, len(values) - 1)])
        return np.repeat(edges, 2) if len(edges) == 1 else edges
    edges = np.asarray([] if isinstance(bins, int) else bins, np.float64)
    if edges.ndim != 1 or len(edges) < 2 or not (np.diff(edges) > 0).all():
        raise OptionError(
            f"bins={bins!r} is neither a number of bins, 1 or more, nor two or more rising edges."
        )
    return edges


def recall_by_size(sizes: npt.ArrayLike, found: npt.ArrayLike, edges: Floats) -> list[SizeBin]:
    """Count references and found ones in every bin; those outside all bins are left out.

    Examples
    --------
    >>> edges = size_edges([1, 2, 9], [0, 5, 9])
    >>> [(row.references, row.found) for row in recall_by_size([1, 2, 9], [0, 1, 1], edges)]
    [(2, 1), (1, 1)]
    """
    values, hit = np.asarray(sizes, np.float64), np.asarray(found, np.bool_)
    last = len(edges) - 2
    inside = (values >= edges[0]) & (values <= edges[-1])
    place = np.minimum(np.searchsorted(edges, values[inside], side="right") - 1, last)
    there = np.bincount(place, minlength=last + 1)
    hits = np.bincount(place[hit[inside]], minlength=last + 1)
    return [
        SizeBin(float(low), float(high), int(n), int(k))
        for low, high, n, k in zip(edges[:-1], edges[1:], there, hits, strict=True)
    ]


def reference_sizes(levels: Sequence[Level]) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Return the size of every reference in some matchings, and whether it is matched."""
    sizes, found = [np.zeros(0)], [np.zeros(0, np.bool_)]
    for level in levels:
        columns = level.measurements.columns
        is_reference = columns["status"] != "false positive"
        sizes.append(columns["ref_volume"][is_reference])
        found.append(columns["status"][is_reference] == "matched")
    return np.concatenate(sizes), np.concatenate(found)


def _panel(
    result: Result,
    class_name: str,
    models: list[str],
    matcher: Matcher,
    threshold: float,
    bins: int | Sequence[float],
) -> dict[str, list[SizeBin]]:
    objects = {
        model: reference_sizes(selection.find_levels(result, model, class_name, matcher, threshold))
        for model in models
    }
    sizes = np.concatenate([size for size, _ in objects.values()])
    if not len(sizes):
        raise OptionError(
            f"the class {class_name!r} has no reference in any case, so recall is undefined: "
            f"choose other classes with classes=[…]."
        )
    edges = size_edges(sizes, bins)
    return {model: recall_by_size(*found, edges) for model, found in objects.items()}


def _draw_recall(ax: Axes, found: dict[str, list[SizeBin]], matcher: Matcher) -> None:
    bins = next(iter(found.values()))
    for i, (model, rows) in enumerate(found.items()):
        filled = [(place, row) for place, row in enumerate(rows) if row.references]
        look = style.series_look(i, matcher.dash)
        shift = SPREAD * ((i + 0.5) / len(found) - 0.5)
        ax.errorbar(
            [place + shift for place, _ in filled],
            [row.recall for _, row in filled],
            [[row.recall - row.interval[0] for _, row in filled],
             [row.interval[1] - row.recall for _, row in filled]],
            color=look.color,
            linestyle=style.line_style(look.dash),
            marker=look.marker,
            elinewidth=0.8,
            capsize=2,
            label=model,
            clip_on=False,
        )  # fmt: skip
    ax.set(xlim=(-0.5, len(bins) - 0.5), ylabel="recall (95 % interval)")
    ax.set_xticks(range(len(bins)), _tick_labels(found))
    ax.grid(visible=True, axis="y")


def _tick_labels(found: dict[str, list[SizeBin]]) -> list[str]:
    bins = next(iter(found.values()))
    edges = size_texts([bins[0].low, *(row.high for row in bins)])
    labels = []
    for i, (low, high) in enumerate(pairwise(edges)):
        counts = sorted({rows[i].references for rows in found.values()})
        n = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]}–{counts[-1]}"
        labels.append(f"{low}–{high}\nn = {n}" if low != high else f"{low}\nn = {n}")
    return labels


def size_texts(sizes: Sequence[float]) -> list[str]:
    """Return sizes as short text, with just enough digits to distinguish them.

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
    for scale, letter in SCALES:
        if size >= scale:
            return f"{size / scale:.{digits}g}{letter}"
    return f"{size:.{digits}g}"


def _columns(width: float, panels: dict[str, dict[str, list[SizeBin]]]) -> int:
    most = max(len(bins) for found in panels.values() for bins in found.values())
    return max(1, min(len(panels), int(width / (0.6 + BIN_IN * most))))
