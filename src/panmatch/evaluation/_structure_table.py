"""The components of the graphs of overlapping objects as a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from panmatch.evaluation._case_result import CaseResult
from panmatch.evaluation._series import Structures
from panmatch.evaluation._setting import Cell
from panmatch.evaluation._table import Table
from panmatch.evaluation._tables import finished
from panmatch.scoring import COMPONENT_KINDS, ComponentCounts, GraphStructure

NAMES = (
    "case", "model", "class", "kind", "threshold", "averaging", "component", "share",
    *ComponentCounts().columns,
)  # fmt: skip


def structure_table(
    cases: Sequence[CaseResult], pooled: Mapping[str, Structures] = MappingProxyType({})
) -> Table:
    """Return the components of the graphs by kind: of all cases of each model, then per case.

    Parameters
    ----------
    pooled
        Structures of all cases together, by model; empty for only the rows of cases.
    """
    rows: list[tuple[Cell, ...]] = []
    for model, found in pooled.items():
        for key, structure in found.items():
            rows += _rows(("", model, *key, "pooled"), structure)
    for case in cases:
        for one in case.structures:
            key = one.class_name, one.kind, one.threshold
            rows += _rows((case.case, case.model, *key, "case"), one.structure)
    columns = dict(zip(NAMES, map(list, zip(*rows, strict=True)), strict=True)) if rows else {}
    return finished(columns, cases, first=("case", "model"))


def _rows(who: tuple[Cell, ...], structure: GraphStructure) -> Iterator[tuple[Cell, ...]]:
    shares = structure.shares
    for component, counts in zip(COMPONENT_KINDS, structure.counts, strict=True):
        yield (*who, component, shares[component], *counts.columns.values())
