"""Scores over the confidence cut: the best cut, average precision and FROC."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from panmatch.errors import OptionError, check_choice
from panmatch.matching import Scored, Tallies, Tally, ratio
from panmatch.overlap import Floats, Ints, check_cut

Interpolation = Literal["all-point", "101-point", "none"]
CutScore = Literal["pq", "sq", "rq", "f1", "precision", "recall", "accuracy"]

RECALLS = np.linspace(0.0, 1.0, 101)
CPM_RATES = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)


@dataclass(frozen=True, slots=True)
class BestCut:
    """The cuts at which a score is highest.

    Attributes
    ----------
    low, high
        All cuts c with ``low < c <= high`` give this score; ``high`` is the lowest confidence that
        is kept.
    tally
        Of what is kept.

    Examples
    --------
    >>> import panmatch as pm
    >>> ov = pm.count_overlaps([1, 1, 0, 2], [4, 4, 5, 0]).with_confidence([0.9, 0.4])
    >>> pm.surface(ov).best_cut(0.5)
    BestCut(low=0.4, high=0.9, tally=Tally(tp=1, fp=0, fn=1, quality=1.0))
    """

    low: float
    high: float
    tally: Tally


@dataclass(frozen=True, slots=True, eq=False)
class CutCurve(Scored[Floats, Ints]):
    """The tally at every confidence cut, at one threshold.

    Row i holds for all cuts c with ``cuts[i + 1] < c <= cuts[i]``: predictions with a confidence of
    at least c are kept, and matched as if there were no others.

    Attributes
    ----------
    cuts
        Confidences at which the tally changes, falling; the first is infinite, where no prediction
        is left.
    tallies
        Of every row: `tp`, `fp`, `fn`, and the scores `pq`, `precision`, `recall` … are arrays.
    n_cases
        How many cases were pooled.

    Examples
    --------
    >>> import panmatch as pm
    >>> ov = pm.count_overlaps([1, 1, 0, 2], [4, 4, 5, 0]).with_confidence([0.9, 0.4])
    >>> found = pm.surface(ov).over_cuts(0.5)
    >>> found.cuts.tolist(), found.fp.tolist(), found.recall.tolist()
    ([inf, 0.9, 0.4], [0, 0, 1], [0.0, 0.5, 0.5])
    """

    cuts: Floats
    tallies: Tallies
    n_cases: int

    @property
    def tp(self) -> Ints:  # type: ignore[override]
        """True positives of every row."""
        return self.tallies.tp

    @property
    def fp(self) -> Ints:  # type: ignore[override]
        """False positives of every row."""
        return self.tallies.fp

    @property
    def fn(self) -> Ints:  # type: ignore[override]
        """False negatives of every row."""
        return self.tallies.fn

    @property
    def quality(self) -> Floats:
        """Summed quality of the true positives of every row."""
        return self.tallies.quality

    def at(self, cut: float) -> Tally:
        """Return the tally of the predictions with a confidence of at least `cut`."""
        row = int(np.count_nonzero(self.cuts >= check_cut(cut))) - 1
        return self.tallies.tally(row)

    def best(self, score: CutScore = "pq") -> BestCut:
        """Return where a score is highest; among equals the highest cut, NaN aside.

        Examples
        --------
        >>> import panmatch as pm
        >>> ov = pm.count_overlaps([1, 1, 0, 2], [4, 4, 7, 0]).with_confidence([0.9, 0.3])
        >>> pm.surface(ov).over_cuts(0.5).best()
        BestCut(low=0.3, high=0.9, tally=Tally(tp=1, fp=0, fn=1, quality=1.0))
        """
        check_choice("score", score, get_args(CutScore))
        values: Floats = getattr(self, score)
        if np.isnan(values).all():
            raise OptionError(f"score={score!r} is undefined at every cut: no image has an object.")
        row = int(np.nanargmax(values))
        last = row
        while last + 1 < len(values) and values[last + 1] == values[row]:
            last += 1
        low = float(self.cuts[last + 1]) if last + 1 < len(self.cuts) else -math.inf
        return BestCut(low, float(self.cuts[row]), self.tallies.tally(row))

    def average_precision(self, interpolation: Interpolation = "all-point") -> float:
        """Return the area under precision over recall; NaN without references.

        Parameters
        ----------
        interpolation
            ``"all-point"``: precision at a recall r is the highest of all cuts with a recall of at
            least r, integrated exactly. ``"101-point"``: the mean of that over the recalls 0, 0.01,
            …, 1. ``"none"``: precision as it is, times what each cut adds to recall.
        """
        check_choice("interpolation", interpolation, get_args(Interpolation))
        recall, precision = self.recall, self.precision
        if np.isnan(recall).any():
            return math.nan
        if interpolation == "none":
            steps = np.diff(recall) * np.nan_to_num(precision[1:])
            return math.fsum(steps.tolist())
        rising = np.argsort(recall, kind="stable")
        recall, precision = recall[rising], np.nan_to_num(precision[rising])
        highest = np.maximum.accumulate(precision[::-1])[::-1]
        if interpolation == "101-point":
            place = np.searchsorted(recall, RECALLS)
            return math.fsum(np.append(highest, 0.0)[place].tolist()) / len(RECALLS)
        widths = np.diff(recall, prepend=0.0)
        return math.fsum((widths * highest).tolist())

    def froc(self) -> Froc:
        """Return sensitivity over false positives per case."""
        return Froc(self.cuts, self.recall, self.fp / self.n_cases)


@dataclass(frozen=True, slots=True, eq=False)
class Froc:
    """Free-response ROC: sensitivity over false positives per case.

    Attributes
    ----------
    cuts
        Falling; the first is infinite.
    sensitivity
        Share of the references that are found with the predictions above each cut.
    false_positives
        Per case, at each cut.

    Examples
    --------
    >>> import panmatch as pm
    >>> ov = pm.count_overlaps([1, 1, 0, 2], [4, 4, 7, 8]).with_confidence([0.9, 0.8, 0.7])
    >>> froc = pm.surface(ov).froc(0.5)
    >>> froc.sensitivity.tolist(), froc.false_positives.tolist()
    ([0.0, 0.5, 0.5, 1.0], [0.0, 0.0, 1.0, 1.0])
    >>> froc.at(0.5), froc.at(1), round(froc.cpm, 4)
    (0.5, 1.0, 0.7857)
    """

    cuts: Floats
    sensitivity: Floats
    false_positives: Floats

    def at(self, rate: float, interpolation: Literal["step", "linear"] = "step") -> float:
        """Return the sensitivity at a number of false positives per case.

        Parameters
        ----------
        rate
            At most so many false positives per case.
        interpolation
            ``"step"``: the highest sensitivity that a cut reaches with no more of them.
            ``"linear"``: a straight line between neighbouring cuts, as in LUNA16.
        """
        check_choice("interpolation", interpolation, ("step", "linear"))
        if not rate >= 0:
            raise OptionError(f"rate={rate!r} must be a number of at least 0.")
        if interpolation == "linear":
            return float(np.interp(rate, self.false_positives, self.sensitivity))
        return float(self.sensitivity[self.false_positives <= rate].max())

    @property
    def cpm(self) -> float:
        """Competition performance metric: mean sensitivity at ⅛, ¼, ½, 1, 2, 4 and 8."""
        return self.mean_sensitivity(CPM_RATES)

    def mean_sensitivity(
        self, rates: Sequence[float], interpolation: Literal["step", "linear"] = "step"
    ) -> float:
        """Return the mean of the sensitivities at several rates."""
        return float(ratio(math.fsum(self.at(rate, interpolation) for rate in rates), len(rates)))
