"""Recall on voxels (sensitivity)."""

from __future__ import annotations

from panmatch.matching import ratio
from panmatch.overlap import Floats
from panmatch.scoring._metrics.metric import share_metric
from panmatch.scoring._objects import ComparedObjects


def recall(objects: ComparedObjects) -> Floats:
    """Return |g ∩ p| / |g| per row.

    All tools agree. Without a reference it is 0/0 and undefined.
    """
    return ratio(objects.shared, objects.ref_voxels)


METRIC = share_metric(
    recall, "Recall on voxels (sensitivity)", "|g ∩ p| / |g|", needs="overlap", false_positive="NaN"
)
