"""A strategy with what it is applied to: one of the ways in which a spec asks for scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

from panmatch.errors import StrategyError, check_choice
from panmatch.matching.catalogue import OPTIONS
from panmatch.matching.match import Matching, match
from panmatch.matching.strategy import Dash, Strategy
from panmatch.overlap import Overlap, Score


@dataclass(frozen=True, slots=True)
class Matcher:
    """A strategy, the score that edges are judged by, and whether predictions are cut by regions.

    Attributes
    ----------
    strategy
        The rule.
    score
        What an edge is judged by (D2).
    regions
        Rule by which predictions are cut into regions first (D8), such as ``"voronoi"``; None for
        whole predictions.

    Examples
    --------
    >>> from panmatch.matching import ManyToOne
    >>> Matcher(ManyToOne(gate="edge"), regions="voronoi").label
    'many-to-one (merge, edge) in regions'
    """

    strategy: Strategy
    score: Score = "iou"
    regions: str | None = None

    def __post_init__(self) -> None:
        check_choice("score", self.score, get_args(Score))
        if self.strategy.needs_regions and self.regions is None:
            raise StrategyError(
                f"the strategy {self.strategy.name!r} works on regions only: drop 'regions: false'."
            )

    @property
    def name(self) -> str:
        """Name of the strategy."""
        return self.strategy.name

    @property
    def label(self) -> str:
        """What to call it: the strategy with its options, a score other than IoU, and regions."""
        values = [*self.strategy.options.values()]
        values += [] if self.score == "iou" else [f"by {self.score}"]
        options = f" ({', '.join(values)})" if values else ""
        inside = self.regions is not None and not self.strategy.needs_regions
        return f"{self.name}{options}{' in regions' if inside else ''}"

    @property
    def dash(self) -> Dash:
        """Lengths of strokes and gaps of its lines; those in regions have two more dots."""
        inside = self.regions is not None and not self.strategy.needs_regions
        return (self.strategy.dash or (9.0, 1.5)) + (1.0, 1.5) * 2 if inside else self.strategy.dash

    @property
    def columns(self) -> dict[str, str]:
        """What tells it from others, as columns of a table."""
        options = {name: self.strategy.options.get(name, "") for name in OPTIONS}
        return {
            "strategy": self.name,
            **options,
            "edge_score": self.score,
            "regions": self.regions or "",
        }

    def match(self, overlap: Overlap, threshold: float) -> Matching:
        """Match an overlap, which must be cut by regions if that is asked for."""
        return match(overlap, self.strategy, threshold, score=self.score)
