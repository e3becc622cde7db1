"""What is drawn at random: cases, or clusters of cases such as all scans of a patient."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from panmatch.datasets._statistics._bootstrap import (
    FEWEST_CASES,
    Interval,
    as_scores,
    check_level,
    resample,
)
from panmatch.datasets._statistics._intervals import (
    IntervalMethod,
    ResampledScores,
    interval_ends,
)
from panmatch.errors import ShapeError
from panmatch.evaluation import resampled_means
from panmatch.matching import Weights
from panmatch.overlap import Floats, Ints

# With more units, nothing is left out in turn, and every interval is the percentile interval: the
# three differ by less than the noise of the resamples.
MOST_LEFT_OUT = 1000

Bounds = tuple[float, float]
UNBOUNDED: Bounds = (-math.inf, math.inf)


@dataclass(frozen=True, eq=False)
class Resampling:
    """Resamples of units, and the intervals that follow from them.

    Attributes
    ----------
    counts
        How often each unit is drawn, shape (resamples, units).
    unit_of
        The unit of each case, from 0.
    method
        Which bootstrap interval to use.

    Examples
    --------
    >>> by_patient = Resampling.of(["ann", "ann", "bob"], n_resamples=2)
    >>> by_patient.counts.tolist(), by_patient.unit_of.tolist()
    ([[0, 2], [1, 1]], [0, 0, 1])
    >>> by_patient.weights.tolist()
    [[0, 0, 2], [1, 1, 1], [1, 1, 1], [0, 0, 1], [1, 1, 0]]
    """

    counts: Weights
    unit_of: Ints
    method: IntervalMethod = "studentised"

    @classmethod
    def of(
        cls,
        units: int | Sequence[str],
        method: IntervalMethod = "studentised",
        *,
        n_resamples: int = 2000,
        seed: int = 0,
    ) -> Resampling:
        """Draw cases, given their number, or clusters, given the cluster of each case."""
        if isinstance(units, int):
            return cls(resample(units, n_resamples, seed), np.arange(units), method)
        names = {name: i for i, name in enumerate(dict.fromkeys(units))}
        unit_of = np.array([names[name] for name in units], np.int64)
        return cls(resample(len(names), n_resamples, seed), unit_of, method)

    @property
    def n_units(self) -> int:
        """How many units there are."""
        return int(self.counts.shape[1])

    @property
    def n_cases(self) -> int:
        """How many cases there are."""
        return len(self.unit_of)

    @property
    def is_clustered(self) -> bool:
        """Whether some units have several cases."""
        return self.n_units < self.n_cases

    @cached_property
    def _float_counts(self) -> Floats:
        return self.counts.astype(np.float64)  # once for all scores

    @cached_property
    def drawn(self) -> Weights:
        """How often each case counts in every resample, shape (resamples, cases)."""
        return self.counts[:, self.unit_of]

    @cached_property
    def weights(self) -> Weights:
        """How often each case counts: in resamples, once each, and without each unit in turn."""
        if self.n_units > MOST_LEFT_OUT:
            return self.drawn
        once = np.ones((1, self.n_cases), np.int32)
        without = np.arange(self.n_units)[:, np.newaxis] != self.unit_of
        return np.concatenate([self.drawn, once, without.astype(np.int32)])

    def interval(
        self,
        scores: npt.ArrayLike,
        n_units: int,
        *,
        bounds: Bounds = UNBOUNDED,
        level: float = 0.95,
    ) -> Interval:
        """Return the interval of a score, undefined if fewer than 5 units have the score.

        Parameters
        ----------
        scores
            The score under each row of `weights`.
        n_units
            How many units have the score.
        bounds
            The lowest and highest possible score.
        level
            Confidence level.
        """
        check_level(level)
        found = as_scores("scores", scores)
        n = len(self.counts)
        if n_units < FEWEST_CASES or np.isnan(found[:n]).all():
            return Interval(math.nan, math.nan, level)
        if self.n_units > MOST_LEFT_OUT:
            rows = ResampledScores(found[None], found[:1], found[None, :0], self.counts)
            ends = interval_ends(rows, "percentile", level)
        else:
            rows = ResampledScores(found[None, :n], found[n : n + 1], found[None, n + 1 :],
                                   self._float_counts)  # fmt: skip
            ends = interval_ends(rows, self.method, level)
        low, high = (float(np.clip(end[0], *bounds)) for end in ends)
        return Interval(low, high, level)

    def mean_interval(
        self, values: npt.ArrayLike, *, bounds: Bounds = UNBOUNDED, level: float = 0.95
    ) -> Interval:
        """Return the interval of the mean of cases, given the score of each; NaN is skipped.

        Examples
        --------
        >>> found = Resampling.of(5).mean_interval([0.6, 0.7, 0.7, 0.8, 0.9])
        >>> round(found.low, 3), round(found.high, 3)
        (0.613, 0.907)
        >>> Resampling.of(4).mean_interval([0.6, 0.7, 0.7, 0.8]).is_defined
        False
        """
        scores = as_scores("values", values)
        if len(scores) != self.n_cases:
            raise ShapeError(
                f"values has {len(scores)} cases, but {self.n_cases} were resampled: pass a score "
                f"for each, NaN where it is undefined."
            )
        defined = self.n_defined(scores)
        if defined < FEWEST_CASES:
            return Interval(math.nan, math.nan, level)
        means = resampled_means(scores, self.weights)
        return self.interval(means, defined, bounds=bounds, level=level)

    def n_defined(self, values: Floats) -> int:
        """Return how many units have a case with a score."""
        return len(np.unique(self.unit_of[~np.isnan(values)]))
