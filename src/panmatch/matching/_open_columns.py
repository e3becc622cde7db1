"""Columns that a better selection might contain, and a general solver to choose among them (D6)."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np

from panmatch.matching._maximum_pq import Effort
from panmatch.overlap import Floats, Ints

SECONDS_PER_COLUMN = 1e-4  # the solver does not look at the clock often enough to stop before
IMPORT_SECONDS = 0.5  # what loading it may take


@dataclass(frozen=True, slots=True, eq=False)
class OpenColumns:
    """Sets of edges, of which each reference takes at most one.

    Attributes
    ----------
    ref, worth
        The reference of every column, and what the column is worth.
    first, edges
        Column i consists of the edges ``edges[first[i]:first[i + 1]]``.
    members
        How many of these edges, the first ones, take a prediction that others want as well.
    """

    ref: Ints
    worth: Floats
    first: Ints
    edges: Ints
    members: Ints


@dataclass(frozen=True, slots=True, eq=False)
class Packed:
    """The edges of the chosen columns, and an upper bound on the worth of any choice."""

    edges: Ints
    upper: float
    nodes: int
    proven: bool


def pack_columns(columns: OpenColumns, pred: Ints, effort: Effort) -> Packed | None:
    """Choose columns so that no reference and no prediction is used twice.

    None if the effort was not enough for any choice.

    Parameters
    ----------
    pred
        The prediction of every edge.
    """
    n = len(columns.ref)
    loading = 0.0 if "scipy.optimize" in sys.modules else IMPORT_SECONDS
    if n == 0 or effort.seconds_or_inf < loading + n * SECONDS_PER_COLUMN:
        return None
    if find_spec("scipy") is None:  # in a web page
        return None
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import coo_array

    lengths = np.diff(columns.first, append=len(columns.edges))
    owner = np.repeat(np.arange(n), lengths)
    wanted = np.arange(len(owner)) < (columns.first + columns.members)[owner]
    _, ref_row = np.unique(columns.ref, return_inverse=True)
    _, pred_row = np.unique(pred[columns.edges[wanted]], return_inverse=True)
    row = np.concatenate([ref_row, ref_row.max() + 1 + pred_row])
    column = np.concatenate([np.arange(n), owner[wanted]])
    place = row.astype(np.int32), column.astype(np.int32)  # all that older HiGHS takes
    table = coo_array((np.ones(len(row)), place)).tocsr()
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
    return Packed(
        columns.edges[taken[owner]],
        -float(result.mip_dual_bound),
        result.mip_node_count,
        result.status == 0,
    )
