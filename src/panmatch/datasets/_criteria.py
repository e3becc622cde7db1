"""What models are compared by, and the outcome: criteria, differences and placings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from panmatch.datasets._statistics import Interval, PairedTest
from panmatch.evaluation import ClassSetting, Row, Score


@dataclass(frozen=True, slots=True)
class Criterion:
    """What models are compared by: a score under a setting, at a threshold (None for areas)."""

    setting: ClassSetting
    threshold: float | None
    score: Score

    @property
    def level(self) -> str:
        """The threshold in words."""
        if self.threshold is not None:
            return f"{self.threshold:g}"
        return "area" if self.score.is_area else ""

    @property
    def columns(self) -> Row:
        """The criterion as columns of a table."""
        threshold = np.nan if self.threshold is None else self.threshold
        return {**self.setting.columns, "threshold": threshold, "measure": self.score.name}


@dataclass(frozen=True, slots=True)
class Difference:
    """How much better the first of two models is than the second."""

    criterion: Criterion
    first: str
    second: str
    test: PairedTest
    p_holm: float  # corrected over the pairs of models
    p_holm_all: float  # corrected over everything that is compared

    @property
    def columns(self) -> Row:
        """The difference as columns of a table."""
        test = self.test
        return self.criterion.columns | {
            "first": self.first,
            "second": self.second,
            "difference": test.mean_difference,
            "low": test.interval.low,
            "high": test.interval.high,
            "p": test.p_value,
            "p_holm": self.p_holm,
            "p_holm_all": self.p_holm_all,
            "wins": test.wins,
            "losses": test.losses,
            "ties": test.ties,
            "cases": test.n,
            "skipped": test.skipped,
        }


@dataclass(frozen=True, slots=True)
class Placing:
    """One model in a ranking: its mean of cases, its rank, and how often it comes first.

    With fewer than 5 cases, the interval and the share of first places are NaN.
    """

    criterion: Criterion
    model: str
    rank: float
    value: float
    interval: Interval
    first_share: float

    @property
    def columns(self) -> Row:
        """The placing as columns of a table."""
        return self.criterion.columns | {
            "model": self.model,
            "rank": self.rank,
            "value": self.value,
            "low": self.interval.low,
            "high": self.interval.high,
            "first_share": self.first_share,
        }
