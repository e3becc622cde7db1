"""Metrics that need only an overlap: NPQ, sortedAP, AJI, ccDice and stardist's scores."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from panmatch import native
from panmatch.errors import OptionError, check_choice
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
from panmatch.scoring import curve

Integral = Literal["step", "trapezoid"]

# Which edges decide between matchings with equally many pairs: those that may match, or all.
Candidates = Literal["matching", "all"]
Partners = Literal["best", "one-to-one"]

PAIR_BITS = 60  # one more pair weighs 2^60


def npq(overlap: Overlap) -> float:
    """Return ∫ RQ(τ) dτ under one-to-one matching (D7).

    NaN if both sides are empty. There is no threshold to choose: an object counts at every
    threshold that it passes. Without void, NPQ is at least PQ at τ = 0, and equals it if every
    object overlaps at most one other; ``docs/explanation/related.md`` has the identities.

    Examples
    --------
    >>> import panmatch as pm
    >>> from panmatch import related
    >>> related.npq(pm.Overlap.from_dense([[6]], ref_sizes=[10], pred_sizes=[6]))
    0.6
    """
    return curve(overlap, "one-to-one").npq


def sorted_ap(overlap: Overlap, *, integral: Integral = "step") -> float:
    """Return ∫ TP/(TP+FP+FN) dτ under optimal one-to-one matching (D7); NaN without any object.

    Parameters
    ----------
    overlap
        From `count_overlaps`.
    integral
        ``"step"``: exact, since the integrand is a step function. ``"trapezoid"``: straight lines
        from the value before one step to the value before the next, as in the published program;
        never lower than ``"step"``.

    References
    ----------
    Chen, Wu, Merhof: sortedAP, rethinking evaluation metrics for instance segmentation (2023).
    Its program also keeps pairs that are below the threshold matched; ours does not.

    Examples
    --------
    >>> import panmatch as pm
    >>> from panmatch import related
    >>> ov = pm.Overlap.from_dense([[1]], ref_sizes=[2], pred_sizes=[1])
    >>> related.sorted_ap(ov), related.sorted_ap(ov, integral="trapezoid")
    (0.5, 0.75)
    """
    check_choice("integral", integral, get_args(Integral))
    steps = curve(overlap, "one-to-one")
    if integral == "step" or not steps.tp[0] + steps.fp[0] + steps.fn[0]:
        return steps.sorted_ap
    before = np.append(steps.accuracy[:1], steps.accuracy)  # the value that ends at each threshold
    widths = np.diff(steps.thresholds, append=1.0)
    return float(np.sum((before[1:] + before[:-1]) * widths) / 2)


def aji(overlap: Overlap, *, partners: Partners = "best") -> float:
    """Return Σ |g∩p| / (Σ |g∪p| + Σ |unused p|), each g with its prediction of highest IoU.

    NaN if both sides are empty. A reference that overlaps nothing adds its size to the denominator,
    and so does a prediction that no reference chose. One prediction may serve several references.

    Parameters
    ----------
    overlap
        From `count_overlaps`.
    partners
        ``"best"``: as above, the definition. ``"one-to-one"``: as in cellpose, Σ |g∩p| over the
        pairs of one assignment, divided by all voxels of either side. The assignment has as many
        IoUs of ½ or more as possible, and then the highest total IoU.

    References
    ----------
    Kumar et al.: A dataset and a technique for generalized nuclear segmentation for computational
    pathology (2017).

    Examples
    --------
    >>> import panmatch as pm
    >>> from panmatch import related
    >>> related.aji(pm.Overlap.from_dense([[4, 1]], ref_sizes=[6], pred_sizes=[5, 3]))
    0.4
    """
    return ratio(*aji_areas(overlap, partners))


def aji_areas(overlap: Overlap, partners: Partners = "best") -> tuple[float, float]:
    """Return the two sums whose ratio `aji` is; sums of cases add."""
    check_choice("partners", partners, get_args(Partners))
    if partners == "one-to-one":
        shared = overlap.edges.intersection
        pairs = assign_most(overlap, overlap.iou, 0.5, "all")
        either = overlap.ref_sizes.sum() + overlap.pred_areas.sum() - shared.sum()
        return float(shared[pairs].sum()), float(either)
    matching = match(overlap, OneToMany(), threshold=0.0)
    edges = overlap.edges
    common = float(edges.intersection[matching.edges].sum())
    used = edges.pred[matching.edges]
    unused = np.delete(overlap.pred_areas, used)
    union = float(overlap.ref_sizes.sum() + overlap.pred_areas[used].sum() - common)
    return common, union + float(unused.sum())


def ccdice(overlap: Overlap, alpha: float = 0.5) -> float:
    """Return ½ (F1 on |g∩p|/|p| ≥ α + F1 on |g∩p|/|g| ≥ α), both one-to-one (D12).

    NaN if both sides are empty.

    Parameters
    ----------
    overlap
        Of connected components: ``count_overlaps(connected_components(reference), …)``.
    alpha
        Smallest share at which a pair counts, in (0, 1].

    References
    ----------
    Rouge, Passat, Merveille: ccDice, a topology-aware Dice score based on connected components
    (2024). Its program is wrong for α > ½, where its list of overlaps is no longer sorted.

    Examples
    --------
    >>> import panmatch as pm
    >>> from panmatch import related
    >>> related.ccdice(pm.Overlap.from_dense([[3, 1]], ref_sizes=[5], pred_sizes=[4, 4]), alpha=0.5)
    0.6666666666666666
    """
    check_overlap(overlap)
    threshold = check_inclusive_threshold("alpha", alpha)
    shares = overlap.score("prediction-share"), overlap.score("reference-share")
    return 0.5 * sum(tally_largest(overlap, share, threshold).f1 for share in shares)


@dataclass(frozen=True, slots=True)
class StardistScores:
    """Counts at one threshold, where scores equal to it count, and the scores that follow.

    The tally is one-to-one, with as many pairs as possible; its `f1`, `precision`, `recall` and
    `pq` are stardist's f1, precision, recall and panoptic_quality, `sq` its mean_matched_score.
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
    overlap: Overlap,
    thresholds: float | Iterable[float] = 0.5,
    *,
    score: Score = "iou",
    candidates: Candidates = "matching",
) -> list[StardistScores]:
    """Return accuracy, F1 and more at every threshold (D12).

    Unlike elsewhere in panmatch, a score equal to the threshold matches, and the matching has as
    many pairs as possible, even if their total score is lower. Among matchings with equally many
    pairs, it has the highest total score. stardist's own program adds the scores of overlapping
    pairs below the threshold to that total, so at thresholds below ½ it can settle for worse
    matches. The counts, and all scores that follow from them, are the same, but `sq`, `pq` and
    `mean_true_score` are then lower there than here (see ``docs/explanation/related.md`` for a
    scene).

    Parameters
    ----------
    thresholds
        One or several, each in (0, 1].
    score
        What is compared with them.
    candidates
        ``"matching"``: as above. ``"all"``: exactly the pairs of stardist's own program.

    References
    ----------
    Schmidt, Weigert, Broaddus, Myers: Cell detection with star-convex polygons (2018).

    Examples
    --------
    >>> import panmatch as pm
    >>> from panmatch import related
    >>> ov = pm.Overlap.from_dense([[6, 5], [5, 0]], ref_sizes=[11, 10], pred_sizes=[11, 10])
    >>> [(found.tally.tp, found.accuracy) for found in related.stardist_scores(ov, [0.3, 0.36])]
    [(2, 1.0), (1, 0.3333333333333333)]
    """
    check_overlap(overlap)
    values = overlap.score(score)
    given = [thresholds] if isinstance(thresholds, int | float) else list(thresholds)
    checked = [check_inclusive_threshold("thresholds", threshold) for threshold in given]
    return [
        StardistScores(threshold, tally_largest(overlap, values, threshold, candidates))
        for threshold in checked
    ]


