"""Relative volume difference."""

from __future__ import annotations

from panmatch.matching import ratio
from panmatch.overlap import Floats
from panmatch.scoring._metrics.metric import Metric
from panmatch.scoring._objects import ComparedObjects


def relative_volume_difference(objects: ComparedObjects) -> Floats:
    """Return (|p| − |g|) / |g| per row.

    Signed: positive if too much was predicted. panoptica calls it RVD.
    """
    return ratio(objects.pred_voxels - objects.ref_voxels, objects.ref_voxels)


METRIC = Metric(
    "relative_volume_difference", "Relative volume difference",
    "(|p| − |g|) / |g|",
    -1.0, float("inf"), "zero", "", "overlap", "−1", "NaN", False,
    relative_volume_difference,
)  # fmt: skip
