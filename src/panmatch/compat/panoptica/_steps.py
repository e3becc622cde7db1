"""The images after each step: as they were passed, as objects, and matched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from panmatch.compat.panoptica._enums import InputType
from panmatch.labels import LabelArray, paint_volumes

if TYPE_CHECKING:
    from panmatch.compat.panoptica._case import GroupCase


@dataclass(frozen=True, eq=False)
class IntermediateStepsData:
    """Images of one group after every step that it went through, by the type of input.

    Attributes
    ----------
    original_prediction_arr, original_reference_arr
        As they were given, with labels of other groups removed.
    steps
        Prediction and reference by the name of the step.
    """

    original_prediction_arr: LabelArray
    original_reference_arr: LabelArray
    steps: dict[str, tuple[LabelArray, LabelArray]]

    @classmethod
    def of(cls, case: GroupCase) -> IntermediateStepsData:
        """Return the steps of a case."""
        given = case.prediction, case.reference
        steps = {}
        if case.config.expected_input == "SEMANTIC" and not case.group.single_instance:
            steps["SEMANTIC"] = given
        objects = case.images.prediction, case.images.reference
        if not case.matched_already:
            steps["UNMATCHED_INSTANCE"] = objects
        if not case.config.per_region and len(case.images.overlap.edges):
            steps["MATCHED_INSTANCE"] = _relabelled(case), objects[1]
        return cls(*given, steps)

    def prediction_arr(self, inputtype: InputType) -> LabelArray:
        """Return the prediction as it was at a step."""
        return self[inputtype.name][0]

    def reference_arr(self, inputtype: InputType) -> LabelArray:
        """Return the reference as it was at a step."""
        return self[inputtype.name][1]

    def __getitem__(self, name: str) -> tuple[LabelArray, LabelArray]:
        if name not in self.steps:
            raise KeyError(f"{name} was not a step; the steps are {', '.join(self.steps)}.")
        return self.steps[name]


def _relabelled(case: GroupCase) -> LabelArray:
    """Return the prediction with the ids of the references; others get ids above the highest."""
    overlap, pairs = case.images.overlap, case.pairs()
    numbers = np.zeros(len(overlap.pred_ids), np.int64)
    numbers[pairs.pred] = overlap.ref_ids[pairs.ref]
    free = numbers == 0
    numbers[free] = int(overlap.ref_ids.max(initial=0)) + 1 + np.arange(np.count_nonzero(free))
    if case.matched_already:
        return case.images.prediction
    painted = paint_volumes([case.images.prediction], overlap.pred_ids[np.newaxis], numbers)
    return np.asarray(painted)
