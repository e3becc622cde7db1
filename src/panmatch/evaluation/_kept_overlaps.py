"""The graphs of a case, kept with its result where objects of several raters are aligned (D18)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from panmatch.evaluation._setting import Kind
from panmatch.overlap import Overlap


@dataclass(frozen=True, slots=True, eq=False)
class ClassOverlap:
    """The overlap of one class in one case, whatever the matcher."""

    class_name: str
    kind: Kind
    overlap: Overlap  # of whole predictions, without parts


def overlap_to_dict(one: ClassOverlap) -> dict[str, Any]:
    """Return an overlap as plain data for JSON."""
    columns = {name: column.tolist() for name, column in one.overlap.columns().items()}
    return {"class": one.class_name, "kind": one.kind, "columns": columns}


def overlap_from_dict(content: dict[str, Any]) -> ClassOverlap:
    """Read what `overlap_to_dict` returned."""
    overlap = Overlap.from_columns(content["columns"])
    return ClassOverlap(content["class"], content["kind"], overlap)
