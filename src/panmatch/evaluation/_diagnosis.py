"""What went wrong in a case, regardless of strategy and threshold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from panmatch.matching import Matching
from panmatch.overlap import Belonging, Ints, Overlap
from panmatch.scoring import Mistake, find_mistakes

MISTAKES = ("split", "merged", "missed", "spurious")
NEAR = 0.05
MOST_MISTAKES = 10
CANDIDATES = 3 * MOST_MISTAKES
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Diagnosis:
    """The ids of objects with each kind of mistake.

    A prediction belongs to a reference if more than half of it lies inside the reference, not
    counting void voxels; and likewise the other way round. So nothing belongs to more than one.

    Attributes
    ----------
    split
        References to which two or more predictions belong.
    merged
        Predictions to which two or more references belong.
    missed
        References that belong to no prediction, and to which no prediction belongs.
    spurious
        Predictions that belong to no reference, and to which no reference belongs, except those
        dismissed because of void or crowd (D10).
    """

    split: Ints
    merged: Ints
    missed: Ints
    spurious: Ints


def diagnose(overlap: Overlap) -> Diagnosis:
    """Return what is split, merged, missed and spurious in an overlap of whole predictions.

    Examples
    --------
    >>> table = [[4, 5, 0, 0], [0, 0, 6, 0], [0, 0, 5, 0], [0, 0, 0, 1]]
    >>> found = diagnose(Overlap.from_dense(table, [9, 7, 6, 8], [4, 5, 12, 9]))
    >>> found.split, found.merged, found.missed, found.spurious
    (array([1]), array([3]), array([4]), array([4]))
    """
    ref, pred, belonging = overlap.edges.ref, overlap.edges.pred, Belonging.of(overlap)
    n_refs, n_preds = len(overlap.ref_ids), len(overlap.pred_ids)
    guests = np.bincount(ref[belonging.pred_in_ref], minlength=n_refs)
    captives = np.bincount(pred[belonging.ref_in_pred], minlength=n_preds)
    related = belonging.pred_in_ref | belonging.ref_in_pred
    alone_ref = np.bincount(ref[related], minlength=n_refs) == 0
    alone_pred = np.bincount(pred[related], minlength=n_preds) == 0
    return Diagnosis(
        split=overlap.ref_ids[guests >= 2],
        merged=overlap.pred_ids[captives >= 2],
        missed=overlap.ref_ids[alone_ref],
        spurious=overlap.pred_ids[alone_pred & ~overlap.predictions.dismissible],
    )


def worst_mistakes(matching: Matching) -> tuple[Mistake, ...]:
    """Return the costliest mistakes of a matching, at most one per object.

    A split object may also be missed, and its pieces spurious: only the costliest is listed.

    Examples
    --------
    >>> from panmatch.matching import match
    >>> overlap = Overlap.from_dense([[4, 4, 0], [0, 0, 6]], [10, 10], [4, 4, 6])
    >>> [(one.kind, one.ref_ids) for one in worst_mistakes(match(overlap, threshold=0.5))]
    [('split', (1,)), ('outline', (2,))]
    """
    refs: set[int] = set()
    preds: set[int] = set()
    worst: list[Mistake] = []
    for one in find_mistakes(matching, CANDIDATES):  # the costliest first
        if len(worst) == MOST_MISTAKES or one.cost(matching.tally) <= 0:
            break
        if refs.isdisjoint(one.ref_ids) and preds.isdisjoint(one.pred_ids):
            worst.append(one)
            refs.update(one.ref_ids)
            preds.update(one.pred_ids)
    return tuple(worst)


def count_near_threshold(matching: Matching) -> int:
    """Return how many true positives would be lost if the threshold were 0.05 higher.

    These references have no matched edge with a score above that.

    Examples
    --------
    >>> from panmatch.matching import match
    >>> overlap = Overlap.from_dense([[52, 0], [0, 90]], [100, 100], [52, 90])
    >>> count_near_threshold(match(overlap, threshold=0.5))
    1
    """
    score = matching.overlap.score(matching.score)[matching.edges]
    refs = matching.overlap.edges.ref[matching.edges]
    safe = refs[score > matching.threshold + NEAR + _ROUNDING]
    return len(set(refs.tolist())) - len(set(safe.tolist()))
