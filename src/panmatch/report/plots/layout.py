"""Where the vertices of a bipartite graph stand when it is drawn."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from panmatch.overlap import Edges, Floats, Ints, Overlap

COMPONENT_GAP = 0.35  # rows


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """Where the vertices stand; NaN for those that are not shown.

    Attributes
    ----------
    refs, preds
        Row of every vertex, from the top.
    rows
        How many there are.
    """

    refs: Floats
    preds: Floats
    rows: float


def _with_edges(overlap: Overlap, kept: Ints) -> Overlap:
    edges = overlap.edges
    fewer = Edges(edges.ref[kept], edges.pred[kept], edges.intersection[kept])
    return replace(overlap, edges=fewer, parts=None)


def place_vertices(overlap: Overlap, shown: Ints, most: int) -> Layout:
    """Give every vertex a row.

    Entangled objects come first, then those without an edge, then plain pairs. What does not fit
    into `most` rows has no place; the first group always has.

    Parameters
    ----------
    overlap
        The graph.
    shown
        Positions of the edges that are drawn.
    most
        How many rows there may be.

    Examples
    --------
    >>> graph = Overlap.from_dense([[6, 2, 0], [0, 0, 5]], [10, 5], [6, 9, 5])
    >>> layout = place_vertices(graph, np.arange(3), 40)
    >>> layout.refs.tolist(), layout.preds.tolist()
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
    return Layout(refs, preds, max(top, 1.0))


def _blocks(graph: Overlap) -> list[tuple[list[int], list[int]]]:
    """Return references and predictions of what is drawn together, in the order of drawing."""
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
    """Order both sides by the mean place of their partners, so that few edges cross."""
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
    place = {partner: at for at, partner in enumerate(partners)}
    found: dict[int, list[int]] = {member: [] for member in members}
    for member, partner in pairs:
        found[member].append(place[partner])
    return sorted(members, key=lambda one: (float(np.mean(found[one] or [0])), one))
