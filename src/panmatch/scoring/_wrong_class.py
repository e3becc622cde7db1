"""Objects that are right except for their class, and the error budgets of many classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from panmatch.matching import Matching, OneToOne, Strategy, are_false, match
from panmatch.overlap import ClassOverlaps, Edges, Ints, Overlap, Score
from panmatch.scoring._class_scores import match_classes
from panmatch.scoring._error_budget import ErrorBudget, error_budget


def class_error_budgets(
    overlaps: ClassOverlaps,
    strategy: str | Strategy = "one-to-one",
    threshold: float = 0.5,
    *,
    score: Score = "iou",
) -> dict[int, ErrorBudget]:
    """Return the error budget of every class, including the gain from correcting classes.

    Parameters are those of `match`.

    Examples
    --------
    >>> import panmatch as pm
    >>> groups = [pm.LabelGroup(pm.SegmentClass(number), (number,)) for number in (1, 2)]
    >>> sides = [pm.from_labels(side, groups) for side in ([1, 1, 1, 0, 2], [2, 2, 2, 0, 0])]
    >>> budgets = pm.class_error_budgets(pm.count_class_overlaps(*sides))
    >>> budgets[1].pq, budgets[1].repaired["class"], budgets[2].repaired["class"]
    (0.0, 1.0, 0.0)
    """
    matchings = match_classes(overlaps, strategy, threshold, score=score)
    moved = overlaps_by_right_class(overlaps, matchings)
    return {key: error_budget(matching, moved.get(key)) for key, matching in matchings.items()}


def overlaps_by_right_class(
    overlaps: ClassOverlaps, matchings: Mapping[int, Matching]
) -> dict[int, Overlap]:
    """Return the overlaps of the classes that change when predictions get the right class.

    An unmatched prediction shows an unmatched object of another class if their edge passes the
    threshold. The best such pairs come first, and each object is in at most one of them. Stuff,
    which is one segment per image, stays where it is.

    Parameters
    ----------
    overlaps
        Of all classes.
    matchings
        Of every class, by its id, all found in the same way.
    """
    any_matching = next(iter(matchings.values()), None)
    if any_matching is None or not len(overlaps.across):
        return {}
    lonely_refs, lonely_preds = _unmatched(overlaps, matchings)
    across = overlaps.across
    free = lonely_refs[across.ref] & lonely_preds[across.pred]
    if not free.any():
        return {}
    edges = Edges(across.ref[free], across.pred[free], across.intersection[free])
    pairs = match(
        replace(overlaps.graph, edges=edges, pred_crowd=None),
        OneToOne(solver="greedy"),
        any_matching.threshold,
        score=any_matching.score,
        strict=any_matching.strict,
    ).edges
    if not len(pairs):
        return {}
    return overlaps.moved(edges.pred[pairs], overlaps.ref_classes[edges.ref[pairs]])


def _unmatched(
    overlaps: ClassOverlaps, matchings: Mapping[int, Matching]
) -> tuple[np.ndarray, np.ndarray]:
    """Return which references of the graph are missed, and which predictions are spurious."""
    refs = np.zeros(len(overlaps.ref_classes), np.bool_)
    preds = np.zeros(len(overlaps.pred_classes), np.bool_)
    for place, kind in enumerate(overlaps.classes):
        if not kind.thing:
            continue
        matching = matchings[kind.id]
        refs[_span(overlaps.ref_classes, place)] = True
        first = int(np.searchsorted(overlaps.ref_classes, place))
        refs[first + matching.overlap.edges.ref[matching.edges]] = False
        preds[_span(overlaps.pred_classes, place)] = are_false(matching.overlap, matching.edges)
    return refs, preds


def _span(classes: Ints, place: int) -> slice:
    return slice(*np.searchsorted(classes, [place, place + 1]).tolist())
