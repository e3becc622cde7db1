"""The components of the graphs of overlapping objects as a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from panmatch.evaluation._case_result import CaseResult
from panmatch.evaluation._series import Structures
from panmatch.evaluation._setting import Row
from panmatch.evaluation._table import Table
from panmatch.evaluation._tables import finished
from panmatch.scoring import COMPONENT_KINDS, GraphStructure


def structure_table(
    cases: Sequence[CaseResult], pooled: Mapping[str, Structures] = MappingProxyType({})
) -> Table:
    """Return the components of the graphs by kind: of all cases of each model, then per case.

    Parameters
    ----------
    pooled
        Structures of all cases together, by model; empty for only the rows of cases.
    """
    rows: list[Row] = []
    for model, found in pooled.items():
        for key, structure in found.items():
            rows += _structure_rows({"case": "", "model": model}, "pooled", key, structure)
    for case in cases:
        for one in case.structures:
            key = one.class_name, one.kind, one.threshold
            who: Row = {"case": case.case, "model": case.model}
            rows += _structure_rows(who, "case", key, one.structure)
    return finished(rows, cases, first=("case", "model"))


def _structure_rows(
    who: Row, averaging: str, key: tuple[str, str, float], structure: GraphStructure
) -> Iterable[Row]:
    class_name, kind, threshold = key
    shares = structure.shares
    for component, counts in zip(COMPONENT_KINDS, structure.counts, strict=True):
        yield {
            **who,
            "class": class_name,
            "kind": kind,
            "threshold": threshold,
            "averaging": averaging,
            "component": component,
            "share": shares[component],
            **counts.columns,
        }
