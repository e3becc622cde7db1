"""Maximum PQ when a reference may take any number of predictions (D6)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from panmatch import native
from panmatch.matching._maximum_pq import (
    Effort,
    Priced,
    best_of,
    count_each_once,
    maximise_pq,
    usable_edges,
)
from panmatch.matching._open_columns import OpenColumns, pack_columns
from panmatch.matching._reserving import Reserved, reserve
from panmatch.matching._solution import Budget, Solution
from panmatch.matching._tally import tally_edges
from panmatch.overlap import Floats, Ints, Overlap

BRANCH_NODES = 200  # per component; beyond that prices do better
PRICE_ROUNDS = 300
TABLE_SIZE = 12  # contested candidates of a reference whose columns are all written down
MOST_COLUMNS = 20_000  # beyond that a general solver makes no headway in reasonable time
FEW_COLUMNS = 2_000  # it is quick with
KICKS_PER_REF, MOST_KICKS = 20, 2_000  # of the local search
SETTLED = 1e-10  # what is left of N − λD where no more search can raise PQ
PACK_SHARE, COLUMNS_SHARE, KICK_SHARE = 0.6, 0.8, 0.5  # of the time that is left before each

Mask = npt.NDArray[np.bool_]
Bytes = npt.NDArray[np.uint8]
_Columns = tuple[Ints, Ints, Floats, Floats, Bytes, Bytes, Floats, int]


def optimal_merge(
    overlap: Overlap, passes: Mask, gate: str, starts: Sequence[Ints], budget: Budget
) -> Solution:
    """Return the many-to-one matching of maximum PQ.

    Parameters
    ----------
    passes
        Which edges are above the threshold.
    gate
        ``"edge"``: only those may be used. ``"seed"``: every set needs one of them.
    starts
        Feasible matchings to start from.
    """
    began = time.perf_counter()
    usable = usable_edges(overlap, passes, gate)
    start = best_of(overlap, starts)
    problem = _Problem(overlap, np.flatnonzero(usable), passes, start)
    most_quality = problem.most_quality()
    left = budget.left_since(began)
    return maximise_pq(overlap, usable, [start], problem.solve_at, left, most_quality=most_quality)


class _Problem:
    """The set-packing problem behind a matching, for any price."""

    def __init__(self, overlap: Overlap, usable: Ints, passes: Mask, start: Ints) -> None:
        self._overlap, self._usable = overlap, usable
        edges, predictions = overlap.edges, overlap.predictions
        counted = ~predictions.dismissible
        self._segments = len(overlap.ref_ids) + int(np.count_nonzero(counted))
        self._ref, self._vertex = edges.ref[usable], edges.pred[usable]
        _, self._pred = predictions.expand(self._vertex)
        self._pieces = overlap.pieces is not None
        self._counted = counted[self._pred]
        shared = edges.intersection[usable].astype(np.float64)
        self._areas = shared, overlap.pred_areas[self._vertex].astype(np.float64) - shared
        self._all_passes, self._passes = passes, passes[usable].view(np.uint8)
        self._sizes = overlap.ref_sizes.astype(np.float64)
        # Where the next search begins: a matching, and prices (below 0: not known yet).
        self._start = start
        self._prices = np.full(len(predictions.ids), -1.0)

    def most_quality(self) -> Floats:
        """Return the highest IoU of every reference with any set of its candidates.

        At a ratio μ, all candidates with I > μe belong to the best set; raise μ to the ratio
        reached. There cannot be more true positives than predictions or pieces of them, so the
        references with the lowest values get 0.
        """
        ref, (shared, excess), n = self._ref, self._areas, len(self._sizes)
        ratio = np.zeros(n)
        while True:
            taken = shared > ratio[ref] * excess
            inside, outside = (np.bincount(ref[taken], area[taken], n) for area in self._areas)
            reached = inside / (self._sizes + outside)
            if not (reached > ratio).any():
                break
            ratio = np.maximum(ratio, reached)
        most_pairs = np.count_nonzero(np.bincount(self._vertex))
        ratio[np.argsort(-ratio, kind="stable")[most_pairs:]] = 0.0
        return ratio

    def solve_at(self, price: float, effort: Effort) -> Priced:
        """Maximise N − λD at λ = `price`, or return a matching above 0 that was found quickly."""
        if not self._pieces:
            return self._solve(price, effort)
        alone = count_each_once(
            self._overlap, price, lambda saves: self._solve_alone(price, effort, saves), effort
        )
        self._start = best_of(self._overlap, [self._start, alone.edges])
        if effort.spent or self._is_above(price) or alone.upper <= SETTLED:
            return replace(alone, edges=self._start)
        found = self._solve(price, effort)
        return replace(found, upper=min(found.upper, alone.upper))

    def _solve_alone(self, price: float, effort: Effort, saves: Mask) -> Priced:
        """Let every reference choose among its pieces, given which of them save anything."""
        n_vertices = len(self._overlap.pred_ids)
        found = native.pack(
            *self._columns(self._vertex, saves[self._vertex], n_vertices),
            chosen=np.zeros(len(self._usable), np.uint8),
            pred_price=np.zeros(n_vertices),
            price=0.5 * price,
            pieces=False,
            nodes=0,
            nodes_per_component=0,
            price_rounds=0,
            table=0,
            columns=0,
            seconds=effort.seconds_or_inf,
        )
        edges, upper = np.sort(self._usable[found[0]]), found[2] - 0.5 * price * self._segments
        return Priced(edges, upper, 0)

    def _columns(self, pred: Ints, counted: Mask, n_pred: int) -> _Columns:
        return (
            self._ref,
            pred,
            *self._areas,
            counted.view(np.uint8),
            self._passes,
            self._sizes,
            n_pred,
        )

    def _solve(self, price: float, effort: Effort) -> Priced:
        if not effort.spent:
            everywhere = np.ones(len(self._overlap.ref_ids), np.bool_)
            before = self._start
            self._start = self._improve(price, effort, everywhere, kicks=0)
            if not np.array_equal(before, self._start) and self._is_above(price):
                return Priced(self._start, np.inf, 0)
        packing = self._pack(price, effort.share(PACK_SHARE))
        self._start = packing.edges
        columns_first = len(packing.columns.ref) <= FEW_COLUMNS  # an improvement leaves fewer
        for choose_columns in (columns_first, not columns_first):
            if effort.spent or not packing.is_open.any():
                break
            if choose_columns:
                packing = self._choose_columns(packing, effort.share(COLUMNS_SHARE))
            else:
                packing = self._kick(packing, price, effort.share(KICK_SHARE))
            self._start = packing.edges
            if self._is_above(price):
                break
        if packing.is_open.any() and not (self._pieces or effort.spent or self._is_above(price)):
            packing = self._reserve(packing, price, effort)
            self._start = packing.edges
        return Priced(packing.edges, packing.upper - 0.5 * price * self._segments, packing.nodes)

    def _is_above(self, price: float) -> bool:
        return tally_edges(self._overlap, self._start).pq > price

    def _improve(self, price: float, effort: Effort, active: Mask, kicks: int) -> Ints:
        """Return the matching to start from, after a local search."""
        chosen = native.improve(
            *self._columns(self._pred, self._counted, len(self._prices)),
            chosen=self._chosen(),
            active=active.view(np.uint8),
            price=0.5 * price,
            pieces=self._pieces,
            kicks=kicks,
            seconds=effort.seconds_or_inf,
        )
        return self._usable[chosen.view(np.bool_)]

    def _chosen(self) -> Bytes:
        chosen = np.zeros(len(self._usable), np.uint8)
        chosen[np.searchsorted(self._usable, self._start)] = 1
        return chosen

    def _pack(self, price: float, effort: Effort) -> _Packing:
        """Bound all selections of disjoint sets, and return the best one found."""
        found = native.pack(
            *self._columns(self._pred, self._counted, len(self._prices)),
            chosen=self._chosen(),
            pred_price=self._prices,
            price=0.5 * price,
            pieces=self._pieces,
            nodes=max(0, effort.nodes),
            nodes_per_component=BRANCH_NODES,
            price_rounds=PRICE_ROUNDS,
            table=TABLE_SIZE,
            columns=MOST_COLUMNS,
            seconds=effort.seconds_or_inf,
        )
        chosen, _, upper, nodes, self._prices, is_open = found[:6]
        return _Packing(
            np.sort(self._usable[chosen]),
            upper,
            nodes,
            is_open.view(np.bool_),
            OpenColumns(*found[6:10], found[12]),
            *found[10:12],
        )

    def _choose_columns(self, packing: _Packing, effort: Effort) -> _Packing:
        """Choose among the columns that may still matter."""
        packed = pack_columns(packing.columns, self._pred, effort)
        if packed is None:
            return packing
        refs = self._overlap.edges.ref[packing.edges]
        settled = packing.edges[~np.isin(refs, packing.columns.ref)]
        is_open = packing.is_open.copy()
        is_open[packing.columns.ref] &= not packed.proven
        return replace(
            packing,
            edges=np.sort(np.concatenate([settled, self._usable[packed.edges]])),
            # Columns that cannot beat the current choice were left out beforehand.
            upper=min(packing.upper, packing.rest_upper + max(packing.listed_worth, packed.upper)),
            nodes=packing.nodes + packed.nodes,
            is_open=is_open,
        )

    def _kick(self, packing: _Packing, price: float, effort: Effort) -> _Packing:
        """Search around the selection, with random moves."""
        kicks = min(KICKS_PER_REF * int(packing.is_open.sum()), MOST_KICKS, effort.nodes)
        edges = self._improve(price, effort, packing.is_open, kicks)
        return replace(packing, edges=edges, nodes=packing.nodes + kicks)

    def _reserve(self, packing: _Packing, price: float, effort: Effort) -> _Packing:
        """Reserve contested predictions of open references, one after the other."""
        is_open = packing.is_open[self._overlap.edges.ref[packing.edges]]
        settled, chosen = packing.edges[~is_open], packing.edges[is_open]
        settled_worth, worth = self._worth(settled, price), self._worth(chosen, price)
        usable = self._usable[packing.is_open[self._ref]]
        whole = Reserved(usable, chosen, worth, packing.upper - settled_worth, self._prices)
        found = reserve(
            self._overlap,
            whole,
            lambda edges, parent, left: self._bound(edges, parent, price, left),
            SETTLED,
            effort,
        )
        return replace(
            packing,
            edges=np.sort(np.concatenate([settled, found.chosen])),
            upper=settled_worth + found.upper,
            nodes=packing.nodes + found.nodes,
        )

    def _bound(self, usable: Ints, parent: Reserved, price: float, effort: Effort) -> Reserved:
        """Bound what references can gain with fewer edges than before."""
        passes, ref = self._all_passes, self._overlap.edges.ref
        kept = np.intersect1d(parent.chosen, usable, assume_unique=True)
        kept = kept[np.isin(ref[kept], ref[kept[passes[kept]]])]
        problem = _Problem(self._overlap, usable, passes, kept)
        problem._prices = parent.prices
        packing = problem._pack(price, effort)
        if packing.is_open.any() and not effort.spent:
            packing = problem._choose_columns(packing, effort)
        worth = self._worth(packing.edges, price)
        return Reserved(usable, packing.edges, worth, packing.upper, problem._prices, packing.nodes)

    def _worth(self, edges: Ints, price: float) -> float:
        """Return what a selection adds to N − λD."""
        tally = tally_edges(self._overlap, edges)
        denominator = tally.tp + 0.5 * (tally.fp + tally.fn)
        return tally.quality - price * (denominator - 0.5 * self._segments)


@dataclass(frozen=True, slots=True, eq=False)
class _Packing:
    """A selection of disjoint sets, and what is known about better ones.

    Attributes
    ----------
    edges, nodes
        The selection, and the search that it took.
    upper
        No selection is worth more.
    is_open
        References that might do better.
    columns, listed_worth
        Columns of such references as far as there are not too many, and what these references
        are worth now.
    rest_upper
        An upper bound on the worth of all others.
    """

    edges: Ints
    upper: float
    nodes: int
    is_open: Mask
    columns: OpenColumns
    listed_worth: float
    rest_upper: float
