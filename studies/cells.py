"""The numbers of the whole grid: exact curves of every setting, of each case and each model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

import panmatch as pm
from panmatch.overlap import Floats
from studies.grid import THRESHOLDS, whole_grid
from studies.grid_data import Source

Quality = Literal["PQ", "PartPQ"]


@dataclass(frozen=True, slots=True, eq=False)
class Unit:
    """One class of one case as one model sees it, by one quality, under every setting."""

    dataset: str
    kind: str
    case: str
    model: str
    class_name: str
    quality: Quality
    curves: dict[str, pm.Curve]  # by the label of the setting
    structure: pm.GraphStructure  # at τ = 0

    @property
    def scores(self) -> Floats:
        """The score at every threshold of the grid, shape (settings, thresholds)."""
        return scores_of(self.curves)


@dataclass(frozen=True, slots=True, eq=False)
class Contest:
    """The models of a data set in one class by one quality, pooled over cases."""

    dataset: str
    kind: str
    class_name: str
    quality: Quality
    scores: dict[str, Floats]  # by model, shape (settings, thresholds)


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """Everything that was evaluated."""

    settings: tuple[str, ...]
    units: list[Unit]
    contests: list[Contest]

    @property
    def real(self) -> Grid:
        """The part that does not come from phantoms."""
        return Grid(
            self.settings,
            [unit for unit in self.units if unit.kind != "phantom"],
            [contest for contest in self.contests if contest.kind != "phantom"],
        )

    def of(self, quality: Quality) -> list[Unit]:
        """Return the units of one quality."""
        return [unit for unit in self.units if unit.quality == quality]


def scores_of(curves: dict[str, pm.Curve]) -> Floats:
    """Return the scores at the thresholds of the grid; NaN if there is no object."""
    return np.stack([curve.sampled(np.array(THRESHOLDS)).pq for curve in curves.values()])


def evaluate_grid(found: list[Source]) -> Grid:
    """Evaluate all data sets under every setting."""
    units: list[Unit] = []
    contests: list[Contest] = []
    settings: tuple[str, ...] = ()
    for source in found:
        dataset = replace(source.dataset, spec=whole_grid(source.dataset.spec))
        settings = tuple(matcher.label for matcher in dataset.spec.matching)
        result = dataset.evaluate()
        units += _units(source, result)
        contests += _contests(source, result)
    return Grid(settings, units, contests)


def _units(source: Source, result: pm.Result) -> Iterator[Unit]:
    for case in result.cases:
        structures = {
            one.class_name: one.structure for one in case.structures if one.threshold == 0
        }
        for name, structure in structures.items():
            entries = [entry for entry in case.entries if entry.setting.class_name == name]
            plain = {entry.setting.label: entry.curve for entry in entries}
            by_parts = {entry.setting.label: entry.part_curve for entry in entries}
            for quality, curves in _qualities(plain, by_parts):
                yield Unit(source.dataset.title, source.kind, case.case, case.model, name, quality,
                           curves, structure)  # fmt: skip


def _contests(source: Source, result: pm.Result) -> Iterator[Contest]:
    for name in result.spec.classes:
        scores: dict[Quality, dict[str, Floats]] = {}
        for model in result.models:
            series = [one for one in result.series
                      if (one.model, one.setting.class_name) == (model, name)]  # fmt: skip
            plain = {one.setting.label: one.pooled_curve for one in series}
            by_parts = {one.setting.label: one.pooled_part_curve for one in series}
            for quality, curves in _qualities(plain, by_parts):
                scores.setdefault(quality, {})[model] = scores_of(curves)
        for quality, of_models in scores.items():
            if len(of_models) > 1:
                yield Contest(source.dataset.title, source.kind, name, quality, of_models)


def _qualities(
    plain: dict[str, pm.Curve | None], by_parts: dict[str, pm.Curve | None]
) -> Iterator[tuple[Quality, dict[str, pm.Curve]]]:
    """Yield the curves by IoU, and by parts where there are any."""
    named: tuple[tuple[Quality, dict[str, pm.Curve | None]], ...] = (
        ("PQ", plain), ("PartPQ", by_parts),
    )  # fmt: skip
    for quality, curves in named:
        known = {label: curve for label, curve in curves.items() if curve is not None}
        if known:
            yield quality, known
