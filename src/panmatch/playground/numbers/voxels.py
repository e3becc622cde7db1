"""Two label images of one grid."""

from __future__ import annotations

from dataclasses import dataclass

from panmatch.labels import LabelArray


@dataclass(frozen=True, slots=True, eq=False)
class Voxels:
    """Two label images, and the distance between their voxels along each axis, if known."""

    reference: LabelArray
    prediction: LabelArray
    spacing: tuple[float, ...] | None = None
