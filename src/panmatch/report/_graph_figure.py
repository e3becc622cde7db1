"""The bipartite graph of a matching: which objects overlap, and which are matched (D2, D3)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from panmatch.errors import OptionError
from panmatch.matching import Matching
from panmatch.overlap import Areas, Edges, Floats, Ints, Overlap
from panmatch.report import _style as style
from panmatch.report._matched_class import counts_in_words, matching_title, statuses_of
from panmatch.report._style import Width

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROW_IN = 0.21
NODE_PT2 = (14.0, 110.0)  # area of the smallest node, and what the largest has more
CHOSEN_PT, THIN_PT = 1.8, 0.6
COMPONENT_GAP = 0.35  # rows
SCORE_NAMES = {"iou": "IoU", "dice": "Dice"}
MARKS = {"missed": "FN", "false positive": "FP"}
MOST_OWNERS = 3


@style.in_paper_style
def plot_matching(matching: Matching, *, most: int = 40, width: Width = "single") -> Figure:
    """Draw references on the left, predictions on the right, and the edges between them.

    Thin edges pass the threshold; bold edges are matched and show their score. The area of a node
    grows with its number of voxels. Groups of three or more objects come first, then objects
    without any edge, then simple pairs.

    Parameters
    ----------
    matching
        From `match`.
    most
        How many rows to draw at most; a note below says how many objects are left out.
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
        raise OptionError(f"most={most!r} is not a number of rows: pass 1 or more.")
    shown = _drawn_edges(matching)
    placed = place_vertices(matching.overlap, shown, most)
    labels = _labels(matching)
    hidden = int(np.isnan(placed.refs).sum()), int(np.isnan(placed.preds).sum())
    inches = style.width_in(width)
    figure = style.new_figure(inches, ROW_IN * (placed.rows + 1.5) + style.LINE_IN * 11)
    ax = figure.subplots()
    _draw_edges(ax, matching, shown, placed)
    _draw_nodes(ax, matching, placed)
    _write_labels(ax, labels, placed)
    _frame(ax, labels, placed, inches)
    ax.set_title(matching_title(matching))
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


def _draw_edges(ax: Axes, matching: Matching, shown: Ints, placed: Placement) -> None:
    from matplotlib.collections import LineCollection

    overlap, score = matching.overlap, matching.overlap.score(matching.score)
    rows = {
        edge: (float(placed.refs[overlap.edges.ref[edge]]),
               float(placed.preds[overlap.edges.pred[edge]]))
        for edge in shown.tolist()
    }  # fmt: skip
    rows = {edge: ends for edge, ends in rows.items() if not np.isnan(ends).any()}
    chosen = set(matching.edges.tolist())
    look = style.STATUSES["matched"]
    for wanted, color, width in ((False, style.GREY, THIN_PT), (True, look.color, CHOSEN_PT)):
        lines = [
            [(0.0, a), (1.0, b)] for edge, (a, b) in rows.items() if (edge in chosen) == wanted
        ]
        dash = style.line_style(() if wanted else style.DASHED)
        ax.add_collection(LineCollection(lines, colors=color, linewidths=width, linestyles=[dash]))
    for edge in sorted(chosen & rows.keys()):
        x, (start, stop) = _label_place(matching, edge), rows[edge]
        ax.text(x, start + x * (stop - start), f"{score[edge]:.2f}", fontsize=style.SMALLEST_PT,
                ha="center", va="center", zorder=4,
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6})  # fmt: skip


def _label_place(matching: Matching, edge: int) -> float:
    """Return where along an edge to write its score: away from the end where edges meet."""
    edges, chosen = matching.overlap.edges, matching.edges
    several_preds = np.count_nonzero(edges.ref[chosen] == edges.ref[edge]) > 1
    several_refs = np.count_nonzero(edges.pred[chosen] == edges.pred[edge]) > 1
    return 0.5 + 0.22 * several_preds - 0.22 * several_refs


