"""What changes over the whole grid: the order of models, the scores, and what greedy misses."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

import panmatch as pm
from panmatch.overlap import Floats, Ints
from studies.cells import Contest, Grid, Quality, Unit
from studies.grid import EVERY_WAY, ONE, THRESHOLDS

TIE = 1e-9  # scores that differ by less are equal
USUAL = 0.5  # the threshold that most papers use, with one-to-one

Signs = npt.NDArray[np.int64]
Ways = list[tuple[int, int]]


@dataclass(frozen=True, slots=True, eq=False)
class Duel:
    """Two models of a contest: 1 where the first is better, −1 where the second is, 0 for ties."""

    contest: Contest
    models: tuple[str, str]
    signs: Signs  # shape (settings, thresholds)

    @property
    def wins(self) -> tuple[int, int, int]:
        """Cells that the first and the second model win, and ties."""
        counts = [int(np.count_nonzero(self.signs == sign)) for sign in (1, -1, 0)]
        return counts[0], counts[1], counts[2]

    @property
    def is_contested(self) -> bool:
        """Whether each of the two wins somewhere."""
        return min(self.wins[:2]) > 0


def duels(contests: Iterable[Contest]) -> list[Duel]:
    """Return every pair of models of every contest."""
    return [
        Duel(contest, (one, other), _signs(contest.scores[one], contest.scores[other]))
        for contest in contests
        for one, other in combinations(contest.scores, 2)
    ]


def _signs(one: Floats, other: Floats) -> Signs:
    difference = np.nan_to_num(one) - np.nan_to_num(other)
    signs: Signs = np.where(np.abs(difference) <= TIE, 0, np.sign(difference)).astype(np.int64)
    return signs


@dataclass(frozen=True, slots=True)
class Flips:
    """Pairs of cells that differ in one choice only, counted over all pairs of models.

    Attributes
    ----------
    choice
        In what the two cells differ.
    compared
        Pairs of cells in which at least one has a better model.
    reversed_
        Those in which the order of the two models is reversed.
    tied
        Those in which one of the two is a tie.
    """

    choice: str
    compared: int
    reversed_: int
    tied: int

    @property
    def share(self) -> float:
        """Share of the pairs that are reversed; NaN without any."""
        return self.reversed_ / self.compared if self.compared else math.nan


def flips(grid: Grid) -> list[Flips]:
    """Return how often each choice alone changes the order of two models."""
    every = duels(grid.contests)
    found = []
    for choice, pairs in choices().items():
        sides = [(duel.signs[a], duel.signs[b]) for duel in every for a, b in pairs]
        found.append(_counted(choice, sides))
    steps = list(combinations(range(len(THRESHOLDS)), 2))
    sides = [(duel.signs[:, a], duel.signs[:, b]) for duel in every for a, b in steps]
    found.append(_counted("threshold", sides))
    found.append(_counted("parts (PQ or PartPQ)", list(_by_quality(every))))
    return found


def choices() -> dict[str, Ways]:
    """Return pairs of settings that differ in one choice only, as positions in the grid."""
    keys = ("strategy", "solver", "gate", "regions", "objective")
    ways = [{**dict.fromkeys(keys), **way} for way in EVERY_WAY]
    optimal = [i for i, way in enumerate(ways) if way["solver"] == "optimal"]
    found: dict[str, Ways] = {"strategy (all optimal)": [], "solver": [], "gate": [], "regions": []}
    for a, b in combinations(range(len(ways)), 2):
        differ = {key for key in keys if ways[a][key] != ways[b][key]}
        if a in optimal and b in optimal and differ in ({"strategy"}, {"strategy", "gate"}):
            found["strategy (all optimal)"].append((a, b))
        elif len(differ) == 1 and differ != {"strategy"}:
            found.setdefault(differ.pop(), []).append((a, b))
    return found


def _by_quality(every: Sequence[Duel]) -> Iterator[tuple[Signs, Signs]]:
    known = {(duel.contest.dataset, duel.contest.class_name, duel.models, duel.contest.quality):
             duel.signs for duel in every}  # fmt: skip
    for *who, quality in known:
        if quality == "PQ" and (*who, "PartPQ") in known:
            yield known[(*who, "PQ")], known[(*who, "PartPQ")]  # type: ignore[index]


def _counted(choice: str, sides: Sequence[tuple[Signs, Signs]]) -> Flips:
    if not sides:
        return Flips(choice, 0, 0, 0)
    one, other = (np.concatenate([np.ravel(pair[i]) for pair in sides]) for i in (0, 1))
    decided = (one != 0) | (other != 0)
    return Flips(
        choice,
        int(np.count_nonzero(decided)),
        int(np.count_nonzero(one * other < 0)),
        int(np.count_nonzero(decided & (one * other == 0))),
    )


def reversals(grid: Grid) -> Floats:
    """Return how often a cell reverses the order of the usual choice, shape of the grid.

    The usual choice is optimal one-to-one at τ = 0.5; pairs of models that tie there do not count.
    """
    usual = grid.settings.index(ONE), THRESHOLDS.index(USUAL)
    decided = [duel.signs * duel.signs[usual] for duel in duels(grid.contests)
               if duel.signs[usual] != 0]  # fmt: skip
    if not decided:
        return np.full((len(grid.settings), len(THRESHOLDS)), np.nan)
    shares: Floats = np.mean(np.stack(decided) < 0, axis=0)
    return shares


def same_scores(units: Sequence[Unit]) -> tuple[Floats, int]:
    """Return in which share of cells two settings have the same score, and the number of cells.

    A cell is a unit at a threshold of the grid; those in which every setting scores 0 are left out.
    """
    scores = np.stack([unit.scores for unit in units])  # units, settings, thresholds
    alive = np.nan_to_num(scores).max(axis=1) > 0
    cells = np.moveaxis(scores, 1, 2)[alive]  # cells, settings
    close = np.abs(cells[:, :, np.newaxis] - cells[:, np.newaxis, :]) <= TIE
    return close.mean(axis=0), len(cells)


def same_orders(contests: Iterable[Contest]) -> tuple[Floats, int]:
    """Return in which share of cells two settings order two models the same way; ties are one way.

    A cell is a pair of models at a threshold of the grid; those in which all settings tie are left
    out.
    """
    signs = np.stack([duel.signs for duel in duels(contests)])  # duels, settings, thresholds
    cells = np.moveaxis(signs, 1, 2)[(signs != 0).any(axis=1)]
    return (cells[:, :, np.newaxis] == cells[:, np.newaxis, :]).mean(axis=0), len(cells)


@dataclass(frozen=True, slots=True)
class Shortfall:
    """How a heuristic compares with the optimal solver of the same strategy, over all units.

    Attributes
    ----------
    heuristic
        The label of its setting.
    units, always
        How many units there are, and in how many both scores are equal at every threshold.
    equal, above
        Share of all thresholds in [0, 1), averaged over units, at which they are equal, and at
        which the heuristic scores higher.
    mean
        How much lower the area under its curve is, on average.
    worst, threshold, where
        By how much it falls short most, at which threshold, and in which unit.
    unproven
        Units in which the optimum is not proven at every threshold.
    """

    heuristic: str
    units: int
    always: int
    equal: float
    above: float
    mean: float
    worst: float
    threshold: float
    where: str
    unproven: int


def shortfalls(grid: Grid, quality: Quality) -> list[Shortfall]:
    """Return every heuristic beside its optimum."""
    return [
        _shortfall(grid, quality, grid.settings[heuristic], grid.settings[optimum])
        for optimum, heuristic in choices()["solver"]
    ]


def _shortfall(grid: Grid, quality: Quality, heuristic: str, optimum: str) -> Shortfall:
    rows = []
    for unit in grid.of(quality):
        widths, missed, at = _differences(unit.curves[optimum], unit.curves[heuristic])
        most = int(np.argmax(missed))
        same = np.abs(missed) <= TIE
        rows.append(
            (widths[same].sum(), widths[missed < -TIE].sum(), (widths * missed).sum(),
             missed[most], at[most], bool(same.all()),
             f"{unit.dataset}: {unit.case}, {unit.model}", unit.curves[optimum].proven is False)
        )  # fmt: skip
    equal, above, area, worst, at_most, always, where, unproven = zip(*rows, strict=True)
    place = int(np.argmax(worst))
    return Shortfall(
        heuristic, len(rows), sum(always), float(np.mean(equal)), float(np.mean(above)),
        float(np.mean(area)), float(worst[place]), float(at_most[place]),
        where[place] if worst[place] > TIE else "", sum(unproven),
    )  # fmt: skip


def _differences(optimum: pm.Curve, heuristic: pm.Curve) -> tuple[Floats, Floats, Floats]:
    """Return widths of steps, how much the heuristic misses on each, and where they start."""
    at = np.union1d(optimum.thresholds, heuristic.thresholds)
    missed = np.nan_to_num(optimum.sampled(at).pq) - np.nan_to_num(heuristic.sampled(at).pq)
    return np.diff(at, append=1.0), missed, at


def ambiguous_share(structure: pm.GraphStructure) -> float:
    """Return the share of objects in components that are 1–n, n–1 or n–m; NaN without objects."""
    objects = [counts.references + counts.predictions for counts in structure.counts]
    return sum(objects[3:]) / sum(objects) if sum(objects) else float("nan")


def agreement_at_zero(units: Sequence[Unit], n_whole: int) -> tuple[Floats, Floats]:
    """Return for every unit the share of objects in ambiguous components, and of pairs that agree.

    Pairs are those of settings with whole predictions, the first `n_whole`, at τ = 0.
    """
    pairs: Ints = np.array(list(combinations(range(n_whole), 2)))
    scores = np.stack([unit.scores[:n_whole, 0] for unit in units])
    same = np.abs(scores[:, pairs[:, 0]] - scores[:, pairs[:, 1]]) <= TIE
    return np.array([ambiguous_share(unit.structure) for unit in units]), same.mean(axis=1)
