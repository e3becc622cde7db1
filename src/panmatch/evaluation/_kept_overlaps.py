"""The graphs of a case, kept with its result where objects of several raters are aligned (D18)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from panmatch.evaluation._setting import Kind
from panmatch.overlap import Overlap


@dataclass(frozen=True, slots=True, eq=False)
class ClassOverlap:
    """The overlap of one class in one case, whatever the matcher.

    A rater's objects are in several of them, once for every other rater and model.
    """

    class_name: str
    kind: Kind
    overlap: Overlap  # of whole predictions, without parts


def overlap_to_dict(one: ClassOverlap) -> dict[str, Any]:
    """Return an overlap as plain data for JSON.

    Examples
    --------
    >>> from panmatch.overlap import count_overlaps
    >>> one = ClassOverlap("cell", "things", count_overlaps([1, 1, 0], [0, 4, 4]))
    >>> overlap_to_dict(one)["columns"]["edge_intersection"]
    [1]
    >>> overlap_from_dict(overlap_to_dict(one)).overlap == one.overlap
    True
    """
    columns = {name: column.tolist() for name, column in one.overlap.columns().items()}
    return {"class": one.class_name, "kind": one.kind, "columns": columns}


def overlap_from_dict(content: dict[str, Any]) -> ClassOverlap:
    """Read what `overlap_to_dict` returned."""
    overlap = Overlap.from_columns(content["columns"])
    return ClassOverlap(content["class"], content["kind"], overlap)