def _draw_nodes(ax: Axes, matching: Matching, placed: Placement) -> None:
    overlap = matching.overlap
    most = max(overlap.ref_sizes.max(initial=1), overlap.pred_sizes.max(initial=1))
    statuses = _vertex_statuses(matching)
    sides: tuple[tuple[float, Floats, Areas, list[str]], ...] = (
        (0.0, placed.refs, overlap.ref_sizes, statuses[0]),
        (1.0, placed.preds, overlap.pred_sizes, statuses[1]),
    )
    for x, rows, sizes, status_of in sides:
        for status in dict.fromkeys(status_of):
            look = style.STATUSES.get(status, style.OTHER)
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
        "matched" if i in chosen else "false positive" if false & set(owners[i]) else ""
        for i in range(len(overlap.pred_ids))
    ]
    return [refs[ref] for ref in overlap.ref_ids.tolist()], preds


def _owners(overlap: Overlap) -> list[list[int]]:
    """Return the ids of the predictions that every vertex has voxels of."""
    whole = overlap.predictions
    rows, owner = whole.expand(np.arange(len(overlap.pred_ids)))
    found: list[list[int]] = [[] for _ in overlap.pred_ids]
    for row, number in zip(rows.tolist(), whole.ids[owner].tolist(), strict=True):
        found[row].append(number)
    return found


