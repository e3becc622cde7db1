"""The related scores that a spec can name. A new one is a new entry here."""

from __future__ import annotations

from panmatch.errors import check_choice
from panmatch.labels import Connectivity, connected_components
from panmatch.matching import limbs_to_units, to_limbs
from panmatch.overlap import Floats, count_overlaps
from panmatch.related._components import cc_metric, cluster_values
from panmatch.related._lesionwise import lesion_values
from panmatch.related._overlap_scores import (
    aji_areas,
    check_inclusive_threshold,
    npq,
    sorted_ap,
    tally_largest,
)
from panmatch.related._registry import (
    Averages,
    ClassSides,
    RelatedPart,
    RelatedScore,
    share,
    single,
)
from panmatch.scoring import Average

PER_COMPONENT = "the mean over all components of all cases"
PER_CASE = "the mean over cases"
STARDIST = {
    "accuracy": "stardist's accuracy",
    "f1": "stardist's F1",
    "precision": "stardist's precision",
    "recall": "stardist's recall",
    "mean_true_score": "stardist's mean true score",
    "mean_matched_score": "stardist's mean matched score",
    "panoptic_quality": "stardist's panoptic quality",
}


def _cc(sides: ClassSides, metric: str) -> Averages:
    reference, prediction = sides.images
    found = cc_metric(
        reference=reference, prediction=prediction, metric=metric, spacing=sides.spacing,
        unit=sides.unit, threads=sides.threads,
    )  # fmt: skip
    return {"": Average.of(found.per_component)}


def _cluster_dice(sides: ClassSides, connectivity: Connectivity) -> Averages:
    dice, _ = cluster_values(*sides.images, connectivity)
    return {"": Average.of(dice)}


def _cluster_iou(sides: ClassSides, connectivity: Connectivity) -> Averages:
    _, iou = cluster_values(*sides.images, connectivity)
    return {"": Average.of(iou)}


def _ccdice(sides: ClassSides, alpha: float) -> Averages:
    reference, prediction = (connected_components(image) for image in sides.images)
    overlap = count_overlaps(reference, prediction, threads=sides.threads)
    threshold = check_inclusive_threshold("alpha", alpha)
    shares = overlap.score("prediction-share"), overlap.score("reference-share")
    pairs = sum(tally_largest(overlap, one, threshold).tp for one in shares)
    return {"": share(pairs, len(overlap.ref_ids) + len(overlap.pred_ids))}


def _lesionwise_dice(sides: ClassSides, dilation: int, min_volume: float) -> Averages:
    reference, prediction = sides.images
    values, false = lesion_values(reference, prediction, dilation, min_volume, sides.spacing)
    return {"": _mean_with_zeros(values, false)}


def _mean_with_zeros(values: Floats, zeros: int) -> Average:
    units = limbs_to_units(to_limbs(values).sum(axis=0))
    return Average(units, len(values) + zeros, 0)


def _aji(sides: ClassSides) -> Averages:
    return {"": share(*aji_areas(sides.overlap))}


def _sorted_ap(sides: ClassSides) -> Averages:
    return {"": single(sorted_ap(sides.overlap))}


def _npq(sides: ClassSides) -> Averages:
    return {"": single(npq(sides.overlap))}


def _stardist(sides: ClassSides, threshold: float) -> Averages:
    overlap = sides.overlap
    at_least = check_inclusive_threshold("threshold", threshold)
    tally = tally_largest(overlap, overlap.iou, at_least)
    tp, fp, fn = tally.tp, tally.fp, tally.fn
    return {
        "accuracy": share(tp, tp + fp + fn),
        "f1": share(2 * tp, 2 * tp + fp + fn),
        "precision": share(tp, tp + fp),
        "recall": share(tp, tp + fn),
        "mean_true_score": Average(tally.units, tp + fn, 0),
        "mean_matched_score": Average(tally.units, tp, 0),
        "panoptic_quality": Average(2 * tally.units, 2 * tp + fp + fn, 0),
    }


def _one(title: str) -> tuple[RelatedPart, ...]:
    return (RelatedPart("", title),)


RELATED: dict[str, RelatedScore] = {
    score.name: score
    for score in (
        RelatedScore(
            "cc_metric", _one("CC-Metrics"),
            "CC-Metrics: a metric in the Voronoi region of every component of the reference.",
            PER_COMPONENT, _cc, {"metric": "dice"},
        ),
        RelatedScore(
            "cc_dice", _one("CC-Dice"),
            "CC-Dice: Dice in the Voronoi region of every component of the reference.",
            PER_COMPONENT, lambda sides: _cc(sides, "dice"),
        ),
        RelatedScore(
            "cluster_dice", _one("Cluster Dice"),
            "Cluster Dice: the mean Dice over everything that touches, of both sides together.",
            "the mean over all clusters of all cases", _cluster_dice, {"connectivity": "full"},
        ),
        RelatedScore(
            "cluster_iou", _one("Cluster IoU"),
            "Cluster IoU: the mean IoU over everything that touches, of both sides together.",
            "the mean over all clusters of all cases", _cluster_iou, {"connectivity": "full"},
        ),
        RelatedScore(
            "ccdice", _one("ccDice"),
            "ccDice: how many connected components pair one-to-one, by either share of overlap.",
            "all pairs over all components", _ccdice, {"alpha": 0.5},
        ),
        RelatedScore(
            "lesionwise_dice", _one("lesion-wise Dice"),
            "Lesion-wise Dice of BraTS: the Dice of every lesion with all that overlaps it, 0 for "
            "false positives.",
            "the mean over all lesions and false positives of all cases",
            _lesionwise_dice, {"dilation": 0, "min_volume": 0.0},
        ),
        RelatedScore(
            "aji", _one("AJI"),
            "AJI: voxels shared with the best prediction over all voxels of references and "
            "predictions.",
            "voxels of all cases", _aji,
        ),
        RelatedScore(
            "sorted_ap", _one("sortedAP"),
            "sortedAP: the area under TP / (TP + FP + FN) over all thresholds.",
            PER_CASE, _sorted_ap,
        ),
        RelatedScore(
            "npq", _one("NPQ"), "NPQ: the area under RQ over all thresholds.", PER_CASE, _npq
        ),
        RelatedScore(
            "stardist", tuple(RelatedPart(name, title) for name, title in STARDIST.items()),
            "stardist's scores at one threshold, which an IoU may equal; without a match the mean "
            "matched score is undefined, where stardist says 0.",
            "counts of all cases", _stardist, {"threshold": 0.5},
        ),
    )
}  # fmt: skip


def resolve_related(name: str) -> RelatedScore:
    """Return a related score by its name, or raise.

    Examples
    --------
    >>> resolve_related("cluster_dice").parts[0].title
    'Cluster Dice'
    """
    check_choice("related", name, RELATED)
    return RELATED[name]
