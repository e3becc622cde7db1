"""Maximum PartPQ when a reference may take any number of predictions (D6, D9)."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from panmatch import native
from panmatch.matching._maximum_pq import (
    Effort,
    Priced,
    best_of,
    maximise_pq,
    usable_edges,
)
from panmatch.matching._solution import Budget, Solution
from panmatch.matching._tally import tally_edges
from panmatch.overlap import Floats, Ints, Overlap

PRICE_ROUNDS = 200
PARTS_SHARE = 0.7  # of the time; the rest is for the parents of maximum PQ if no proof was found
CEILING_SHARE = 0.1  # of the time, for the highest quality of every reference

Mask = npt.NDArray[np.bool_]


def optimal_part_merge(
    overlap: Overlap,
    passes: Mask,
    gate: str,
    starts: Sequence[Ints],
    budget: Budget,
    parents: Callable[[Budget], Ints],
) -> Solution:
    """Return the many-to-one matching of maximum PartPQ.

    Parameters
    ----------
    passes, gate, starts
        As for `optimal_merge`.
    parents
        Returns the matching of maximum PQ. It is used where no proof was found, so that the result
        is not worse.
    """
    began = time.perf_counter()
    usable = usable_edges(overlap, passes, gate)
    start = best_of(overlap, starts, "parts")
    problem = _Problem(overlap, np.flatnonzero(usable), passes, start)
    first = _share(budget, PARTS_SHARE)
    solution = maximise_pq(
        overlap,
        usable,
        [start],
        problem.solve_at,
        first.left_since(began),
        most_quality=problem.most_quality(_share(first, CEILING_SHARE)),
        quality="parts",
    )
    assert solution.certificate is not None
    if solution.certificate.proven:
        return solution
    other = parents(budget.left_since(began))
    value = tally_edges(overlap, other, "parts").pq
    if not value > solution.certificate.value:
        return solution
    upper = max(value, solution.certificate.upper_bound)
    return Solution(other, replace(solution.certificate, value=value, upper_bound=upper))


def _share(budget: Budget, share: float) -> Budget:
    if budget.seconds is None:
        return budget
    return replace(budget, seconds=share * budget.seconds)


class _Problem:
    """Disjoint sets of predictions, judged by parts, for any price."""

    def __init__(self, overlap: Overlap, usable: Ints, passes: Mask, start: Ints) -> None:
        assert overlap.parts is not None
        self._usable = usable
        pred, predictions = overlap.edges.pred[usable], overlap.predictions
        _, owner = predictions.expand(pred)  # a piece has one possible partner
        counted = ~predictions.dismissible
        self._segments = len(overlap.ref_ids) + int(np.count_nonzero(counted))
        shared = overlap.edges.intersection[usable].astype(np.float64)
        self._columns = (
            overlap.edges.ref[usable],
            owner,
            shared,
            overlap.pred_areas[pred].astype(np.float64) - shared,
            overlap.ref_sizes.astype(np.float64),
            *_label_areas(overlap, usable),
            counted[owner].view(np.uint8),
            passes[usable].view(np.uint8),
            len(counted),
            overlap.pieces is None,
        )
        self._matchable = len(np.unique(pred))
        # Where the next search begins.
        self._start, self._prices = start, np.zeros(len(counted))

    def most_quality(self, budget: Budget) -> Floats:
        """Return a bound on the part quality of every reference with any set of its candidates."""
        seconds = np.inf if budget.seconds is None else budget.seconds
        most = native.highest_part_qualities(*self._columns, seconds)
        # There are no more true positives than predictions, or pieces.
        most[np.argsort(-most, kind="stable")[self._matchable :]] = 0.0
        return most

    def solve_at(self, price: float, effort: Effort) -> Priced:
        """Maximise N − λD at λ = `price`."""
        chosen = np.zeros(len(self._usable), np.uint8)
        chosen[np.searchsorted(self._usable, self._start)] = 1
        taken, upper, nodes, self._prices = native.pack_parts(
            *self._columns,
            chosen=chosen,
            pred_price=self._prices,
            price=0.5 * price,
            nodes=max(0, effort.nodes),
            price_rounds=PRICE_ROUNDS,
            seconds=effort.seconds_or_inf,
        )
        self._start = self._usable[taken.view(np.bool_)]
        return Priced(self._start, upper - 0.5 * price * self._segments, nodes)


def _label_areas(overlap: Overlap, usable: Ints) -> tuple[Floats, Floats, Floats, Floats]:
    """Return what every edge adds to the intersection and union of each label, and what is there.

    Both are linear in the sums over matched predictions, background included.
    """
    parts = overlap.parts
    assert parts is not None
    refs = np.arange(len(overlap.ref_ids))
    sums = parts.per_edge(overlap.edges.pred)[usable]
    before = parts.label_areas(refs, np.zeros((len(refs), sums.shape[1])))
    ref = overlap.edges.ref[usable]
    after = parts.label_areas(ref, sums)
    added = (areas - empty[ref] for areas, empty in zip(after, before, strict=True))
    hits, whole, ref_hits, ref_whole = (
        np.ascontiguousarray(areas, np.float64).ravel() for areas in (*added, *before)
    )
    return hits, whole, ref_hits, ref_whole
