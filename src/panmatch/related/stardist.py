"""Accuracy, F1 and their kin at thresholds, as stardist counts them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from panmatch.matching import Tally, ratio
from panmatch.matching._match import check_overlap
from panmatch.overlap import Overlap, Score
from panmatch.related.most_pairs import as_tally, check_inclusive_threshold, most_pairs


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
