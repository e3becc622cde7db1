"""Partners are the segments with equal ids."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from panmatch.matching._solution import Course, Solution
from panmatch.matching._strategy import Dash, Strategy
from panmatch.overlap import Floats, Overlap


@dataclass(frozen=True, slots=True)
class SameId(Strategy):
    """Match a reference and a prediction with the same id, if their edge passes the threshold.

    For inputs whose ids already say which objects belong together: named organs, tracked cells.

    Examples
    --------
    >>> import panmatch as pm
    >>> shifted = pm.Overlap.from_dense([[1, 9], [0, 4]], ref_sizes=[10, 5], pred_sizes=[5, 13])
    >>> pm.match(shifted, pm.SameId(), threshold=0).pairs.tolist()
    [[1, 1], [2, 2]]
    """

    name: ClassVar[str] = "same-id"
    max_preds_per_ref: ClassVar[int | None] = 1
    max_refs_per_pred: ClassVar[int | None] = 1
    forgives: ClassVar[str] = "nothing, and the id must be right, too"
    hue: ClassVar[tuple[str, str]] = ("#25282d", "#f3eef2")
    takes_repairs: ClassVar[bool] = False

    @property
    def about(self) -> str:
        """One sentence on what it does."""
        return "Segments with the same id are partners if their edge passes the threshold."

    @property
    def dash(self) -> Dash:
        """Lengths of strokes and gaps of its lines."""
        return (5.0, 1.5, 1.0, 1.5)

    def solve(self, overlap: Overlap, score: Floats, threshold: float) -> Solution:
        """Return the edges matched at `threshold`."""
        equal = overlap.ref_ids[overlap.edges.ref] == overlap.pred_ids[overlap.edges.pred]
        return Solution(np.flatnonzero(equal & (score > threshold)))

    def sweep(self, overlap: Overlap, score: Floats) -> Course:
        """Return the matchings at all thresholds."""
        return Course.nested(self.solve(overlap, score, 0.0).edges, score)
