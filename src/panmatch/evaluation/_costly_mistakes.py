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
                for one in level.mistakes:
                    start, stop = _box(level, one.ref_ids, one.pred_ids)
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


def _box(
    level: Level, ref_ids: tuple[int, ...], pred_ids: tuple[int, ...]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the box around objects of a matching."""
    columns = level.measurements.columns
    of_pred = [not set(pred_ids).isdisjoint(map(int, ids.split())) for ids in columns["pred_ids"]]
    corners = []
    for side, there in (
        ("ref", np.isin(columns["ref_id"], ref_ids)),
        ("pred", np.array(of_pred, np.bool_)),
    ):
        rows = there & (columns[f"{side}_voxels"] > 0)
        corners.append((columns[f"{side}_start"][rows], columns[f"{side}_stop"][rows]))
    starts, stops = (np.concatenate(ends) for ends in zip(*corners, strict=True))
    if not len(starts):
        return (), ()
    return tuple(starts.min(axis=0).tolist()), tuple(stops.max(axis=0).tolist())


def _named(what: str, ids: tuple[int, ...]) -> str:
    shown = [*map(str, ids[:MOST_IDS]), *(["…"] if len(ids) > MOST_IDS else [])]
    return f"{what}{'s' if len(ids) > 1 else ''} {', '.join(shown)}"
