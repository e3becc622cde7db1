"""Intersection over union."""

from __future__ import annotations

from panmatch.overlap import Floats
from panmatch.scoring.comparison import Comparison, share
from panmatch.scoring.metrics.metric import Metric


def iou(objects: Comparison) -> Floats:
    """Return |g ∩ p| / |g ∪ p| per row: the quality of D3.

    The same everywhere. Void voxels leave the union (D1), as in COCO's PQ.
    """
    union = objects.ref_voxels + objects.pred_voxels - objects.shared
    return share(objects.shared, union)


METRIC = Metric(
    name="iou",
    title="Intersection over union (Jaccard index)",
    formula="|g ∩ p| / |g ∪ p|",
    lowest=0.0,
    highest=1.0,
    better="higher",
    unit="",
    needs="overlap",
    missed="0",
    false_positive="0",
    penalised=False,
    compute=iou,
)
