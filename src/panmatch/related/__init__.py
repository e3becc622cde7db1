"""Other metrics of the field, computed from the same overlap graph (D12).

Where a published program differs from its own definition, we follow the definition; see
``docs/explanation/related.md`` for each difference.
"""

from panmatch.related._catalogue import RELATED, resolve_related
from panmatch.related._cell_tracking import det, seg, symmetric_best_dice
from panmatch.related._challenges import (
    false_negative_volume,
    false_positive_volume,
    lesion_count_difference,
    lesion_f1,
)
from panmatch.related._clustering import (
    VariationOfInformation,
    adapted_rand_error,
    adjusted_mutual_information,
    adjusted_rand_index,
    cremi_score,
    rand_index,
    variation_of_information,
)
from panmatch.related._coco import coco_pq, coco_pq_of
from panmatch.related._coco_instances import CocoPrecision, coco_precision
from panmatch.related._components import CCMetric, cc_metric, cluster_dice, cluster_iou
from panmatch.related._graph_clusters import (
    ClusterCurve,
    graph_cluster_dice,
    graph_cluster_dice_curve,
)
from panmatch.related._lesionwise import (
    Lesions,
    find_lesions,
    lesionwise_dice,
    lesionwise_f1,
    lesionwise_hd95,
)
from panmatch.related._luna import rank_points
from panmatch.related._overlap_scores import (
    StardistScores,
    aji,
    ccdice,
    npq,
    sorted_ap,
    stardist_scores,
)
from panmatch.related._ranked import Ranked, rank_greedily, rank_most_pairs
from panmatch.related._registry import (
    Averages,
    ClassSides,
    Option,
    RelatedPart,
    RelatedScore,
    share,
    single,
)

__all__ = [
    "RELATED",
    "Averages",
    "CCMetric",
    "ClassSides",
    "ClusterCurve",
    "CocoPrecision",
    "Lesions",
    "Option",
    "Ranked",
    "RelatedPart",
    "RelatedScore",
    "StardistScores",
    "VariationOfInformation",
    "adapted_rand_error",
    "adjusted_mutual_information",
    "adjusted_rand_index",
    "aji",
    "cc_metric",
    "ccdice",
    "cluster_dice",
    "cluster_iou",
    "coco_pq",
    "coco_pq_of",
    "coco_precision",
    "cremi_score",
    "det",
    "false_negative_volume",
    "false_positive_volume",
    "find_lesions",
    "graph_cluster_dice",
    "graph_cluster_dice_curve",
    "lesion_count_difference",
    "lesion_f1",
    "lesionwise_dice",
    "lesionwise_f1",
    "lesionwise_hd95",
    "npq",
    "rand_index",
    "rank_greedily",
    "rank_most_pairs",
    "rank_points",
    "resolve_related",
    "seg",
    "share",
    "single",
    "sorted_ap",
    "stardist_scores",
    "symmetric_best_dice",
    "variation_of_information",
]
