"""The meaning of every column of every table, for `docs/reference/columns.md` and for users.

A name in braces stands for any of its kind: ``{metric}`` for a metric of the spec, ``{axis}`` for
an array axis counted from 0, ``{repair}`` for a kind of mistake.
"""

from __future__ import annotations

from collections.abc import Mapping

from panmatch.related import RELATED
from panmatch.scoring import REPAIRS, all_metrics

Meanings = Mapping[str, str]

WHO: Meanings = {
    "case": "Name of the case.",
    "model": "Name of the model; left out if no model has a name.",
}
CLASS: Meanings = {
    "class": "Name of the class in the spec.",
    "kind": "`things` (counted one by one) or `stuff` (one segment per image).",
}
MATCHER: Meanings = {
    "strategy": "Name of the matching strategy (D4).",
    "solver": "Its solver; empty if there is no choice.",
    "objective": "What an optimal solver maximises: `parts` for PartPQ (D9), empty for PQ; left "
    "out if it is PQ everywhere.",
    "gate": "Which edges of a merge must pass the threshold: `seed` (the first) or `edge` (all) "
    "(D5). Empty for other strategies.",
    "edge_score": "What is compared with the threshold: `iou`, `dice` or a share (D2). "
    "`≥ threshold` is added if `strict` is false.",
    "regions": "How predictions are cut: `voronoi` (D8), or empty for whole predictions.",
}
CUT: Meanings = {
    "cut": "The confidence that predictions need to count, at least (D17); only if the spec has a "
    "cut.",
}
THRESHOLD: Meanings = {"threshold": "τ: an edge must have a score strictly above it (D2)."}
SETTING: Meanings = {**CLASS, **MATCHER, **CUT, **THRESHOLD}
COUNTS: Meanings = {
    "tp": "True positives: references with a match (D3).",
    "fp": "False positives: predictions without a match (D3).",
    "fn": "False negatives: references without a match (D3).",
    "quality": "Sum, over true positives, of the IoU with the union of their predictions.",
    "pq": "Panoptic Quality, quality / (TP + ½FP + ½FN), always by IoU.",
    "sq": "Segmentation Quality, the mean IoU of true positives.",
    "rq": "Recognition Quality, TP / (TP + ½FP + ½FN): the F1 score of objects.",
}
PART_COUNTS: Meanings = {
    "part_quality": "Sum of the part quality over true positives (D9); only classes with parts.",
    "part_pq": "PartPQ: PQ with part quality instead of IoU (D9).",
    "part_sq": "PartSQ: the mean part quality of true positives (D9).",
}
MISTAKES_OF_CLASS: Meanings = {
    "split": "Number of references that are split into several predictions, regardless of the "
    "strategy.",
    "merged": "Number of predictions that merge several references.",
    "missed": "Number of references that are missed: no prediction belongs to them, and they "
    "belong to none.",
    "spurious": "Number of predictions that are spurious: they belong to no reference, and no "
    "reference belongs to them.",
}
AXES: Meanings = {
    "{side}_centre_{axis}": "Centre of the object along an array axis, in the unit.",
    "{side}_start_{axis}": "First voxel of its box along an array axis.",
    "{side}_stop_{axis}": "First voxel after its box along an array axis.",
}
BUDGET: Meanings = {
    "averaging": "`pooled` for all cases of a model together, `case` for one case.",
    "pq": "PQ before any repair.",
    "pq_after_{repair}": "PQ after repairing only this kind of mistake.",
    "last_{repair}": "Gain in PQ from this repair if everything else is already repaired.",
    "share_{repair}": "Loss of PQ due to this kind of mistake (Shapley value); the shares add up "
    "to 1 − PQ.",
}
# Matchers that maximise PartPQ have no surface.
RANKED: Meanings = {name: text for name, text in MATCHER.items() if name != "objective"}
SETTING_AT_CUTS: Meanings = {
    **CLASS, **RANKED, **THRESHOLD,
    "cut": "Lowest confidence that is kept; `inf` where no prediction is left (D17).",
}  # fmt: skip

# What a row of each table stands for.
TABLES: Meanings = {
    "scores": "a case, class, matcher and threshold; or a case that was not evaluated",
    "instances": "an object; several rows only if settings differ on it",
    "curves": "a step of a curve: its counts apply from its threshold up to the next",
    "diagnosis": "a case and class",
    "structure": "a kind of component in a case, class and threshold, or in all cases of a model",
    "mistakes": "one of the ten costliest mistakes of a class in a case",
    "budget": "a case, class, matcher and threshold, or all cases of a model together",
    "summary": "a score over all cases of a model",
    "detections": "a score of detections over all cases of a model; only with confidences",
    "pr": "a cut: its counts apply down to the next cut; only with confidences",
    "froc": "a cut; only with confidences",
    "calibration": "a bin of confidences; only with confidences from 0 to 1",
}

