"""Dice coefficient (F1 on voxels)."""

from __future__ import annotations

from panmatch.matching import ratio
from panmatch.overlap import Floats
from panmatch.scoring._metrics.metric import share_metric
from panmatch.scoring._objects import ComparedObjects


def dice(objects: ComparedObjects) -> Floats:
    """Return 2 |g ∩ p| / (|g| + |p|) per row.

    All tools agree, except on two empty masks, where ours is NaN.
    """
    return ratio(2 * objects.shared, objects.ref_voxels + objects.pred_voxels)


METRIC = share_metric(
    dice, "Dice coefficient (F1 on voxels)", "2 |g ∩ p| / (|g| + |p|)", needs="overlap"
)
