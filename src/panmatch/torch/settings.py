"""How a metric reads, matches and scores every image, in whole numbers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import get_args

import numpy as np
from torch import Tensor

from panmatch.errors import OptionError, StrategyError, check_choice
from panmatch.matching import RegionUnion, Strategy, Tallies, resolve_strategy
from panmatch.overlap import ClassOverlaps, Ints, Overlap, Score, check_threshold
from panmatch.scoring import Curve, curve
from panmatch.scoring.class_scores import ClassCurves, ClassTallies, tally_classes
from panmatch.torch.accounts import (
    COUNTS,
    add_up,
    no_steps,
    step_rows,
    to_curve,
)
from panmatch.torch.labelling import Labelling

NO_SEGMENTS = Overlap.from_dense(np.zeros((0, 0), np.int64), [], [])


@dataclass(frozen=True, slots=True)
class Settings:
    """How images are read, matched and scored.

    Attributes
    ----------
    labelling
        What labels mean.
    strategy, score
        As for `match`.
    thresholds
        Where tallies are wanted.
    curve
        Whether curves are wanted as well.
    """

    labelling: Labelling
    strategy: Strategy
    score: Score
    thresholds: tuple[float, ...]
    curve: bool

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
        chosen = _whole_image_strategy(strategy)
        return cls(labelling, chosen, score, _several_thresholds(threshold), curve)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Shape of the table of counts: thresholds, classes, columns."""
        return len(self.thresholds), len(self.labelling.kinds), COUNTS

    def tally_batch(self, preds: Tensor, target: Tensor, void: Tensor | None) -> tuple[Ints, Ints]:
        """Return the counts and the steps of a batch, summed over its images."""
        counts, steps = np.zeros(self.shape, np.int64), [no_steps()]
        for overlaps in self.labelling.count(preds, target, void):
            for at, threshold in enumerate(self.thresholds):
                found = tally_classes(overlaps, self.strategy, threshold, score=self.score)
                counts[at] += Tallies.of(found.values()).counts
            if self.curve:
                steps.append(step_rows(self._sweep(overlaps)))
        return counts, np.concatenate(steps)

    def tallies(self, counts: Ints) -> dict[float, ClassTallies]:
        """Return the tallies of summed counts, by threshold."""
        kinds = self.labelling.kinds
        return {
            threshold: ClassTallies(
                kinds, {kind.id: Tallies(row).tally() for kind, row in zip(kinds, table, strict=True)}
            )
            for threshold, table in zip(self.thresholds, counts, strict=True)
        }

    def curves(self, steps: Ints) -> ClassCurves:
        """Return the curves of the steps of all batches."""
        nothing, rows = curve(NO_SEGMENTS, self.strategy, score=self.score), add_up(steps)
        kinds = self.labelling.kinds
        found = {kind.id: to_curve(rows, at, nothing) for at, kind in enumerate(kinds)}
        return ClassCurves(kinds, found)

    def _sweep(self, overlaps: ClassOverlaps) -> dict[int, Curve]:
        """Return the curves of the classes that occur in an image, by position."""
        present = np.union1d(overlaps.ref_classes, overlaps.pred_classes).tolist()
        return {
            at: curve(overlaps[overlaps.classes[at].id], self.strategy, score=self.score)
            for at in present
        }


def _whole_image_strategy(strategy: str | Strategy) -> Strategy:
    """Return a strategy as an object, unless it needs predictions cut by cells (D8)."""
    chosen = resolve_strategy(strategy)
    if isinstance(chosen, RegionUnion):
        raise StrategyError(
            "strategy='union' works on regions, which are not counted during training: use "
            "panmatch.Evaluator, or 'many-to-one'."
        )
    return chosen


def _several_thresholds(threshold: float | Iterable[float]) -> tuple[float, ...]:
    """Return one threshold or more, rising; each once."""
    given = threshold if isinstance(threshold, Iterable) else [threshold]
    checked = tuple(sorted(check_threshold(one) for one in given))
    if not checked or len(set(checked)) < len(checked):
        raise OptionError(f"threshold={threshold!r} must be one or more different numbers.")
    return checked