COLUMNS: Mapping[str, Meanings] = {
    "scores": {
        **WHO, **SETTING, **COUNTS,
        "precision": "TP / (TP + FP).",
        "recall": "TP / (TP + FN).",
        **PART_COUNTS,
        "autc": "Exact area under PQ over all thresholds (D7).",
        "autc_sq": "Exact area under SQ; SQ counts as 0 where nothing is matched.",
        "autc_rq": "Exact area under RQ.",
        "part_autc": "Exact area under PartPQ.",
        "part_autc_sq": "Exact area under PartSQ.",
        "sq_{metric}": "Mean of the metric over true positives.",
        "pq_{share_metric}": "`sq_…` · RQ, for metrics from 0 to 1.",
        "sq_std": "Standard deviation of the IoU over true positives.",
        "sq_{metric}_std": "Standard deviation of the metric over true positives.",
        "whole_{any_metric}": "The metric with all objects of the class as one mask.",
        **MISTAKES_OF_CLASS,
        "near_threshold": "True positives that would be lost if the threshold were 0.05 higher.",
        "gap": "For an optimal solver: how much PQ it may have missed (D6), or PartPQ if that is "
        "its objective; 0 if the optimum is proven. Empty for other solvers.",
        "unit": "Unit of distances; volumes have the same unit cubed (D14).",
        "status": "`ok`, `empty` (neither side has an object), `failed`, `skipped` or `extra`.",
        "reason": "Why a case has no scores, or how a missing prediction was filled in.",
    },
    "instances": {
        **WHO, **CLASS,
        "status": "`matched`, `missed` or `false positive`.",
        "mistake": "What is wrong with it, regardless of the setting: `split`, `merged`, `missed`, "
        "`spurious`, or empty.",
        "ref_id": "Id of the reference; 0 for a false positive.",
        "pred_ids": "Ids of matched predictions, or of a false positive, with spaces between.",
        "settings": "Strategies and thresholds to which the row applies; `all` if to all of them.",
        "iou": "IoU of the reference with the union of its predictions; 0 without a match.",
        "part_quality": "Part quality of the match (D9); only classes with parts.",
        "{side}_voxels": "Number of voxels of the object; for predictions, of their union.",
        "{side}_volume": "Volume in the unit cubed; for 2-D images, area in the unit squared.",
        "{metric}": "The metric for this object.",
        **AXES,
        "unit": "Unit of distances; volumes have the same unit cubed (D14).",
    },
    "curves": {**WHO, **CLASS, **MATCHER, **CUT,
               "threshold": "Where the step starts; it ends where the next one starts.",
               **COUNTS, **PART_COUNTS},
    "diagnosis": {
        **WHO, **CLASS,
        "split_ids": "Ids of split references, with spaces between.",
        "merged_ids": "Ids of predictions that merge several references.",
        "missed_ids": "Ids of missed references.",
        "spurious_ids": "Ids of spurious predictions.",
    },
    "structure": {
        **WHO, **CLASS,
        "threshold": "τ: an edge joins a reference and a prediction with an IoU above it (D2).",
        "averaging": "`pooled` for all cases of a model together, `case` for one case.",
        "component": "Kind of component of the graph: `reference` or `prediction` (alone), `1-1`, "
        "`1-n`, `n-1` or `n-m`; the first number counts references, the second predictions.",
        "share": "Share of all components that are of this kind.",
        "components": "Number of components of this kind.",
        "references": "Number of references in them.",
        "predictions": "Number of predictions in them, except those dismissed (D10).",
        "ref_voxels": "Voxels of these references.",
        "pred_voxels": "Voxels of these predictions, outside void.",
        "shared_voxels": "Voxels in a reference and a prediction of the same component.",
    },
    "mistakes": {
        **WHO, **SETTING,
        "mistake": "Kind of mistake, as in the error budget.",
        "ref_ids": "Ids of the references involved, with spaces between.",
        "pred_ids": "Ids of the predictions involved, with spaces between.",
        "cost": "How much the class's PQ over all cases of the model would rise without it.",
        "case_cost": "How much the class's PQ in this case would rise without it.",
        "slice_axis": "Array axis along which to slice a volume to see it best.",
        "slice": "The slice to look at, counted from 0.",
        "start_{axis}": "First voxel of the box around the mistake, along an array axis.",
        "stop_{axis}": "First voxel after the box.",
    },
    "budget": {**WHO, **SETTING, **BUDGET},
    "summary": {
        "model": WHO["model"],
        "class": "Name of the class, or `mean of classes`, `mean of things`, `mean of stuff`.",
        "kind": "`things`, `stuff`, or `mean` for a mean over classes.",
        **MATCHER, **CUT,
        "threshold": "τ; empty for areas and for scores without a matcher.",
        "measure": "Name of the score: a column of `scores`.",
        "quality": "How true positives are judged: by `iou`, by `parts`, or by a metric.",
        "averaging": "`pooled` or `mean of cases` (D11); with clusters, also `mean of clusters`.",
        "value": "The score.",
        "low": "Lower end of its 95 % bootstrap interval; empty for fewer than 5 cases.",
        "high": "Upper end of its 95 % bootstrap interval; empty for fewer than 5 cases.",
        "unit": "Unit of the value; empty if it has none, `mixed` if cases differ.",
        "cases": "Number of cases that went into it.",
        "skipped": "Number of cases that were left out because the score is undefined there.",
    },
    "detections": {
        "model": WHO["model"],
        "class": "Name of the class, or `mean of classes`, over those with references.",
        "kind": "`things`, or `mean` for a mean over classes.",
        **RANKED,
        "threshold": "τ; empty for means over τ = 0.5, 0.55 … 0.95.",
        "measure": "Name of the score (D17). `ap`: average precision, all points; `ap_101`: with "
        "101 points; `froc_0.125` … `froc_8`: sensitivity at so many false positives per case; "
        "`cpm`: their mean; `best_cut`: the lowest confidence kept at the highest PQ; "
        "`best_cut_above`: every cut above this one, up to the best, keeps the same (empty if all "
        "lower ones do); `best_pq`: PQ there; `ece`: expected calibration error of all "
        "predictions, in 10 bins. Over thresholds: `map`, `map_101`: means of `ap` and `ap_101`; "
        "`ar`: mean recall of all predictions.",
        "value": "The score, pooled over cases; empty if it is undefined.",
        "low": "Lower end of its 95 % percentile interval; empty for fewer than 5 cases.",
        "high": "Upper end of its 95 % percentile interval; empty for fewer than 5 cases.",
        "resamples": "Number of bootstrap resamples behind the interval; fewer for classes with "
        "very many predictions.",
        "cases": "Number of cases, with or without the class.",
    },
    "pr": {
        "model": WHO["model"], **SETTING_AT_CUTS,
        **{name: COUNTS[name] for name in ("tp", "fp", "fn")},
        "precision": "TP / (TP + FP).",
        "recall": "TP / (TP + FN).",
        "pq": COUNTS["pq"],
    },
    "froc": {
        "model": WHO["model"], **SETTING_AT_CUTS,
        "fp_per_case": "False positives divided by the number of cases.",
        "sensitivity": "Share of the references that are found: recall.",
    },
    "calibration": {
        "model": WHO["model"], **CLASS, **RANKED, **THRESHOLD,
        "bin_start": "Lowest confidence of the bin.",
        "bin_stop": "Upper end of the bin, which belongs to the next one; 1 belongs to the last.",
        "predictions": "Number of predictions in the bin, except those dismissed (D10).",
        "matched": "Number of them that are matched.",
        "confidence": "Their mean confidence.",
        "reliability": "Share of them that are matched.",
    },
}  # fmt: skip


