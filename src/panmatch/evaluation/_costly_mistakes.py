"""Where to look first: single mistakes, ranked by what repairing them would gain."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from panmatch.evaluation._case_result import CaseResult, Level
from panmatch.evaluation._series import CaseSeries
from panmatch.evaluation._setting import Row, Setting
from panmatch.matching import Tally
from panmatch.scoring import Repair
from panmatch.spec import Spec

MOST_IDS = 3  # to name in a sentence

Totals = Mapping[tuple[str, Setting], Tally]  # of all cases of a model together


@dataclass(frozen=True, slots=True)
class CostlyMistake:
    """A mistake, where it is, and what it costs.

    Attributes
    ----------
    case, model
        Names of the case and the model.
    setting
        The class, and how objects were matched.
    kind, ref_ids, pred_ids
        What is wrong, and with which objects; see `Mistake`.
    cost
        How much the class's PQ over all cases of the model would rise if this were repaired.
    case_cost
        How much the class's PQ in this case would rise.
    start, stop
        The half-open box around the objects; empty if their position is not known.
    axis, slice
        The best slice of a volume to look at: along the axis with the fewest slices, in the middle
        of the box. None unless images have three axes.
    """

    case: str
    model: str
    setting: Setting
    threshold: float
    kind: Repair
    ref_ids: tuple[int, ...]
    pred_ids: tuple[int, ...]
    cost: float
    case_cost: float
    start: tuple[int, ...]
    stop: tuple[int, ...]
    axis: int | None
    slice: int | None

    @property
    def columns(self) -> Row:
        """A row of a table."""
        row: Row = {
            "case": self.case,
            "model": self.model,
            **self.setting.columns,
            "threshold": self.threshold,
            "mistake": self.kind,
            "ref_ids": " ".join(map(str, self.ref_ids)),
            "pred_ids": " ".join(map(str, self.pred_ids)),
            "cost": self.cost,
            "case_cost": self.case_cost,
            "slice_axis": self.axis,
            "slice": self.slice,
        }
        row |= {f"start_{axis}": at for axis, at in enumerate(self.start)}
        return row | {f"stop_{axis}": at for axis, at in enumerate(self.stop)}

    @property
    def what(self) -> str:
        """What is wrong, in words.

        Examples
        --------
        >>> from panmatch import evaluate
        >>> result = evaluate(reference=[[7, 7, 0, 4]], prediction=[[1, 1, 0, 0]])
        >>> [one.what for one in result.look_first()]
        ['missed reference 4']
        """
        refs, preds = _named("reference", self.ref_ids), _named("prediction", self.pred_ids)
        return {
            "split": f"{refs} split into {preds}",
            "merged": f"{refs} merged into {preds}",
            "missed": f"missed {refs}",
            "spurious": f"spurious {preds}",
            "outline": f"poor outline of {refs}",
        }.get(self.kind, f"{self.kind}: {refs}, {preds}")


def pooled_tallies(series: Iterable[CaseSeries], spec: Spec) -> Totals:
    """Return the tallies at the first threshold, over all cases of each model."""
    return {
        (one.model, one.setting): one.counts[spec.thresholds[0]].sum().tallies.tally()
        for one in series
        if one.setting.matcher == spec.matching[0]
    }


def costly_mistakes(cases: Iterable[CaseResult], totals: Totals) -> Iterator[CostlyMistake]:
    """Yield the mistakes of all cases, sorted by cost within each class and case."""
    for case in cases:
        for entry in case.entries:
            for level in entry.levels:
                boxes = _Boxes(level) if level.mistakes else None
                for one in level.mistakes:
                    assert boxes is not None
                    start, stop = boxes.around(one.ref_ids, one.pred_ids)
                    axis = int(np.argmin(case.shape)) if len(start) == 3 else None
                    yield CostlyMistake(
                        case.case, case.model, entry.setting, level.threshold,
                        one.kind, one.ref_ids, one.pred_ids,
                        one.cost(totals[case.model, entry.setting]), one.cost(level.tally),
                        start, stop, axis,
                        None if axis is None else (start[axis] + stop[axis] - 1) // 2,
                    )  # fmt: skip


def costliest(found: Iterable[CostlyMistake], most: int) -> list[CostlyMistake]:
    """Return the mistakes that cost most over all cases."""
    return heapq.nlargest(most, found, key=lambda one: one.cost)


_Box = tuple[list[int], list[int]]


class _Boxes:
    """The boxes of all objects of a matching, by id."""

    def __init__(self, level: Level) -> None:
        columns = level.measurements.columns
        texts: list[str] = columns["pred_ids"].tolist()
        known: dict[str, list[tuple[int, ...]]] = {
            "ref": [(one,) for one in columns["ref_id"].tolist()],
            "pred": [tuple(map(int, ids.split())) for ids in texts],
        }
        self._boxes: dict[str, dict[int, list[_Box]]] = {}
        for side, ids in known.items():
            ends = columns[f"{side}_start"].tolist(), columns[f"{side}_stop"].tolist()
            voxels = columns[f"{side}_voxels"].tolist()
            found: dict[int, list[_Box]] = {}
            for of_row, n, start, stop in zip(ids, voxels, *ends, strict=True):
                for one in of_row if n > 0 else ():
                    found.setdefault(one, []).append((start, stop))
            self._boxes[side] = found

    def around(
        self, ref_ids: tuple[int, ...], pred_ids: tuple[int, ...]
    ) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the box around objects; empty if none of them has a voxel."""
        wanted = ("ref", ref_ids), ("pred", pred_ids)
        boxes = [
            box for side, ids in wanted for one in ids for box in self._boxes[side].get(one, ())
        ]
        if not boxes:
            return (), ()
        starts, stops = zip(*boxes, strict=True)
        return tuple(map(min, zip(*starts, strict=True))), tuple(map(max, zip(*stops, strict=True)))


def _named(what: str, ids: tuple[int, ...]) -> str:
    shown = [*map(str, ids[:MOST_IDS]), *(["…"] if len(ids) > MOST_IDS else [])]
    return f"{what}{'s' if len(ids) > 1 else ''} {', '.join(shown)}"
