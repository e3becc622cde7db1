"""The matchings of one class at every threshold: what several of them share is computed once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from panmatch.evaluation._case_result import Level
from panmatch.evaluation._class_case import ClassCase
from panmatch.evaluation._diagnosis import count_near_threshold, worst_mistakes
from panmatch.matching import Matcher, Matching, Tally
from panmatch.overlap import Floats, Overlap
from panmatch.scoring import Measurements, Measurer, RepairedOverlaps, budget_after_repairs


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

    def __init__(self, case: ClassCase) -> None:
        self._case = case
        # By identity; what they hold keeps the overlaps and measurers alive.
        self._matched: dict[tuple[int, int, bytes], _Matched] = {}
        self._repaired: dict[int, RepairedOverlaps] = {}

    def level(
        self, matcher: Matcher, overlap: Overlap, threshold: float, *, with_mistakes: bool
    ) -> Level:
        """Match an overlap, and measure what was matched."""
        matching = matcher.match(overlap, threshold)
        found = self._found(self._case.measurer_for(matcher), matching)
        relabelled = self._case.relabelled(matcher, threshold)
        return Level(
            threshold=matching.threshold,
            tally=found.tally,
            part_tally=found.part_tally,
            measurements=found.measurements,
            quality=found.quality,
            part_quality=found.part_quality,
            near_threshold=count_near_threshold(matching),
            gap=None if matching.certificate is None else matching.certificate.gap,
            budget=budget_after_repairs(
                matching,
                self._repairs_of(matching.overlap),
                None if relabelled is None else self._repairs_of(relabelled),
            ),
            mistakes=worst_mistakes(matching) if with_mistakes else (),
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
