"""A case of a dataset: which files belong together."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Source:
    """Where one side of a case is.

    Attributes
    ----------
    path
        A label image, or a COCO panoptic JSON file.
    parts
        Its part image, if there is one.
    item
        Id of the image in a COCO file.
    """

    path: Path
    parts: Path | None = None
    item: str | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """One case of one model.

    Attributes
    ----------
    name, model
        What it is called in tables.
    reference, prediction
        Its files; None for one that is missing.
    problem
        Why it cannot be evaluated; empty if nothing is known to be wrong.
    """

    name: str
    model: str
    reference: Source | None
    prediction: Source | None
    problem: str = ""
