"""What every column of every table means, for `docs/reference/columns.md` and whoever asks for one.

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
    "solver": "Its solver; empty where it has no choice.",
    "gate": "Which edges of a merge must pass the threshold: `seed` or `edge` (D5); else empty.",
    "edge_score": "What is compared with the threshold: `iou`, `dice` or a share (D2). "
    "`≥ threshold` is added where `strict` is false.",
    "regions": "How predictions are cut: `voronoi` (D8), or empty for whole predictions.",
}
THRESHOLD: Meanings = {"threshold": "τ: an edge must score strictly more (D2)."}
SETTING: Meanings = {**CLASS, **MATCHER, **THRESHOLD}
COUNTS: Meanings = {
    "tp": "True positives: references with a match (D3).",
    "fp": "False positives: predictions without a match (D3).",
    "fn": "False negatives: references without a match (D3).",
    "quality": "Sum over true positives of the IoU with the union of their predictions.",
    "pq": "Panoptic Quality, quality / (TP + ½FP + ½FN), always by IoU.",
    "sq": "Segmentation Quality, the mean IoU of true positives.",
    "rq": "Recognition Quality, TP / (TP + ½FP + ½FN): the F1 score of objects.",
}
PART_COUNTS: Meanings = {
    "part_quality": "Sum over true positives of the part quality (D9); classes with parts only.",
    "part_pq": "PartPQ: PQ with part quality in place of IoU (D9).",
    "part_sq": "PartSQ: the mean part quality of true positives (D9).",
}
MISTAKES_OF_CLASS: Meanings = {
    "split": "How many references are split, whatever the strategy.",
    "merged": "How many predictions merge several references.",
    "missed": "How many references are missed: nothing belongs to them, and they to nothing.",
    "spurious": "How many predictions are spurious: they belong to nothing, and nothing to them.",
}
AXES: Meanings = {
    "{side}_centre_{axis}": "Centre of the object along an array axis, in the unit.",
    "{side}_start_{axis}": "First voxel of its box along an array axis.",
    "{side}_stop_{axis}": "First voxel behind its box along an array axis.",
}
BUDGET: Meanings = {
    "averaging": "`pooled` for all cases of a model together, `case` for one case.",
    "pq": "PQ as it is.",
    "pq_after_{repair}": "PQ after repairing this kind of mistake and no other.",
    "last_{repair}": "What the repair brings when everything else is repaired.",
    "share_{repair}": "Its share of 1 − PQ, the Shapley value; shares add up to 1 − PQ.",
}

# What a row of each table is.
TABLES: Meanings = {
    "scores": "a case, class, matcher and threshold; or a case that was not evaluated",
    "instances": "an object, and more than once only where settings differ on it",
    "curves": "a step of a curve: its counts hold from its threshold to the next",
    "diagnosis": "a case and class",
    "mistakes": "one of the ten costliest mistakes of a class in a case",
    "budget": "a case, class, matcher and threshold, or all cases of a model together",
    "summary": "a score over all cases of a model",
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
        "near_threshold": "True positives that a threshold higher by 0.05 would lose.",
        "gap": "Of an optimal solver: how much PQ may be missing (D6); 0 is proven. Else empty.",
        "unit": "Unit of distances, with ³ that of volumes (D14).",
        "status": "`ok`, `empty` (neither side has an object), `failed`, `skipped` or `extra`.",
        "reason": "Why a case has no scores, or how a missing prediction was filled in.",
    },
    "instances": {
        **WHO, **CLASS,
        "status": "`matched`, `missed` or `false positive`.",
        "mistake": "What is wrong with it, whatever the setting: `split`, `merged`, `missed`, "
        "`spurious`, or empty.",
        "ref_id": "Id of the reference; 0 for a false positive.",
        "pred_ids": "Ids of the matched predictions, or of the false positive, joined by blanks.",
        "settings": "Strategies and thresholds under which the row holds; `all` for every one.",
        "iou": "IoU of the reference with the union of its predictions; 0 without a match.",
        "part_quality": "Part quality of the match (D9); classes with parts only.",
        "{side}_voxels": "Voxels of the object; of predictions those of their union.",
        "{side}_volume": "The same in the unit cubed (of 2-D images squared).",
        "{metric}": "The metric, of this object.",
        **AXES,
        "unit": "Unit of distances, with ³ that of volumes (D14).",
    },
    "curves": {**WHO, **CLASS, **MATCHER,
               "threshold": "Where the step begins; it ends where the next one begins.",
               **COUNTS, **PART_COUNTS},
    "diagnosis": {
        **WHO, **CLASS,
        "split_ids": "Ids of split references, joined by blanks.",
        "merged_ids": "Ids of predictions that merge several references.",
        "missed_ids": "Ids of missed references.",
        "spurious_ids": "Ids of spurious predictions.",
    },
    "mistakes": {
        **WHO, **SETTING,
        "mistake": "What is wrong: one of the kinds of the error budget.",
        "ref_ids": "Ids of the references concerned, joined by blanks.",
        "pred_ids": "Ids of the predictions concerned, joined by blanks.",
        "cost": "By how much PQ of the class would rise over all cases of the model.",
        "case_cost": "By how much it would rise in this case alone.",
        "slice_axis": "Array axis across which a volume is best looked at.",
        "slice": "The slice to look at, counted from 0.",
        "start_{axis}": "First voxel of the box around the mistake, along an array axis.",
        "stop_{axis}": "First voxel behind the box.",
    },
    "budget": {**WHO, **SETTING, **BUDGET},
    "summary": {
        "model": WHO["model"],
        "class": "Name of the class, or `mean of classes`, `mean of things`, `mean of stuff`.",
        "kind": "`things`, `stuff`, or `mean` for a mean over classes.",
        **MATCHER,
        "threshold": "τ; empty for areas and for scores without a matcher.",
        "measure": "Name of the score: a column of `scores`.",
        "quality": "What true positives are judged by: `iou`, `parts`, or a metric.",
        "averaging": "`pooled` or `mean of cases` (D11).",
        "value": "The score.",
        "low": "Lower end of its 95 % bootstrap interval; empty below 5 cases.",
        "high": "Upper end of it.",
        "unit": "Unit of the value; empty where it has none, `mixed` where cases differ.",
        "cases": "How many cases went into it.",
        "skipped": "How many were left out because the score is undefined there.",
    },
}  # fmt: skip


def column_meanings(table: str, axes: int = 3) -> dict[str, str]:
    """Return the meaning of every column that a table can have, for images with so many axes.

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
    others = [metric for metric in metrics if metric != "iou"]  # by IoU it is sq and pq
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