def column_meanings(table: str, axes: int = 3) -> dict[str, str]:
    """Return the meaning of every column that a table can have, for images with `axes` axes.

    Examples
    --------
    >>> found = column_meanings("scores")
    >>> found["sq_hd95"]
    'Mean of the metric over true positives.'
    >>> found["cc_dice"]
    'CC-Dice: Dice in the Voronoi region of every component of the reference.'
    """
    found: dict[str, str] = {}
    for name, meaning in COLUMNS[table].items():
        found |= dict.fromkeys(expanded(name, axes), meaning)
    return found | (related_meanings() if table == "scores" else {})


def expanded(name: str, axes: int = 3) -> list[str]:
    """Return the columns that a name with braces stands for.

    Examples
    --------
    >>> expanded("{side}_start_{axis}", axes=2)
    ['ref_start_0', 'ref_start_1', 'pred_start_0', 'pred_start_1']
    """
    metrics = all_metrics()
    others = [metric for metric in metrics if metric != "iou"]  # for IoU these are sq and pq
    kinds: dict[str, list[str]] = {
        "side": ["ref", "pred"],
        "metric": others,
        "share_metric": [one for one in others if metrics[one].is_share],
        "any_metric": list(metrics),
        "axis": [str(axis) for axis in range(axes)],
        "repair": list(REPAIRS),
    }
    names = [name]
    for kind, values in kinds.items():
        field = f"{{{kind}}}"
        if field in name:
            names = [one.replace(field, value) for one in names for value in values]
    return names


def related_meanings() -> dict[str, str]:
    """Return the columns of all related scores, under their own names."""
    found = {}
    for name, score in RELATED.items():
        for part in score.parts:
            column = f"{name}_{part.suffix}".rstrip("_")
            found[column] = f"{score.about}{f' Here: {part.title}.' if part.suffix else ''}"
    return found
