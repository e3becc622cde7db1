"""Intersection over union."""

from __future__ import annotations

from panmatch.matching import ratio
from panmatch.overlap import Floats
from panmatch.scoring._metrics.metric import share_metric
from panmatch.scoring._objects import ComparedObjects


def iou(objects: ComparedObjects) -> Floats:
    """Return |g ∩ p| / |g ∪ p| per row: the quality of D3.

    All tools agree. Void voxels are left out of the union (D1), as in COCO's PQ.
    """
    union = objects.ref_voxels + objects.pred_voxels - objects.shared
    return ratio(objects.shared, union)


METRIC = share_metric(
    iou, "Intersection over union (Jaccard index)", "|g ∩ p| / |g ∪ p|", needs="overlap"
)
