"""What a strategy returns: matchings, proofs about them, and the budget for finding them."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from panmatch._html import block, plural
from panmatch.errors import OptionError
from panmatch.matching._tally import Quality, Tally
from panmatch.overlap import Floats, Ints

PROOF_TOLERANCE = 1e-9  # on PQ; solvers work in floating point
PAIR_TOLERANCE = 2.0**-33  # more than what rounding and the preference for pairs add to a weight


@dataclass(frozen=True, slots=True)
class Budget:
    """How long an optimal solver may search before it returns its best matching and the gap.

    Parameters
    ----------
    nodes
        Nodes of branch and bound, and random moves of the local search, for each matching. 0
        returns the heuristic, with an upper bound on the optimum.
    seconds
        Time for the whole call, whether for one matching or a curve; None for no limit. The call
        may take up to half as long again, or a few times as long as the heuristic if that is more.
        A result that was cut short by time can differ from run to run.

    Examples
    --------
    >>> import panmatch as pm
    >>> pm.Budget(nodes=1000)
    Budget(nodes=1000, seconds=20.0)
    """

    nodes: int = 100_000
    seconds: float | None = 20.0

    def __post_init__(self) -> None:
        if not isinstance(self.nodes, int) or isinstance(self.nodes, bool) or self.nodes < 0:
            raise OptionError(f"nodes={self.nodes!r} must be a whole number of at least 0.")
        if self.seconds is not None and not self.seconds >= 0:
            raise OptionError(f"seconds={self.seconds!r} must be at least 0, or None for no limit.")

    def left_since(self, began: float) -> Budget:
        """Return what is left of it since a moment of `time.perf_counter`."""
        if self.seconds is None:
            return self
        return replace(self, seconds=max(0.0, self.seconds - (time.perf_counter() - began)))


@dataclass(frozen=True, slots=True)
class Certificate:
    """Proof of how good a matching is among all matchings of its strategy.

    Attributes
    ----------
    value
        PQ of the matching, or PartPQ if that is the objective.
    upper_bound
        No matching of the strategy at this threshold has a higher one.
    rounds
        Rounds of Dinkelbach's method.
    nodes
        Nodes of branch and bound, and random moves of the local search.
    seconds
        Time taken.
    quality
        What it is about: ``"iou"`` for PQ, ``"parts"`` for PartPQ (D9).

    Examples
    --------
    >>> import panmatch as pm
    >>> ov = pm.Overlap.from_dense([[6, 3], [0, 4]], ref_sizes=[10, 5], pred_sizes=[6, 8])
    >>> proof = pm.match(ov, pm.ManyToOne(solver="optimal"), threshold=0.1).certificate
    >>> proof.proven, round(proof.value, 3), round(proof.upper_bound, 3)
    (True, 0.522, 0.522)
    """

    value: float
    upper_bound: float
    rounds: int
    nodes: int
    seconds: float
    quality: Quality = "iou"

    @property
    def objective(self) -> str:
        """What it is about, as people call it: PQ or PartPQ."""
        return "PQ" if self.quality == "iou" else "PartPQ"

    @property
    def gap(self) -> float:
        """How much PQ (or PartPQ) may be missing: the upper bound minus the value."""
        return max(0.0, self.upper_bound - self.value)

    @property
    def proven(self) -> bool:
        """Whether the matching is proven optimal, up to 1e-9 in PQ."""
        return math.isnan(self.value) or self.gap <= PROOF_TOLERANCE

    def __str__(self) -> str:
        if math.isnan(self.value):
            return "Neither image has an object, so there is nothing to prove."
        name, found = self.objective, f"{self.objective} {self.value:.4f}"
        if self.proven:
            return f"{found} is proven optimal: no matching of this strategy has a higher {name}."
        return (
            f"{found} is the best found. No matching of this strategy can exceed "
            f"{self.upper_bound:.4f}, so up to {self.gap:.2g} may be missing."
        )

    def __repr__(self) -> str:
        proof = "proven" if self.proven else f"upper_bound={self.upper_bound:.4f}"
        return (
            f"Certificate({self.objective}={self.value:.4f}, {proof}, rounds={self.rounds}, "
            f"nodes={self.nodes})"
        )

    def _repr_html_(self) -> str:
        """Show what is proven, in a notebook."""
        work = f"{plural(self.rounds, 'round')}, {plural(self.nodes, 'node')}, {self.seconds:.2g} s"
        return block("Certificate", str(self), work)


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


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """Positions of the matched edges, rising, and the proof of an optimal solver (D6).

    A solver that has counted its matching passes on the `tally`.
    """

    edges: Ints
    certificate: Certificate | None = None
    tally: Tally | None = None
