"""Scores of cell and leaf challenges that need only an overlap."""

from __future__ import annotations

import math

import numpy as np

from panmatch.matching import Matching, OneToMany, check_overlap, match
from panmatch.overlap import Floats, Ints, Overlap
from panmatch.related._registry import PooledScore, share, single
from panmatch.scoring import Average

# Cost of one operation that turns the predicted objects into the references.
SPLIT, FALSE_NEGATIVE, FALSE_POSITIVE = 5, 10, 1


@PooledScore
def seg(overlap: Overlap) -> Average:
    """Return SEG of a single frame: the mean IoU of every reference with its prediction (D12).

    The prediction of a reference is the one that covers strictly more than half of it. There is at
    most one, but several references may share it; each then has its own IoU. A reference without
    such a prediction counts as 0. False positives cost nothing. NaN without references, where the
    published program returns 0.

    Over several frames, this is the mean over all references of all frames, as in the challenge.

    References
    ----------
    Maška et al.: A benchmark for comparison of cell tracking algorithms (2014), and the evaluation
    software of the Cell Tracking Challenge.

    Examples
    --------
    >>> import panmatch as pm
    >>> from panmatch import related
    >>> related.seg(pm.Overlap.from_dense([[6, 0], [2, 2]], ref_sizes=[8, 4], pred_sizes=[10, 2]))
    0.25
    """
    tally = _covered(overlap).tally
    return Average(tally.units, tally.tp + tally.fn, 0)


@PooledScore
def det(overlap: Overlap) -> Average:
    """Return DET of a single frame: 1 − min(AOGM, AOGM₀) / AOGM₀ on objects alone (D12).

    AOGM = 5 · splits + 10 · FN + FP is the cost of turning the predicted objects into the
    references. A reference is found by the prediction that covers strictly more than half of it,
    as for `seg`. FN are references that are not found, FP predictions that find nothing, and a
    prediction that finds n references costs n − 1 splits. AOGM₀ = 10 · |G| is the cost of drawing
    all references from scratch. NaN without references.

    Over several cases, AOGM₀ − min(AOGM, AOGM₀) and AOGM₀ are added, so the minimum is taken once
    per case. In the challenge a case is a whole video. To get the challenge's number, count the
    video as one image, with ids that differ from frame to frame. References are markers there, and
    links between frames are not part of DET.

    References
    ----------
    Matula et al.: Cell tracking accuracy measurement based on comparison of acyclic oriented graphs
    (2015), and the evaluation software of the Cell Tracking Challenge. An early version of
    py-ctcmetrics charged n splits where n − 1 are needed.

    Examples
    --------
    >>> import panmatch as pm
    >>> from panmatch import related
    >>> merged = pm.Overlap.from_dense([[5, 0], [4, 0]], ref_sizes=[6, 6], pred_sizes=[12, 3])
    >>> related.det(merged)  # one split and one false positive
    0.7
    """
    matching = _covered(overlap)
    tally = matching.tally
    splits = tally.tp - len(np.unique(overlap.edges.pred[matching.edges]))
    cost = SPLIT * splits + FALSE_NEGATIVE * tally.fn + FALSE_POSITIVE * tally.fp
    from_scratch = FALSE_NEGATIVE * (tally.tp + tally.fn)
    return share(from_scratch - min(cost, from_scratch), from_scratch)


def _covered(overlap: Overlap) -> Matching:
    """Give every reference the prediction that covers more than half of it."""
    return match(overlap, OneToMany(), threshold=0.5, score="reference-share")


@PooledScore
def symmetric_best_dice(overlap: Overlap) -> Average:
    """Return SBD: the lower of the two mean best Dice, over references and over predictions.

    The best Dice of an object is the highest that it has with any object of the other side, 0 if it
    overlaps none; several objects may have the same best partner. The score is 0 if one side is
    empty, and NaN if both are, where the published program returns 0. Over several cases it is the
    mean.

    References
    ----------
    Scharr et al.: Leaf segmentation in plant phenotyping, a collation study (2016). Its program
    takes the lowest label of an image for background, which is always 0 here. It also divides by
    the highest label, which is the number of objects only if labels have no gaps.

    Examples
    --------
    >>> import panmatch as pm
    >>> from panmatch import related
    >>> ov = pm.Overlap.from_dense([[4, 1]], ref_sizes=[6], pred_sizes=[4, 2])
    >>> related.symmetric_best_dice(ov)
    0.525
    """
    check_overlap(overlap)
    sides = (overlap.edges.ref, len(overlap.ref_ids)), (overlap.edges.pred, len(overlap.pred_ids))
    means = [_mean_best(objects, overlap.dice, n) for objects, n in sides if n]
    if not means:
        return single(math.nan)
    return single(min(means))  # without the other side, no object has a partner: 0


def _mean_best(objects: Ints, dice: Floats, n: int) -> float:
    best = np.zeros(n)
    np.maximum.at(best, objects, dice)
    return math.fsum(best) / n
