"""The tally as an exact step function of the threshold and the confidence cut (D17)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from panmatch.errors import OptionError, StrategyError
from panmatch.matching import (
    Changes,
    Strategy,
    Tallies,
    Tally,
    check_overlap,
    count_changes,
    resolve_strategy,
)
from panmatch.overlap import (
    Floats,
    Ints,
    Overlap,
    Score,
    check_cut,
    check_threshold,
    keep_predictions,
    needed_confidence,
)
from panmatch.scoring._curve import Curve, all_proven, frozen_curve
from panmatch.scoring._cut_curve import BestCut, CutCurve, CutScore, Froc, Interpolation

COCO_THRESHOLDS = tuple(round(0.5 + 0.05 * i, 2) for i in range(10))
COUNTS = 6  # tp, fp, fn, and three limbs of quality


@dataclass(frozen=True, slots=True, eq=False)
class Surface:
    """The tally of a matching at every threshold and every confidence cut, stored exactly (D17).

    At a cut c, the predictions with a confidence of at least c are matched as if there were no
    others. The tally changes only at edge scores and at confidences. A row holds such a change: the
    tally at (τ, c) is the sum of all rows with ``thresholds <= τ`` and ``confidences >= c``.
    Surfaces of several images add up to the surface of the dataset, to the same bits in any order
    (D13).

    Attributes
    ----------
    thresholds, confidences, case
        Where a change happens; an infinite confidence for what does not depend on the cut.
    changes
        What it adds to the tally, shape (rows, 6), as in `Tallies.counts`.
    n_cases
        How many images were added up.
    strategy, score
        How they were matched.
    proven
        Whether every matching is proven optimal (D6); None for heuristics.

    Examples
    --------
    >>> import panmatch as pm
    >>> ov = pm.count_overlaps([1, 1, 0, 2], [4, 4, 7, 8]).with_confidence([0.9, 0.8, 0.7])
    >>> s = pm.surface(ov)
    >>> s.at(0.5, cut=0.75)
    Tally(tp=1, fp=1, fn=1, quality=1.0)
    >>> round(s.average_precision(0.5), 4), s.froc(0.5).at(0)
    (0.8333, 0.5)
    """

    thresholds: Floats
    confidences: Floats
    case: Ints
    changes: Ints
    n_cases: int
    strategy: Strategy
    score: Score = "iou"
    proven: bool | None = None

    def at(self, threshold: float, cut: float) -> Tally:
        """Return the tally at a threshold in [0, 1) and a confidence cut."""
        held = self.thresholds <= check_threshold(threshold)
        held &= self.confidences >= check_cut(cut)
        return Tallies(self.changes[held]).sum().tally()

    def over_thresholds(self, cut: float) -> Curve:
        """Return the curve of the predictions with a confidence of at least `cut` (D7)."""
        held = self.confidences >= check_cut(cut)
        thresholds, place = np.unique(np.append(self.thresholds[held], 0.0), return_inverse=True)
        tallies = _summed(place[:-1], self.changes[held], len(thresholds))
        kept = np.append(True, (tallies.counts[1:] != tallies.counts[:-1]).any(axis=1))
        return frozen_curve(
            thresholds[kept], tallies[kept], self.strategy, self.score, "iou", self.proven
        )

    def over_cuts(self, threshold: float) -> CutCurve:
        """Return the tallies at a threshold over all cuts."""
        held = self.thresholds <= check_threshold(threshold)
        falling, place = np.unique(np.append(-self.confidences[held], -np.inf), return_inverse=True)
        tallies = _summed(place[:-1], self.changes[held], len(falling))
        return CutCurve(-falling, tallies, self.n_cases)

    def best_cut(self, threshold: float, score: CutScore = "pq") -> BestCut:
        """Return the cuts at which a score is highest, and the tally there."""
        return self.over_cuts(threshold).best(score)

    def average_precision(
        self, threshold: float, interpolation: Interpolation = "all-point"
    ) -> float:
        """Return the area under precision over recall at a threshold; NaN without references.

        Every cut is matched anew with the strategy of this surface. For the ranking of the COCO
        programs, see `panmatch.related.coco_precision`.

        Parameters
        ----------
        interpolation
            ``"all-point"``, ``"101-point"`` or ``"none"``; see `CutCurve.average_precision`.
        """
        return self.over_cuts(threshold).average_precision(interpolation)

    def mean_average_precision(
        self,
        thresholds: Sequence[float] = COCO_THRESHOLDS,
        interpolation: Interpolation = "all-point",
    ) -> float:
        """Return the mean of `average_precision` over thresholds, by default 0.5, 0.55 … 0.95."""
        return _mean(self.average_precision(one, interpolation) for one in thresholds)

    def average_recall(self, thresholds: Sequence[float] = COCO_THRESHOLDS) -> float:
        """Return the mean over thresholds of the recall of all predictions."""
        return _mean(self.at(one, -math.inf).recall for one in thresholds)

    def froc(self, threshold: float) -> Froc:
        """Return sensitivity over false positives per case at a threshold."""
        return self.over_cuts(threshold).froc()

    def weighted(self, weights: Sequence[int] | Ints) -> Surface:
        """Return the surface in which case i counts ``weights[i]`` times: a resample.

        Examples
        --------
        >>> import panmatch as pm
        >>> one = pm.surface(pm.count_overlaps([1, 0], [1, 2]).with_confidence([0.9, 0.8]))
        >>> (one + one).weighted([3, 0]).at(0.5, 0.85)
        Tally(tp=3, fp=0, fn=0, quality=3.0)
        """
        times = np.asarray(weights, np.int64)
        if times.shape != (self.n_cases,) or (times < 0).any():
            raise OptionError(
                f"weights must be one whole number of at least 0 for each of the {self.n_cases} "
                f"cases, got {weights!r}."
            )
        kept = times[self.case] > 0
        return replace(
            self,
            thresholds=self.thresholds[kept],
            confidences=self.confidences[kept],
            case=self.case[kept],
            changes=self.changes[kept] * times[self.case[kept], np.newaxis],
            n_cases=int(times.sum()),
        )

    def __add__(self, other: Surface) -> Surface:
        if not isinstance(other, Surface):
            return NotImplemented
        return add_surfaces([self, other])

    def __radd__(self, other: object) -> Surface:
        return self if other == 0 else NotImplemented  # sum() starts with 0

    def __repr__(self) -> str:
        cases = "1 case" if self.n_cases == 1 else f"{self.n_cases} cases"
        return f"Surface({self.strategy.name}, {cases}, {len(self.thresholds)} changes)"


def add_surfaces(surfaces: Iterable[Surface]) -> Surface:
    """Return the surface of all cases together; faster than adding one by one.

    Examples
    --------
    >>> import panmatch as pm
    >>> ov = pm.count_overlaps([1, 1, 0, 2], [4, 4, 5, 0]).with_confidence([0.9, 0.4])
    >>> pm.add_surfaces([pm.surface(ov), pm.surface(ov)]).at(0.5, cut=0.8)
    Tally(tp=2, fp=0, fn=2, quality=2.0)
    """
    every = list(surfaces)
    if not every:
        raise OptionError("surfaces is empty: add the surfaces of at least one case.")
    first = every[0]
    for other in every[1:]:
        if (first.strategy, first.score) != (other.strategy, other.score):
            raise StrategyError(
                f"surfaces can only be added if they were made the same way: one is "
                f"{first.strategy!r} with score {first.score!r}, the other {other.strategy!r} with "
                f"score {other.score!r}."
            )
    starts = np.cumsum([0, *(one.n_cases for one in every)])
    return replace(
        first,
        thresholds=np.concatenate([one.thresholds for one in every]),
        confidences=np.concatenate([one.confidences for one in every]),
        case=np.concatenate(
            [one.case + start for one, start in zip(every, starts[:-1], strict=True)]
        ),
        changes=np.concatenate([one.changes for one in every]),
        n_cases=int(starts[-1]),
        proven=all_proven([one.proven for one in every]),
    )


def surface(
    overlap: Overlap, strategy: str | Strategy = "one-to-one", *, score: Score = "iou"
) -> Surface:
    """Match at every threshold and every confidence cut at once (D17).

    Parameters
    ----------
    overlap
        With confidences: ``overlap.with_confidence(values)``.
    strategy, score
        As for `match`.

    Returns
    -------
    Surface
        ``surface(overlap, s).at(τ, c)`` equals ``match(overlap.above_cut(c), s, τ).tally`` for
        every threshold τ and cut c (for many-to-one and one-to-many optima: its PQ).

    Examples
    --------
    >>> import panmatch as pm
    >>> ov = pm.Overlap.from_dense([[6, 3], [0, 4]], ref_sizes=[10, 5], pred_sizes=[6, 8])
    >>> s = pm.surface(ov.with_confidence([0.9, 0.6]), "many-to-one")
    >>> s.at(0.3, cut=0.7)
    Tally(tp=1, fp=0, fn=1, quality=0.6)
    >>> best = s.best_cut(0.3)
    >>> best.low, best.high, best.tally.tp, round(best.tally.pq, 4)
    (-inf, 0.6, 2, 0.5222)
    """
    check_overlap(overlap)
    chosen = resolve_strategy(strategy)
    chosen.prepare(overlap)
    levels = _Levels.of(overlap, chosen)
    rows = [_Rows.base(overlap)]
    proofs: list[bool | None] = []
    for number in range(levels.count):
        found, proven = levels.round(overlap, chosen, score, number)
        rows += found
        proofs.append(proven)
    thresholds, confidences, changes = _collected(rows)
    proven = all_proven(proofs) if proofs and score == "iou" else None
    case = np.zeros(len(thresholds), np.int64)
    return Surface(thresholds, confidences, case, changes, 1, chosen, score, proven)


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """Changes of the tally."""

    threshold: Floats
    confidence: Floats
    counts: Ints

    @classmethod
    def base(cls, overlap: Overlap) -> _Rows:
        """Everything is missed without predictions, and each is a false positive until matched."""
        counted = ~overlap.predictions.dismissible
        counts = np.zeros((1 + int(counted.sum()), COUNTS), np.int64)
        counts[0, 2] = len(overlap.ref_ids)
        counts[1:, 1] = 1
        at = np.concatenate([[np.inf], needed_confidence(overlap)[counted]])
        return cls(np.zeros(len(counts)), at, counts)


@dataclass(frozen=True, slots=True, eq=False)
class _Levels:
    """Parts of a graph that are matched on their own, and the confidences in each.

    Attributes
    ----------
    of_ref, of_pred
        The part of every reference and whole prediction.
    rank
        Of every prediction: how many higher confidences its part has.
    values
        Shape (parts, levels): the confidences of each part, falling; −inf where it has no more.
    """

    of_ref: Ints
    of_pred: Ints
    rank: Ints
    values: Floats

    @property
    def count(self) -> int:
        """The most confidences that a part has."""
        return int(self.values.shape[1])

    @classmethod
    def of(cls, overlap: Overlap, strategy: Strategy) -> _Levels:
        confidence = needed_confidence(overlap)
        if overlap.pieces is None and strategy.is_local(overlap, 0.0):
            of_ref, of_pred = overlap.components()
        else:
            of_ref = np.zeros(len(overlap.ref_ids), np.int64)
            of_pred = np.zeros(len(confidence), np.int64)
        order = np.lexsort((-confidence, of_pred))
        part, value = of_pred[order], confidence[order]
        begins = np.diff(part, prepend=-1) != 0
        steps = begins | (np.diff(value, prepend=np.inf) != 0)
        total = np.cumsum(steps)
        ranks = total - total[np.flatnonzero(begins)][np.cumsum(begins) - 1]
        rank = np.zeros(len(order), np.int64)
        rank[order] = ranks
        n_parts = int(max(of_ref.max(initial=-1), of_pred.max(initial=-1))) + 1
        values = np.full((n_parts, int(rank.max(initial=-1)) + 1), -np.inf)
        values[part, ranks] = value
        return cls(of_ref, of_pred, rank, values)

    def round(
        self, overlap: Overlap, strategy: Strategy, score: Score, number: int
    ) -> tuple[list[_Rows], bool | None]:
        """Match every part with its highest confidences, so many of them, and return the changes.

        They hold from the last of these confidences down to the next.
        """
        has = self.values[:, number] > -np.inf
        kept = has[self.of_pred] & (self.rank <= number)
        graph = strategy.prepare(keep_predictions(overlap, kept))
        course = strategy.sweep(graph, graph.score(score))
        changes = count_changes(graph, course)
        ref_part, pred_part = self.of_ref[changes.ref], self.of_pred[kept][changes.pred]
        begin = self.values[:, number]
        following = self.values[:, number + 1] if number + 1 < self.count else None
        rows = list(_rows_of(changes, begin[ref_part], begin[pred_part], sign=1))
        if following is not None:
            rows += _rows_of(changes, following[ref_part], following[pred_part], sign=-1)
        return rows, course.proven


def _rows_of(changes: Changes, of_ref: Floats, of_pred: Floats, sign: int) -> Iterator[_Rows]:
    """Return changes as rows, given the confidence from which on each holds; −inf for never."""
    counts = np.zeros((len(changes.ref), COUNTS), np.int64)
    counts[:, 0], counts[:, 2], counts[:, 3:] = changes.tp, -changes.tp, changes.limbs
    held = of_ref > -np.inf
    yield _Rows(changes.ref_at[held], of_ref[held], sign * counts[held])
    counts = np.zeros((len(changes.pred), COUNTS), np.int64)
    counts[:, 1] = -changes.matched
    held = of_pred > -np.inf
    yield _Rows(changes.pred_at[held], of_pred[held], sign * counts[held])


def _collected(rows: Sequence[_Rows]) -> tuple[Floats, Floats, Ints]:
    """Add up the changes at the same place, and leave out what cancels."""
    threshold = np.concatenate([one.threshold for one in rows])
    confidence = np.concatenate([one.confidence for one in rows])
    counts = np.concatenate([one.counts for one in rows])
    order = np.lexsort((confidence, threshold))
    threshold, confidence, counts = threshold[order], confidence[order], counts[order]
    differs = (np.diff(threshold, prepend=-1.0) != 0) | (confidence != np.roll(confidence, 1))
    begins = np.flatnonzero(differs)
    sums = np.add.reduceat(counts, begins, axis=0)
    kept = sums.any(axis=1)
    return threshold[begins][kept], confidence[begins][kept], sums[kept]


def _summed(place: Ints, changes: Ints, n: int) -> Tallies:
    """Return running sums of changes over n places."""
    totals = np.zeros((n, COUNTS), np.int64)
    np.add.at(totals, place, changes)
    return Tallies(totals).cumulative()


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return math.fsum(listed) / len(listed) if listed else math.nan
