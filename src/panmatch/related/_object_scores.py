"""AJI: aggregated Jaccard index."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from panmatch import native
from panmatch.errors import OptionError
from panmatch.matching import (
    OneToMany,
    Tally,
    check_overlap,
    limbs_to_units,
    match,
    ratio,
    to_limbs,
)
from panmatch.overlap import Floats, Ints, Overlap, Score


def aji(overlap: Overlap) -> float:
    """Return Σ |g∩p| / (Σ |g∪p| + Σ |unused p|), each g with its prediction of highest IoU.

    A reference that overlaps nothing adds its size to the denominator, a prediction that no
    reference chose adds its own. One prediction may serve several references.

    Parameters
    ----------
    overlap
        From `count_overlaps`.

    Returns
    -------
    float
        NaN if both sides are empty.

    References
    ----------
    Kumar et al.: A dataset and a technique for generalized nuclear segmentation for computational
    pathology (2017).

    Examples
    --------
    >>> aji(Overlap.from_dense([[4, 1]], ref_sizes=[6], pred_sizes=[5, 3]))
    0.4
    """
    matching = match(overlap, OneToMany(), threshold=0.0)
    edges = overlap.edges
    shared = float(edges.intersection[matching.edges].sum())
    used = edges.pred[matching.edges]
    unused = np.delete(overlap.pred_areas, used)
    union = float(overlap.ref_sizes.sum() + overlap.pred_areas[used].sum() - shared)
    whole = union + float(unused.sum())
    return shared / whole if whole else float("nan")


def ccdice(overlap: Overlap, alpha: float = 0.5) -> float:
    """Return ½ (F1 on |g∩p|/|p| ≥ α + F1 on |g∩p|/|g| ≥ α), both one-to-one (D12).

    Parameters
    ----------
    overlap
        Of connected components: ``count_overlaps(connected_components(reference), …)``.
    alpha
        Share from which a pair counts, in (0, 1].

    Returns
    -------
    float
        NaN if both sides are empty.

    References
    ----------
    Rouge, Passat, Merveille: ccDice, a topology-aware Dice score based on connected components
    (2024). Its program errs for α > ½, where its list of overlaps is no longer sorted.

    Examples
    --------
    >>> ccdice(Overlap.from_dense([[3, 1]], ref_sizes=[5], pred_sizes=[4, 4]), alpha=0.5)
    0.6666666666666666
    """
    check_overlap(overlap)
    threshold = check_inclusive_threshold("alpha", alpha)
    shares = overlap.score("prediction-share"), overlap.score("reference-share")
    tallies = [as_tally(overlap, most_pairs(overlap, s, threshold), s) for s in shares]
    return 0.5 * (tallies[0].f1 + tallies[1].f1)


@dataclass(frozen=True, slots=True)
class StardistScores:
    """Counts at one threshold, and what follows from them.

    Attributes
    ----------
    threshold
        Scores of this or more match.
    tally
        One-to-one, as many pairs as possible; its `f1`, `precision`, `recall` and `pq` are
        stardist's f1, precision, recall and panoptic_quality, `sq` its mean_matched_score.
    """

    threshold: float
    tally: Tally

    @property
    def accuracy(self) -> float:
        """TP / (TP + FP + FN), also called average precision; NaN if both sides are empty."""
        return self.tally.accuracy

    @property
    def mean_true_score(self) -> float:
        """Summed score of the matches over the number of references; NaN without references."""
        return ratio(self.tally.quality, self.tally.tp + self.tally.fn)


def stardist_scores(
    overlap: Overlap, thresholds: float | Iterable[float] = 0.5, *, score: Score = "iou"
) -> list[StardistScores]:
    """Return accuracy, F1 and more at every threshold (D12).

    Unlike elsewhere a score equal to the threshold matches, and the matching has as many pairs as
    there can be, even if their total score is lower.

    Parameters
    ----------
    thresholds
        One or several, each in (0, 1].
    score
        What is compared with them.

    References
    ----------
    Schmidt, Weigert, Broaddus, Myers: Cell detection with star-convex polygons (2018).

    Examples
    --------
    >>> ov = Overlap.from_dense([[6, 5], [5, 0]], ref_sizes=[11, 10], pred_sizes=[11, 10])
    >>> [(found.tally.tp, found.accuracy) for found in stardist_scores(ov, [0.3, 0.36])]
    [(2, 1.0), (1, 0.3333333333333333)]
    """
    check_overlap(overlap)
    values = overlap.score(score)
    given = [thresholds] if isinstance(thresholds, int | float) else list(thresholds)
    found = []
    for threshold in given:
        at = check_inclusive_threshold("thresholds", threshold)
        found.append(StardistScores(at, as_tally(overlap, most_pairs(overlap, values, at), values)))
    return found


_SCALE = 60


def most_pairs(overlap: Overlap, score: Floats, at_least: float) -> Ints:
    """Return the edges of a largest one-to-one matching; among several that of highest score.

    Parameters
    ----------
    score
        Of every edge, from 0 to 1.
    at_least
        Only edges with a score of this or more are used: not strictly more, as elsewhere (D2).
    """
    edges = np.flatnonzero(score >= at_least)
    ref, pred = overlap.edges.ref[edges], overlap.edges.pred[edges]
    sizes = len(overlap.ref_ids), len(overlap.pred_ids)
    # All scores together weigh less than one more pair.
    share = score[edges] / (2 * max(1, min(sizes)))
    weight = np.rint(np.ldexp(1.0 + share, _SCALE)).astype(np.int64)
    chosen = native.assign(ref, pred, weight, *sizes)
    matched: Ints = edges[chosen.view(np.bool_)]
    return matched


def as_tally(overlap: Overlap, edges: Ints, score: Floats) -> Tally:
    """Count a one-to-one matching, with the score as quality."""
    tp = len(edges)
    return Tally.from_units(
        tp=tp,
        fp=len(overlap.pred_ids) - tp,
        fn=len(overlap.ref_ids) - tp,
        units=limbs_to_units(to_limbs(score[edges]).sum(axis=0)),
    )


def check_inclusive_threshold(argument: str, value: float) -> float:
    """Return a threshold from (0, 1] that may be reached, or raise."""
    number = isinstance(value, int | float | np.integer | np.floating)
    if not number or isinstance(value, bool) or not 0 < value <= 1:
        raise OptionError(
            f"{argument}={value!r} must be above 0 and at most 1: scores of {argument} or more "
            f"match."
        )
    return float(value)
