"""ccDice: F1 on components, by the share of either side that overlaps."""

from __future__ import annotations

from panmatch.matching._match import check_overlap
from panmatch.overlap import Overlap
from panmatch.related.most_pairs import as_tally, check_inclusive_threshold, most_pairs


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
