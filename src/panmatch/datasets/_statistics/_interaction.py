"""Whether scores differ between groups of cases, by permutation."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from panmatch.datasets._statistics._bootstrap import as_scores
from panmatch.datasets._statistics._ranking import TIE
from panmatch.errors import ShapeError
from panmatch.overlap import Floats, Ints

PERMUTATIONS = 4999


def interaction_p(
    values: npt.ArrayLike,
    groups: npt.ArrayLike,
    units: npt.ArrayLike | None = None,
    *,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
) -> float:
    """Return p of the hypothesis that group and value have nothing to do with each other.

    The statistic is the variation between groups, Σ n_g (mean_g − mean)². If every unit belongs to
    one group, units change groups, each with its mean value. If some units have values in several
    groups, as a case with small and large objects does, then values change groups within units,
    after the mean of the unit is subtracted.

    Parameters
    ----------
    values
        Shape (n,): scores, or differences between two models. NaN is skipped.
    groups
        The group of each value.
    units
        The case or cluster of each value; None if each value has its own.
    permutations, seed
        How many permutations are drawn, by PCG64.

    Returns
    -------
    float
        (1 + permutations with at least as much variation) / (1 + permutations). NaN if there are
        fewer than two groups.

    Examples
    --------
    >>> interaction_p([0.1, 0.2, 0.1, 0.8, 0.9, 0.9], ["a", "a", "a", "b", "b", "b"])
    0.108
    >>> interaction_p([0.1, 0.2], ["a", "a"])
    nan
    """
    scores = as_scores("values", values)
    known = ~np.isnan(scores)
    owner = np.arange(len(scores)) if units is None else np.asarray(units)
    if not len(scores) == len(np.asarray(groups)) == len(owner):
        raise ShapeError("values, groups and units differ in length: pass one of each per value.")
    names, group = np.unique(np.asarray(groups)[known], return_inverse=True)
    unit = np.unique(owner[known], return_inverse=True)[1]
    if len(names) < 2:
        return math.nan
    scores = scores[known]
    means = np.bincount(unit, scores) / np.bincount(unit)
    generator = np.random.Generator(np.random.PCG64(seed))
    firsts = np.unique(unit, return_index=True)[1]
    if (group == group[firsts][unit]).all():
        rows = np.tile(group[firsts], (permutations, 1))
        drawn, scores, group = generator.permuted(rows, axis=1), means, group[firsts]
    else:
        drawn, scores = _permuted_within(group, unit, permutations, generator), scores - means[unit]
    observed = _variation(scores, group[np.newaxis])[0]
    reached = int(np.count_nonzero(_variation(scores, drawn) >= observed - TIE))
    return (1 + reached) / (1 + permutations)


def _permuted_within(
    group: Ints, unit: Ints, permutations: int, generator: np.random.Generator
) -> Ints:
    drawn = np.tile(group, (permutations, 1))
    for one in range(unit.max() + 1):
        places = np.flatnonzero(unit == one)
        drawn[:, places] = generator.permuted(drawn[:, places], axis=1)
    return drawn


def _variation(values: Floats, groups: Ints) -> Floats:
    """Return the variation between groups, for each row of groups."""
    off = values - values.mean()
    found = np.zeros(len(groups))
    for group in np.unique(groups):
        mine = (groups == group).astype(np.float64)
        n = np.maximum(mine.sum(axis=1), 1.0)
        found += (mine @ off) ** 2 / n
    return found
