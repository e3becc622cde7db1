"""The matchings of one class at every threshold: what several of them share is computed once."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from panmatch.evaluation._case_result import Level
from panmatch.evaluation._class_case import ClassCase
from panmatch.evaluation._confidences import calibration_of
from panmatch.evaluation._diagnosis import count_near_threshold, worst_mistakes
from panmatch.evaluation._mask_case import MaskCase
from panmatch.matching import Matcher, Matching, Tally
from panmatch.overlap import Floats, Overlap
from panmatch.scoring import (
    CHOICES,
    ErrorBudget,
    Measurements,
    Measurer,
    RepairedOverlaps,
    budget_after_repairs,
)

# Of masks that may share voxels, which cannot be repaired: nothing is counted.
NO_BUDGET = ErrorBudget((Tally(tp=0, fp=0, fn=0, quality=0.0),) * len(CHOICES))


@dataclass(frozen=True, slots=True, eq=False)
class _Matched:
    """What follows from the matched edges alone, whichever strategy and threshold chose them."""

    matching: Matching  # the first that chose them
    tally: Tally
    part_tally: Tally | None
    measurements: Measurements
    quality: Floats  # of each row, and the same by parts
    part_quality: Floats | None

    @classmethod
    def of(cls, measurer: Measurer, matching: Matching) -> _Matched:
        measured = measurer.measure(matching)
        spurious = np.zeros(len(measured) - len(matching.overlap.ref_ids))
        by_parts = matching.ref_part_quality
        return cls(
            matching,
            measured.tally,
            matching.part_tally,
            measured,
            np.concatenate([matching.ref_quality, spurious]),
            None if by_parts is None else np.concatenate([by_parts, spurious]),
        )


class LevelMaker:
    """Makes the levels of one class in one case.

    Strategies and thresholds mostly choose the same edges, and repair the same overlap.
    """

    def __init__(self, case: ClassCase | MaskCase) -> None:
        self._case = case
        # By identity; what they hold keeps the overlaps and measurers alive.
        self._matchings: dict[tuple[int, Matcher, bytes], Matching] = {}
        self._matched: dict[tuple[int, int, bytes], _Matched] = {}
        self._repaired: dict[int, RepairedOverlaps] = {}

    def level(self, matcher: Matcher, threshold: float, *, with_mistakes: bool) -> Level:
        """Match the overlap of a matcher, and measure what was matched."""
        overlap, whole = self._case.overlap_for(matcher), self._case.all_for(matcher)
        matched = self._match(matcher, overlap, threshold)
        found = self._found(self._case.measurer_for(matcher), matched)
        matching = replace(matched, threshold=float(threshold), counted=found.tally)
        every = matching if whole is overlap else matcher.match(whole, threshold)
        return Level(
            threshold=matching.threshold,
            tally=found.tally,
            part_tally=found.part_tally,
            measurements=found.measurements,
            quality=found.quality,
            part_quality=found.part_quality,
            near_threshold=count_near_threshold(matching),
            gap=None if matching.certificate is None else matching.certificate.gap,
            budget=self._budget(matcher, matching),
            mistakes=worst_mistakes(matching) if with_mistakes and self._case.is_disjoint else (),
            calibration=calibration_of(every),
        )

    def _match(self, matcher: Matcher, overlap: Overlap, threshold: float) -> Matching:
        """Match an overlap, unless the same edges passed an earlier threshold (D7)."""
        if overlap.pieces is not None:  # a strategy may unite them, and so change the edges
            return matcher.match(overlap, threshold)
        key = id(overlap), matcher, matcher.passing(overlap, threshold).tobytes()
        if key not in self._matchings:
            self._matchings[key] = matcher.match(overlap, threshold)
        return self._matchings[key]

    def _budget(self, matcher: Matcher, matching: Matching) -> ErrorBudget:
        if not self._case.is_disjoint:
            return NO_BUDGET
        relabelled = self._case.relabelled(matcher, matching.threshold)
        return budget_after_repairs(
            matching,
            self._repairs_of(matching.overlap),
            None if relabelled is None else self._repairs_of(relabelled),
        )

    def _found(self, measurer: Measurer, matching: Matching) -> _Matched:
        key = id(measurer), id(matching.overlap), matching.edges.tobytes()
        if key not in self._matched:
            self._matched[key] = _Matched.of(measurer, matching)
        return self._matched[key]

    def _repairs_of(self, overlap: Overlap) -> RepairedOverlaps:
        if id(overlap) not in self._repaired:
            self._repaired[id(overlap)] = RepairedOverlaps(overlap)
        return self._repaired[id(overlap)]
