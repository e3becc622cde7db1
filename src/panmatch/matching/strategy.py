"""What every matching strategy is: two bounds, a solver, one matching or all of them (D4)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Literal

import numpy as np

from panmatch.matching.course import Course
from panmatch.overlap import Floats, Ints, Overlap

Bound = Literal["at most 1", "any number"]


class Strategy(ABC):
    """A rule that chooses edges of an overlap graph.

    The first word of a strategy's name counts predictions per reference, the second references
    per prediction. Other tools read such names the other way round, so `bounds` spells it out.
    """

    __slots__ = ()

    name: ClassVar[str]
    preds_per_ref: ClassVar[Bound]
    refs_per_pred: ClassVar[Bound]

    @property
    def bounds(self) -> str:
        """Both degree bounds in words."""
        return (
            f"{self.preds_per_ref} prediction{_plural(self.preds_per_ref)} per reference, "
            f"{self.refs_per_pred} reference{_plural(self.refs_per_pred)} per prediction"
        )

    @abstractmethod
    def select(self, overlap: Overlap, score: Floats, threshold: float) -> Ints:
        """Return the positions of the edges matched at `threshold`, rising."""

    @abstractmethod
    def sweep(self, overlap: Overlap, score: Floats) -> Course:
        """Return the matchings at all thresholds."""


def best_first(score: Floats) -> Ints:
    """Return edge positions by falling score; ties by reference, then prediction (D4)."""
    return np.argsort(-score, kind="stable")


def _plural(bound: Bound) -> str:
    return "s" if bound == "any number" else ""
