"""Match each reference to the union of everything predicted in its region (D8)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from panmatch.errors import StrategyError
from panmatch.matching._solution import Course, Solution
from panmatch.matching._strategy import Dash, Strategy
from panmatch.overlap import Floats, Overlap, unite_regions


@dataclass(frozen=True, slots=True)
class RegionUnion(Strategy):
    """Match every reference to everything that is predicted in its region.

    Needs an overlap that is cut by regions, from `count_region_overlaps`.

    Examples
    --------
    >>> import panmatch as pm
    >>> cut = pm.count_region_overlaps([1, 1, 1, 1, 0, 0, 2, 2], [5, 5, 0, 6, 0, 0, 0, 7])
    >>> pm.match(cut, pm.RegionUnion(), threshold=0.4).pairs
    array([[1, 5],
           [1, 6],
           [2, 7]])
    """

    name: ClassVar[str] = "union"
    max_preds_per_ref: ClassVar[int | None] = None
    max_refs_per_pred: ClassVar[int | None] = None
    forgives: ClassVar[str] = "split and merged objects"
    hue: ClassVar[tuple[str, str]] = ("#8f7116", "#f2c935")
    needs_regions: ClassVar[bool] = True
    takes_repairs: ClassVar[bool] = False

    @property
    def about(self) -> str:
        """One sentence on what it does."""
        return (
            "A reference takes everything that is predicted in its region, if the union passes the "
            "threshold."
        )

    @property
    def dash(self) -> Dash:
        """Lengths of strokes and gaps of its lines."""
        return (11.0, 2.5)

    def prepare(self, overlap: Overlap) -> Overlap:
        """Return the overlap with all pieces of a region as one."""
        if overlap.pieces is None:
            raise StrategyError(
                "strategy='union' matches each reference to everything predicted in its region, "
                "but the predictions are not cut by regions: pass "
                "count_region_overlaps(reference, prediction)."
            )
        return unite_regions(overlap)

    def solve(self, overlap: Overlap, score: Floats, threshold: float) -> Solution:
        """Return the edges matched at `threshold`; `overlap` is prepared."""
        assert overlap.pieces is not None
        return Solution(np.flatnonzero(score > threshold))

    def sweep(self, overlap: Overlap, score: Floats) -> Course:
        """Return the matchings at all thresholds; `overlap` is prepared."""
        return Course.nested(self.solve(overlap, score, 0.0).edges, score)
