"""Results at many thresholds, and areas under their curves on panoptica's grid."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from panmatch.compat.panoptica._metrics import MetricCouldNotBeComputedException
from panmatch.compat.panoptica._result import NUMBERS, PanopticaResult
from panmatch.errors import OptionError
from panmatch.spec import AREA, at_threshold


def generate_thresholds(step_size: float) -> list[float]:
    """Return step, 2 · step, … and 1.

    Examples
    --------
    >>> generate_thresholds(0.3)
    [0.3, 0.6, 0.9, 1.0]
    """
    if not 0 < step_size < 1:
        raise OptionError(f"step_size={step_size!r} must be between 0 and 1.")
    steps = np.minimum(np.arange(step_size, 1 + step_size, step_size), 1.0)
    return [float(one) for one in np.unique(np.round(steps, 5))]


class PanopticaAUTCResult:
    """Results of one group at many thresholds; ``autc_pq`` is the area of ``pq``.

    The area is computed as in panoptica: with straight lines between the thresholds, and the first
    value held down to 0. `panmatch.curve` computes the exact area.
    """

    def __init__(self, threshold_results: Mapping[float, PanopticaResult]) -> None:
        if not threshold_results:
            raise OptionError("threshold_results is empty: pass a result for every threshold.")
        self.computation_time: float | None = None
        self.threshold_results = dict(sorted(threshold_results.items()))

    @property
    def thresholds(self) -> list[float]:
        """All thresholds, rising."""
        return list(self.threshold_results)

    def get_result_at_threshold(self, threshold: float) -> PanopticaResult:
        """Return the result at a threshold."""
        for known, result in self.threshold_results.items():
            if np.isclose(known, threshold):
                return result
        raise OptionError(f"threshold={threshold!r} was not evaluated. Known: {self.thresholds}.")

    def get_autc(self, metric_name: str) -> float:
        """Return the area under the curve of a number; it counts as 0 where it is not defined."""
        if len(self.thresholds) < 2:
            raise OptionError(
                f"thresholds={self.thresholds}: an area needs at least two thresholds."
            )
        if metric_name not in NUMBERS:
            raise AttributeError(f"{metric_name!r} is not a number of a result.")
        x = [0.0, *self.thresholds]
        y = [_or_zero(result, metric_name) for result in self.threshold_results.values()]
        return float(np.trapezoid([y[0], *y], x))

    def to_dict(self, output_individual_instance_metrics: bool = False) -> dict[str, float]:
        """Return all areas, then all numbers at all thresholds."""
        if output_individual_instance_metrics:
            raise NotImplementedError(
                "results at many thresholds have no rows for single instances."
            )
        first = self.threshold_results[self.thresholds[0]]
        found = {f"{AREA}{name}": self.get_autc(name) for name in sorted(first.autc_metrics)}
        for threshold, result in self.threshold_results.items():
            for name, value in result.to_dict().items():
                found[at_threshold(threshold, name)] = math.nan if value is None else float(value)
        return found

    def __getattr__(self, name: str) -> Any:
        if name.startswith(AREA):
            return self.get_autc(name.removeprefix(AREA))
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __str__(self) -> str:
        ends = f"{self.thresholds[0]:.3f} → {self.thresholds[-1]:.3f}"
        first = self.threshold_results[self.thresholds[0]]
        known = first.to_dict()
        areas = [
            f"  AUTC {NUMBERS[name].long_name}: {self.get_autc(name):.4f}"
            for name in sorted(first.autc_metrics)
            if name in known
        ]
        head = f"Thresholds : {ends}  ({len(self.thresholds)} steps)"
        return "\n".join(["=== PanopticaAUTCResult ===", head, "", "--- AUTC scores ---", *areas])

    def __repr__(self) -> str:
        return f"PanopticaAUTCResult(thresholds={self.thresholds!r})"


def _or_zero(result: PanopticaResult, name: str) -> float:
    try:
        value = getattr(result, name)
    except MetricCouldNotBeComputedException:
        return 0.0
    return 0.0 if value is None or math.isnan(value) else float(value)