def tally_largest(
    overlap: Overlap, score: Floats, at_least: float, candidates: Candidates = "matching"
) -> Tally:
    """Count a largest one-to-one matching with the highest total score, which is its quality.

    Only edges with a score of `at_least` or more match: not strictly more, as elsewhere (D2).
    """
    sizes = len(overlap.ref_ids), len(overlap.pred_ids)
    pairs = assign_most(overlap, score, at_least, candidates)
    matched = pairs[score[pairs] >= at_least]
    tp = len(matched)
    return Tally.from_units(
        tp=tp,
        fp=sizes[1] - tp,
        fn=sizes[0] - tp,
        units=limbs_to_units(to_limbs(score[matched]).sum(axis=0)),
    )


def assign_most(overlap: Overlap, score: Floats, at_least: float, candidates: Candidates) -> Ints:
    """Return the edges of an assignment with the most matching pairs, then the highest score."""
    check_choice("candidates", candidates, get_args(Candidates))
    matching = score >= at_least
    edges = np.arange(len(score)) if candidates == "all" else np.flatnonzero(matching)
    ref, pred = overlap.edges.ref[edges], overlap.edges.pred[edges]
    sizes = len(overlap.ref_ids), len(overlap.pred_ids)
    # All scores together weigh less than one more pair.
    share = score[edges] / (2 * max(1, min(sizes)))
    weight = np.rint(np.ldexp(matching[edges] + share, PAIR_BITS)).astype(np.int64)
    chosen: Ints = edges[native.assign(ref, pred, weight, *sizes).view(np.bool_)]
    return chosen


def check_inclusive_threshold(argument: str, value: float) -> float:
    """Return a threshold in (0, 1] that scores may equal, or raise."""
    number = isinstance(value, int | float | np.integer | np.floating)
    if not number or isinstance(value, bool) or not 0 < value <= 1:
        raise OptionError(
            f"{argument}={value!r} must be above 0 and at most 1: scores of {argument} or more "
            f"match."
        )
    return float(value)
