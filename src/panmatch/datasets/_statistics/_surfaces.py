"""How far a score of detections would move with other cases: resampling a surface."""

from __future__ import annotations

from collections.abc import Callable

from panmatch.datasets._statistics._bootstrap import FEWEST_CASES, Interval, interval, resample
from panmatch.scoring import Surface


def surface_interval(
    surface: Surface,
    statistic: Callable[[Surface], float],
    *,
    n_resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> Interval:
    """Return the percentile interval of a score of a surface, over resamples of its cases.

    Parameters
    ----------
    surface
        The sum of the surfaces of all cases.
    statistic
        The score, such as ``lambda s: s.average_precision(0.5)``.
    n_resamples, level, seed
        How many resamples, the share of them to cover, and the seed.

    Returns
    -------
    Interval
        With `low` and `high`; both are NaN for fewer than 5 cases.

    Examples
    --------
    >>> import panmatch as pm
    >>> hit = pm.surface(pm.count_overlaps([1, 0], [1, 0]).with_confidence([0.9]))
    >>> miss = pm.surface(pm.count_overlaps([1, 0], [0, 2]).with_confidence([0.8]))
    >>> pooled = sum([hit, hit, hit, miss, miss, miss])
    >>> found = pm.surface_interval(pooled, lambda s: s.froc(0.5).at(8), n_resamples=200)
    >>> round(found.low, 3), round(found.high, 3)
    (0.0, 0.833)
    """
    counts = resample(surface.n_cases, n_resamples, seed)
    if surface.n_cases < FEWEST_CASES:
        return interval([], level)
    return interval([statistic(surface.weighted(row)) for row in counts], level)
