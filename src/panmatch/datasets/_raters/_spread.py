"""Whether a model is inside the spread of the raters (D18)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from panmatch.datasets._outputs import resampling_of_cases
from panmatch.datasets._statistics import Interval, Resampling
from panmatch.errors import OptionError
from panmatch.evaluation import CaseSeries, Result, Row, Score, Setting, filled, mean_of_defined
from panmatch.overlap import Floats

Verdict = Literal["inside", "below", "above", "unclear"]
LEVEL = 0.95
PQ, AUTC = Score("pq"), Score("autc", is_area=True)
LIMITS = (-1.0, 1.0)  # of a difference between two shares


@dataclass(frozen=True, slots=True)
class RaterDifference:
    """A model compared with one rater, both scored against all other raters.

    Attributes
    ----------
    rater
        The rater who is left out of the references.
    model_value, rater_value
        Mean of cases of the mean score against the other raters.
    interval
        Of the difference, model − rater.
    wide_interval
        The same at a level at which all raters hold together (Bonferroni).
    cases
        How many cases have both scores.
    """

    rater: str
    model_value: float
    rater_value: float
    difference: float
    interval: Interval
    wide_interval: Interval
    cases: int


@dataclass(frozen=True, slots=True)
class Spread:
    """A model compared with every rater under one setting, by one score.

    Attributes
    ----------
    model, setting, threshold, score
        What is compared; the threshold is None for areas.
    differences
        One for each rater.
    """

    model: str
    setting: Setting
    threshold: float | None
    score: Score
    differences: tuple[RaterDifference, ...]

    @property
    def over_worst(self) -> float:
        """The greatest difference: to the rater whom the model beats by most."""
        return _known(max, [one.difference for one in self.differences])

    @property
    def over_best(self) -> float:
        """The least difference: to the rater who beats the model by most."""
        return _known(min, [one.difference for one in self.differences])

    @property
    def over_worst_interval(self) -> Interval:
        """Interval of the greatest difference.

        One interval must be all below the end for the greatest to be, so the upper end needs no
        correction. The lower end holds if any of them does, so it needs one.
        """
        low = _known(max, [one.wide_interval.low for one in self.differences])
        high = _known(max, [one.interval.high for one in self.differences])
        return Interval(low, high, LEVEL)

    @property
    def over_best_interval(self) -> Interval:
        """Interval of the least difference; the mirror image of the other."""
        low = _known(min, [one.interval.low for one in self.differences])
        high = _known(min, [one.wide_interval.high for one in self.differences])
        return Interval(low, high, LEVEL)

    def verdict(self, margin: float = 0.0) -> Verdict:
        """Say where the model is: among the raters, below or above all of them, or unclear.

        Parameters
        ----------
        margin
            Differences up to this do not matter.
        """
        if not 0.0 <= margin < 1.0:
            raise OptionError(f"margin={margin!r} must be a difference in PQ from 0 to below 1.")
        worst, best = self.over_worst_interval, self.over_best_interval
        if worst.high < -margin:
            return "below"
        if best.low > margin:
            return "above"
        return "inside" if worst.low > -margin and best.high < margin else "unclear"

    def rows(self, margin: float = 0.0) -> list[Row]:
        """Return a row for each rater, and two for the worst and the best of them."""
        who: Row = {"model": self.model, **self.setting.columns, "threshold": self.threshold,
                    "measure": self.score.name, "averaging": "mean of cases"}  # fmt: skip
        rows = [who | _difference_row(one) for one in self.differences]
        cases = min((one.cases for one in self.differences), default=0)
        for name, value, ends in (
            ("worst", self.over_worst, self.over_worst_interval),
            ("best", self.over_best, self.over_best_interval),
        ):
            about: Row = {"compared_with": f"the {name} rater", "difference": value,
                          "low": ends.low, "high": ends.high, "cases": cases}  # fmt: skip
            rows.append(who | about | {"margin": margin, "verdict": self.verdict(margin)})
        return rows


def _known(extreme: Callable[[list[float]], float], values: list[float]) -> float:
    """Return the extreme of values, undefined if one of them is."""
    return math.nan if any(map(math.isnan, values)) else extreme(values)


def _difference_row(one: RaterDifference) -> Row:
    return {
        "compared_with": one.rater,
        "model_value": one.model_value,
        "rater_value": one.rater_value,
        "difference": one.difference,
        "low": one.interval.low,
        "high": one.interval.high,
        "cases": one.cases,
    }


def find_spreads(
    results: Mapping[str, Result], models: Sequence[str], cases: Sequence[str]
) -> Iterator[Spread]:
    """Yield the spread of PQ and AUTC for every model, class, matcher and threshold."""
    undefined = next(iter(results.values())).spec.averaging.undefined
    scores = {
        (rater, series.model, series.setting, threshold, score): _by_case(
            series, filled(score, values, undefined, series.results), cases
        )
        for rater, one in results.items()
        for series in one.series
        for (threshold, score), values in series.case_scores().items()
        if score in (PQ, AUTC)
    }
    if not cases:
        return
    first = next(iter(results.values()))
    named = {case.case: case for case in first.with_status("ok")}
    resampling = resampling_of_cases([named[name] for name in cases], first.spec)
    places = dict.fromkeys(key[2:] for key in scores)
    nothing = np.full(len(cases), np.nan)
    for setting, threshold, score in places:
        against = {
            (rater, other): scores.get((rater, other, setting, threshold, score), nothing)
            for rater in results
            for other in (*results, *models)
            if rater != other
        }
        for model in models:
            differences = compare_with_raters(against, tuple(results), model, resampling)
            yield Spread(model, setting, threshold, score, differences)


def compare_with_raters(
    against: Mapping[tuple[str, str], Floats],
    raters: Sequence[str],
    model: str,
    resampling: Resampling,
) -> tuple[RaterDifference, ...]:
    """Compare a model with each rater, leaving that rater out of the references.

    Parameters
    ----------
    against
        The score of each case, by rater as reference, and model or other rater.
    resampling
        How cases are drawn.
    """
    found = []
    for rater in raters:
        rest = [one for one in raters if one != rater]
        mine = np.array([against[one, model] for one in rest])
        theirs = np.array([against[one, rater] for one in rest])
        both = np.where(np.isnan(mine) | np.isnan(theirs), np.nan, 1.0)  # the same references
        values = mean_of_defined(mine * both), mean_of_defined(theirs * both)
        difference = values[0] - values[1]
        wide = 1 - (1 - LEVEL) / len(raters)
        found.append(
            RaterDifference(
                rater,
                float(mean_of_defined(values[0])),
                float(mean_of_defined(values[1])),
                float(mean_of_defined(difference)),
                resampling.mean_interval(difference, bounds=LIMITS, level=LEVEL),
                resampling.mean_interval(difference, bounds=LIMITS, level=wide),
                int(np.count_nonzero(~np.isnan(difference))),
            )
        )
    return tuple(found)


def _by_case(series: CaseSeries, values: Floats, cases: Sequence[str]) -> Floats:
    """Return the scores of the given cases."""
    by_name = dict(zip(series.cases, values.tolist(), strict=True))
    return np.array([by_name.get(name, math.nan) for name in cases])
