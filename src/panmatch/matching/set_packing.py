"""Choosing disjoint columns of maximum worth with HiGHS."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from panmatch.matching.maximum_pq import Effort
from panmatch.overlap import Floats, Ints


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
