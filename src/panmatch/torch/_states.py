"""How a metric reads, matches and scores every image, in whole numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import get_args

import numpy as np
from torch import Tensor

from panmatch.errors import OptionError, StrategyError, check_choice
from panmatch.matching import RegionUnion, Strategy, Tallies, Tally, match, resolve_strategy
from panmatch.overlap import ClassOverlaps, Ints, Overlap, Score, check_threshold
from panmatch.scoring import (
    ClassCurves,
    ClassTallies,
    Curve,
    CutCurve,
    GroupScore,
    curve,
    surface,
    tally_classes,
)
from panmatch.torch._cuts import (
    Confidence,
    CutOptions,
    change_rows,
    check_given,
    no_changes,
    rated_images,
    to_cut_curve,
)
from panmatch.torch._labelling import Labelling, key_of


@dataclass(frozen=True, slots=True, eq=False)
class BatchTables:
    """What a batch adds: counts at the cut, steps over thresholds, and changes over cuts."""

    counts: Ints
    steps: Ints
    changes: Ints


@dataclass(frozen=True, slots=True)
class Settings:
    """How images are read, matched and scored."""

    labelling: Labelling
    strategy: Strategy
    score: Score
    thresholds: tuple[float, ...]
    curve: bool  # whether curves are wanted as well
    cuts: CutOptions | None = None  # what is done with confidences

    @classmethod
    def of(
        cls,
        labelling: Labelling,
        strategy: str | Strategy,
        score: Score,
        threshold: float | Iterable[float],
        curve: bool,
        cuts: CutOptions | None = None,
    ) -> Settings:
        """Check the options of a metric and return what they mean."""
        check_choice("score", score, get_args(Score))
        chosen = _checked_strategy(strategy, labelling)
        return cls(labelling, chosen, score, _several_thresholds(threshold), curve, cuts)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Shape of the table of counts: thresholds, classes, columns."""
        return len(self.thresholds), len(self.labelling.kinds), COUNTS

    def tally_batch(
        self,
        preds: Tensor,
        target: Tensor,
        void: Tensor | None,
        confidence: Confidence | None = None,
    ) -> BatchTables:
        """Return the tables of a batch, summed over its images."""
        check_given(self.cuts, confidence)
        if self.cuts is not None and confidence is not None:
            return self._cut_batch(self.cuts, preds, target, void, confidence)
        counts, steps = np.zeros(self.shape, np.int64), [no_steps()]
        for overlaps in self.labelling.count(preds, target, void):
            for row, threshold in zip(counts, self.thresholds, strict=True):
                tallies = tally_classes(overlaps, self.strategy, threshold, score=self.score)
                row += Tallies.of(tallies.values()).counts
            if self.curve:
                steps.append(step_rows(self._sweep(overlaps)))
        return BatchTables(counts, np.concatenate(steps), no_changes())

    def _cut_batch(
        self,
        cuts: CutOptions,
        preds: Tensor,
        target: Tensor,
        void: Tensor | None,
        confidence: Confidence,
    ) -> BatchTables:
        """Return the tables of a batch: at the cut, and over all cuts."""
        counts, steps, changes = np.zeros(self.shape, np.int64), [no_steps()], [no_changes()]
        images = self.labelling.count(preds, target, void)
        for rated in rated_images(self.labelling, images, preds, confidence):
            above = {key: cuts.above(overlap) for key, overlap in rated.items()}
            for row, threshold in zip(counts, self.thresholds, strict=True):
                matchings = (
                    match(overlap, self.strategy, threshold, score=self.score)
                    for overlap in above.values()
                )
                row += Tallies.of([matching.tally for matching in matchings]).counts
            if self.curve:
                steps.append(step_rows(self._curves_of(enumerate(above.values()))))
            changes += self._changes(rated.values())
        return BatchTables(counts, np.concatenate(steps), np.concatenate(changes))

    def _changes(self, rated: Iterable[Overlap]) -> Iterator[Ints]:
        """Yield the changes over the cut of every class and threshold of an image."""
        for place, overlap in enumerate(rated):
            found = surface(overlap, self.strategy, score=self.score)
            for at, threshold in enumerate(self.thresholds):
                yield change_rows(self._position(at, place), found.over_cuts(threshold))

    def _position(self, threshold: int, place: int) -> int:
        return threshold * len(self.labelling.kinds) + place

    def cut_curves(self, changes: Ints, n_images: int) -> dict[float, dict[int, CutCurve]]:
        """Return the curves over the cut of the changes of all batches, by threshold and class."""
        rows, kinds = add_up(changes), self.labelling.kinds
        return {
            threshold: {
                kind.id: to_cut_curve(rows, self._position(at, place), n_images)
                for place, kind in enumerate(kinds)
            }
            for at, threshold in enumerate(self.thresholds)
        }

    def tallies(self, counts: Ints) -> dict[float, ClassTallies]:
        """Return the tallies of summed counts, by threshold."""
        kinds = self.labelling.kinds
        return {
            threshold: ClassTallies(
                kinds,
                {kind.id: Tallies(row).tally() for kind, row in zip(kinds, table, strict=True)},
            )
            for threshold, table in zip(self.thresholds, counts, strict=True)
        }

    def curves(self, steps: Ints) -> ClassCurves:
        """Return the curves of the steps of all batches."""
        kinds, rows = self.labelling.kinds, add_up(steps)
        nothing = curve(self.labelling.no_segments, self.strategy, score=self.score)
        curves = {kind.id: to_curve(rows, i, nothing) for i, kind in enumerate(kinds)}
        return ClassCurves(kinds, curves)

    def _sweep(self, overlaps: ClassOverlaps) -> dict[int, Curve]:
        """Return the curves of the classes that occur in an image, by position."""
        present = np.union1d(overlaps.ref_classes, overlaps.pred_classes).tolist()
        return self._curves_of((i, overlaps[overlaps.classes[i].id]) for i in present)

    def _curves_of(self, overlaps: Iterable[tuple[int, Overlap]]) -> dict[int, Curve]:
        """Return the curves of overlaps by position, of those that have a segment."""
        return {
            i: curve(one, self.strategy, score=self.score)
            for i, one in overlaps
            if len(one.ref_ids) or len(one.pred_ids)
        }


