"""All numbers of one group of one case, under panoptica's names."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from panmatch.compat.panoptica._edge_cases import EdgeCaseHandler
from panmatch.compat.panoptica._enums import MetricMode, MetricType
from panmatch.compat.panoptica._metrics import (
    Evaluation_List_Metric,
    Metric,
    MetricCouldNotBeComputedException,
)
from panmatch.errors import OptionError
from panmatch.spec import PANOPTICA_METRICS, PanopticaColumn, panoptica_columns

Number = float | int | None


@dataclass(frozen=True)
class Evaluation_Metric:  # noqa: N801 (panoptica's name)
    """A number of a result: its name, where it is printed, and its range if that is known."""

    id: str
    metric_type: MetricType
    long_name: str
    is_share: bool = False  # from 0 to 1, so the area under its curve makes sense

    @property
    def lower_bound(self) -> float | None:
        """The least value, where that is known."""
        return 0.0 if self.is_share else None

    @property
    def upper_bound(self) -> float | None:
        """The greatest value, where that is known."""
        return 1.0 if self.is_share else None

    def __str__(self) -> str:
        return f"{self.long_name} ({self.id})"


# Where panoptica prints numbers, and what it calls them there.
PRINTED: dict[str, MetricType] = {
    "count": MetricType.MATCHING,
    "rate": MetricType.MATCHING,
    "sq": MetricType.INSTANCE,
    "std": MetricType.INSTANCE,
    "pq": MetricType.INSTANCE,
    "size": MetricType.INSTANCE,
    "voxels": MetricType.NO_PRINT,
    "whole": MetricType.GLOBAL,
    "region": MetricType.GLOBAL,
}
HIDDEN = ("prec", "rec")
TITLES = {
    "n_ref_instances": "Number of instances in reference",
    "n_pred_instances": "Number of instances in prediction",
    "tp": "True Positives",
    "fp": "False Positives",
    "fn": "False Negatives",
    "prec": "Precision (positive predictive value)",
    "rec": "Recall (sensitivity)",
    "rq": "Recognition Quality / F1-Score",
    "instance_voxel_count_ref": "Average Matched Reference Instance Voxel Count",
    "instance_volume_ref": "Average Matched Reference Instance Physical Volume",
    "global_bin_volume_pred": "Global Binary Prediction Volume",
    "global_bin_volume_ref": "Global Binary Reference Volume",
}
TITLES_OF_METRICS = {
    "sq": "Segmentation Quality {}",
    "std": "Segmentation Quality {} Standard Deviation",
    "pq": "Panoptic Quality {}",
    "whole": "Global Binary {}",
    "region": "Region Average {}",
}
SHORT_NAMES = {"IOU": "IoU", "DSC": "Dsc", "clDSC": "Centerline Dsc", "ASSD": "ASSD"}


def _number(column: PanopticaColumn) -> Evaluation_Metric:
    printed = MetricType.NO_PRINT if column.name in HIDDEN else PRINTED[column.kind]
    if column.of is None:
        title = TITLES[column.name]
    else:
        called = PANOPTICA_METRICS[column.of].long_name
        if column.kind in ("sq", "std", "pq"):
            called = SHORT_NAMES.get(column.of, called)
        title = TITLES_OF_METRICS[column.kind].format(called)
    return Evaluation_Metric(column.name, printed, title, column.has_area)


NUMBERS = {name: _number(one) for name, one in panoptica_columns().items() if one.kind != "row"}


@dataclass(frozen=True, slots=True)
class ReferenceSizes:
    """Voxels of the references that are true positives, and of all others."""

    matched: list[int] = field(default_factory=list)
    unmatched: list[int] = field(default_factory=list)
    voxel_volume: float = 1.0


class PanopticaResult:
    """All numbers of one group of one case; a number that was not requested raises an error.

    Attributes are ``tp``, ``fp``, ``fn``, ``prec``, ``rec``, ``rq``, ``sq``, ``sq_std``, ``pq`` and
    so on, for every metric: ``sq_dsc``, ``pq_dsc``, ``sq_assd``, ``global_bin_dsc`` …

    Parameters
    ----------
    n_ref_instances, n_pred_instances, tp
        Counts; NaN if regions are evaluated.
    list_metrics
        Values of every true positive.
    global_values, region_values
        Metrics of the whole masks, and means over regions.
    volumes
        Voxels of the prediction and of the reference.
    sizes
        Of the references.
    handler
        Values to use if nothing matches.
    quirks
        Whether to follow panoptica where it divides by zero, or has no value.
    channel_values
        Of a group with parts: the metrics of the whole masks by channel.

    Examples
    --------
    >>> found = PanopticaResult(2, 3, 1, {Metric.IOU: [0.9]}, {}, (5, 4), ReferenceSizes())
    >>> found.fp, found.fn, round(found.pq, 3)
    (2, 1, 0.36)
    """

    def __init__(
        self,
        n_ref_instances: float,
        n_pred_instances: float,
        tp: float,
        list_metrics: Mapping[Metric, list[float]],
        global_values: Mapping[Metric, float | None],
        volumes: tuple[int, int],
        sizes: ReferenceSizes,
        handler: EdgeCaseHandler | None = None,
        *,
        quirks: bool = False,
        region_values: Mapping[Metric, float | None] | None = None,
        channel_values: Mapping[str, Mapping[int, float]] | None = None,
    ) -> None:
        self.n_ref_instances, self.n_pred_instances, self.tp = n_ref_instances, n_pred_instances, tp
        self.computation_time: float | None = None
        self.intermediate_steps_data: Any = None
        self._sizes, self._channel_values = sizes, channel_values or {}
        self._handler, self._quirks = handler or EdgeCaseHandler(), quirks
        self._lists = {m: self._listed(m, list_metrics[m]) for m in Metric if m in list_metrics}
        self.global_bin_volume_pred, self.global_bin_volume_ref = volumes
        self._masks: dict[str, Number] = {
            f"{prefix}_{metric.name.lower()}": value
            for prefix, values in (("global_bin", global_values), ("region_avg", region_values))
            for metric, value in (values or {}).items()
        }

    def _listed(self, metric: Metric, values: list[float]) -> Evaluation_List_Metric:
        value: float | None = None
        if not self.tp:
            known = metric in self._handler.listmetric_zeroTP_handling
            counts = int(self.n_pred_instances), int(self.n_ref_instances)
            value = math.nan
            if known or self._quirks:
                value = self._handler.handle_zero_tp(metric, 0, *counts)[1]
        deviation = self._handler.handle_empty_list_std().value
        return Evaluation_List_Metric(metric, deviation, values, not self.tp, value)

    def __getattr__(self, name: str) -> Any:
        if name in _FORMULAS:
            return _FORMULAS[name](self)
        if name in NUMBERS:
            if name in self._masks:
                return self._masks[name]
            raise MetricCouldNotBeComputedException(
                f"{name} was not computed: add the metric to "
                f"{'global_metrics' if name.startswith('global') else 'per_region_evaluation'}."
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *NUMBERS]

    @property
    def evaluation_metrics(self) -> dict[str, Evaluation_Metric]:
        """Every number that a result can have, by name."""
        return dict(NUMBERS)

    @property
    def autc_metrics(self) -> list[str]:
        """Names of the numbers from 0 to 1."""
        return [name for name, one in NUMBERS.items() if one.is_share]

    @property
    def instance_voxel_count_matched_ref_list(self) -> list[int]:
        """Voxels of every reference that is a true positive."""
        return list(self._sizes.matched)

    @property
    def instance_volume_matched_ref_list(self) -> list[float]:
        """Volume of every reference that is a true positive."""
        return [size * self._sizes.voxel_volume for size in self._sizes.matched]

    @property
    def instance_voxel_count_unmatched_ref_list(self) -> list[int]:
        """Voxels of every other reference."""
        return list(self._sizes.unmatched)

    @property
    def instance_volume_unmatched_ref_list(self) -> list[float]:
        """Volume of every other reference."""
        return [size * self._sizes.voxel_volume for size in self._sizes.unmatched]

    def get_list_metric(self, metric: Metric, mode: MetricMode) -> Any:
        """Return the values of all true positives, or their summary."""
        if metric not in self._lists:
            raise MetricCouldNotBeComputedException(
                f"{metric} was not computed: add it to instance_metrics."
            )
        return self._lists[metric][mode]

    def get_channel_metrics(self, metric_name: str) -> dict[int, float] | None:
        """Return a metric of the whole masks by channel, for a group with parts."""
        found = self._channel_values.get(metric_name)
        return None if found is None else dict(found)

    def calculate_all(self, print_errors: bool = False) -> None:
        """Do nothing: all numbers are already computed."""

    def recall_by_volume(
        self, thresholds: Sequence[float], volume: str = "volume"
    ) -> dict[str, float]:
        """Return the share of references that are matched, by bins of their volume."""
        if volume not in ("volume", "voxel_count"):
            raise OptionError(f"volume={volume!r} must be 'volume' or 'voxel_count'.")
        scale = self._sizes.voxel_volume if volume == "volume" else 1
        sizes = [size * scale for size in (*self._sizes.matched, *self._sizes.unmatched)]
        matched = [i < len(self._sizes.matched) for i in range(len(sizes))]
        return recall_by_volume_bins(sizes, matched, thresholds)

    def to_dict(self, output_individual_instance_metrics: bool = False) -> dict[str, Any]:
        """Return all numbers that could be computed, optionally with a row per reference.

        Regions are not matched, so nothing is counted there.
        """
        found = {}
        for name in NUMBERS:
            uncounted = math.isnan(self.tp) and panoptica_columns()[name].kind == "rate"
            if uncounted or (self._quirks and name.startswith("region_avg")):
                continue
            try:
                found[name] = getattr(self, name)
            except (MetricCouldNotBeComputedException, ZeroDivisionError):
                continue
        if output_individual_instance_metrics:
            found["reference_instances"] = self._instances()
        return found

    def _instances(self) -> list[dict[str, Number]]:
        """Return a row for every true positive, then for every other reference."""
        rows: list[dict[str, Number]] = []
        for i, voxels in enumerate(self._sizes.matched):
            values = {m.get_result_key("sq"): (one.ALL or [])[i] for m, one in self._lists.items()}
            rows.append({**values, **self._size_row(voxels), "is_matched": 1})
        rows += [{**self._size_row(size), "is_matched": 0} for size in self._sizes.unmatched]
        return rows

    def _size_row(self, voxels: int) -> dict[str, Number]:
        return {"voxel_count": voxels, "volume": voxels * self._sizes.voxel_volume}

    def __str__(self) -> str:
        numbers = self.to_dict()
        text = ""
        for kind in (MetricType.MATCHING, MetricType.GLOBAL, MetricType.INSTANCE):
            if kind is MetricType.GLOBAL and not self._masks:
                continue
            text += f"\n+++ {kind.name} +++\n"
            for name, one in NUMBERS.items():
                if one.metric_type is kind and name in numbers and not name.endswith("_std"):
                    std = numbers.get(f"{name}_std")
                    spread = f" +- {std}" if f"{name}_std" in numbers else ""
                    text += f"{one}: {numbers[name]}{spread}\n"
        return text


def _of_list(result: PanopticaResult, metric: Metric, mode: MetricMode) -> Any:
    return result.get_list_metric(metric, mode)


def _pq(result: PanopticaResult, metric: Metric) -> float:
    quality = result.get_list_metric(metric, MetricMode.AVG)
    if quality is None:
        raise MetricCouldNotBeComputedException(f"{metric} has no value if nothing matches.")
    return float(quality * result.rq)


def _rq(result: PanopticaResult) -> float:
    if result.tp == 0:
        return 0.0 if result.n_pred_instances + result.n_ref_instances > 0 else math.nan
    return float(result.tp / (result.tp + 0.5 * result.fp + 0.5 * result.fn))


def _share(result: PanopticaResult, other: str) -> float:
    of = result.tp + getattr(result, other)
    if of == 0 and not result._quirks:
        return math.nan
    return float(result.tp / of)


def _mean_size(result: PanopticaResult, *, volume: bool) -> float:
    sizes = result._sizes
    mean = float(np.mean(sizes.matched)) if sizes.matched else math.nan
    return mean * sizes.voxel_volume if volume else mean


def _formulas() -> dict[str, Callable[[PanopticaResult], Any]]:
    found: dict[str, Callable[[PanopticaResult], Any]] = {
        "fp": lambda result: result.n_pred_instances - result.tp,
        "fn": lambda result: result.n_ref_instances - result.tp,
        "prec": partial(_share, other="fp"),
        "rec": partial(_share, other="fn"),
        "rq": _rq,
        "instance_voxel_count_ref": partial(_mean_size, volume=False),
        "instance_volume_ref": partial(_mean_size, volume=True),
        "num_ref_instances": lambda result: result.n_ref_instances,
        "num_pred_instances": lambda result: result.n_pred_instances,
    }
    for name, column in panoptica_columns().items():
        if column.of is not None and column.kind in ("sq", "std"):
            mode = MetricMode.AVG if column.kind == "sq" else MetricMode.STD
            found[name] = partial(_of_list, metric=Metric[column.of], mode=mode)
        elif column.of is not None and column.kind == "pq":
            found[name] = partial(_pq, metric=Metric[column.of])
    return found


_FORMULAS = _formulas()


def recall_by_volume_bins(
    volumes: Sequence[float], matched_flags: Sequence[bool], thresholds: Sequence[float]
) -> dict[str, float]:
    """Return the share of matched references in every bin of volume; NaN for an empty bin.

    Examples
    --------
    >>> recall_by_volume_bins([1, 5, 9], [False, True, True], [4])
    {'rec_q0': 0.0, 'rec_q1': 1.0}
    """
    bins = np.digitize(np.asarray(volumes, np.float64), sorted(thresholds))
    flags = np.asarray(matched_flags, np.float64)
    return {
        f"rec_q{at}": float(flags[bins == at].mean()) if (bins == at).any() else math.nan
        for at in range(len(thresholds) + 1)
    }
