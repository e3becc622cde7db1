"""Maximum PQ when a reference may take any number of predictions (D6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from panmatch import native
from panmatch.matching._maximum_pq import Effort, Priced, count_each_once, maximise_pq
from panmatch.matching._solution import Budget, Solution
from panmatch.overlap import Floats, Ints, Overlap

BRANCH_NODES = 200  # per component; beyond that prices do better
PRICE_ROUNDS = 300
MOST_COLUMNS = 20_000  # beyond that a general solver makes no headway in reasonable time

Mask = npt.NDArray[np.bool_]


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
        Feasible matchings to begin with.
    """
    seeded = np.zeros(len(overlap.ref_ids), np.bool_)
    seeded[overlap.edges.ref[passes]] = True
    usable = passes if gate == "edge" else seeded[overlap.edges.ref]
    problem = _Problem(overlap, np.flatnonzero(usable), passes)
    return maximise_pq(overlap, usable, starts, problem.solve_at, budget)


class _Problem:
    """The set-packing problem behind a matching, for any price."""

    def __init__(self, overlap: Overlap, usable: Ints, passes: Mask) -> None:
        self._overlap, self._usable, self._passes = overlap, usable, passes
        edges = overlap.edges
        shared = edges.intersection[usable].astype(np.float64)
        counted = ~overlap.predictions.dismissible
        self._segments = len(overlap.ref_ids) + int(np.count_nonzero(counted))
        self._ref, self._pred = edges.ref[usable], edges.pred[usable]
        self._columns = (
            self._ref,
            self._pred,
            shared,
            overlap.pred_areas[self._pred].astype(np.float64) - shared,
        )
        self._rest = (
            passes[usable].view(np.uint8),
            overlap.ref_sizes.astype(np.float64),
            len(overlap.pred_ids),
        )

    def solve_at(self, price: float, effort: Effort) -> Priced:
        """Maximise N − λD at λ = `price`."""
        return count_each_once(
            self._overlap, price, lambda credited: self._solve(price, effort, credited)
        )

    def _solve(self, price: float, effort: Effort, credited: Mask) -> Priced:
        saves = credited[self._pred].view(np.uint8)
        seconds = np.inf if effort.seconds is None else effort.seconds
        found = native.pack(
            *self._columns,
            saves,
            *self._rest,
            price=0.5 * price,
            nodes=max(0, effort.nodes),
            nodes_per_component=BRANCH_NODES,
            price_rounds=PRICE_ROUNDS,
            seconds=seconds,
        )
        chosen, worth, upper, nodes = found[:4]
        columns, base = OpenColumns(*found[4:8]), found[8]
        if 0 < len(columns.ref) <= MOST_COLUMNS and not effort.spent:
            packed = pack_columns(columns, self._pred, effort)
            if packed is not None:
                settled = chosen[~np.isin(self._ref[chosen], columns.ref)]
                chosen = np.concatenate([settled, packed.edges])
                # Columns that cannot beat the choice at hand were left out beforehand.
                upper = min(upper, max(worth, base + packed.upper))
                nodes += packed.nodes
        edges = self._without_conflicts(chosen)
        return Priced(edges, upper - 0.5 * price * self._segments, nodes)

    def _without_conflicts(self, chosen: Ints) -> Ints:
        """Leave every prediction to one reference, and drop references that lost their seed.

        Conflicts arise only where a reference has more contested candidates than are tracked.
        """
        edges = np.sort(self._usable[chosen])
        walk = edges[np.argsort(-self._overlap.iou[edges], kind="stable")]
        first = np.unique(self._overlap.edges.pred[walk], return_index=True)[1]
        kept = np.sort(walk[first])
        refs = self._overlap.edges.ref[kept]
        return kept[np.isin(refs, refs[self._passes[kept]])]


@dataclass(frozen=True, slots=True, eq=False)
class OpenColumns:
    """Sets of edges of which each reference takes one at most.

    Attributes
    ----------
    ref, worth
        The reference of every column, and what the column is worth.
    first, edges
        Column i consists of the edges ``edges[first[i]:first[i + 1]]``.
    """

    ref: Ints
    worth: Floats
    first: Ints
    edges: Ints


@dataclass(frozen=True, slots=True, eq=False)
class Packed:
    """The edges of the chosen columns, and an upper bound on the worth of any choice."""

    edges: Ints
    upper: float
    nodes: int


def pack_columns(columns: OpenColumns, pred: Ints, effort: Effort) -> Packed | None:
    """Choose columns so that no reference and no prediction is used twice.

    None if the effort did not suffice for any choice.

    Parameters
    ----------
    pred
        The prediction of every edge.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import coo_array

    n = len(columns.ref)
    lengths = np.diff(columns.first, append=len(columns.edges))
    owner = np.repeat(np.arange(n), lengths)
    _, ref_row = np.unique(columns.ref, return_inverse=True)
    _, pred_row = np.unique(pred[columns.edges], return_inverse=True)
    row = np.concatenate([ref_row, ref_row.max() + 1 + pred_row])
    column = np.concatenate([np.arange(n), owner])
    table = coo_array((np.ones(len(row)), (row, column))).tocsr()
    options: dict[str, float] = {"mip_rel_gap": 0.0, "node_limit": effort.nodes}
    if effort.seconds is not None:
        options["time_limit"] = effort.seconds
    result = milp(
        -columns.worth,
        constraints=LinearConstraint(table, ub=1.0),
        integrality=np.ones(n),
        bounds=Bounds(0, 1),
        options=options,
    )
    if result.x is None:
        return None
    taken = result.x > 0.5
    return Packed(columns.edges[taken[owner]], -float(result.mip_dual_bound), result.mip_node_count)
