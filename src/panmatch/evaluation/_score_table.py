"""The scores of all cases as a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from panmatch.evaluation._case_result import CaseResult, Level
from panmatch.evaluation._diagnosis import MISTAKES
from panmatch.evaluation._series import CaseSeries, ClassSeries
from panmatch.evaluation._setting import Cell, Row, Setting
from panmatch.evaluation._table import Table
from panmatch.evaluation._tables import Columns, finished
from panmatch.overlap import Floats

LAST = ("unit", "status", "reason")
# In the order of the table; the columns of metrics come after them.
FIRST_SCORES = (
    "quality", "pq", "sq", "rq", "precision", "recall", "part_quality", "part_pq", "part_sq",
    "autc", "autc_sq", "autc_rq", "part_autc", "part_autc_sq",
)  # fmt: skip

# Names of scores, and their values, shape (cases, scores).
NamedScores = tuple[tuple[str, ...], Floats]
Place = tuple[str, Setting, float]  # model, setting and threshold


@dataclass(frozen=True, slots=True)
class ScoreColumns:
    """The scores of cases, from which their table is made.

    Attributes
    ----------
    values
        The scores of all evaluated cases of a model, by model, setting and threshold.
    """

    values: Mapping[Place, NamedScores]

    @classmethod
    def of(
        cls, series: Iterable[CaseSeries], class_series: Iterable[ClassSeries] = ()
    ) -> ScoreColumns:
        """Collect the scores of series.

        Parameters
        ----------
        series
            Each model under each setting, with the scores of all its cases.
        class_series
            Scores that need no matcher; they are repeated in every row of their class.
        """
        of_class: dict[tuple[str, str], dict[str, Floats]] = {}
        for one in class_series:
            known = of_class.setdefault((one.model, one.setting.class_name), {})
            known |= {score.name: values for (_, score), values in one.case_scores().items()}
        return cls(
            {
                (one.model, one.setting, threshold): _in_order(
                    scores | of_class.get((one.model, one.setting.class_name), {})
                )
                for one in series
                for threshold, scores in _by_threshold(one).items()
            }
        )

    def part(self, places: Mapping[str, slice]) -> ScoreColumns:
        """Return the scores of some models, and of each only some cases."""
        return ScoreColumns(
            {
                place: (names, values[places[place[0]]])
                for place, (names, values) in self.values.items()
                if place[0] in places
            }
        )


def _by_threshold(series: CaseSeries) -> dict[float, dict[str, Floats]]:
    """Return the scores of all cases by threshold."""
    areas = {score.name: values for score, values in series.case_areas.items()}
    found = {}
    for threshold, counts in series.counts.items():
        scores = {score.name: values for score, values in counts.scores().items()}
        first = {"quality": counts.tallies.quality}
        if counts.has_parts:
            first["part_quality"] = counts.part_tallies.quality
        spreads = {
            f"sq_{name}_std": values for name, values in series.levels[threshold].deviations.items()
        }
        if "sq_iou_std" in spreads:  # it is called sq_std, as sq_iou is called sq
            spreads["sq_std"] = spreads.pop("sq_iou_std")
        found[threshold] = first | scores | areas | spreads
    return found


def _in_order(scores: Mapping[str, Floats]) -> NamedScores:
    names = tuple(dict.fromkeys([*(one for one in FIRST_SCORES if one in scores), *scores]))
    return names, np.stack([scores[name] for name in names], axis=1)


def score_table(cases: Sequence[CaseResult], scores: ScoreColumns) -> Table:
    """Return one row per case, class, matcher and threshold; a case without entries has one row.

    Parameters
    ----------
    scores
        The scores of the evaluated cases among these.
    """
    known = {place: _Head.of(place, *found) for place, found in scores.values.items()}
    names: list[tuple[str, ...]] = []  # of the columns of each row
    rows: list[list[Cell]] = []
    seen = Counter[str]()
    for case in cases:
        if case.status != "ok":
            names.append(("case", "model", "status", "reason"))
            rows.append([case.case, case.model, case.status, case.reason])
            continue
        for entry in case.entries:
            mistakes = [len(getattr(entry.diagnosis, name)) for name in MISTAKES]
            for level in entry.levels:
                head = known[case.model, entry.setting, level.threshold]
                names.append(head.names)
                rows.append(head.row(case, level, mistakes, seen[case.model]))
        seen[case.model] += 1
    return finished(_content(names, rows), cases, first=("case", "model"), last=LAST)


@dataclass(frozen=True, slots=True)
class _Head:
    """What the rows of a model under one setting at one threshold have in common."""

    names: tuple[str, ...]  # of all columns
    setting: tuple[Cell, ...]
    scores: list[list[float]]  # of each case

    @classmethod
    def of(cls, place: Place, names: tuple[str, ...], values: Floats) -> _Head:
        columns = place[1].columns
        every = ("case", "model", *columns, "threshold", "tp", "fp", "fn", *names, *MISTAKES)
        return cls((*every, "near_threshold", "gap", *LAST), (*columns.values(),), values.tolist())

    def row(
        self, case: CaseResult, level: Level, mistakes: Sequence[int], number: int
    ) -> list[Cell]:
        tally = level.tally
        return [
            case.case, case.model, *self.setting, level.threshold, tally.tp, tally.fp, tally.fn,
            *self.scores[number], *mistakes, level.near_threshold,
            np.nan if level.gap is None else level.gap, case.unit, tally.status, case.reason,
        ]  # fmt: skip


def _content(names: Sequence[tuple[str, ...]], rows: Sequence[list[Cell]]) -> Columns | list[Row]:
    """Return rows as columns if all of them have the same, which is quicker to make."""
    if len(set(names)) == 1:
        return dict(zip(names[0], map(list, zip(*rows, strict=True)), strict=True))
    return [dict(zip(*one, strict=True)) for one in zip(names, rows, strict=True)]
