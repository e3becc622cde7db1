"""Whether one model is better than another on the same cases."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from panmatch.datasets._statistics._bootstrap import (
    Interval,
    as_scores,
)
from panmatch.datasets._statistics._ranking import TIE, ranks
from panmatch.datasets._statistics._resampling import UNBOUNDED, Bounds, Resampling
from panmatch.errors import OptionError, ShapeError
from panmatch.overlap import Floats, Ints

# Up to this number of cases, or of clusters, the distribution of the signed ranks is exact; beyond,
# it is approximated.
EXACT_UP_TO = 100
FEW_CLUSTERS = 16


@dataclass(frozen=True, slots=True)
class PairedTest:
    """The differences first − second over the cases that have both scores."""

    n: int  # cases that have both
    skipped: int  # cases left out because a score is NaN (D11)
    mean_difference: float  # mean of first − second; NaN without a case
    interval: Interval  # bootstrap interval of the mean difference; NaN for fewer than five cases
    # Two-sided p of Wilcoxon's signed-rank test; NaN without a case. With n cases, or n clusters,
    # it is at least 2/2ⁿ: an exact test needs no minimum number.
    p_value: float
    wins: int  # cases in which the first model is better, worse, or equal up to 1e-12
    losses: int
    ties: int


def paired_test(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    *,
    resampling: Resampling | None = None,
    bounds: Bounds = UNBOUNDED,
    level: float = 0.95,
    higher_is_better: bool = True,
) -> PairedTest:
    """Compare two models case by case.

    Parameters
    ----------
    first, second
        Scores of the same cases in the same order, shape (n_cases,); NaN where undefined. Two
        infinite scores are equal; if only one is infinite, so is the mean difference.
    resampling
        What is drawn at random, cases or clusters; by default cases. Share it with other scores.
        If it has clusters, so has the test.
    bounds
        The lowest and highest possible difference.
    level
        Confidence level of the interval of the mean difference.
    higher_is_better
        False for distances: then the smaller score wins a case. Differences, interval and p
        are still those of first − second.

    Examples
    --------
    >>> found = paired_test([0.9, 0.8, 0.7, 0.6, float("nan")], [0.5, 0.6, 0.6, 0.6, 0.1])
    >>> found.n, found.skipped, round(found.mean_difference, 3), found.p_value
    (4, 1, 0.175, 0.25)
    >>> found.wins, found.losses, found.ties
    (3, 0, 1)
    """
    one, other = as_scores("first", first), as_scores("second", second)
    if one.shape != other.shape:
        raise ShapeError(
            f"first has {len(one)} cases, second has {len(other)}: pass the scores of the same "
            f"cases in the same order, with NaN where there is none."
        )
    if resampling is None:
        resampling = Resampling.of(len(one))
    with np.errstate(invalid="ignore"):  # ∞ − ∞
        differences = _without_noise(np.where(one == other, 0.0, one - other))
        there = ~np.isnan(differences)
        usable = differences[there]
        mean = float(usable.mean()) if len(usable) else math.nan
    better = usable if higher_is_better else -usable
    return PairedTest(
        n=len(usable),
        skipped=len(one) - len(usable),
        mean_difference=mean,
        interval=resampling.mean_interval(differences, bounds=bounds, level=level),
        p_value=signed_rank_p(usable, resampling.unit_of[there]),
        wins=int((better > 0).sum()),
        losses=int((better < 0).sum()),
        ties=int((better == 0).sum()),
    )


def signed_rank_p(
    differences: npt.ArrayLike,
    clusters: npt.ArrayLike | None = None,
    *,
    one_sided: bool = False,
) -> float:
    """Return the p of Wilcoxon's signed-rank test, with Pratt's treatment of zeros.

    All |d| are ranked, with mean ranks for ties; then the zeros are dropped. Under
    the null hypothesis every remaining rank is positive or negative with equal chance;
    p = P(|T⁺ − E| ≥ |t⁺ − E|), where T⁺ is the sum of the positive ranks and E its mean.

    Up to 100 differences p is exact, even with ties and zeros. Beyond, T⁺ is taken as normal with
    mean Σr/2 and variance Σr²/4, without continuity correction.

    The cases of a cluster keep or change their signs together. So the signed ranks of a cluster are
    added first, and these sums are tested. That is exact for up to 100 differences or 16 clusters.

    Parameters
    ----------
    differences
        Shape (n,), without NaN. Differences of up to 1e-12 count as zero.
    clusters
        The cluster of each difference, as whole numbers; None if all are independent.
    one_sided
        Whether only positive differences count as evidence: p = P(T⁺ ≥ t⁺).

    Returns
    -------
    float
        1 if all differences are zero, NaN if there are none.

    References
    ----------
    J. W. Pratt, "Remarks on zeros and ties in the Wilcoxon signed rank procedures", JASA 54
    (1959). Wilcoxon dropped the zeros before ranking. That can make a result significant that no
    longer is once all differences grow a little. Zeros are common here: two models often both find
    all objects of an easy case.

    B. Rosner, R. J. Glynn, M.-L. T. Lee, "The Wilcoxon signed rank test for paired comparisons of
    clustered data", Biometrics 62 (2006).

    Examples
    --------
    >>> signed_rank_p([0.1, 0.2, 0.3, 0.4])
    0.125
    >>> signed_rank_p([0.1, 0.2, 0.3, 0.4], one_sided=True)
    0.0625
    >>> signed_rank_p([0.0, 0.0])
    1.0
    >>> signed_rank_p([0.1, 0.2, 0.3, 0.4], clusters=[0, 0, 1, 1])
    0.5
    """
    values = _without_noise(as_scores("differences", differences))
    if np.isnan(values).any():
        raise OptionError("differences contain NaN: leave out those cases before testing.")
    if not len(values):
        return math.nan
    sums = _signed_ranks(values, clusters)
    if len(values) <= EXACT_UP_TO:
        return _exact_p(np.abs(sums), sums > 0, one_sided)
    if len(sums) <= FEW_CLUSTERS:
        return _enumerated_p(sums, one_sided)
    z = sums.sum() / math.sqrt(float((sums.astype(np.float64) ** 2).sum()) or 1.0)
    return math.erfc(z / math.sqrt(2)) / 2 if one_sided else math.erfc(abs(z) / math.sqrt(2))


def holm(p_values: npt.ArrayLike) -> Floats:
    """Return p-values adjusted for testing several hypotheses, by Holm's step-down method.

    With p₁ ≤ … ≤ pₘ the adjusted pᵢ is the maximum over j ≤ i of min(1, (m − j + 1) · pⱼ).

    Parameters
    ----------
    p_values
        Shape (tests,). NaN stays NaN and is not counted as a test.

    Examples
    --------
    >>> holm([0.01, 0.04, float("nan"), 0.03])
    array([0.03, 0.06,  nan, 0.06])
    """
    values = as_scores("p_values", p_values)
    defined = np.flatnonzero(~np.isnan(values))
    if ((values[defined] < 0) | (values[defined] > 1)).any():
        raise OptionError(f"p_values={p_values!r} has values outside [0, 1]: pass probabilities.")
    rising = defined[np.argsort(values[defined], kind="stable")]
    remaining = np.arange(len(rising), 0, -1)
    adjusted = np.full(len(values), np.nan)
    adjusted[rising] = np.minimum(np.maximum.accumulate(remaining * values[rising]), 1.0)
    return adjusted


def _without_noise(differences: Floats) -> Floats:
    return np.where(np.abs(differences) <= TIE, 0.0, differences)


def _signed_ranks(values: Floats, clusters: npt.ArrayLike | None) -> Ints:
    """Return twice the signed ranks, which are whole numbers, added up over clusters, without 0."""
    doubled = np.rint(2 * ranks(np.abs(values), higher_is_better=False)).astype(np.int64)
    signed = np.sign(values).astype(np.int64) * doubled
    if clusters is not None:
        owner = np.unique(np.asarray(clusters), return_inverse=True)[1]
        sums = np.zeros(owner.max(initial=-1) + 1, np.int64)
        np.add.at(sums, owner, signed)
        signed = sums
    kept: Ints = signed[signed != 0]
    return kept


def _enumerated_p(sums: Ints, one_sided: bool) -> float:
    """Enumerate the signs of a few clusters, however large their sums are."""
    totals = np.zeros(1, np.int64)
    for one in sums:
        totals = np.concatenate([totals + one, totals - one])
    if one_sided:
        return float(np.mean(totals >= int(sums.sum())))
    return float(np.mean(np.abs(totals) >= abs(int(sums.sum()))))


def _exact_p(doubled_ranks: Ints, positive: npt.NDArray[np.bool_], one_sided: bool) -> float:
    """Enumerate all signs; doubled ranks are whole numbers, so nothing is rounded."""
    total = int(doubled_ranks.sum())
    chances = np.zeros(total + 1)
    chances[0] = 1.0
    for rank in doubled_ranks:
        with_it = np.zeros(total + 1)
        with_it[rank:] = chances[:-rank]
        chances = (chances + with_it) / 2
    off_centre = 2 * np.arange(total + 1) - total
    reached = 2 * int(doubled_ranks[positive].sum()) - total
    if not one_sided:
        off_centre, reached = np.abs(off_centre), abs(reached)
    return min(float(chances[off_centre >= reached].sum()), 1.0)
