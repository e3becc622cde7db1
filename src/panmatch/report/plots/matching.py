"""The bipartite graph of a matching: who overlaps whom, and who was chosen (D2, D3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from panmatch.errors import OptionError
from panmatch.matching import Matching
from panmatch.overlap import Areas, Floats, Ints, Overlap
from panmatch.report.plots.drawing import LINE_IN, in_paper_style, new_figure, text_width_in
from panmatch.report.plots.layout import Layout, place_vertices
from panmatch.report.plots.scene import counts_in_words
from panmatch.report.statuses import statuses_of
from panmatch.report.style import (
    GREY,
    OTHER,
    SMALLEST_PT,
    STATUSES,
    Look,
    Width,
    line_style,
    width_in,
)
from panmatch.report.wording import strategy_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROW_IN = 0.21
NODE_PT2 = (14.0, 110.0)  # area of the smallest node, and what the largest has more
CHOSEN_PT, THIN_PT = 1.8, 0.6
SCORE_NAMES = {"iou": "IoU", "dice": "Dice"}
MARKS = {"missed": "FN", "false positive": "FP"}
MOST_OWNERS = 3


@in_paper_style
def plot_matching(matching: Matching, *, most: int = 40, width: Width = "single") -> Figure:
    """Draw references on the left, predictions on the right, and the edges between them.

    Thin edges pass the threshold, bold ones are chosen and have their score. The area of a node
    grows with its voxels. Entangled objects come first, then those without any edge, then plain
    pairs.

    Parameters
    ----------
    matching
        From `match`.
    most
        How many rows to draw at most; what is left out is counted below.
    width
        As for `plot_curve`.

    Examples
    --------
    >>> import panmatch as pm
    >>> overlap = pm.Overlap.from_dense([[6, 2], [0, 5]], [10, 5], [6, 9])
    >>> len(plot_matching(pm.match(overlap)).axes[0].collections[1].get_segments())
    2
    """
    if isinstance(most, bool) or not isinstance(most, int) or most < 1:
        raise OptionError(f"most={most!r} is no number of rows: pass 1 or more.")
    shown = _drawn_edges(matching)
    layout = place_vertices(matching.overlap, shown, most)
    labels = _labels(matching)
    hidden = int(np.isnan(layout.refs).sum()), int(np.isnan(layout.preds).sum())
    inches = width_in(width)
    figure = new_figure(inches, ROW_IN * (layout.rows + 1.5) + LINE_IN * 9)
    ax = figure.subplots()
    _draw_edges(ax, matching, shown, layout)
    _draw_nodes(ax, matching, layout)
    _write_labels(ax, labels, layout)
    _frame(ax, labels, layout, inches)
    title, bounds = strategy_title(matching.strategy)
    ax.set_title(f"{title}\n{bounds[0]}, {bounds[1]}")
    left_out = (
        f"\nnot shown: {hidden[0]} references, {hidden[1]} predictions" if any(hidden) else ""
    )
    ax.set_xlabel(counts_in_words(matching) + left_out)
    _add_legend(figure, matching, inches)
    return figure


def _drawn_edges(matching: Matching) -> Ints:
    """Return positions of the edges above the threshold, and of the chosen ones."""
    above = matching.overlap.score(matching.score) > matching.threshold
    above[matching.edges] = True  # unions may hold edges below it (D5)
    return np.flatnonzero(above)


def _draw_edges(ax: Axes, matching: Matching, shown: Ints, layout: Layout) -> None:
    from matplotlib.collections import LineCollection

    overlap, score = matching.overlap, matching.overlap.score(matching.score)
    rows = {
        edge: (float(layout.refs[overlap.edges.ref[edge]]),
               float(layout.preds[overlap.edges.pred[edge]]))
        for edge in shown.tolist()
    }  # fmt: skip
    rows = {edge: ends for edge, ends in rows.items() if not np.isnan(ends).any()}
    chosen = set(matching.edges.tolist())
    look = STATUSES["matched"]
    for wanted, color, width in ((False, GREY, THIN_PT), (True, look.color, CHOSEN_PT)):
        lines = [
            [(0.0, a), (1.0, b)] for edge, (a, b) in rows.items() if (edge in chosen) == wanted
        ]
        style = line_style("solid" if wanted else "dash")
        ax.add_collection(LineCollection(lines, colors=color, linewidths=width, linestyles=[style]))
    for edge in sorted(chosen & rows.keys()):
        at = _label_place(matching, edge)
        ax.text(at, _between(rows[edge], at), f"{score[edge]:.2f}", fontsize=SMALLEST_PT,
                ha="center", va="center", zorder=4,
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6})  # fmt: skip


def _label_place(matching: Matching, edge: int) -> float:
    """Return where along an edge its score stands: away from the end where edges meet."""
    edges, chosen = matching.overlap.edges, matching.edges
    several_preds = np.count_nonzero(edges.ref[chosen] == edges.ref[edge]) > 1
    several_refs = np.count_nonzero(edges.pred[chosen] == edges.pred[edge]) > 1
    return 0.5 + 0.22 * several_preds - 0.22 * several_refs


def _between(ends: tuple[float, float], share: float) -> float:
    return ends[0] + share * (ends[1] - ends[0])


def _draw_nodes(ax: Axes, matching: Matching, layout: Layout) -> None:
    overlap = matching.overlap
    most = max(overlap.ref_sizes.max(initial=1), overlap.pred_sizes.max(initial=1))
    statuses = _vertex_statuses(matching)
    sides: tuple[tuple[float, Floats, Areas, list[str]], ...] = (
        (0.0, layout.refs, overlap.ref_sizes, statuses[0]),
        (1.0, layout.preds, overlap.pred_sizes, statuses[1]),
    )
    for x, rows, sizes, status_of in sides:
        for status in dict.fromkeys(status_of):
            look = _look(status)
            these = np.flatnonzero((np.array(status_of) == status) & ~np.isnan(rows))
            areas = NODE_PT2[0] + NODE_PT2[1] * sizes[these] / most
            ax.scatter(
                np.full(len(these), x), rows[these], areas, facecolor=look.color,
                edgecolor="black", linewidth=0.5, marker=look.marker, zorder=3,
                hatch=look.hatch or None,
            )  # fmt: skip


def _vertex_statuses(matching: Matching) -> tuple[list[str], list[str]]:
    """Return the status of every vertex; "" for pieces of matched predictions, and dismissed."""
    overlap = matching.overlap
    refs, _ = statuses_of(matching)
    chosen = set(overlap.edges.pred[matching.edges].tolist())
    false = set(matching.false_positives.tolist())
    owners = _owners(overlap)
    preds = [
        "matched" if at in chosen else "false positive" if false & set(owners[at]) else ""
        for at in range(len(overlap.pred_ids))
    ]
    return [refs[one] for one in overlap.ref_ids.tolist()], preds


def _owners(overlap: Overlap) -> list[list[int]]:
    """Return the ids of the predictions that every vertex has voxels of."""
    whole = overlap.predictions
    rows, owner = whole.expand(np.arange(len(overlap.pred_ids)))
    found: list[list[int]] = [[] for _ in overlap.pred_ids]
    for row, one in zip(rows.tolist(), whole.ids[owner].tolist(), strict=True):
        found[row].append(one)
    return found


def _look(status: str) -> Look:
    return STATUSES.get(status, OTHER)


def _labels(matching: Matching) -> tuple[list[str], list[str]]:
    overlap = matching.overlap
    statuses = _vertex_statuses(matching)
    refs = [
        f"{MARKS.get(status, '')}  {one} · {size:,.0f}".strip()
        for one, size, status in zip(
            overlap.ref_ids.tolist(), overlap.ref_sizes.tolist(), statuses[0], strict=True
        )
    ]
    preds = [
        f"{_joined(ids)} · {size:,.0f}  {MARKS.get(status, '')}".strip()
        for ids, size, status in zip(
            _owners(overlap), overlap.pred_sizes.tolist(), statuses[1], strict=True
        )
    ]
    return refs, preds


def _joined(ids: list[int]) -> str:
    return "+".join(map(str, ids[:MOST_OWNERS])) + ("+…" if len(ids) > MOST_OWNERS else "")


def _write_labels(ax: Axes, labels: tuple[list[str], list[str]], layout: Layout) -> None:
    for x, rows, texts, side, push in (
        (0.0, layout.refs, labels[0], "right", -9),
        (1.0, layout.preds, labels[1], "left", 9),
    ):
        for row, text in zip(rows.tolist(), texts, strict=True):
            if not np.isnan(row):
                ax.annotate(text, (x, row), (push, 0), textcoords="offset points",
                            fontsize=SMALLEST_PT, ha=side, va="center")  # fmt: skip
    for x, words in ((0.0, "reference\nid · voxels"), (1.0, "prediction\nid · voxels")):
        ax.text(x, -0.7, words, fontsize=SMALLEST_PT, ha="center", va="bottom")


def _frame(
    ax: Axes, labels: tuple[list[str], list[str]], layout: Layout, width_inches: float
) -> None:
    """Leave room for the labels on both sides."""
    sides = [max(text_width_in(texts) + 0.2, 0.4) for texts in labels]
    middle = max(width_inches - sum(sides), 0.8)
    ax.set(xlim=(-sides[0] / middle, 1 + sides[1] / middle), ylim=(layout.rows - 0.4, -2.2))
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(False)


def _add_legend(figure: Figure, matching: Matching, width_inches: float) -> None:
    from matplotlib.lines import Line2D

    name = SCORE_NAMES.get(matching.score, matching.score)
    thin = Line2D([], [], color=GREY, linewidth=THIN_PT, linestyle=line_style("dash"))
    bold = Line2D([], [], color=STATUSES["matched"].color, linewidth=CHOSEN_PT)
    entries = {f"{name} > τ": thin, f"chosen, with {name}": bold}
    for status, words in (("missed", "missed (FN)"), ("false positive", "false positive (FP)")):
        look = STATUSES[status]
        entries[words] = Line2D(
            [], [], linestyle="none", marker=look.marker, markersize=5,
            markerfacecolor=look.color, markeredgecolor="black", markeredgewidth=0.5,
        )  # fmt: skip
    across = 4 if width_inches > 5 else 2
    figure.legend(entries.values(), entries.keys(), loc="outside lower center", ncols=across)
