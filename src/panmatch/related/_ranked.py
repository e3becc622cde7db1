"""Detections that are judged once, by one matching, and then ranked by confidence.

Programs for lesions do this: a prediction is right or wrong at every cut. Our `panmatch.surface`
matches anew at every cut instead, so a prediction that is left out sets its reference free.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from panmatch import native
from panmatch.matching import Tallies, check_overlap
from panmatch.overlap import Floats, Ints, Overlap, needed_confidence
from panmatch.scoring import CutCurve

FALSE, TRUE, IGNORED = 0, 1, 2
SCALE = 2.0**40  # weights of pairs are whole numbers


@dataclass(frozen=True, slots=True, eq=False)
class Ranked:
    """Predictions with a confidence and a verdict; those of several cases add.

    Attributes
    ----------
    confidence
        Of every prediction.
    verdict
        0 for a false positive, 1 for a true positive, 2 for one that does not count.
    n_ref, n_cases
        References and cases.
    """

    confidence: Floats
    verdict: Ints
    n_ref: int
    n_cases: int = 1

    def over_cuts(self) -> CutCurve:
        """Return the counts at every cut; quality is not known, so PQ is 0."""
        falling, place = np.unique(np.append(-self.confidence, -np.inf), return_inverse=True)
        counts = np.zeros((len(falling), 6), np.int64)
        hits, misses = self.verdict == TRUE, self.verdict == FALSE
        np.add.at(counts, place[:-1][hits], [1, 0, -1, 0, 0, 0])
        np.add.at(counts, place[:-1][misses], [0, 1, 0, 0, 0, 0])
        counts[0, 2] = self.n_ref
        return CutCurve(-falling, Tallies(counts).cumulative(), self.n_cases)

    def __add__(self, other: Ranked) -> Ranked:
        if not isinstance(other, Ranked):
            return NotImplemented
        return Ranked(
            np.concatenate([self.confidence, other.confidence]),
            np.concatenate([self.verdict, other.verdict]),
            self.n_ref + other.n_ref,
            self.n_cases + other.n_cases,
        )

    def __radd__(self, other: object) -> Ranked:
        return self if other == 0 else NotImplemented  # sum() starts with 0


def rank_greedily(overlap: Overlap, threshold: float) -> Ranked:
    """Let every prediction, most confident first, take the free reference with the highest IoU.

    Parameters
    ----------
    overlap
        With confidences.
    threshold
        An IoU of at least this is enough, as in the programs that do this. Ties go to the smaller
        id of the prediction, then of the reference.

    Examples
    --------
    >>> import panmatch as pm
    >>> ov = pm.count_overlaps([1, 1, 1, 2], [5, 6, 6, 7]).with_confidence([0.9, 0.8, 0.7])
    >>> pm.related.rank_greedily(ov, 0.2).verdict.tolist()
    [1, 0, 1]
    """
    check_overlap(overlap)
    confidence, edges, iou = needed_confidence(overlap), overlap.edges, overlap.iou
    verdict = np.zeros(len(confidence), np.int64)
    verdict[overlap.predictions.dismissible] = IGNORED
    enough = np.flatnonzero((iou >= threshold) & (iou > 0))
    order = enough[
        np.lexsort(
            (edges.ref[enough], -iou[enough], edges.pred[enough], -confidence[edges.pred[enough]])
        )
    ]
    taken: set[int] = set()
    for ref, pred in zip(edges.ref[order].tolist(), edges.pred[order].tolist(), strict=True):
        if verdict[pred] != TRUE and ref not in taken:
            verdict[pred] = TRUE
            taken.add(ref)
    return Ranked(confidence, verdict, len(overlap.ref_ids))


def rank_most_pairs(overlap: Overlap, threshold: float, *, excuse: bool = True) -> Ranked:
    """Match as many pairs with enough IoU as possible, then those with the highest total IoU.

    Parameters
    ----------
    overlap
        With confidences.
    threshold
        An IoU of at least this is enough.
    excuse
        Whether an unmatched prediction with enough IoU does not count, instead of being a false
        positive.

    Examples
    --------
    >>> import panmatch as pm
    >>> ov = pm.count_overlaps([1, 1, 1, 2], [5, 6, 6, 7]).with_confidence([0.9, 0.8, 0.7])
    >>> pm.related.rank_most_pairs(ov, 0.2).verdict.tolist()
    [2, 1, 1]
    """
    check_overlap(overlap)
    confidence, iou = needed_confidence(overlap), overlap.iou
    enough = np.flatnonzero((iou >= threshold) & (iou > 0))
    ref, pred = overlap.edges.ref[enough], overlap.edges.pred[enough]
    weight = np.rint(SCALE * (1 + iou[enough])).astype(np.int64)
    chosen = native.assign(ref, pred, weight, len(overlap.ref_ids), len(overlap.pred_ids))
    verdict = np.full(len(confidence), FALSE, np.int64)
    verdict[pred] = IGNORED if excuse else FALSE
    verdict[pred[chosen.view(np.bool_)]] = TRUE
    return Ranked(confidence, verdict, len(overlap.ref_ids))
