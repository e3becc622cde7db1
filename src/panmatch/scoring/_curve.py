"""PQ, SQ and RQ as exact functions of the threshold, and the areas under them (D7)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from panmatch._html import block, number, plural, sparkline, table
from panmatch.errors import OptionError, StrategyError, check_choice
from panmatch.matching import (
    QUALITIES,
    Course,
    OneToOne,
    Quality,
    Scored,
    Strategy,
    Tallies,
    Tally,
    Weights,
    check_overlap,
    count_steps,
    resolve_strategy,
)
from panmatch.overlap import Floats, Ints, Overlap, Score, check_threshold

AREAS = ("autc", "autc_sq", "autc_rq")
# The steps of sweeps, by overlap and course; the overlap comes along so that it stays alive.
KnownSteps = dict[tuple[object, ...], tuple[Overlap, Floats, Tallies]]
BLOCK = 1 << 17  # numbers per column that a block of resamples may take


@dataclass(frozen=True, slots=True, eq=False)
class Curve(Scored[Floats, Ints]):
    """The tally of a matching at every threshold in [0, 1), stored exactly (D7).

    The tally changes only at edge scores: row i of every array holds for
    ``thresholds[i] <= τ < thresholds[i + 1]``, the last row up to 1. Curves of several images
    add up to the curve of the dataset, to the same bits in any order (D13).

    Attributes
    ----------
    thresholds
        Where the tally changes, rising, float64; the first is 0.
    tallies
        Of every step: `tp`, `fp`, `fn`, `quality`, and the scores `pq`, `sq`, `rq` … are arrays.
    strategy, score
        How the images were matched.
    quality_name
        Quality of a true positive: ``"iou"``, or ``"parts"`` for the curve of PartPQ (D9).
    proven
        For an optimal solver, whether the matching of every step is proven optimal (D6); None for
        heuristics. In a sum of curves, every image has its own optimum.

    Examples
    --------
    >>> import panmatch as pm
    >>> ov = pm.Overlap.from_dense([[6, 0], [0, 5]], ref_sizes=[10, 5], pred_sizes=[6, 9])
    >>> c = pm.curve(ov)
    >>> c.thresholds.round(4).tolist(), c.tp.tolist()
    ([0.0, 0.5556, 0.6], [2, 1, 0])
    >>> c.at(0.58)
    Tally(tp=1, fp=1, fn=1, quality=0.6)
    >>> round(c.autc, 6)
    0.334321
    """

    thresholds: Floats
    tallies: Tallies
    strategy: Strategy
    score: Score = "iou"
    quality_name: Quality = "iou"
    proven: bool | None = None

    @property
    def tp(self) -> Ints:  # type: ignore[override]
        """True positives on every step."""
        return self.tallies.tp

    @property
    def fp(self) -> Ints:  # type: ignore[override]
        """False positives on every step."""
        return self.tallies.fp

    @property
    def fn(self) -> Ints:  # type: ignore[override]
        """False negatives on every step."""
        return self.tallies.fn

    @property
    def quality(self) -> Floats:
        """Summed quality of the true positives on every step."""
        return self.tallies.quality

    def at(self, threshold: float) -> Tally:
        """Return the tally at any threshold in [0, 1)."""
        return self.sampled(np.array([check_threshold(threshold)])).tally(0)

    def sampled(self, thresholds: Floats) -> Tallies:
        """Return the tallies at several thresholds in [0, 1)."""
        return self.tallies[np.searchsorted(self.thresholds, thresholds, side="right") - 1]

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
        return self._area(self.accuracy)

    def __add__(self, other: Curve) -> Curve:
        if not isinstance(other, Curve):
            return NotImplemented
        return Curves.of([self, other]).sum()

    def __radd__(self, other: object) -> Curve:
        return self if other == 0 else NotImplemented  # sum() starts with 0

    def __repr__(self) -> str:
        name = "AUTC" if self.quality_name == "iou" else "PartAUTC"
        steps = plural(len(self.thresholds), "step")
        return (
            f"Curve({self.strategy.name}, {steps}: {name}={self.autc:.4f}, "
            f"{name}_SQ={self.autc_sq:.4f}, AUTC_RQ={self.autc_rq:.4f})"
        )

    def _repr_html_(self) -> str:
        """Show the curve and the areas under it in a notebook."""
        parts = "" if self.quality_name == "iou" else "Part"
        areas = {
            f"{parts}AUTC": self.autc, f"{parts}AUTC_SQ": self.autc_sq, "AUTC_RQ": self.autc_rq,
        }  # fmt: skip
        how = self.strategy.label + ("" if self.score == "iou" else f" by {self.score}")
        drawn = sparkline(
            self.thresholds.tolist(),
            self.pq.tolist(),
            width=300,
            height=60,
            title=f"{parts}PQ over the threshold, from 0 to 1",
        )
        proof = {
            None: "",
            True: "Every step is proven optimal.",
            False: "Not all steps are proven.",
        }
        return block(
            f"Curve: {parts}PQ over τ, {how}, {plural(len(self.thresholds), 'step')}",
            drawn,
            table(list(areas), [[number(area) for area in areas.values()]], left=0),
            proof[self.proven],
        )

    def _area(self, heights: Floats) -> float:
        return _integral(heights, _widths(self.thresholds))

    def _require(self, quantity: str, fits: bool, kind: str, instead: str) -> None:
        if not fits or self.score != "iou":
            raise StrategyError(
                f"{quantity} is defined for {kind} curve by IoU (D7), but this one is "
                f"{self.strategy!r} with score {self.score!r}: use {instead}, or make another "
                f"curve."
            )


@dataclass(frozen=True, slots=True, eq=False)
class Curves:
    """Curves of many cases, ready to be added with any weights.

    Attributes
    ----------
    thresholds
        Where any of the curves has a step, rising.
    case, step, changes
        Change i belongs to a case and a step, and adds to the tally there.
    n_cases
        Number of curves.
    first
        One of the curves, for the settings they share.
    proven
        Of the sum.
    """

    thresholds: Floats
    case: Ints
    step: Ints
    changes: Tallies
    n_cases: int
    first: Curve
    proven: bool | None

    @classmethod
    def of(cls, curves: Sequence[Curve | None]) -> Curves:
        """Collect the curves of all cases; None for a case without one."""
        given = [(i, one) for i, one in enumerate(curves) if one is not None]
        first = given[0][1]
        for _, other in given[1:]:
            _check_alike(first, other)
        lengths = [len(one.thresholds) for _, one in given]
        changes = [np.diff(one.tallies.counts, axis=0, prepend=0) for _, one in given]
        thresholds, step = np.unique(
            np.concatenate([one.thresholds for _, one in given]), return_inverse=True
        )
        return cls(
            thresholds,
            np.repeat([i for i, _ in given], lengths),
            step,
            Tallies(np.concatenate(changes)),
            len(curves),
            first,
            all_proven([one.proven for _, one in given]),
        )

    @classmethod
    def joined(cls, blocks: Sequence[tuple[int, Curves]], n_cases: int) -> Curves:
        """Put the curves of blocks of cases together, given where each block begins."""
        first = blocks[0][1].first
        for _, other in blocks[1:]:
            _check_alike(first, other.first)
        thresholds, step = np.unique(
            np.concatenate([one.thresholds[one.step] for _, one in blocks]), return_inverse=True
        )
        return cls(
            thresholds,
            np.concatenate([one.case + start for start, one in blocks]),
            step,
            Tallies(np.concatenate([one.changes.counts for _, one in blocks])),
            n_cases,
            first,
            all_proven([one.proven for _, one in blocks]),
        )

    @property
    def occurring(self) -> int:
        """Number of cases with a segment on either side."""
        # Not np.unique, which imports numpy.ma.
        return int(np.count_nonzero(np.bincount(self.case[self.changes.occurs])))

    def sum(self) -> Curve:
        """Return the curve of all cases together."""
        totals = np.zeros((len(self.thresholds), self.changes.counts.shape[1]), np.int64)
        np.add.at(totals, self.step, self.changes.counts)
        first = self.first
        tallies = Tallies(totals).cumulative()
        return frozen_curve(
            self.thresholds, tallies, first.strategy, first.score, first.quality_name, self.proven
        )

    def resampled_areas(self, weights: Weights, most_steps: int) -> Floats:
        """Return ∫PQ, ∫SQ and ∫RQ where case i counts ``weights[:, i]`` times; shape (3, n).

        Parameters
        ----------
        weights
            Shape (n, cases).
        most_steps
            Longer curves are evaluated at this many of their steps only.
        """
        kept = np.linspace(0, len(self.thresholds) - 1, most_steps).round().astype(np.int64)
        grid = self.thresholds[np.unique(kept)]
        widths = np.diff(grid, append=1.0)
        areas = [
            [(height * widths).sum(axis=-1) for height in (tallies.pq, tallies.sq, tallies.rq)]
            for tallies in self._weighted(grid, weights)
        ]
        return np.concatenate(areas, axis=1)

    def _weighted(self, grid: Floats, weights: Weights) -> Iterator[Tallies]:
        """Yield the tallies on a grid for block after block of weights, shape (block, grid)."""
        from scipy.sparse import coo_array  # only resamples need it

        place, changes = np.searchsorted(grid, self.thresholds[self.step]), self.changes.counts
        kept, width = place < len(grid), changes.shape[1]
        row = (place[kept, np.newaxis] * width + np.arange(width)).ravel()
        index, shape = (row, np.repeat(self.case[kept], width)), (len(grid) * width, self.n_cases)
        columns = coo_array((changes[kept].ravel(), index), shape).tocsr()  # all for one product
        size = max(1, BLOCK // len(grid))
        for start in range(0, len(weights), size):
            totals = columns @ np.ascontiguousarray(weights[start : start + size].T, np.int64)
            tallies = Tallies(totals.reshape(len(grid), width, -1).transpose(0, 2, 1))
            yield Tallies(np.moveaxis(tallies.cumulative().counts, 1, 0))


def areas_of(curves: Sequence[Curve | None]) -> Floats:
    """Return ∫PQ, ∫SQ and ∫RQ of every curve, NaN for None; shape (3, curves).

    The numbers are the same as for single curves, but many short curves are done much faster.
    """
    areas = np.full((3, len(curves)), np.nan)
    given = [one for one in curves if one is not None]
    if given:
        tallies = Tallies(np.concatenate([one.tallies.counts for one in given]))
        ends = np.cumsum([len(one.thresholds) for one in given]).tolist()
        heights = np.stack([tallies.pq, tallies.sq, tallies.rq])
        places = [i for i, one in enumerate(curves) if one is not None]
        for i, one, start, stop in zip(places, given, [0, *ends], ends, strict=False):
            widths = _widths(one.thresholds)
            areas[:, i] = [_integral(row[start:stop], widths) for row in heights]
    return areas


def _widths(thresholds: Floats) -> Floats:
    """Return how long every step of a curve is."""
    widths: Floats = np.append(thresholds[1:], 1.0) - thresholds
    return widths


def _integral(heights: Floats, widths: Floats) -> float:
    """Return the area under steps, rounded once: a dot product depends on the processor."""
    return math.fsum((heights * widths).tolist())


def curve(
    overlap: Overlap,
    strategy: str | Strategy = "one-to-one",
    *,
    score: Score = "iou",
    quality: Quality = "iou",
) -> Curve:
    """Match at every threshold at once (D7).

    Parameters
    ----------
    overlap, strategy, score
        As for `match`.
    quality
        ``"iou"``, or ``"parts"`` for the curve of PartPQ, which needs an overlap with parts (D9).

    Returns
    -------
    Curve
        ``curve(overlap, s).at(τ)`` equals ``match(overlap, s, τ).tally`` for every τ in [0, 1)
        (for many-to-one and one-to-many optima: its PQ; several matchings may share it).

    Examples
    --------
    >>> import panmatch as pm
    >>> ov = pm.Overlap.from_dense([[6, 0], [0, 4]], ref_sizes=[10, 5], pred_sizes=[6, 4])
    >>> found = pm.curve(ov)
    >>> found.thresholds.tolist(), [found.at(t).tp for t in (0, 0.6, 0.8)]
    ([0.0, 0.6, 0.8], [2, 1, 0])
    >>> round(found.autc, 3), found.at(0.5) == pm.match(ov, threshold=0.5).tally
    (0.5, True)
    """
    check_choice("quality", quality, QUALITIES)
    return curves(overlap, strategy, score=score, qualities=(quality,))[0]


def curves(
    overlap: Overlap,
    strategy: str | Strategy = "one-to-one",
    *,
    score: Score = "iou",
    qualities: Sequence[Quality] = ("iou", "parts"),
    known_steps: KnownSteps | None = None,
) -> list[Curve]:
    """Return the curves of several qualities from one sweep over the thresholds.

    Parameters
    ----------
    known_steps
        Steps of earlier sweeps over the same overlap: strategies mostly agree. New ones are added.
    """
    check_overlap(overlap)
    if "parts" in qualities and overlap.parts is None:
        raise OptionError(
            "quality='parts' needs an overlap with parts: pass count_part_overlaps(…)."
        )
    chosen = resolve_strategy(strategy)
    overlap = chosen.prepare(overlap)
    course = chosen.sweep(overlap, overlap.score(score))
    proven = course.proven if score == "iou" else None
    steps = _counted_steps(overlap, course, qualities, {} if known_steps is None else known_steps)
    return [
        frozen_curve(*one, chosen, score, quality, proven)
        for one, quality in zip(steps, qualities, strict=True)
    ]


def _counted_steps(
    overlap: Overlap, course: Course, qualities: Sequence[Quality], known: KnownSteps
) -> Iterator[tuple[Floats, Tallies]]:
    for quality in qualities:
        key = _key_of_steps(overlap, course, quality)
        if key not in known:
            known[key] = overlap, *count_steps(overlap, course, quality)
        yield known[key][1:]


def _key_of_steps(
    overlap: Overlap, course: Course, quality: Quality
) -> tuple[int, bytes, bytes, bytes, str]:
    """Return what the steps of a course depend on: its order only if sums are not exact."""
    order: Ints | slice = slice(None)
    if quality == "iou" and overlap.edges.intersection.dtype == np.int64:
        order = np.argsort(course.edge, kind="stable")
    edge, start, stop = (one[order].tobytes() for one in (course.edge, course.start, course.stop))
    return id(overlap), edge, start, stop, quality


def frozen_curve(
    thresholds: Floats,
    tallies: Tallies,
    strategy: Strategy,
    score: Score,
    quality_name: Quality,
    proven: bool | None,
) -> Curve:
    """Return a curve whose arrays cannot be written to."""
    thresholds.flags.writeable = tallies.counts.flags.writeable = False
    return Curve(thresholds, tallies, strategy, score, quality_name, proven)


def _check_alike(first: Curve, other: Curve) -> None:
    sides = [(one.strategy, one.score, one.quality_name) for one in (first, other)]
    if sides[0] != sides[1]:
        raise StrategyError(
            f"curves can only be added if they were made the same way: one is "
            f"{first.strategy!r} with score {first.score!r} and quality "
            f"{first.quality_name!r}, the other {other.strategy!r} with score {other.score!r} and "
            f"quality {other.quality_name!r}."
        )


def all_proven(proofs: Sequence[bool | None]) -> bool | None:
    """Return False if one is disproved, None if one is unknown, else True."""
    if any(proof is False for proof in proofs):
        return False
    return None if None in proofs else True
