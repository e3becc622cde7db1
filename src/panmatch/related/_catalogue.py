"""The related scores that a spec can name. A new one is a new entry here."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Literal

import numpy as np

from panmatch.errors import check_choice
from panmatch.labels import Connectivity, as_spacing, connected_components
from panmatch.matching import Tally
from panmatch.overlap import Overlap, Score, count_overlaps
from panmatch.related._cell_tracking import det, seg, symmetric_best_dice
from panmatch.related._challenges import (
    false_negative_volume,
    false_positive_volume,
    lesion_count_difference,
    lesion_f1,
)
from panmatch.related._clustering_scores import CLUSTERING_SCORES
from panmatch.related._components import Ties, cc_metric, cluster_values
from panmatch.related._graph_clusters import graph_cluster_values
from panmatch.related._lesionwise import (
    BRATS_PENALTY,
    count_lesions,
    find_lesions,
    lesionwise_dice,
    lesionwise_f1,
    lesionwise_hd95,
)
from panmatch.related._overlap_scores import (
    Candidates,
    Partners,
    aji_areas,
    check_inclusive_threshold,
    npq,
    sorted_ap,
    tally_largest,
)
from panmatch.related._registry import (
    Averages,
    ClassSides,
    Option,
    PooledScore,
    RelatedPart,
    RelatedScore,
    share,
    single,
)
from panmatch.scoring import Average

PER_COMPONENT = "the mean over all components of all cases"
PER_CASE = "the mean over cases"
BRATS: dict[str, Option] = {"dilation": 0, "min_volume": 0.0}
EMPTY: dict[str, Option] = {"empty": math.nan}
STARDIST_COUNTS = {
    "tp": "stardist's true positives",
    "fp": "stardist's false positives",
    "fn": "stardist's false negatives",
    "n_true": "references",
    "n_pred": "predictions",
}
STARDIST = {
    "accuracy": "stardist's accuracy",
    "f1": "stardist's F1",
    "precision": "stardist's precision",
    "recall": "stardist's recall",
    "mean_true_score": "stardist's mean true score",
    "mean_matched_score": "stardist's mean matched score",
    "panoptic_quality": "stardist's panoptic quality",
}


def _cc(
    sides: ClassSides,
    metric: str,
    ties: Ties = "id",
    units: str = "spacing",
    tolerance: float = 1.0,
    penalty: float | Literal["diagonal"] = math.nan,
    both_empty: float = math.nan,
    no_reference: float = math.nan,
) -> Averages:
    check_choice("units", units, ("spacing", "voxel"))
    reference, prediction = sides.images
    otherwise = no_reference if prediction.any() else both_empty
    if not math.isnan(otherwise) and not reference.any():
        return {"": single(otherwise)}  # the case counts like a component
    in_voxels = units == "voxel"
    undefined = isinstance(penalty, float) and math.isnan(penalty)
    found = cc_metric(
        reference=reference, prediction=prediction, metric=metric, ties=ties, tolerance=tolerance,
        spacing=None if in_voxels else sides.spacing, unit=None if in_voxels else sides.unit,
        penalty=None if undefined else penalty, threads=sides.threads,
    )  # fmt: skip
    return {"": Average.of(found.per_component)}


def _cluster_dice(sides: ClassSides, connectivity: Connectivity) -> Averages:
    dice, _ = cluster_values(*sides.images, connectivity)
    return {"": Average.of(dice)}


def _cluster_iou(sides: ClassSides, connectivity: Connectivity) -> Averages:
    _, iou = cluster_values(*sides.images, connectivity)
    return {"": Average.of(iou)}


def _graph_cluster_dice(sides: ClassSides, threshold: float, score: Score) -> Averages:
    return {"": Average.of(graph_cluster_values(sides.overlap, threshold, score))}


def _ccdice(sides: ClassSides, alpha: float) -> Averages:
    reference, prediction = (connected_components(image) for image in sides.images)
    overlap = count_overlaps(reference, prediction, threads=sides.threads)
    threshold = check_inclusive_threshold("alpha", alpha)
    shares = overlap.score("prediction-share"), overlap.score("reference-share")
    pairs = sum(tally_largest(overlap, one, threshold).tp for one in shares)
    return {"": share(pairs, len(overlap.ref_ids) + len(overlap.pred_ids))}


def _of_masks(score: PooledScore[...]) -> Callable[..., Averages]:
    """Return how to compute a score of two masks, whose voxels have a size."""

    def compute(sides: ClassSides, **options: Option) -> Averages:
        reference, prediction = sides.images
        spacing = {"spacing": sides.spacing} if takes_spacing else {}
        sides_and_options = {"reference": reference, "prediction": prediction, **spacing, **options}
        return {"": score.average(**sides_and_options)}

    parameters = inspect.signature(score).parameters
    takes_spacing = not {"spacing", "options"}.isdisjoint(parameters)
    return compute


def _of_overlap(score: PooledScore[[Overlap]]) -> Callable[..., Averages]:
    """Return how to compute a score of an overlap."""
    return lambda sides: {"": score.average(sides.overlap)}


def _aji(sides: ClassSides, partners: Partners) -> Averages:
    return {"": share(*aji_areas(sides.overlap, partners))}


def _lesionwise_counts(sides: ClassSides, dilation: int, min_volume: float) -> Averages:
    lesions = find_lesions(*sides.images, dilation, min_volume, sides.spacing, sides.threads)
    counts = zip(("tp", "fp", "fn"), count_lesions(lesions), strict=True)
    return {name: share(count, 1) for name, count in counts}


def _voxels(sides: ClassSides) -> Averages:
    overlap = sides.overlap
    n_ref, n_pred = int(overlap.ref_sizes.sum()), int(overlap.pred_areas.sum())
    tp = int(overlap.edges.intersection.sum())
    tn = sides.known_voxels - n_ref - n_pred + tp
    counts = {"tp": tp, "fp": n_pred - tp, "fn": n_ref - tp, "tn": tn}
    counts |= {"references": n_ref, "predictions": n_pred}
    volume = float(np.prod(as_spacing(sides.spacing, sides.images[0].ndim)))
    return {
        **{name: share(count, 1) for name, count in counts.items()},
        "reference_volume": share(n_ref * volume, 1),
        "prediction_volume": share(n_pred * volume, 1),
        "sensitivity": share(tp, n_ref),
        "specificity": share(tn, tn + n_pred - tp),
    }


def _sorted_ap(sides: ClassSides) -> Averages:
    return {"": single(sorted_ap(sides.overlap))}


def _npq(sides: ClassSides) -> Averages:
    return {"": single(npq(sides.overlap))}


def _stardist(
    sides: ClassSides, threshold: float, candidates: Candidates, background: str
) -> Averages:
    check_choice("background", background, ("zero", "smallest"))
    overlap = sides.overlap
    at_least = check_inclusive_threshold("threshold", threshold)
    tally = tally_largest(overlap, overlap.iou, at_least, candidates)
    if background == "smallest":
        tally = _one_label_less(tally, sides)
    tp, fp, fn = tally.tp, tally.fp, tally.fn
    counts = (tp, fp, fn, tp + fn, tp + fp)
    return {
        **{name: share(count, 1) for name, count in zip(STARDIST_COUNTS, counts, strict=True)},
        "accuracy": share(tp, tp + fp + fn),
        "f1": share(2 * tp, 2 * tp + fp + fn),
        "precision": share(tp, tp + fp),
        "recall": share(tp, tp + fn),
        "mean_true_score": Average(tally.units, tp + fn, 0),
        "mean_matched_score": Average(tally.units, tp, 0),
        "panoptic_quality": Average(2 * tally.units, 2 * tp + fp + fn, 0),
    }


def _one_label_less(tally: Tally, sides: ClassSides) -> Tally:
    """Return counts in which an image without background has one object fewer, as in cellpose.

    Pairs are those of all objects, unless no prediction is left, so fp and fn may be negative.
    """
    fills = sides.overlap.ref_sizes, sides.overlap.pred_areas
    less_ref, less_pred = (int(0 < sizes.sum() == sides.known_voxels) for sizes in fills)
    n_ref, n_pred = tally.tp + tally.fn - less_ref, tally.tp + tally.fp - less_pred
    if not n_pred:
        return Tally(0, 0, n_ref, 0.0)
    return Tally.from_units(
        tp=tally.tp, fp=n_pred - tally.tp, fn=n_ref - tally.tp, units=tally.units
    )


def _objects(sides: ClassSides) -> Averages:
    overlap = sides.overlap
    return {
        "references": share(len(overlap.ref_ids), 1),
        "predictions": share(len(overlap.predictions.ids), 1),
    }


def _one(title: str) -> tuple[RelatedPart, ...]:
    return (RelatedPart("", title),)


RELATED: dict[str, RelatedScore] = {
    score.name: score
    for score in (
        RelatedScore(
            "cc_metric", _one("CC-Metrics"),
            "CC-Metrics: any metric, computed in the Voronoi region of every component of the "
            "reference.",
            PER_COMPONENT, _cc, {"metric": "dice", "ties": "id", "units": "spacing",
                                 "tolerance": 1.0, "penalty": math.nan,
                                 "both_empty": math.nan, "no_reference": math.nan},
            any_metric=True,
        ),
        RelatedScore(
            "cc_dice", _one("CC-Dice"),
            "CC-Dice: Dice in the Voronoi region of every component of the reference.",
            PER_COMPONENT, lambda sides: _cc(sides, "dice"),
        ),
        RelatedScore(
            "cluster_dice", _one("Cluster Dice"),
            "Cluster Dice: the mean Dice over clusters of objects that touch, both sides taken "
            "together.",
            "the mean over all clusters of all cases", _cluster_dice, {"connectivity": "full"},
        ),
        RelatedScore(
            "cluster_iou", _one("Cluster IoU"),
            "Cluster IoU: the mean IoU over clusters of objects that touch, both sides taken "
            "together.",
            "the mean over all clusters of all cases", _cluster_iou, {"connectivity": "full"},
        ),
        RelatedScore(
            "graph_cluster_dice", _one("graph Cluster Dice"),
            "Cluster Dice on the overlap graph: the mean Dice over components of objects that "
            "overlap with a score above the threshold.",
            "the mean over all components of all cases", _graph_cluster_dice,
            {"threshold": 0.0, "score": "iou"},
        ),
        RelatedScore(
            "ccdice", _one("ccDice"),
            "ccDice: the F1 score of connected components paired one-to-one, averaged over both "
            "shares of overlap.",
            "all pairs over all components", _ccdice, {"alpha": 0.5},
        ),
        RelatedScore(
            "lesionwise_dice", _one("lesion-wise Dice"),
            "Lesion-wise Dice of BraTS: the Dice of every lesion with everything predicted that "
            "overlaps it; 0 for false positives.",
            "the mean over all lesions and false positives of all cases",
            _of_masks(lesionwise_dice), BRATS | EMPTY,
        ),
        RelatedScore(
            "lesionwise_hd95", (RelatedPart("", "lesion-wise HD95", "lower", "length"),),
            "Lesion-wise HD95 of BraTS: the HD95 of every lesion with everything predicted that "
            "overlaps it; a penalty for missed lesions and false positives.",
            "the mean over all lesions and false positives of all cases",
            _of_masks(lesionwise_hd95),
            {**BRATS, "penalty": BRATS_PENALTY, "metric": "hd95", **EMPTY},
        ),
        RelatedScore(
            "lesionwise_f1", _one("lesion-wise F1"),
            "Lesion-wise F1 of BraTS: a lesion is found if anything predicted overlaps it.",
            "counts of all cases", _of_masks(lesionwise_f1), BRATS | EMPTY,
        ),
        RelatedScore(
            "lesionwise_counts",
            (
                RelatedPart("tp", "lesions found", "higher"),
                RelatedPart("fp", "spurious lesions", "lower"),
                RelatedPart("fn", "lesions missed", "lower"),
            ),
            "The counts of the lesion-wise F1 of BraTS.", PER_CASE, _lesionwise_counts, BRATS,
        ),
        RelatedScore(
            "lesion_f1", _one("lesion F1"),
            "Lesion F1 of ISLES: a component counts as found if it overlaps anything on the other "
            "side.",
            "counts of all cases", _of_masks(lesion_f1), {"connectivity": "full"},
        ),
        RelatedScore(
            "lesion_count_difference",
            (RelatedPart("", "lesion count difference", "lower"),),
            "Lesion count difference of ISLES: by how much the numbers of components differ.",
            PER_CASE, _of_masks(lesion_count_difference), {"connectivity": "full"},
        ),
        RelatedScore(
            "false_positive_volume",
            (RelatedPart("", "false positive volume", "lower", "volume"),),
            "False positive volume of autoPET: the volume of predicted components that overlap no "
            "reference.",
            PER_CASE, _of_masks(false_positive_volume), {"connectivity": "full"},
        ),
        RelatedScore(
            "false_negative_volume",
            (RelatedPart("", "false negative volume", "lower", "volume"),),
            "False negative volume of autoPET: the volume of reference components that overlap no "
            "prediction.",
            PER_CASE, _of_masks(false_negative_volume), {"connectivity": "full"},
        ),
        *CLUSTERING_SCORES,
        RelatedScore(
            "seg", _one("SEG"),
            "SEG of the Cell Tracking Challenge: the mean IoU of references with the prediction "
            "that covers more than half of them.",
            "the mean over all references of all cases", _of_overlap(seg),
        ),
        RelatedScore(
            "det", _one("DET"),
            "DET of the Cell Tracking Challenge: how much work it saves to correct the predicted "
            "objects rather than to draw them all from scratch.",
            "costs of all cases", _of_overlap(det),
        ),
        RelatedScore(
            "symmetric_best_dice", _one("SBD"),
            "Symmetric best Dice: the lower of the two mean best Dice, over references and over "
            "predictions.",
            PER_CASE, _of_overlap(symmetric_best_dice),
        ),
        RelatedScore(
            "aji", _one("AJI"),
            "AJI (aggregated Jaccard index): voxels shared with the best prediction, divided by "
            "all voxels of references and predictions.",
            "voxels of all cases", _aji, {"partners": "best"},
        ),
        RelatedScore(
            "voxels",
            (
                RelatedPart("tp", "true positive voxels", "zero"),
                RelatedPart("fp", "false positive voxels", "lower"),
                RelatedPart("fn", "false negative voxels", "lower"),
                RelatedPart("tn", "true negative voxels", "zero"),
                RelatedPart("references", "voxels of the reference", "zero"),
                RelatedPart("predictions", "voxels of the prediction", "zero"),
                RelatedPart("reference_volume", "volume of the reference", "zero", "volume"),
                RelatedPart("prediction_volume", "volume of the prediction", "zero", "volume"),
                RelatedPart("sensitivity", "sensitivity of voxels"),
                RelatedPart("specificity", "specificity of voxels"),
            ),
            "Voxels of the class as one mask: how many are right and wrong, with sensitivity and "
            "specificity.",
            "the mean over cases; for shares, voxels of all cases", _voxels,
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
            "objects",
            (
                RelatedPart("references", "references", "zero"),
                RelatedPart("predictions", "predictions", "zero"),
            ),
            "The numbers of references and of predictions.", PER_CASE, _objects,
        ),
        RelatedScore(
            "stardist",
            (
                *(RelatedPart(name, title, "zero") for name, title in STARDIST_COUNTS.items()),
                *(RelatedPart(name, title) for name, title in STARDIST.items()),
            ),
            "stardist's scores at one threshold; an IoU equal to the threshold counts. Without a "
            "match the mean matched score is undefined, where stardist returns 0.",
            "counts of all cases", _stardist,
            {"threshold": 0.5, "candidates": "matching", "background": "zero"},
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
