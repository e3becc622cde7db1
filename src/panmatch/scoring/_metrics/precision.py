"""Precision on voxels (positive predictive value)."""

from __future__ import annotations

from panmatch.matching import ratio
from panmatch.overlap import Floats
from panmatch.scoring._metrics.metric import share_metric
from panmatch.scoring._objects import ComparedObjects


def precision(objects: ComparedObjects) -> Floats:
    """Return |g ∩ p| / |p| per row.

    All tools agree. Without a prediction it is 0/0 and undefined.
    """
    return ratio(objects.shared, objects.pred_voxels)


METRIC = share_metric(
    precision,
    "Precision on voxels (positive predictive value)",
    "|g ∩ p| / |p|",
    needs="overlap",
    missed="NaN",
)
