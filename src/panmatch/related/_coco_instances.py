"""Average precision as the COCO programs compute it: one ranking by confidence per class.

This matching is theirs, not ours. They go through the predictions of an image by falling
confidence, and each takes the free reference with the highest IoU of *at least* the threshold. Our
`panmatch.surface` matches anew at every cut, for maximum PQ, with an IoU *above* the threshold.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from panmatch import native
from panmatch.errors import OptionError, check_choice
from panmatch.labels import Floats, Ints, MaskTable, thread_count
from panmatch.overlap import Areas

Shape = Literal["masks", "boxes"]

# As COCO computes them: the last digits matter where an IoU equals a threshold.
THRESHOLDS = np.linspace(0.5, 0.95, 10)
RECALLS = np.linspace(0.0, 1.0, 101)
AREAS = {"all": (0.0, 1e10), "small": (0.0, 32.0**2), "medium": (32.0**2, 96.0**2),
         "large": (96.0**2, 1e10)}  # fmt: skip
LIMITS = (1, 10, 100)
PREDICTIONS_PER_THREAD = 1 << 10
MOST_LISTED_IDS = 1 << 20  # for which a table of all numbers is quicker than a search


@dataclass(frozen=True, slots=True, eq=False)
class CocoPrecision:
    """Precision and recall of every class, threshold, range of areas and limit.

    Attributes
    ----------
    categories
        Ids of the classes, rising.
    precision
        By range of areas, then [class, threshold, recall], for the highest limit; −1 for a class
        without references in that range.
    recall
        By range of areas and limit, [class, threshold].
    """

    categories: Ints
    precision: Mapping[str, Floats]
    recall: Mapping[tuple[str, int], Floats]

    def average_precision(
        self, threshold: float | None = None, *, area: str = "all", category: int | None = None
    ) -> float:
        """Return the mean precision over 101 recalls, thresholds and classes; NaN if undefined.

        Parameters
        ----------
        threshold
            One of the thresholds; None for the mean of all.
        area
            Range of areas of the references.
        category
            One class; None for the mean of all that have references.
        """
        values = self.precision[area][self._class(category)]
        return _mean(values if threshold is None else values[:, _level(threshold)])

    def average_recall(
        self, limit: int = LIMITS[-1], *, area: str = "all", category: int | None = None
    ) -> float:
        """Return the mean over thresholds and classes of the recall with so many predictions."""
        return _mean(self.recall[area, limit][self._class(category)])

    def _class(self, category: int | None) -> slice | Ints:
        if category is None:
            return slice(None)
        found = np.flatnonzero(self.categories == category)
        if not len(found):
            raise OptionError(f"category={category!r} is not among {self.categories.tolist()}.")
        return found


def coco_precision(
    reference: MaskTable,
    prediction: MaskTable,
    *,
    images: Sequence[int] | Ints,
    categories: Sequence[int] | Ints,
    shape: Shape = "masks",
    threads: int | None = None,
) -> CocoPrecision:
    """Rank predictions by confidence and match them as the COCO programs do.

    Parameters
    ----------
    reference, prediction
        Instances of the same images; predictions have scores.
    images, categories
        Ids of all images and classes of the dataset. Predictions elsewhere do not count.
    shape
        Whether IoU is that of masks or of boxes.
    threads
        By default as many as pay off.

    Examples
    --------
    >>> import json, tempfile
    >>> from pathlib import Path
    >>> import panmatch as pm
    >>> square = {"image_id": 7, "category_id": 3, "segmentation": [[0, 0, 2, 0, 2, 2, 0, 2]]}
    >>> images, classes = [{"id": 7, "height": 4, "width": 4}], [{"id": 3, "name": "cell"}]
    >>> content = {"images": images, "categories": classes, "annotations": [square]}
    >>> file = Path(tempfile.mkdtemp()) / "cells.json"
    >>> _ = file.write_text(json.dumps(content))
    >>> cells = pm.read_coco_instances(file)
    >>> _ = file.write_text(json.dumps([{**square, "score": 0.8}]))
    >>> found = pm.read_coco_instances(file, like=cells)
    >>> from panmatch import related
    >>> ranked = related.coco_precision(cells.table, found.table, images=[7], categories=[3])
    >>> round(ranked.average_precision(), 3)
    1.0
    """
    check_choice("shape", shape, ("masks", "boxes"))
    if prediction.score is None:
        raise OptionError("prediction has no scores: average precision ranks by them.")
    classes = np.unique(np.asarray(categories, np.int64))
    refs = _grouped(reference, images, classes)
    preds = _grouped(prediction, images, classes)
    keys = np.sort(np.concatenate([refs.key, preds.key]), kind="stable")  # two rising lists
    keys = keys[np.diff(keys, prepend=-1) > 0]
    groups = [np.searchsorted(side.key, np.append(keys, np.iinfo(np.int64).max)) for side in
              (refs, preds)]  # fmt: skip
    pairs = (_mask_pairs if shape == "masks" else _box_pairs)(
        reference, prediction, refs.row, preds.row, groups[0], groups[1], threads
    )
    areas = [reference.area[refs.row], prediction.area[preds.row]]
    outside = [np.array([(area < low) | (area > high) for low, high in AREAS.values()])
               for area in areas]  # fmt: skip
    ignored = outside[0] | reference.crowd[refs.row]
    verdicts = native.ranked_verdicts(
        groups[0],
        groups[1],
        *pairs,
        reference.crowd[refs.row].view(np.uint8),
        np.ascontiguousarray(ignored).view(np.uint8).ravel(),
        np.ascontiguousarray(outside[1]).view(np.uint8).ravel(),
        THRESHOLDS,
        len(AREAS),
        _threads(threads, len(preds.row)),
    )
    score = prediction.score[preds.row]
    return _traced(classes, refs, preds, score, ignored, verdicts)


@dataclass(frozen=True, slots=True, eq=False)
class _Grouped:
    """Rows of a table by image, as files have them, then class, then falling score."""

    row: Ints
    key: Ints  # image and class as one number
    kind: Ints  # position of the class
    rank: Ints  # within the class and image


def _grouped(table: MaskTable, images: Sequence[int] | Ints, classes: Ints) -> _Grouped:
    known = np.unique(np.asarray(images, np.int64))
    place, kind = _places(known, table.image), _places(classes, table.category)
    counted = np.flatnonzero((place >= 0) & (kind >= 0))
    kind = kind[counted]
    key = place[counted] * len(classes) + kind
    score = np.zeros(0) if table.score is None else table.score[counted]
    order = native.ranked_order(key, score)
    key = key[order]
    begins = np.flatnonzero(np.diff(key, prepend=-1))
    rank = np.arange(len(key)) - np.repeat(begins, np.diff(np.append(begins, len(key))))
    kept = slice(None) if table.score is None else rank < LIMITS[-1]
    return _Grouped(counted[order][kept], key[kept], kind[order][kept], rank[kept])


def _places(known: Ints, ids: Ints) -> Ints:
    """Return where each id is in a rising list of known ones; −1 for others."""
    if not len(known) or not len(ids):
        return np.full(len(ids), -1)
    if known[0] >= 0 and max(known[-1], ids.max()) < MOST_LISTED_IDS and ids.min() >= 0:
        listed = np.full(max(known[-1], ids.max()) + 1, -1)
        listed[known] = np.arange(len(known))
        return listed[ids]
    place = np.minimum(np.searchsorted(known, ids), len(known) - 1)
    return np.where(known[place] == ids, place, -1)


def _mask_pairs(
    reference: MaskTable,
    prediction: MaskTable,
    ref_row: Ints,
    pred_row: Ints,
    ref_group: Ints,
    pred_group: Ints,
    threads: int | None,
) -> tuple[Ints, Ints, Floats]:
    """Return the pairs whose IoU is enough for a threshold, and perhaps others, with their IoU."""
    heights = np.ones(len(ref_group) - 1, np.int64)
    for group, rows, table in ((ref_group, ref_row, reference), (pred_group, pred_row, prediction)):
        filled = np.diff(group) > 0
        heights[filled] = table.sizes[rows[group[:-1][filled]], 0]
    crowd = reference.crowd[ref_row]
    places = ref_row, pred_row, ref_group, pred_group, heights
    least, workers = float(THRESHOLDS[0]), _threads(threads, len(pred_row))
    if reference.written is not None and prediction.written is not None:
        columns = *reference.written.columns, *prediction.written.columns
        usual, ref, pred, shared, refs, preds = native.instance_pairs(
            *columns, *places, crowd.view(np.uint8), least, workers
        )
        if usual:
            return ref, pred, _iou(ref, pred, shared, refs, preds, crowd)
    all_refs, all_preds = reference.masks, prediction.masks
    ref, pred, shared = native.shared_pairs(
        *(all_refs.first, all_refs.start, all_refs.stop),
        *(all_preds.first, all_preds.start, all_preds.stop),
        *places,
        crowd.view(np.uint8),
        least,
        workers,
    )
    refs, preds = all_refs.sizes[ref_row], all_preds.sizes[pred_row]
    return ref, pred, _iou(ref, pred, shared, refs, preds, crowd)


def _threads(threads: int | None, predictions: int) -> int:
    return thread_count(threads, predictions, voxels_per_thread=PREDICTIONS_PER_THREAD)


def _box_pairs(
    reference: MaskTable,
    prediction: MaskTable,
    ref_row: Ints,
    pred_row: Ints,
    ref_group: Ints,
    pred_group: Ints,
    threads: int | None,  # noqa: ARG001
) -> tuple[Ints, Ints, Floats]:
    if reference.boxes is None or prediction.boxes is None:
        raise OptionError("shape='boxes' needs instances with boxes on both sides.")
    refs, preds = reference.boxes[ref_row], prediction.boxes[pred_row]
    n_ref, n_pred = np.diff(ref_group), np.diff(pred_group)
    ref = np.repeat(np.arange(len(ref_row)), np.repeat(n_pred, n_ref))
    within = np.arange(len(ref)) - np.repeat(np.cumsum(n_ref * n_pred) - n_ref * n_pred,
                                             n_ref * n_pred)  # fmt: skip
    pred = np.repeat(pred_group[:-1], n_ref * n_pred) + within % np.maximum(
        np.repeat(n_pred, n_ref * n_pred), 1
    )
    a, b = refs[ref].T, preds[pred].T
    width, height = (
        np.minimum(a[k] + a[k + 2], b[k] + b[k + 2]) - np.maximum(a[k], b[k]) for k in (0, 1)
    )
    shared = np.where((width > 0) & (height > 0), width * height, 0.0)
    met = shared > 0
    ref, pred, shared = ref[met], pred[met], shared[met]
    sizes = refs[:, 2] * refs[:, 3], preds[:, 2] * preds[:, 3]
    return ref, pred, _iou(ref, pred, shared, *sizes, reference.crowd[ref_row])


def _iou(ref: Ints, pred: Ints, shared: Areas, refs: Areas, preds: Areas, crowd: Areas) -> Floats:
    """Return the IoU of every pair; with crowd, the share of the prediction inside it."""
    union = np.where(crowd[ref], preds[pred], refs[ref] + preds[pred] - shared)
    iou: Floats = shared / union
    return iou


def _traced(
    classes: Ints,
    refs: _Grouped,
    preds: _Grouped,
    score: Floats,
    ignored: Areas,
    verdicts: Areas,
) -> CocoPrecision:
    order = native.ranked_order(preds.kind, score)
    first = np.searchsorted(preds.kind[order], np.arange(len(classes) + 1))
    n_ref = [np.bincount(refs.kind[~one], minlength=len(classes)) for one in ignored]
    precision, recall = native.ranked_precision(
        verdicts.ravel(),
        order,
        first,
        preds.rank,
        np.concatenate(n_ref),
        RECALLS,
        np.array(LIMITS),
        len(THRESHOLDS),
    )
    places = {(area, limit): recall[i, j] for i, area in enumerate(AREAS)
              for j, limit in enumerate(LIMITS)}  # fmt: skip
    return CocoPrecision(classes, dict(zip(AREAS, precision, strict=True)), places)


def _level(threshold: float) -> Ints:
    found = np.flatnonzero(np.isclose(THRESHOLDS, threshold, rtol=0, atol=1e-9))
    if not len(found):
        raise OptionError(f"threshold={threshold!r} is not among {THRESHOLDS.round(2).tolist()}.")
    return found


def _mean(values: Floats) -> float:
    defined = values[values > -1]
    return math.fsum(defined.tolist()) / defined.size if defined.size else math.nan
