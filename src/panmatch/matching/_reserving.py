"""Branch and bound over who may take a contested prediction (D6).

Prices can leave a gap, and there can be too many columns for a general solver. Then reserve a
contested prediction for each of its references in turn. In an optimal selection at most one of them
takes it, so one of these problems contains an optimal selection, and each has fewer edges. The
problem with the highest bound comes next, until no bound is above what was found.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from panmatch.matching._maximum_pq import Effort
from panmatch.overlap import Floats, Ints, Overlap

WORK_PER_EDGE = 2  # nodes: what bounding one problem counts for
MOST_PROBLEMS = 2_000
PATIENCE, PROGRESS = 60, 0.02  # so many problems have to close such a share of the gap


@dataclass(frozen=True, slots=True, eq=False)
class Reserved:
    """The edges that references may still use, and what is known about selections of them.

    Attributes
    ----------
    usable
        The edges.
    chosen, worth
        A selection, and what it is worth.
    upper
        No selection is worth more.
    prices
        Of all predictions, to start from.
    nodes
        The search that it took.
    """

    usable: Ints
    chosen: Ints
    worth: float
    upper: float
    prices: Floats
    nodes: int = 0


Bound = Callable[[Ints, Reserved, Effort], Reserved]


def reserve(
    overlap: Overlap, whole: Reserved, bound: Bound, tolerance: float, effort: Effort
) -> Reserved:
    """Return the whole problem with a lower bound, or with the first better selection found.

    Parameters
    ----------
    bound
        Bounds the problem with these edges, given the one that it comes from.
    tolerance
        Gains that are not worth a search.
    """
    waiting, bounded, nodes = [(-whole.upper, 0, whole)], 0, 0
    upper, milestone, due = whole.upper, whole.upper, PATIENCE
    while waiting and -waiting[0][0] > whole.worth + tolerance:
        upper = -waiting[0][0]
        if bounded >= due:
            if milestone - upper < PROGRESS * (milestone - whole.worth):
                break
            milestone, due = upper, bounded + PATIENCE
        _, _, problem = heapq.heappop(waiting)
        for usable in _reservations(overlap, problem.usable):
            left = Effort(effort.nodes - nodes, effort.deadline)
            if left.spent or bounded == MOST_PROBLEMS:
                return replace(whole, upper=upper, nodes=nodes)
            found = bound(usable, problem, left)
            bounded, nodes = bounded + 1, nodes + found.nodes + WORK_PER_EDGE * len(usable)
            if found.worth > whole.worth + tolerance:
                return replace(found, usable=whole.usable, upper=upper, nodes=nodes)
            heapq.heappush(waiting, (-min(found.upper, upper), bounded, found))
    else:
        upper = max(whole.worth, -waiting[0][0]) if waiting else whole.worth
    return replace(whole, upper=upper, nodes=nodes)


def _reservations(overlap: Overlap, usable: Ints) -> Iterator[Ints]:
    """Yield the edges that are left if a prediction is reserved for each of its references.

    The prediction is one for which two references compete most: the second highest IoU is highest.
    """
    pred, iou = overlap.edges.pred[usable], overlap.iou[usable]
    order = np.lexsort((-iou, pred))
    second = np.flatnonzero(np.append(False, pred[order][1:] == pred[order][:-1]))
    second = second[np.append(True, pred[order][second][1:] != pred[order][second][:-1])]
    if len(second) == 0:
        yield usable
        return
    contested = pred[order[second[np.argmax(iou[order[second]])]]]
    for edge in usable[pred == contested]:
        yield usable[(pred != contested) | (usable == edge)]
