"""What a result with confidences has in addition: surfaces, and tables of detections (D17)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Literal, get_args

from panmatch.evaluation._case_result import CaseResult
from panmatch.evaluation._detections import (
    DetectionSeries,
    calibration_table,
    detection_scores,
    detection_series,
    detection_table,
    froc_table,
    pr_table,
)
from panmatch.evaluation._table import Table
from panmatch.spec import Spec

if TYPE_CHECKING:
    import pandas as pd

DetectionTableName = Literal["detections", "pr", "froc", "calibration"]
DETECTION_TABLES: tuple[DetectionTableName, ...] = get_args(DetectionTableName)


class DetectionViews:
    """A part of `Result`: everything that needs confidences, and is empty without them."""

    spec: Spec
    cases: tuple[CaseResult, ...]

    @property
    def detections(self) -> pd.DataFrame:
        """Average precision, FROC, the best cut and more, pooled over cases (D17).

        Empty without confidences. `Result.plain` also has the tables ``"pr"``, ``"froc"`` and
        ``"calibration"``.
        """
        return detection_table(detection_scores(self.detection_series), self.cases).frame()

    @cached_property
    def detection_series(self) -> list[DetectionSeries]:
        """Surfaces of all cases together, for each model and setting with confidences."""
        if self.spec.confidence is None:
            return []
        models = dict.fromkeys(case.model for case in self.cases)
        return [series for model in models for series in self._of_model(model)]

    def _of_model(self, model: str) -> list[DetectionSeries]:
        cases = [case for case in self.cases if case.model == model and case.status == "ok"]
        return detection_series(model, cases)

    def _detection_table(self, name: DetectionTableName) -> Table:
        makers: dict[DetectionTableName, Callable[[], Table]] = {
            "detections": lambda: detection_table(
                detection_scores(self.detection_series), self.cases
            ),
            "pr": lambda: pr_table(self.detection_series, self.cases),
            "froc": lambda: froc_table(self.detection_series, self.cases),
            "calibration": lambda: calibration_table(self.detection_series, self.cases),
        }
        return makers[name]()
