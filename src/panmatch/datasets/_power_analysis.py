"""How many cases a comparison needs, from a pilot run of the same models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from panmatch.datasets._comparison import Comparison, compare
from panmatch.datasets._criteria import Criterion
from panmatch.datasets._outputs import SEED
from panmatch.datasets._rank_choice import (
    choose_matcher,
    choose_threshold,
    score_names,
)
from panmatch.datasets._statistics import SampleSize, sample_size
from panmatch.errors import Argument, OptionError, check_choice
from panmatch.evaluation import Result, Row, Table, matcher_of
from panmatch.overlap import Floats

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class NeededCases:
    """How many cases the comparison of two models needs."""

    first: str
    second: str
    found: SampleSize


@dataclass(frozen=True, eq=False)
class PowerAnalysis:
    """How many cases each pair of models needs.

    Attributes
    ----------
    criterion
        The score that is compared, with its class, matcher and threshold.
    difference, power, alpha
        The mean difference to find, the chance to find it, and the level of the two-sided test.
    pairs
        The pairs of models, the one that needs the most cases first.
    unit_name
        What is drawn: ``"case"``, or the column of clusters such as ``"patient"``.

    Examples
    --------
    >>> from panmatch import PowerAnalysis
    >>> from panmatch.datasets import Criterion, NeededCases, sample_size
    >>> from panmatch.evaluation import ClassSetting, Score
    >>> pq = Criterion(ClassSetting("cell", "things"), None, Score("pq"))
    >>> needed = sample_size([0.1, 0.0, 0.2, -0.1, 0.1, 0.1], 0.1)
    >>> found = PowerAnalysis(pq, 0.1, 0.8, 0.05, [NeededCases("unet", "ours", needed)])
    >>> found.table().frame()[["first", "second", "pilot_cases"]].to_numpy().tolist()
    [['unet', 'ours', 6]]
    """

    criterion: Criterion
    difference: float
    power: float
    alpha: float
    pairs: Sequence[NeededCases] = field(default_factory=tuple)
    unit_name: str = "case"

    def __repr__(self) -> str:
        most = self.pairs[0].found.cases
        return (
            f"PowerAnalysis({most:g} cases for a difference of {self.difference:g} in "
            f"{self.criterion.score.title}, power {self.power:g}, alpha {self.alpha:g})"
        )

    def table(self) -> Table:
        """Return a row for each pair of models."""
        return Table.of_rows([self._row(one) for one in self.pairs])

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return the table for pandas, by the name of its file."""
        return {"power": self.table().frame()}

    def _row(self, one: NeededCases) -> Row:
        found = one.found
        return self.criterion.columns | {
            "first": one.first,
            "second": one.second,
            "difference": self.difference,
            "power": self.power,
            "alpha": self.alpha,
            "cases": found.cases,
            "units": found.units,
            "units_t_test": found.by_t_test,
            "units_low": found.low,
            "units_high": found.high,
            "deviation": found.deviation,
            "pilot_cases": found.pilot_cases,
            "pilot_units": found.pilot_units,
            "pilot_difference": found.pilot_difference,
            "pilot_power": found.power_now,
        }


def power(
    result: Result,
    *,
    difference: float,
    power: float = 0.8,
    alpha: float = 0.05,
    score: str = "pq",
    class_name: str | None = None,
    strategy: str | None = None,
    threshold: float | None = None,
) -> PowerAnalysis:
    """Return how many cases are needed to find a difference between models.

    The pilot run says how much the paired differences of two models vary. From these, datasets are
    simulated in which the mean difference is the wanted one. The answer is the least number of
    cases for which Wilcoxon's signed-rank test, as in `compare`, finds it with the wanted power.
    With clusters, clusters are drawn.

    Parameters
    ----------
    result
        A pilot run of two or more models with at least 5 cases, better 20.
    difference
        The mean difference to find, such as 0.03, in the unit of the score.
    power
        The wanted chance of p ≤ alpha.
    alpha
        Level of the two-sided test. If you will correct for k comparisons, divide it by k.
    score
        What is compared, such as ``"pq"`` or ``"sq_hd95"``.
    class_name
        The class; by default the headline class, which may be the mean of classes.
    strategy, threshold
        How objects are matched; by default the first of the spec.

    Examples
    --------
    >>> import panmatch as pm
    >>> pilot = pm.Evaluator("cells")
    >>> for case in range(6):
    ...     for model, end in {"a": 9, "b": 8 - case % 3}.items():
    ...         objects = [[1] * end + [0] * (10 - end)]
    ...         pilot.update(
    ...             reference=[[1] * 10], prediction=objects, case=f"c{case}", model=model
    ...         )
    >>> pm.power(pilot.compute(), difference=0.1)
    PowerAnalysis(9 cases for a difference of 0.1 in PQ, power 0.8, alpha 0.05)
    """
    check_numbers(difference, power, alpha)
    comparison = compare(result, score_names(result, [score], Argument("score")))
    criterion = _criterion(comparison, result, class_name, strategy, threshold)
    values, units = comparison.values[criterion], comparison.resampling.unit_of
    pairs = [
        NeededCases(
            comparison.models[a],
            comparison.models[b],
            sample_size(_differences(values, a, b), difference, clusters=units, power=power,
                        alpha=alpha, seed=SEED),
        )
        for a, b in combinations(range(len(comparison.models)), 2)
    ]  # fmt: skip
    pairs.sort(key=lambda one: -np.nan_to_num(one.found.cases, nan=np.inf))
    name = result.spec.averaging.cluster or "case"
    return PowerAnalysis(criterion, difference, power, alpha, tuple(pairs), name)


def check_numbers(difference: float, power: float, alpha: float) -> None:
    """Raise an `OptionError` unless all three numbers make sense."""
    if not difference > 0 or np.isinf(difference):
        raise OptionError(
            Argument("difference", difference), " is not a difference to find: pass a number above "
            "0, such as 0.03.",
        )  # fmt: skip
    for name, value in (("power", power), ("alpha", alpha)):
        if not 0 < value < 1:
            raise OptionError(
                Argument(name, value), " is not a probability: pass a number between 0 and 1."
            )
    if power <= alpha:
        raise OptionError(
            Argument("power", power), f" is not above alpha={alpha:g}, which even a test without "
            f"cases has: pass a higher power.",
        )  # fmt: skip


def _criterion(
    comparison: Comparison,
    result: Result,
    class_name: str | None,
    strategy: str | None,
    threshold: float | None,
) -> Criterion:
    """Return what the models are compared by."""
    matcher, level = choose_matcher(result.spec, strategy), choose_threshold(result.spec, threshold)
    found = {
        criterion.setting.class_name: criterion
        for criterion in comparison.values
        if matcher_of(criterion.setting) in (None, matcher) and criterion.threshold in (None, level)
    }
    if class_name is None:
        class_name = comparison.headline_class
        if class_name not in found:  # a single class with parts has no mean over classes
            class_name = next(iter(found))
    check_choice(Argument("class_name", flag="--class"), class_name, found)
    return found[class_name]


def _differences(values: Floats, a: int, b: int) -> Floats:
    with np.errstate(invalid="ignore"):  # ∞ − ∞
        return np.where(values[:, a] == values[:, b], 0.0, values[:, a] - values[:, b])
