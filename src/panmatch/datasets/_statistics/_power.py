"""How many cases are needed to find a difference: from paired differences of a pilot run."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from panmatch.datasets._statistics._bootstrap import FEWEST_CASES, as_scores
from panmatch.datasets._statistics._paired import EXACT_UP_TO, signed_rank_p
from panmatch.datasets._statistics._ranking import TIE, mean_ranks, places
from panmatch.overlap import Floats, Ints

MOST_UNITS = 2000  # beyond, the formula of the t-test has to do
HOPELESS = 1 << 30  # cases
SIMULATED, SIMULATED_CLUSTERS = 2000, 500  # datasets
MOST_SIMULATED = 4_000_000  # cases in all datasets together; beyond, there are fewer datasets
FEWEST_SIMULATED = 200
NOISE = 0.9  # of the standard deviation, by the rule of thumb for kernel densities
SMALL = 25  # up to this number of units, simulated tests are exact


@dataclass(frozen=True, slots=True)
class SampleSize:
    """The number of cases that a paired comparison needs.

    With clusters, numbers of units are numbers of clusters.

    Attributes
    ----------
    units
        Units for which Wilcoxon's signed-rank test finds the difference with the wanted power, in
        simulated datasets. Above 2000, where simulations take long and say no more, `by_t_test`.
    by_t_test
        The same for Student's paired t-test, by its formula.
    low, high
        95 % interval of `by_t_test`, because the pilot only estimates the standard deviation.
    power_now
        Power of the test with as many units as the pilot has.
    deviation
        Standard deviation of the differences of units.
    pilot_units, pilot_cases
        How many units and cases the pilot has.
    pilot_difference
        Its mean difference.
    """

    units: float
    by_t_test: float
    low: float
    high: float
    power_now: float
    deviation: float
    pilot_units: int
    pilot_cases: int
    pilot_difference: float

    @property
    def cases(self) -> float:
        """The number of cases, given as many per unit as in the pilot."""
        if not math.isfinite(self.units):
            return self.units
        return float(-(-int(self.units) * self.pilot_cases // self.pilot_units))


def sample_size(
    differences: npt.ArrayLike,
    wanted: float,
    *,
    clusters: npt.ArrayLike | None = None,
    power: float = 0.8,
    alpha: float = 0.05,
    seed: int = 0,
) -> SampleSize:
    """Return how many cases a paired comparison needs to find a mean difference.

    New differences are drawn from those of the pilot: their deviations from the mean, with random
    signs and a little noise (a smoothed bootstrap), around the wanted difference. So the test would
    find nothing but chance if the wanted difference were 0. Cases in which both models have the
    same score keep a difference of 0.

    Parameters
    ----------
    differences
        Differences between two models in the cases of a pilot; NaN is skipped.
    wanted
        The mean difference to find.
    clusters
        The cluster of each case; None if all are independent. Clusters are drawn as a whole.
    power
        The wanted chance of p ≤ alpha.
    alpha
        Level of the two-sided test.
    seed
        Seed of the simulation.

    Returns
    -------
    SampleSize
        All NaN if fewer than 5 units have a difference.

    Examples
    --------
    >>> pilot = [0.1, 0.05, -0.02, 0.08, 0.03, -0.04, 0.06, 0.0, 0.02, 0.05]
    >>> found = sample_size(pilot, 0.03)
    >>> round(found.units, -1), found.by_t_test, found.pilot_cases
    (20.0, 19.0, 10)
    """
    values = as_scores("differences", differences)
    owner = np.arange(len(values)) if clusters is None else np.asarray(clusters)
    there = ~np.isnan(values)
    values, owner = values[there], np.unique(owner[there], return_inverse=True)[1]
    n_units = len(np.unique(owner))
    mean = float(values.mean()) if len(values) else math.nan
    if n_units < FEWEST_CASES or not np.isfinite(values).all():
        nothing = (math.nan,) * 6
        return SampleSize(*nothing, n_units, len(values), mean)
    centred, shift = centred_on(values, abs(wanted))
    spread = unit_deviation(centred + shift, owner)
    needed = _t_test_units(spread, abs(wanted), power, alpha)
    low, high = (_t_test_units(spread * factor, abs(wanted), power, alpha)
                 for factor in _deviation_factors(n_units))  # fmt: skip
    pilot = _Pilot(centred, shift, owner, alpha, seed)
    units = needed if needed > MOST_UNITS else _least(pilot, int(needed), power)
    return SampleSize(
        units, needed, low, high, pilot.power(n_units), spread, n_units, len(values), mean
    )


def centred_on(differences: Floats, wanted: float) -> tuple[Floats, Floats]:
    """Return deviations from the mean, and what to add to them so that the mean is the wanted one.

    Zeros stay zero, unless all are.

    Examples
    --------
    >>> centred, shift = centred_on(np.array([0.0, 0.1, 0.3, 0.0]), 0.05)
    >>> centred.round(3).tolist(), shift.tolist()
    ([0.0, -0.1, 0.1, 0.0], [0.0, 0.1, 0.1, 0.0])
    """
    some = np.abs(differences) > TIE
    if not some.any():
        some = np.ones(len(differences), np.bool_)
    centred = np.where(some, differences - differences[some].mean(), 0.0)
    return centred, some * (wanted * len(differences) / some.sum())


def unit_deviation(values: Floats, owner: Ints) -> float:
    """Return the standard deviation of the influence of units on the mean over cases.

    If every case is a unit, this is the standard deviation of the values.

    Examples
    --------
    >>> round(unit_deviation(np.array([1.0, 2.0, 3.0]), np.arange(3)), 3)
    1.0
    """
    n = int(owner.max()) + 1
    sums = np.bincount(owner, values - values.mean(), minlength=n) * n / len(values)
    return float(np.sqrt((sums**2).sum() / (n - 1)))


@dataclass(frozen=True, slots=True, eq=False)
class _Pilot:
    """What simulated datasets are drawn from."""

    centred: Floats
    shift: Floats
    owner: Ints
    alpha: float
    seed: int

    def power(self, units: int) -> float:
        """Return the share of simulated datasets with so many units in which p ≤ alpha."""
        generator = np.random.Generator(np.random.PCG64(self.seed))
        n_units = int(self.owner.max()) + 1
        size = max(len(self.owner) * units // n_units, 1)
        most = SIMULATED if len(self.owner) == n_units else SIMULATED_CLUSTERS
        n = int(np.clip(MOST_SIMULATED // size, FEWEST_SIMULATED, most))
        block = max(1, MOST_SIMULATED // (4 * size))
        found = []
        for start in range(0, n, block):
            shape = min(block, n - start), units
            drawn, signs = (
                generator.integers(n_units, size=shape),
                generator.integers(2, size=shape),
            )
            found.append(self._p_values(drawn, 2 * signs - 1, generator) <= self.alpha)
        return float(np.concatenate(found).mean())

    def _p_values(self, drawn: Ints, signs: Ints, generator: np.random.Generator) -> Floats:
        if len(np.unique(self.owner)) < len(self.owner):
            rows = zip(drawn, signs, strict=True)
            return np.array([self._clustered_p(*row, generator) for row in rows])
        values = self._moved(np.argsort(self.owner)[drawn], signs, generator)
        return _approximate_p(values) if drawn.shape[1] > SMALL else _exact_p(values)

    def _clustered_p(self, drawn: Ints, signs: Ints, generator: np.random.Generator) -> float:
        order = np.argsort(self.owner, kind="stable")
        starts = np.searchsorted(self.owner[order], np.arange(self.owner.max() + 2))
        members = [order[starts[unit] : starts[unit + 1]] for unit in drawn]
        cases = np.concatenate(members)
        owner = np.repeat(np.arange(len(drawn)), [len(one) for one in members])
        return signed_rank_p(self._moved(cases, signs[owner], generator), owner)

    def _moved(self, cases: Ints, signs: Ints, generator: np.random.Generator) -> Floats:
        """Return differences of drawn cases, smoothed by noise that keeps their variance.

        Without noise, a pilot of a few values would give the ranks away: a small shift decides how
        the copies of a value with either sign compare.
        """
        there = self.shift != 0
        width = NOISE * there.sum() ** -0.2
        deviation = float(np.sqrt((self.centred[there] ** 2).mean()))
        noise = generator.normal(0.0, width * deviation, cases.shape)
        smooth = (signs * self.centred[cases] + noise) / math.sqrt(1 + width**2)
        moved: Floats = np.where(there[cases], self.shift[cases] + smooth, 0.0)
        return moved


def _least(pilot: _Pilot, start: int, power: float) -> float:
    """Return the least number of units with enough power, searching around a first guess.

    The power of one simulation is noisy, and so is the answer: by a few per cent.
    """
    low, high = FEWEST_CASES - 1, max(start, FEWEST_CASES)
    while pilot.power(high) < power:
        low, high = high, math.ceil(1.3 * high)
    while high - low > max(1, high // 100):
        middle = (low + high) // 2
        if pilot.power(middle) < power:
            low = middle
        else:
            high = middle
    return float(high)


def _exact_p(values: Floats) -> Floats:
    """Return two-sided p-values of the signed-rank test of each row.

    Without ties, rows with as many zeros and the same sum of positive ranks have the same p. Ties
    are only there if all values are equal.
    """
    order = mean_ranks(*places(np.abs(values), higher_is_better=False))
    keys = np.stack([(np.where(values > 0, order, 0.0)).sum(axis=1),
                     (np.abs(values) <= TIE).sum(axis=1)], axis=1)  # fmt: skip
    _, examples, of_row = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    p = np.array([signed_rank_p(values[i]) for i in examples])
    return p[of_row.ravel()]


def _approximate_p(values: Floats) -> Floats:
    """Return two-sided p-values of the signed-rank test of each row, by the normal distribution."""
    from scipy.special import erfc

    size = np.abs(values)
    signed = np.sign(values) * mean_ranks(*places(size, higher_is_better=False))
    signed = np.where(size <= TIE, 0.0, signed)
    total, square = signed.sum(axis=1), (signed**2).sum(axis=1)
    off = np.maximum(np.abs(total) - (values.shape[1] <= EXACT_UP_TO), 0.0)
    p: Floats = np.where(square > 0, erfc(off / np.sqrt(2 * np.where(square > 0, square, 1))), 1.0)
    return p


def _t_test_units(deviation: float, wanted: float, power: float, alpha: float) -> float:
    """Return the least n for which a paired two-sided t-test has enough power.

    Examples
    --------
    >>> _t_test_units(1.0, 0.5, 0.8, 0.05)
    34.0
    """
    if deviation <= TIE:
        return float(FEWEST_CASES)
    low, high = 1, 2
    while _t_power(high, wanted / deviation, alpha) < power:
        low, high = high, 2 * high
        if high > HOPELESS:
            return math.inf
    while high - low > 1:
        middle = (low + high) // 2
        if _t_power(middle, wanted / deviation, alpha) < power:
            low = middle
        else:
            high = middle
    return float(high)


def _t_power(n: int, effect: float, alpha: float) -> float:
    from scipy.special import nctdtr, stdtrit

    bound, shift = float(stdtrit(n - 1, 1 - alpha / 2)), effect * math.sqrt(n)
    below = float(nctdtr(n - 1, shift, -bound))
    return 1 - float(nctdtr(n - 1, shift, bound)) + (0.0 if math.isnan(below) else below)


def _deviation_factors(n: int, level: float = 0.95) -> tuple[float, float]:
    """Return the 95 % interval of a standard deviation of n values, relative to the estimate."""
    from scipy.special import chdtri

    tail = (1 - level) / 2
    return (
        math.sqrt((n - 1) / float(chdtri(n - 1, tail))),
        math.sqrt((n - 1) / float(chdtri(n - 1, 1 - tail))),
    )
