"""Other metrics of the field as options of the same machinery (D12).

Where a published program differs from its own definition, the definition is followed; see
``docs/related.md`` for each difference.
"""

from panmatch.related.aji import aji
from panmatch.related.cc_metric import CCMetric, cc_metric
from panmatch.related.ccdice import ccdice
from panmatch.related.cluster import cluster_dice, cluster_iou
from panmatch.related.coco import coco_pq, coco_pq_of
from panmatch.related.lesionwise import lesionwise_dice
from panmatch.related.npq import npq
from panmatch.related.sorted_ap import sorted_ap
from panmatch.related.stardist import StardistScores, stardist_scores

__all__ = [
    "CCMetric",
    "StardistScores",
    "aji",
    "cc_metric",
    "ccdice",
    "cluster_dice",
    "cluster_iou",
    "coco_pq",
    "coco_pq_of",
    "lesionwise_dice",
    "npq",
    "sorted_ap",
    "stardist_scores",
]
