"""What an optimal solver maximises: PQ, or PartPQ (D6, D9)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

from panmatch.errors import StrategyError, check_choice
from panmatch.matching._tally import Quality
from panmatch.overlap import Floats, Overlap

Objective = Literal["pq", "parts"]


def go_together(options: Mapping[str, str]) -> bool:
    """Return whether a strategy can have these options: heuristics maximise nothing.

    Examples
    --------
    >>> go_together({"solver": "greedy", "objective": "parts"}), go_together({"solver": "greedy"})
    (False, True)
    """
    return options.get("objective", "pq") == "pq" or options.get("solver") == "optimal"


def check_objective(objective: str, solver: str) -> None:
    """Raise an error unless the solver can maximise the objective."""
    check_choice("objective", objective, get_args(Objective))
    if not go_together({"solver": solver, "objective": objective}):
        raise StrategyError(
            f"objective={objective!r} needs solver='optimal', but solver={solver!r} maximises "
            f"nothing. Pass solver='optimal', or drop the objective."
        )


def edge_quality(overlap: Overlap, quality: Quality) -> Floats:
    """Return the quality of every edge as a pair: IoU, or by parts (D3, D9)."""
    if quality == "iou":
        return overlap.iou
    if overlap.parts is None:
        raise StrategyError(
            "objective='parts' needs an overlap with parts: pass count_part_overlaps(…), or use "
            "objective='pq'."
        )
    return overlap.parts.quality(
        overlap.edges.ref, overlap.parts.per_edge(overlap.edges.pred), overlap.iou
    )
