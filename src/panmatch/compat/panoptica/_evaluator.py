"""`Panoptica_Evaluator`: a configuration, and images to evaluate with it."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Literal, cast

import numpy as np
from yaml import Node

from panmatch.compat.panoptica._areas import PanopticaAUTCResult, generate_thresholds
from panmatch.compat.panoptica._case import GroupCase
from panmatch.compat.panoptica._config import Saved, config_node
from panmatch.compat.panoptica._edge_cases import EdgeCaseHandler
from panmatch.compat.panoptica._enums import InputType
from panmatch.compat.panoptica._groups import (
    LabelGroup,
    NoSegmentationClassGroups,
    SegmentationClassGroups,
    groups_of,
    undefined_label,
)
from panmatch.compat.panoptica._images import read_pair
from panmatch.compat.panoptica._matchers import (
    APPROXIMATORS,
    BY_OVERLAP,
    MATCHERS,
    InstanceApproximator,
    ThresholdBasedMatching,
    approximator_of,
    check_matching_metric,
    matcher_of,
)
from panmatch.compat.panoptica._metrics import Metric
from panmatch.compat.panoptica._result import PanopticaResult
from panmatch.compat.panoptica._steps import IntermediateStepsData
from panmatch.errors import CallError, OptionError
from panmatch.labels import LabelArray, distinct_labels
from panmatch.spec import (
    AREA,
    PanopticaColumn,
    PanopticaConfig,
    PanopticaMetric,
    at_threshold,
    panoptica_columns,
)

logger = logging.getLogger("panmatch.compat.panoptica")
Input = Literal["SEMANTIC", "UNMATCHED_INSTANCE", "MATCHED_INSTANCE"]
Image = object  # an array, a path, a tensor, or an image of nibabel or SimpleITK


@dataclass(frozen=True)
class PanopticaSpeedToggles:
    """Switches that change panoptica's speed, and have no effect here."""

    crop_at_start: bool = True
    precompute_instance_bboxes: bool = True
    parallel_instance_eval: bool = False
    parallel_instance_eval_workers: int | None = None


