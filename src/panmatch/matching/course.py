"""How a matching changes as the threshold rises."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from panmatch.overlap import Floats, Ints


@dataclass(frozen=True, slots=True, eq=False)
class Course:
    """The matchings of one strategy at all thresholds at once (D7).

    Row i says that edge ``edge[i]`` belongs to the matching for every threshold τ with
    ``start[i] <= τ < stop[i]``. An edge may have several rows: a re-solved matching can give it
    up and take it back. `proven` says whether every matching is proven optimal; None for
    heuristics.
    """

    edge: Ints
    start: Floats
    stop: Floats
    proven: bool | None = None

    @classmethod
    def nested(cls, edges: Ints, score: Floats) -> Self:
        """Return the course of edges that stay matched until the threshold reaches their score."""
        return cls(edges, np.zeros(len(edges)), np.minimum(score[edges], 1.0))
