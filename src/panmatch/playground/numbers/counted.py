"""Where the page's numbers come from: an overlap, counted once, and its curves."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace

from panmatch.matching import Budget, ManyToOne, Strategy
from panmatch.overlap import Overlap
from panmatch.playground.drawing.scene import Side
from panmatch.playground.numbers.curve_rows import curve_row, table_row
from panmatch.playground.numbers.related_rows import compute_voxel_rows
from panmatch.playground.numbers.voxels import Voxels
from panmatch.playground.plain import Message
from panmatch.playground.states.strategies import STRATEGIES
from panmatch.playground.states.view import View
from panmatch.scoring import curve

# Proves the optimum of nearly every scene, and ends soon on the others. No limit of time: the
# same scene has the same numbers on every machine.
BUDGET = Budget(nodes=2_000, seconds=None)


def playable(name: str) -> Strategy:
    """Return the strategy of that id, with a budget that keeps the page alive.

    Examples
    --------
    >>> playable("many-to-one/optimal/edge").budget
    Budget(nodes=2000, seconds=None)
    """
    strategy = STRATEGIES[name].strategy
    if isinstance(strategy, ManyToOne) and strategy.solver == "optimal":
        return replace(strategy, budget=BUDGET)
    return strategy


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """An overlap, and the curves of it that were asked for: they hold for every threshold."""

    overlap: Overlap
    _rows: dict[str, tuple[Message, Message]] = field(default_factory=dict, repr=False)

    def rows(self, name: str) -> tuple[Message, Message]:
        """Return the curve of a strategy, and its row of the table, by the strategy's id."""
        if name not in self._rows:
            steps = curve(self.overlap, playable(name))
            self._rows[name] = curve_row(name, steps), table_row(name, steps)
        return self._rows[name]


class Source(ABC):
    """A scene or a pair of files."""

    def __init__(self) -> None:
        self._counted: dict[object, Counted] = {}
        self._voxel_rows: list[Message] | None = None

    def counted(self, view: View) -> Counted:
        """Return the overlap that a view asks for; it is counted once."""
        key = view.areas, view.regions, view.background if view.parts else None
        if key not in self._counted:
            self._counted[key] = Counted(self.count(view))
        return self._counted[key]

    @abstractmethod
    def count(self, view: View) -> Overlap:
        """Count the overlap that a view asks for."""

    @property
    @abstractmethod
    def voxels(self) -> Voxels:
        """Both images."""

    @property
    def knows_voxel_rows(self) -> bool:
        """Whether `voxel_rows` answers at once."""
        return self._voxel_rows is not None

    def voxel_rows(self) -> list[Message]:
        """Return the metrics that need to see the voxels; they are computed once."""
        if self._voxel_rows is None:
            self._voxel_rows = compute_voxel_rows(self.voxels)
        return self._voxel_rows

    def cells(self) -> Message | None:
        """Return the borders of the cells of the references, where they can be drawn."""
        return None

    def centre(self, side: Side, number: int) -> list[float] | None:
        """Return the centre of a segment in voxels, where the page does not know it."""
        del side, number
        return None
