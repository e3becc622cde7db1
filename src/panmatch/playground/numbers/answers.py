"""What the page is told about a scene or a pair: from an overlap and a view to plain data."""

from __future__ import annotations

from dataclasses import replace

from panmatch.matching import (
    Certificate,
    ManyToOne,
    OneToMany,
    OneToOne,
    Strategy,
    Tally,
    match,
)
from panmatch.overlap import Overlap
from panmatch.playground.drawing.scene import Side
from panmatch.playground.numbers.counted import Counted, Source, playable
from panmatch.playground.numbers.curve_rows import TABLE_THRESHOLDS
from panmatch.playground.numbers.derivation import terms
from panmatch.playground.numbers.graph_rows import MOST_VERTICES, Picture
from panmatch.playground.plain import Message, number
from panmatch.playground.states.strategies import STRATEGIES
from panmatch.playground.states.view import View

# Above these the search for the optimum would be felt.
MOST_TO_MERGE, MOST_TO_ASSIGN = 60, 1_000


def answer_numbers(source: Source, view: View) -> Message:
    """Return all numbers of a view."""
    cells = source.cells() if view.cells else None
    return {**describe(source.counted(view), view), "cells": cells}


def describe(counted: Counted, view: View) -> Message:
    """Return all numbers that an overlap gives."""
    overlap = counted.overlap
    matching = match(overlap, playable(view.strategy), view.threshold)
    picture = Picture.of(overlap, matching)
    vertices = {"reference": picture.vertices("reference")}
    vertices["prediction"] = picture.vertices("prediction")
    edges, derived = picture.edges(), terms(matching, MOST_VERTICES)
    tally = matching.tally
    compared = [counted.rows(name) for name in view.compared]
    return {
        "vertices": vertices,
        "edges": edges,
        "left_out": {
            "reference": len(overlap.ref_ids) - len(vertices["reference"]),
            "prediction": len(overlap.predictions.ids) - len(vertices["prediction"]),
            "edges": len(picture.links.ref) - len(edges),
            "terms": tally.tp - len(derived),
        },
        "terms": derived,
        "tally": tally_row(tally),
        "curves": [steps for steps, _ in compared],
        "table": {"thresholds": list(TABLE_THRESHOLDS), "rows": [row for _, row in compared]},
        "certificate": certificate_row(matching.certificate),
        "shortfall": shortfall(overlap, view),
    }


def answer_object(source: Source, view: View, side: Side, number_: int) -> Message:
    """Return one segment with all that it overlaps."""
    overlap = source.counted(view).overlap
    picture = Picture.of(overlap, match(overlap, playable(view.strategy), view.threshold))
    at = picture.position(side, number_)
    sizes = overlap.ref_sizes if side == "reference" else overlap.predictions.sizes
    return {
        "side": side,
        "id": number_,
        "size": sizes[at].item(),
        "state": picture.states(side)[at],
        "centre": source.centre(side, number_),
        "partners": picture.partners(side, at),
    }


def tally_row(tally: Tally) -> Message:
    """Return counts and scores."""
    return {
        "tp": tally.tp,
        "fp": tally.fp,
        "fn": tally.fn,
        "quality": tally.quality,
        "pq": number(tally.pq),
        "sq": number(tally.sq),
        "rq": number(tally.rq),
        "precision": number(tally.precision),
        "recall": number(tally.recall),
        "status": tally.status,
    }


def certificate_row(found: Certificate | None) -> Message | None:
    """Return what is proven of an optimal matching; None for heuristics."""
    if found is None:
        return None
    return {
        "value": number(found.value),
        "bound": number(found.upper_bound),
        "gap": number(found.gap),
        "proven": found.proven,
    }


def shortfall(overlap: Overlap, view: View) -> Message | None:
    """Return the maximum PQ where the strategy is a heuristic (D6).

    None for strategies that leave nothing to choose, for optimal ones, for graphs so large that
    the search would be felt, and by parts: matching looks at whole objects there, so that maximum
    PQ means something else.
    """
    name = _optimum_of(view.strategy)
    if name is None or overlap.parts is not None:
        return None
    largest = max(len(overlap.ref_ids), len(overlap.pred_ids))
    best = playable(name)
    if largest > (MOST_TO_MERGE if isinstance(best, ManyToOne) else MOST_TO_ASSIGN):
        return None
    found = match(overlap, best, view.threshold)
    assert found.certificate is not None
    return {
        "optimal": name,
        "pq": number(found.tally.pq),
        "proven": found.certificate.proven,
    }


def _optimum_of(name: str) -> str | None:
    """Return the id of the optimal strategy in place of a heuristic; None for any other."""
    strategy = STRATEGIES[name].strategy
    if not isinstance(strategy, OneToOne | ManyToOne | OneToMany) or strategy.solver == "optimal":
        return None
    wanted: Strategy = replace(strategy, solver="optimal")
    return next(other for other, entry in STRATEGIES.items() if entry.strategy == wanted)
