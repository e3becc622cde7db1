"""How a metric reads, matches and scores every image, in whole numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import get_args

import numpy as np
from torch import Tensor

from panmatch.errors import OptionError, StrategyError, check_choice
from panmatch.matching import RegionUnion, Strategy, Tallies, Tally, resolve_strategy
from panmatch.overlap import ClassOverlaps, Ints, Score, check_threshold
from panmatch.scoring import ClassCurves, ClassTallies, Curve, GroupScore, curve, tally_classes
from panmatch.torch._labelling import Labelling, key_of


@dataclass(frozen=True, slots=True)
class Settings:
    """How images are read, matched and scored."""

    labelling: Labelling
    strategy: Strategy
    score: Score
    thresholds: tuple[float, ...]
    curve: bool  # whether curves are wanted as well

    @classmethod
    def of(
        cls,
        labelling: Labelling,
        strategy: str | Strategy,
        score: Score,
        threshold: float | Iterable[float],
        curve: bool,
    ) -> Settings:
        """Check the options of a metric and return what they mean."""
        check_choice("score", score, get_args(Score))
        chosen = _checked_strategy(strategy, labelling)
        return cls(labelling, chosen, score, _several_thresholds(threshold), curve)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Shape of the table of counts: thresholds, classes, columns."""
        return len(self.thresholds), len(self.labelling.kinds), COUNTS

    def tally_batch(self, preds: Tensor, target: Tensor, void: Tensor | None) -> tuple[Ints, Ints]:
        """Return the counts and the steps of a batch, summed over its images."""
        counts, steps = np.zeros(self.shape, np.int64), [no_steps()]
        for overlaps in self.labelling.count(preds, target, void):
            for row, threshold in zip(counts, self.thresholds, strict=True):
                tallies = tally_classes(overlaps, self.strategy, threshold, score=self.score)
                row += Tallies.of(tallies.values()).counts
            if self.curve:
                steps.append(step_rows(self._sweep(overlaps)))
        return counts, np.concatenate(steps)

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
        return {
            i: curve(overlaps[overlaps.classes[i].id], self.strategy, score=self.score)
            for i in present
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