class Panoptica_Evaluator(Saved):  # noqa: N801 (panoptica's name)
    """Evaluate predictions as panoptica 2.1.7 does, many times faster.

    Parameters are panoptica's, in the same order and with the same defaults, plus:

    Parameters
    ----------
    quirks
        Follow panoptica even where it is wrong; `QUIRKS` lists these cases.

    Examples
    --------
    >>> from panmatch.compat.panoptica import NaiveThresholdMatching
    >>> evaluator = Panoptica_Evaluator(
    ...     InputType.UNMATCHED_INSTANCE, instance_matcher=NaiveThresholdMatching()
    ... )
    >>> prediction, reference = np.array([[5, 5, 5, 0, 0]]), np.array([[1, 1, 1, 1, 0]])
    >>> result = evaluator.evaluate(prediction, reference)["ungrouped"]
    >>> result.tp, result.pq, round(result.sq_dsc, 4)
    (1, 0.75, 0.8571)
    """

    def __init__(
        self,
        expected_input: InputType = InputType.MATCHED_INSTANCE,
        instance_approximator: InstanceApproximator | None = None,
        instance_matcher: ThresholdBasedMatching | None = None,
        edge_case_handler: EdgeCaseHandler | None = None,
        segmentation_class_groups: SegmentationClassGroups | None = None,
        instance_metrics: Sequence[Metric] | None = None,
        global_metrics: Sequence[Metric] | None = None,
        decision_metric: Metric | None = None,
        decision_threshold: float | None = None,
        per_region_evaluation: bool = False,
        save_group_times: bool = False,
        log_intermediate_steps: bool = False,
        log_times: bool = False,
        verbose: bool = False,
        speed_toggles: PanopticaSpeedToggles | None = None,  # noqa: ARG002 (nothing to switch)
        *,
        quirks: bool = False,
    ) -> None:
        _check_kind("instance_approximator", instance_approximator, InstanceApproximator)
        _check_kind("instance_matcher", instance_matcher, ThresholdBasedMatching)
        if instance_matcher is not None:
            check_matching_metric(instance_matcher.plain)
        _check_kind("edge_case_handler", edge_case_handler, EdgeCaseHandler)
        _check_kind("segmentation_class_groups", segmentation_class_groups, SegmentationClassGroups)
        if decision_metric is not None and decision_threshold is None:
            raise OptionError(f"decision_metric={decision_metric} needs a decision_threshold.")
        if per_region_evaluation and (decision_metric or decision_threshold is not None):
            raise OptionError(
                f"decision_metric={decision_metric}, decision_threshold={decision_threshold}: "
                f"regions are not matched, so there is nothing to decide. Leave both out."
            )
        self._groups = segmentation_class_groups or NoSegmentationClassGroups()
        self._handler = edge_case_handler or EdgeCaseHandler()
        self._save_times, self._keep_steps = save_group_times, log_intermediate_steps
        self._log_times, self._verbose, self.quirks = log_times, verbose, quirks
        default = PanopticaConfig()
        self._config = PanopticaConfig(
            expected_input=cast(Input, InputType.named(expected_input, "expected_input").name),
            groups=self._groups.plain,
            approximator=None if instance_approximator is None else instance_approximator.plain,
            matcher=None if instance_matcher is None else instance_matcher.plain,
            instance_metrics=default.instance_metrics
            if instance_metrics is None
            else _metrics("instance_metrics", instance_metrics),
            global_metrics=default.global_metrics
            if global_metrics is None
            else _metrics("global_metrics", global_metrics),
            decision_metric=None
            if decision_metric is None
            else Metric.named(decision_metric, "decision_metric").plain,
            decision_threshold=decision_threshold,
            per_region=per_region_evaluation,
            edge_cases=self._handler.plain,
            empty_list_std=self._handler.handle_empty_list_std().name,  # type: ignore[arg-type]
        )

    def evaluate(
        self,
        prediction_arr: Image,
        reference_arr: Image,
        result_all: bool = True,  # noqa: ARG002 (all that was asked for is there at once)
        voxelspacing: Sequence[float] | None = None,
        save_group_times: bool | None = None,
        log_intermediate_steps: bool | None = None,
        log_times: bool | None = None,
        verbose: bool | None = None,  # noqa: ARG002 (nothing is printed)
        skip_groups: Sequence[str] | None = None,
    ) -> dict[str, PanopticaResult]:
        """Evaluate one case; the prediction comes first, as in panoptica.

        Parameters
        ----------
        prediction_arr, reference_arr
            Arrays, paths, tensors, or images of nibabel or SimpleITK.
        voxelspacing
            Distance between voxels along each axis; by default that of the images.
        skip_groups
            Names of groups to leave out.
        """
        keep = self._keep_steps if log_intermediate_steps is None else log_intermediate_steps
        found: dict[str, PanopticaResult] = {}
        for name, case in self._cases(prediction_arr, reference_arr, voxelspacing, skip_groups):
            start = perf_counter()
            self._check(case)
            found[name] = case.region_result() if self._config.per_region else case.result()
            if keep:
                found[name].intermediate_steps_data = IntermediateStepsData.of(case)
            self._clock(name, found[name], perf_counter() - start, save_group_times, log_times)
        return found

    def evaluate_autc(
        self,
        prediction_arr: Image,
        reference_arr: Image,
        threshold_step_size: float = 0.1,
        decision_threshold_mode: Literal["fixed", "step"] = "step",
        result_all: bool = True,  # noqa: ARG002
        voxelspacing: Sequence[float] | None = None,
        save_group_times: bool | None = None,
        log_times: bool | None = None,
        verbose: bool | None = None,  # noqa: ARG002
        skip_groups: Sequence[str] | None = None,
    ) -> dict[str, PanopticaAUTCResult]:
        """Evaluate one case at many matching thresholds; voxels are counted once.

        Parameters
        ----------
        threshold_step_size
            Distance between thresholds.
        decision_threshold_mode
            ``"step"``: the decision threshold equals the matching threshold. ``"fixed"``: it is
            the evaluator's decision threshold.
        """
        self._check_thresholds(decision_threshold_mode)
        thresholds = generate_thresholds(threshold_step_size)
        fixed = decision_threshold_mode == "fixed"
        found: dict[str, PanopticaAUTCResult] = {}
        for name, case in self._cases(prediction_arr, reference_arr, voxelspacing, skip_groups):
            start = perf_counter()
            self._check(case)
            case = replace(case, objects_first=True)
            results = {one: case.result(one, None if fixed else one) for one in thresholds}
            found[name] = PanopticaAUTCResult(results)
            self._clock(name, found[name], perf_counter() - start, save_group_times, log_times)
        return found

    @staticmethod
    def generate_thresholds(step_size: float) -> list[float]:
        """Return the thresholds of `evaluate_autc`."""
        return generate_thresholds(step_size)

    @property
    def segmentation_class_groups_names(self) -> list[str]:
        """Names of the groups."""
        return self._groups.keys()

    @property
    def resulting_metric_keys(self) -> list[str]:
        """Names of the numbers that a result has, in the order of tables."""
        return self.get_resulting_metric_keys()

    def get_resulting_metric_keys(
        self, output_individual_instance_metrics: bool = False
    ) -> list[str]:
        """Return the names of the numbers of a result, and of rows of instances if asked for."""
        keys = [name for name, one in panoptica_columns().items() if self._has(one)]
        return [*keys, "is_matched"] if output_individual_instance_metrics else keys

    def _has(self, column: PanopticaColumn) -> bool:
        """Return whether results have a number."""
        config = self._config
        if column.kind in ("whole", "region"):
            wanted = column.kind == "whole" or (config.per_region and not self.quirks)
            return wanted and column.of in config.global_metrics
        if column.kind in ("count", "size", "voxels"):
            return True
        measured = column.kind == "rate" or column.of in config.instance_metrics
        return not config.per_region and column.kind != "row" and measured

    def get_autc_metric_keys(self, threshold_step_size: float) -> list[str]:
        """Return the names of the numbers of `evaluate_autc`."""
        shares = sorted(name for name, one in panoptica_columns().items() if one.has_area)
        return [f"{AREA}{name}" for name in shares] + [
            at_threshold(threshold, name)
            for threshold in generate_thresholds(threshold_step_size)
            for name in self.resulting_metric_keys
        ]

    def set_log_group_times(self, should_save: bool) -> None:
        """Choose whether results have a `computation_time`."""
        self._save_times = should_save

    def _as_node(self) -> Node:
        return config_node(self._config)

    @classmethod
    def _from_config(cls, config: PanopticaConfig) -> Panoptica_Evaluator:
        if config.expected_input is None:
            raise CallError(
                "path: the file contains only groups, no !Panoptica_Evaluator. Load it with "
                "SegmentationClassGroups.load_from_config."
            )
        return cls(
            InputType[config.expected_input],
            approximator_of(config.approximator) if config.approximator else None,
            matcher_of(config.matcher) if config.matcher else None,
            EdgeCaseHandler._from_config(config),
            groups_of(config),
            [Metric[name] for name in config.instance_metrics],
            [Metric[name] for name in config.global_metrics],
            None if config.decision_metric is None else Metric[config.decision_metric],
            config.decision_threshold,
            config.per_region,
        )

    def _cases(
        self,
        prediction: Image,
        reference: Image,
        voxelspacing: Sequence[float] | None,
        skip: Sequence[str] | None,
    ) -> Iterator[tuple[str, GroupCase]]:
        ref, pred, spacing = read_pair(reference, prediction, voxelspacing, quirks=self.quirks)
        skip = [skip] if isinstance(skip, str) else skip
        unknown = sorted({*(skip or ())} - {*self._groups})
        if unknown:
            logger.warning("skip_groups: there is no group %s.", unknown)
        if self._groups.labels:
            self._check_labels(ref, pred)
        for name, group in self._groups.items():
            if name not in (skip or ()):
                yield name, self._case(group, ref, pred, spacing)

    def _case(
        self,
        group: LabelGroup,
        reference: LabelArray,
        prediction: LabelArray,
        spacing: tuple[float, ...] | None,
    ) -> GroupCase:
        if group.plain.labels:
            reference, prediction = group(reference), group(prediction)
        return GroupCase(
            group.plain, self._config, self._handler, self.quirks, reference, prediction, spacing
        )

    def _check_labels(self, *images: LabelArray) -> None:
        for image in images:
            (found,), _ = distinct_labels([image])
            undefined = np.setdiff1d(found, [0, *self._groups.labels])
            if len(undefined):
                raise undefined_label(int(undefined[0]), self._groups)

    def _check(self, case: GroupCase) -> None:
        """Raise an error if a group needs something that the evaluator does not have."""
        config = self._config
        decision, named = config.decision_metric, config.instance_metrics
        if decision is not None and decision not in named:
            raise OptionError(
                f"decision_metric={decision} must be one of instance_metrics={list(named)}."
            )
        if config.per_region and case.matched_already:
            raise TypeError(
                "per_region_evaluation accepts neither MATCHED_INSTANCE input nor a group with "
                "single_instance."
            )
        if case.group.kind == "parts" and config.expected_input != "SEMANTIC":
            raise OptionError(f"expected_input={config.expected_input}: a LabelPartGroup needs "
                              f"SEMANTIC input.")  # fmt: skip
        if case.matched_already:
            return
        if config.expected_input == "SEMANTIC" and config.approximator is None:
            raise OptionError("instance_approximator=None, but SEMANTIC input needs one.")
        if config.matcher is None and not config.per_region:
            raise OptionError(
                f"instance_matcher=None, but {config.expected_input} input needs one."
            )
        metric = "IOU" if config.matcher is None else config.matcher.metric
        if case.group.kind == "parts" and metric not in BY_OVERLAP:
            raise OptionError(
                f"matching_metric={metric}: things with parts are matched by IOU or DSC."
            )

    def _check_thresholds(self, mode: str) -> None:
        if self._config.matcher is None:
            raise TypeError("instance_matcher=None, but evaluate_autc needs one with a threshold.")
        if self._config.expected_input == "MATCHED_INSTANCE":
            raise OptionError(
                "expected_input=MATCHED_INSTANCE: objects that are already matched need no "
                "threshold."
            )
        if mode not in ("fixed", "step"):
            raise OptionError(f"decision_threshold_mode={mode!r} must be 'step' or 'fixed'.")
        if mode == "fixed" and self._config.decision_threshold is None:
            raise OptionError("decision_threshold_mode='fixed' needs a decision_threshold.")

    def _clock(
        self,
        name: str,
        result: PanopticaResult | PanopticaAUTCResult,
        seconds: float,
        save: bool | None,
        log: bool | None,
    ) -> None:
        if self._save_times if save is None else save:
            result.computation_time = seconds
        if self._log_times if log is None else log:
            logger.info("%s took %.3f seconds", name, seconds)


def _metrics(argument: str, given: Sequence[Metric]) -> tuple[PanopticaMetric, ...]:
    if isinstance(given, str | Metric):
        raise OptionError(f"{argument}={given!r} must be a list: write [{given!r}].")
    return tuple(Metric.named(one, argument).plain for one in given)


def _check_kind(argument: str, value: object, kind: type[object]) -> None:
    if value is None or isinstance(value, kind):
        return
    if isinstance(value, type) and issubclass(value, kind):
        raise CallError(f"{argument}={value.__name__} is a class: write {value.__name__}(…).")
    offered = [name for name, one in {**APPROXIMATORS, **MATCHERS}.items() if issubclass(one, kind)]
    raise CallError(
        f"{argument} is of type {type(value).__name__}, which panmatch does not accept: write "
        f"{' or '.join(offered or [kind.__name__])}."
    )