def _labels(matching: Matching) -> tuple[list[str], list[str]]:
    overlap = matching.overlap
    statuses = _vertex_statuses(matching)
    refs = [
        f"{MARKS.get(status, '')}  {ref} · {size:,.0f}".strip()
        for ref, size, status in zip(
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


def _write_labels(ax: Axes, labels: tuple[list[str], list[str]], placed: Placement) -> None:
    for x, rows, texts, side, push in (
        (0.0, placed.refs, labels[0], "right", -9),
        (1.0, placed.preds, labels[1], "left", 9),
    ):
        for row, text in zip(rows.tolist(), texts, strict=True):
            if not np.isnan(row):
                ax.annotate(text, (x, row), (push, 0), textcoords="offset points",
                            fontsize=style.SMALLEST_PT, ha=side, va="center")  # fmt: skip
    for x, words in ((0.0, "reference\nid · voxels"), (1.0, "prediction\nid · voxels")):
        ax.text(x, -0.7, words, fontsize=style.SMALLEST_PT, ha="center", va="bottom")


def _frame(
    ax: Axes, labels: tuple[list[str], list[str]], placed: Placement, width_inches: float
) -> None:
    """Leave room for the labels on both sides."""
    sides = [max(style.text_width_in(texts) + 0.2, 0.4) for texts in labels]
    middle = max(width_inches - sum(sides), 0.8)
    ax.set(xlim=(-sides[0] / middle, 1 + sides[1] / middle), ylim=(placed.rows - 0.4, -2.2))
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(False)


def _add_legend(figure: Figure, matching: Matching, width_inches: float) -> None:
    from matplotlib.lines import Line2D

    name = SCORE_NAMES.get(matching.score, matching.score)
    dashed = style.line_style(style.DASHED)
    thin = Line2D([], [], color=style.GREY, linewidth=THIN_PT, linestyle=dashed)
    bold = Line2D([], [], color=style.STATUSES["matched"].color, linewidth=CHOSEN_PT)
    entries = {f"{name} > τ": thin, f"chosen, with {name}": bold}
    looks = {
        "matched (area: voxels)": style.STATUSES["matched"],
        "missed (FN)": style.STATUSES["missed"],
        "false positive (FP)": style.STATUSES["false positive"],
    }
    if "" in _vertex_statuses(matching)[1]:
        looks["neither matched nor FP"] = style.OTHER
    for words, look in looks.items():
        entries[words] = Line2D(
            [], [], linestyle="none", marker=look.marker, markersize=5,
            markerfacecolor=look.color, markeredgecolor="black", markeredgewidth=0.5,
        )  # fmt: skip
    across = 3 if width_inches > 5 else 2
    figure.legend(entries.values(), entries.keys(), loc="outside lower center", ncols=across)


@dataclass(frozen=True, slots=True, eq=False)
class Placement:
    """The row of every vertex, from the top, NaN for those not shown; and how many there are."""

    refs: Floats
    preds: Floats
    rows: float


def place_vertices(overlap: Overlap, shown: Ints, most: int) -> Placement:
    """Give every vertex a row; `shown` are positions of the edges that are drawn.

    Groups of three or more objects come first, then objects without an edge, then simple pairs.
    What does not fit into `most` rows gets none, except for the first group.

    Examples
    --------
    >>> graph = Overlap.from_dense([[6, 2, 0], [0, 0, 5]], [10, 5], [6, 9, 5])
    >>> placed = place_vertices(graph, np.arange(3), 40)
    >>> placed.refs.tolist(), placed.preds.tolist()
    ([0.5, 2.35], [0.0, 1.0, 2.35])
    """
    graph = _with_edges(overlap, shown)
    refs, preds = np.full(len(graph.ref_ids), np.nan), np.full(len(graph.pred_ids), np.nan)
    top = 0.0
    for block in _blocks(graph):
        rows = max(map(len, block))
        if top + rows > most + COMPONENT_GAP and top > 0:
            continue
        for places, members in zip((refs, preds), block, strict=True):
            first = (rows - len(members)) / 2
            places[members] = top + first + np.arange(len(members))
        top += rows + (COMPONENT_GAP if rows > 1 else 0.0)
    return Placement(refs, preds, max(top, 1.0))


def _blocks(graph: Overlap) -> list[tuple[list[int], list[int]]]:
    """Return references and predictions that are drawn together, in the order of drawing."""
    numbers = graph.components()
    members: dict[int, tuple[list[int], list[int]]] = {}
    for side, of_side in enumerate(numbers):
        for vertex, number in enumerate(of_side.tolist()):
            members.setdefault(number, ([], []))[side].append(vertex)
    blocks = [_untangled(graph, *block) for block in members.values()]
    entangled = sorted((block for block in blocks if len(block[0]) + len(block[1]) > 2),
                       key=lambda block: -len(block[0]) - len(block[1]))  # fmt: skip
    pairs = [block for block in blocks if len(block[0]) == len(block[1]) == 1]
    lone_refs = [[block[0][0]] for block in blocks if not block[1]]
    lone_preds = [[block[1][0]] for block in blocks if not block[0]]
    beside = max(len(lone_refs), len(lone_preds))
    lone_refs += [[]] * (beside - len(lone_refs))
    lone_preds += [[]] * (beside - len(lone_preds))
    return [*entangled, *zip(lone_refs, lone_preds, strict=True), *pairs]


def _untangled(graph: Overlap, refs: list[int], preds: list[int]) -> tuple[list[int], list[int]]:
    """Sort both sides by the mean place of their partners, so that few edges cross."""
    inside = np.isin(graph.edges.ref, refs)
    pairs = list(
        zip(graph.edges.ref[inside].tolist(), graph.edges.pred[inside].tolist(), strict=True)
    )
    for _ in range(3):
        preds = _by_partners(preds, refs, [(pred, ref) for ref, pred in pairs])
        refs = _by_partners(refs, preds, pairs)
    return refs, preds


def _by_partners(
    members: list[int], partners: list[int], pairs: list[tuple[int, int]]
) -> list[int]:
    place = {partner: i for i, partner in enumerate(partners)}
    found: dict[int, list[int]] = {member: [] for member in members}
    for member, partner in pairs:
        found[member].append(place[partner])
    return sorted(members, key=lambda member: (float(np.mean(found[member] or [0])), member))


def _with_edges(overlap: Overlap, kept: Ints) -> Overlap:
    edges = overlap.edges
    fewer = Edges(edges.ref[kept], edges.pred[kept], edges.intersection[kept])
    return replace(overlap, edges=fewer, parts=None)
