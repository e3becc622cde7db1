"""What was found in one class of one case by one matcher."""

from __future__ import annotations

from dataclasses import dataclass

from panmatch.evaluation.diagnosis import Diagnosis
from panmatch.evaluation.setting import Setting
from panmatch.matching import Tally
from panmatch.overlap import Floats
from panmatch.scoring import Curve
from panmatch.scoring.measurements import Measurements


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """A matching at one threshold.

    Attributes
    ----------
    threshold
        In [0, 1).
    tally, part_tally
        Counts with summed IoU, and with summed part quality where the class has parts (D9).
    measurements
        One row per reference, then one per false positive.
    quality, part_quality
        IoU and part quality of every row, 0 for one that is not matched.
    near_threshold
        True positives that a threshold higher by 0.05 would lose.
    gap
        How much PQ an optimal solver may have missed (D6); None for heuristics.
    """

    threshold: float
    tally: Tally
    part_tally: Tally | None
    measurements: Measurements
    quality: Floats
    part_quality: Floats | None
    near_threshold: int
    gap: float | None


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """One setting of one case.

    Attributes
    ----------
    setting
        The class and the matcher.
    diagnosis
        Objects of the class by the kind of mistake, whatever the matcher.
    levels
        The matching at every threshold of the spec.
    curve, part_curve
        PQ and PartPQ over all thresholds; None where they were not asked for, or the class has no
        parts.
    """

    setting: Setting
    diagnosis: Diagnosis
    levels: tuple[Level, ...]
    curve: Curve | None
    part_curve: Curve | None

    def level(self, threshold: float) -> Level:
        """Return the matching at a threshold of the spec."""
        return next(level for level in self.levels if level.threshold == threshold)
