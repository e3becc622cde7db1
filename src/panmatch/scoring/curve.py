"""PQ, SQ and RQ as exact functions of the threshold, and the areas under them (D7)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from panmatch.errors import StrategyError
from panmatch.matching import OneToOne, Strategy, Tally, check_overlap, resolve_strategy
from panmatch.overlap import Floats, Ints, Overlap, Score, check_threshold
from panmatch.scoring.steps import count_steps


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """The tally of a matching at every threshold in [0, 1), stored exactly (D7).

    The tally changes only at edge scores: row i of every array holds for
    ``thresholds[i] <= τ < thresholds[i + 1]``, the last row up to 1. Curves of several images
    add up to the curve of the dataset.

    Attributes
    ----------
    thresholds
        Where the tally changes, rising, float64; the first is 0.
    tp, fp, fn
        Counts, int64.
    quality
        Summed quality of the true positives, float64.
    strategy, score
        How the images were matched.
    proven
        For an optimal solver, whether every matching on the way is proven optimal (D6); None for
        heuristics. In a sum of curves, every image has its own optimum.

    Examples
    --------
    >>> ov = Overlap.from_dense([[6, 0], [0, 5]], ref_sizes=[10, 5], pred_sizes=[6, 9])
    >>> c = curve(ov)
    >>> c.thresholds.round(4).tolist(), c.tp.tolist()
    ([0.0, 0.5556, 0.6], [2, 1, 0])
    >>> c.at(0.58)
    Tally(tp=1, fp=1, fn=1, quality=0.6)
    >>> round(c.autc, 6)
    0.334321
    """

    thresholds: Floats
    tp: Ints
    fp: Ints
    fn: Ints
    quality: Floats
    strategy: Strategy
    score: Score
    proven: bool | None = None

    def at(self, threshold: float) -> Tally:
        """Return the tally at any threshold in [0, 1); it has PQ, SQ, RQ, precision, recall, F1."""
        i = int(self._rows(np.array([check_threshold(threshold)]))[0])
        return Tally(int(self.tp[i]), int(self.fp[i]), int(self.fn[i]), float(self.quality[i]))

    @property
    def pq(self) -> Floats:
        """PQ on every step; NaN if both sides are empty (D11)."""
        return _ratio(self.quality, self._denominator)

    @property
    def sq(self) -> Floats:
        """SQ on every step; 0 where there is no true positive, NaN if both sides are empty."""
        return np.where(self.tp > 0, _ratio(self.quality, self.tp), self.rq)

    @property
    def rq(self) -> Floats:
        """RQ on every step; NaN if both sides are empty."""
        return _ratio(self.tp, self._denominator)

    @property
    def autc(self) -> float:
        """Area under the threshold curve: ∫ PQ(τ) dτ over [0, 1), a finite sum."""
        return self._area(self.pq)

    @property
    def autc_sq(self) -> float:
        """∫ SQ(τ) dτ over [0, 1), with SQ = 0 where there is no true positive."""
        return self._area(self.sq)

    @property
    def autc_rq(self) -> float:
        """∫ RQ(τ) dτ over [0, 1)."""
        return self._area(self.rq)

    @property
    def npq(self) -> float:
        """NPQ: `autc_rq` under one-to-one matching by IoU; an error for other curves."""
        self._require("npq", isinstance(self.strategy, OneToOne), "a one-to-one", "autc_rq")
        return self.autc_rq

    @property
    def sorted_ap(self) -> float:
        """sortedAP: ∫ TP/(TP+FP+FN) dτ under optimal one-to-one matching; else an error."""
        fits = self.strategy == OneToOne(solver="optimal")
        self._require("sorted_ap", fits, "an optimal one-to-one", "at(τ)")
        return self._area(_ratio(self.tp, self.tp + self.fp + self.fn))

    def __add__(self, other: Curve) -> Curve:
        if not isinstance(other, Curve):
            return NotImplemented
        if (self.strategy, self.score) != (other.strategy, other.score):
            raise StrategyError(
                f"curves add only if made alike: one is {self.strategy!r} with score "
                f"{self.score!r}, the other {other.strategy!r} with score {other.score!r}."
            )
        thresholds = np.union1d(self.thresholds, other.thresholds)
        mine, theirs = self._rows(thresholds), other._rows(thresholds)
        return Curve(
            thresholds,
            self.tp[mine] + other.tp[theirs],
            self.fp[mine] + other.fp[theirs],
            self.fn[mine] + other.fn[theirs],
            self.quality[mine] + other.quality[theirs],
            self.strategy,
            self.score,
            self.proven and other.proven,
        )

    def __radd__(self, other: object) -> Curve:
        return self if other == 0 else NotImplemented  # sum() begins with 0

    def __repr__(self) -> str:
        return (
            f"Curve({self.strategy.name}, {len(self.thresholds)} steps: AUTC={self.autc:.4f}, "
            f"AUTC_SQ={self.autc_sq:.4f}, AUTC_RQ={self.autc_rq:.4f})"
        )

    @property
    def _denominator(self) -> Floats:
        denominator: Floats = self.tp + 0.5 * self.fp + 0.5 * self.fn
        return denominator

    def _rows(self, thresholds: Floats) -> Ints:
        return np.searchsorted(self.thresholds, thresholds, side="right") - 1

    def _area(self, heights: Floats) -> float:
        return float(heights @ np.diff(self.thresholds, append=1.0))

    def _require(self, quantity: str, fits: bool, kind: str, instead: str) -> None:
        if not fits or self.score != "iou":
            raise StrategyError(
                f"{quantity} is defined for {kind} curve by IoU (D7), but this one is "
                f"{self.strategy!r} with score {self.score!r}: use {instead}, or make another "
                f"curve."
            )


def curve(
    overlap: Overlap, strategy: str | Strategy = "one-to-one", *, score: Score = "iou"
) -> Curve:
    """Match at every threshold at once (D7).

    Parameters
    ----------
    overlap, strategy, score
        As for `match`.

    Returns
    -------
    Curve
        ``curve(overlap, s).at(τ)`` equals ``match(overlap, s, τ).tally`` for every τ in [0, 1)
        (for many-to-one and one-to-many optima: its PQ; several matchings may share it).
    """
    check_overlap(overlap)
    chosen = resolve_strategy(strategy)
    overlap = chosen.prepare(overlap)
    course = chosen.sweep(overlap.without_parts(), overlap.score(score))
    steps = count_steps(overlap, course)
    columns = (steps.thresholds, steps.tp, steps.fp, steps.fn, steps.quality)
    for column in columns:
        column.flags.writeable = False
    return Curve(*columns, strategy=chosen, score=score, proven=course.proven)


def _ratio(part: Floats | Ints, whole: Floats | Ints) -> Floats:
    """Divide; where the whole is 0 the ratio is undefined: NaN, without a warning."""
    ratio: Floats = np.full(len(whole), np.nan)
    np.divide(part, whole, out=ratio, where=whole != 0)
    return ratio
