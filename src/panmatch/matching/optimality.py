"""How much a heuristic leaves on the table."""

from __future__ import annotations

from dataclasses import dataclass, replace

from panmatch.errors import StrategyError
from panmatch.matching.catalogue import resolve_strategy
from panmatch.matching.certificate import Certificate
from panmatch.matching.many_to_one import ManyToOne
from panmatch.matching.match import match
from panmatch.matching.one_to_many import OneToMany
from panmatch.matching.one_to_one import OneToOne
from panmatch.matching.strategy import Strategy
from panmatch.overlap import Overlap


@dataclass(frozen=True, slots=True)
class OptimalityGap:
    """PQ of a heuristic beside the best PQ that its strategy allows.

    Attributes
    ----------
    heuristic
        PQ of the heuristic.
    optimal
        PQ of the best matching found.
    certificate
        What is proven of the best matching.
    """

    heuristic: float
    optimal: float
    certificate: Certificate

    @property
    def gap(self) -> float:
        """PQ that the heuristic misses."""
        return self.optimal - self.heuristic

    @property
    def relative(self) -> float:
        """The gap as a share of the optimum; 0 where the optimum is 0."""
        return self.gap / self.optimal if self.optimal else 0.0


def optimality_gap(
    overlap: Overlap, strategy: str | Strategy = "many-to-one", threshold: float = 0.5
) -> OptimalityGap:
    """Compare the heuristic of a strategy with its optimum (D6).

    Parameters
    ----------
    overlap, threshold
        As for `match`.
    strategy
        A name, or an object whose gate and budget are used. The heuristic is ``"greedy"`` for
        one-to-one, ``"merge"`` for many-to-one and ``"best"`` for one-to-many.

    Examples
    --------
    >>> trap = Overlap.from_dense([[6, 5], [5, 0]], ref_sizes=[11, 10], pred_sizes=[11, 10])
    >>> found = optimality_gap(trap, "one-to-one", threshold=0.0)
    >>> found.heuristic, found.optimal, found.certificate.proven
    (0.1875, 0.3125, True)
    """
    heuristic, optimal = _solvers(resolve_strategy(strategy))
    best = match(overlap, optimal, threshold)
    assert best.certificate is not None
    return OptimalityGap(
        match(overlap, heuristic, threshold).tally.pq, best.tally.pq, best.certificate
    )


def _solvers(strategy: Strategy) -> tuple[Strategy, Strategy]:
    if isinstance(strategy, OneToOne):
        return replace(strategy, solver="greedy"), replace(strategy, solver="optimal")
    if isinstance(strategy, ManyToOne):
        return replace(strategy, solver="merge"), replace(strategy, solver="optimal")
    if isinstance(strategy, OneToMany):
        return replace(strategy, solver="best"), replace(strategy, solver="optimal")
    raise StrategyError(
        f"strategy={strategy.name!r} leaves nothing to choose: it has neither a heuristic nor an "
        f"optimum. Pass 'one-to-one', 'many-to-one' or 'one-to-many'."
    )