def _checked_strategy(strategy: str | Strategy, labelling: Labelling) -> Strategy:
    """Return a strategy as an object; one that needs regions must have them (D8)."""
    chosen = resolve_strategy(strategy)
    if isinstance(chosen, RegionUnion) and labelling.regions is None:
        raise StrategyError(
            "strategy='union' only works on regions: pass regions='voronoi' as well."
        )
    return chosen


def _several_thresholds(threshold: float | Iterable[float]) -> tuple[float, ...]:
    """Return one threshold or more, rising; each once."""
    given = threshold if isinstance(threshold, Iterable) else [threshold]
    checked = tuple(sorted(check_threshold(value) for value in given))
    if not checked or len(set(checked)) < len(checked):
        raise OptionError(f"threshold={threshold!r} must be one or more different numbers.")
    return checked


COUNTS = 6  # columns of a tally: tp, fp, fn, and quality in three limbs
KEYS = 2  # columns that say where a step belongs: class position, bits of the threshold
STEP = KEYS + COUNTS + 1  # and after the counts, how many curves were not proven optimal


def step_rows(curves: Mapping[int, Curve]) -> Ints:
    """Return what changes at every threshold of curves by class position; shape (n, STEP)."""
    rows = (_steps(position, curve) for position, curve in curves.items())
    return np.concatenate([no_steps(), *rows])


def no_steps() -> Ints:
    """Return a table of steps without rows."""
    return np.zeros((0, STEP), np.int64)


