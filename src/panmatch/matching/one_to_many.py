"""One prediction per reference, any number of references per prediction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np

from panmatch.errors import check_choice
from panmatch.matching.course import Course
from panmatch.matching.strategy import Strategy, best_first
from panmatch.overlap import Floats, Ints, Overlap


@dataclass(frozen=True, slots=True)
class OneToMany(Strategy):
    """Match every reference to at most one prediction, every prediction to any number.

    One prediction that covers several objects then finds all of them, each with its own quality.

    Parameters
    ----------
    solver
        ``"best"``: every reference takes its best prediction above the threshold; ties go to
        the smaller prediction id.

    Examples
    --------
    >>> from panmatch.overlap import Overlap
    >>> covered = Overlap.from_dense([[5], [5]], ref_sizes=[5, 5], pred_sizes=[10])
    >>> OneToMany().select(covered, covered.iou, 0.4)
    array([0, 1])
    """

    solver: Literal["best"] = "best"

    name: ClassVar[str] = "one-to-many"
    max_preds_per_ref: ClassVar[int | None] = 1
    max_refs_per_pred: ClassVar[int | None] = None

    def __post_init__(self) -> None:
        check_choice("solver", self.solver, get_args(Literal["best"]))

    def select(self, overlap: Overlap, score: Floats, threshold: float) -> Ints:
        """Return the positions of the edges matched at `threshold`, rising."""
        best = _best_edges(overlap, score)
        return best[score[best] > threshold]

    def sweep(self, overlap: Overlap, score: Floats) -> Course:
        """Return the matchings at all thresholds: a reference keeps its best prediction."""
        return Course.nested(_best_edges(overlap, score), score)


def _best_edges(overlap: Overlap, score: Floats) -> Ints:
    walk = best_first(score)
    first_of_ref = np.unique(overlap.edges.ref[walk], return_index=True)[1]
    return np.sort(walk[first_of_ref])
