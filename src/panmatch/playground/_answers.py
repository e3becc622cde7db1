"""What the server tells the page about a scene or a pair: an overlap and a view as plain data."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from panmatch.matching import ManyToOne, OneToMany, OneToOne, match
from panmatch.overlap import Ints, Overlap
from panmatch.playground._graph_groups import MOST_UNGROUPED, GraphGroups
from panmatch.playground._matching_rows import MOST_VERTICES, MatchingGraph, quality_terms
from panmatch.playground._score_rows import (
    TABLE_THRESHOLDS,
    budget_row,
    certificate_row,
    json_number,
    tally_row,
)
from panmatch.playground._sources import CountedOverlap, Source, budgeted_strategy
from panmatch.playground._states import SIDES, STRATEGIES, Side, View
from panmatch.playground._validation import Message

# Above these, the search for the optimum would make the page slow.
MOST_TO_MERGE, MOST_TO_ASSIGN = 60, 1_000


def answer_numbers(source: Source, view: View, budget: bool = True) -> Message:
    """Return all numbers of a view; the error budget only if it is visible."""
    borders = source.voronoi_borders() if view.voronoi else None
    counted = source.counted(view)
    graph = matched_graph(counted.overlap, view)
    picture = source.picture(view, graph)
    return {**_describe(counted, graph, view, budget), "voronoi": borders, "picture": picture}


def matched_graph(overlap: Overlap, view: View) -> MatchingGraph:
    """Return an overlap with the matching of a view."""
    matching = match(overlap, budgeted_strategy(view.strategy), view.threshold)
    return MatchingGraph.of(overlap, matching)


def describe(counted: CountedOverlap, view: View, budget: bool = True) -> Message:
    """Return all numbers that an overlap gives."""
    return _describe(counted, matched_graph(counted.overlap, view), view, budget)


def _describe(counted: CountedOverlap, graph: MatchingGraph, view: View, budget: bool) -> Message:
    overlap, matching = graph.overlap, graph.matching
    largest = max(len(graph.ids(side)) for side in SIDES)
    groups = GraphGroups.of(graph) if largest > MOST_UNGROUPED else None
    listed = _listed(graph, groups)
    vertices = {side: graph.vertex_rows(side, listed[at]) for at, side in enumerate(SIDES)}
    edges, terms = graph.edge_rows(*listed), quality_terms(matching, MOST_VERTICES)
    part_tally = matching.part_tally
    tally = tally_row(part_tally or matching.tally)
    compared = [counted.rows(name) for name in view.compared]
    return {
        "vertices": vertices,
        "edges": edges,
        "groups": None if groups is None else groups.rows(*listed),
        "fates": graph.fates() if largest > MOST_VERTICES else None,
        "left_out": {
            **{side: len(graph.ids(side)) - len(vertices[side]) for side in SIDES},
            "edges": len(graph.edges.ref) - len(edges),
            "terms": tally["tp"] - len(terms),
        },
        "terms": terms,
        "quality": "iou" if part_tally is None else "parts",
        "tally": tally,
        "curves": [steps for steps, _ in compared],
        "table": {"thresholds": list(TABLE_THRESHOLDS), "rows": [row for _, row in compared]},
        "budget": budget_row(matching) if budget else None,
        "certificate": certificate_row(matching.certificate),
        "shortfall": shortfall(overlap, view),
    }


def _listed(graph: MatchingGraph, groups: GraphGroups | None) -> tuple[Ints, Ints]:
    """Return the positions of the objects that are listed: of too many, those that matter most."""
    if groups is None:
        return np.arange(len(graph.ids("reference"))), np.arange(len(graph.ids("prediction")))
    return groups.first(MOST_VERTICES)


def answer_object(source: Source, view: View, side: Side, number: int) -> Message:
    """Return one segment with everything it overlaps."""
    graph = matched_graph(source.counted(view).overlap, view)
    position = graph.position(side, number)
    return {
        "side": side,
        "id": number,
        "size": graph.sizes(side)[position].item(),
        "state": str(graph.states(side)[position]),
        "centre": source.centre(side, number),
        "partners": graph.partner_rows(side, position),
    }


def shortfall(overlap: Overlap, view: View) -> Message | None:
    """Return the maximum PQ if the strategy is a heuristic (D6).

    None for strategies that leave nothing to choose, for optimal ones, for graphs so large that
    the search would slow the page down, and for parts: matching looks at whole objects there, so
    maximum PQ would not be about the score shown.
    """
    name = _optimum_of(view.strategy)
    if name is None or overlap.parts is not None:
        return None
    largest = max(len(overlap.ref_ids), len(overlap.pred_ids))
    best = budgeted_strategy(name)
    if largest > (MOST_TO_MERGE if isinstance(best, ManyToOne) else MOST_TO_ASSIGN):
        return None
    matching = match(overlap, best, view.threshold)
    assert matching.certificate is not None
    pq, proven = json_number(matching.tally.pq), matching.certificate.proven
    return {"optimal": name, "pq": pq, "proven": proven}


def _optimum_of(name: str) -> str | None:
    """Return the id of the optimal counterpart of a heuristic; None for any other strategy."""
    strategy = STRATEGIES[name]
    if not isinstance(strategy, OneToOne | ManyToOne | OneToMany) or strategy.solver == "optimal":
        return None
    return replace(strategy, solver="optimal").key