def add_up(steps: Ints) -> Ints:
    """Return the steps with those of one class and threshold as one, in rising order.

    Examples
    --------
    >>> add_up(np.array([[0, 9, 1], [0, 4, 2], [0, 9, -3]])).tolist()
    [[0, 4, 2], [0, 9, -2]]
    """
    rows = steps[np.lexsort((steps[:, 1], steps[:, 0]))]
    differs = (rows[1:, :KEYS] != rows[:-1, :KEYS]).any(axis=1)
    first = np.flatnonzero(np.concatenate([np.ones(min(len(rows), 1), np.bool_), differs]))
    return np.column_stack([rows[first, :KEYS], np.add.reduceat(rows[:, KEYS:], first)])


def to_curve(steps: Ints, position: int, nothing: Curve) -> Curve:
    """Return the curve of the class at a position; `nothing` is that of an empty image."""
    rows = steps[steps[:, 0] == position]
    if not len(rows):
        return nothing
    return replace(
        nothing,
        thresholds=np.ascontiguousarray(rows[:, 1]).view(np.float64),
        tallies=Tallies(rows[:, KEYS : KEYS + COUNTS]).cumulative(),
        proven=nothing.proven and not rows[:, -1].any(),
    )


def _steps(position: int, curve: Curve) -> Ints:
    n = len(curve.thresholds)
    unproven = np.zeros(n, np.int64)
    unproven[0] = curve.proven is False
    changes = np.diff(curve.tallies.counts, axis=0, prepend=0)
    return np.column_stack(
        [np.full(n, position), curve.thresholds.view(np.int64), changes, unproven]
    )


SCORES = ("pq", "sq", "rq")
COUNT_NAMES = ("tp", "fp", "fn")
AREAS = ("autc", "autc_sq", "autc_rq")


def name_tallies(
    tallies: ClassTallies, suffix: str = "", *, per_class: bool = False
) -> Iterator[tuple[str, float]]:
    """Yield the names and values of scores and counts at one threshold.

    Examples
    --------
    >>> from panmatch.labels import SegmentClass
    >>> found = ClassTallies((SegmentClass(1, "cell"),), {1: Tally(1, 1, 0, 0.9)})
    >>> {name: round(value, 2) for name, value in name_tallies(found)}
    {'pq': 0.6, 'sq': 0.9, 'rq': 0.67, 'tp': 1, 'fp': 1, 'fn': 0}
    """
    for group, mean in groups(tallies).items():
        for score in SCORES:
            yield f"{score}{group}{suffix}", getattr(mean, score)
    for count in COUNT_NAMES:
        yield f"{count}{suffix}", sum(getattr(tally, count) for tally in tallies.values())
    if per_class:
        yield from _of_classes(tallies, tallies, (*SCORES, *COUNT_NAMES), suffix)


def name_areas(curves: ClassCurves, *, per_class: bool = False) -> Iterator[tuple[str, float]]:
    """Yield the names and values of the areas under the curves (D7)."""
    for group, mean in groups(curves.at(0.0)).items():
        for area in AREAS:
            values = [getattr(curves[number], area) for number in mean.classes]
            yield f"{area}{group}", float(np.mean(values)) if values else float("nan")
    if per_class:
        yield from _of_classes(curves.at(0.0), curves, AREAS, "")


def groups(tallies: ClassTallies) -> dict[str, GroupScore]:
    """Return means over the classes that occur; of things and stuff where there are both (D10)."""
    means = {"": tallies.all}
    if len({kind.thing for kind in tallies.classes}) > 1:
        means |= {"_things": tallies.things, "_stuff": tallies.stuff}
    return means


def _of_classes(
    tallies: ClassTallies, found: Mapping[int, Tally | Curve], names: tuple[str, ...], suffix: str
) -> Iterator[tuple[str, float]]:
    for kind in tallies.classes:
        for name in names:
            yield f"{name}{suffix}/{key_of(kind)}", getattr(found[kind.id], name)
