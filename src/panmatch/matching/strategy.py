"""What every matching strategy is: two bounds, a solver, one matching or all of them (D4)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from panmatch.matching.course import Course
from panmatch.matching.solution import Solution
from panmatch.overlap import Floats, Ints, Overlap


class Strategy(ABC):
    """A rule that chooses edges of an overlap graph.

    The first word of a strategy's name counts predictions per reference, the second references
    per prediction. Other tools read such names the other way round, so `bounds` spells it out.
    """

    __slots__ = ()

    name: ClassVar[str]
    max_preds_per_ref: ClassVar[int | None]  # None: any number
    max_refs_per_pred: ClassVar[int | None]

    @property
    def bounds(self) -> tuple[str, str]:
        """Both degree bounds in words."""
        preds = _at_most(self.max_preds_per_ref, "prediction")
        refs = _at_most(self.max_refs_per_pred, "reference")
        return f"{preds} per reference", f"{refs} per prediction"

    @property
    def is_local(self) -> bool:
        """Whether graphs without edges between them can be matched as one."""
        return True

    def prepare(self, overlap: Overlap) -> Overlap:
        """Return the graph that the strategy works on: as it is, unless it says otherwise."""
        return overlap

    @abstractmethod
    def solve(self, overlap: Overlap, score: Floats, threshold: float) -> Solution:
        """Return the edges matched at `threshold`."""

    @abstractmethod
    def sweep(self, overlap: Overlap, score: Floats) -> Course:
        """Return the matchings at all thresholds."""


def best_first(score: Floats) -> Ints:
    """Return edge positions by falling score; ties by reference, then prediction (D4)."""
    return np.argsort(-score, kind="stable")


def best_of_each_ref(ref: Ints, score: Floats) -> Ints:
    """Return the position of every reference's best edge; ties by prediction (D4)."""
    walk = best_first(score)
    return np.sort(walk[np.unique(ref[walk], return_index=True)[1]])


def _at_most(bound: int | None, noun: str) -> str:
    return f"any number of {noun}s" if bound is None else f"at most {bound} {noun}"
