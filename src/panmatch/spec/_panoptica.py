"""Panoptica 2.1.7 configurations as plain data, with its defaults."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from panmatch.overlap import Score

Input = Literal["SEMANTIC", "UNMATCHED_INSTANCE", "MATCHED_INSTANCE"]
MetricName = Literal["DSC", "IOU", "ASSD", "clDSC", "RVD", "RVAE", "CEDI", "HD", "HD95", "NSD"]
Backend = Literal["cc3d", "scipy"]
EdgeValue = Literal["INF", "NAN", "ZERO", "ONE", "NONE"]
GroupKind = Literal["labels", "merged", "parts"]
MatcherName = Literal["NaiveThresholdMatching", "MaxBipartiteMatching", "MaximizeMergeMatching"]

SCORES: Mapping[MetricName, Score] = {"IOU": "iou", "DSC": "dice"}  # what panmatch matches by


@dataclass(frozen=True, slots=True)
class PanopticaGroup:
    """Labels that are evaluated together.

    Attributes
    ----------
    labels
        All labels, ascending, including those of parts; empty for all labels in the image.
    kind
        ``"labels"``, ``"merged"`` (combined in one mask) or ``"parts"`` (things with parts).
    parts
        Labels of the parts.
    single_instance
        Whether the group is one object, which is matched without a threshold.
    """

    labels: tuple[int, ...] = ()
    kind: GroupKind = "labels"
    parts: tuple[int, ...] = ()
    single_instance: bool = False

    @property
    def has_many_labels(self) -> bool:
        """Whether its objects may have different labels."""
        return self.kind == "labels" and len(self.labels) != 1


@dataclass(frozen=True, slots=True)
class PanopticaApproximator:
    """How masks become objects; without a named backend, the number of dimensions decides."""

    one_hot: bool = False
    backend: Backend | None = None

    def backend_for(self, dimensions: int) -> Backend:
        """Return the backend for images with this many dimensions.

        Examples
        --------
        >>> PanopticaApproximator().backend_for(2), PanopticaApproximator().backend_for(3)
        ('scipy', 'cc3d')
        """
        return self.backend or ("cc3d" if dimensions > 2 else "scipy")


@dataclass(frozen=True, slots=True)
class PanopticaMatcher:
    """A matching algorithm with its options."""

    name: MatcherName = "NaiveThresholdMatching"
    metric: MetricName = "IOU"
    threshold: float = 0.5
    strict: bool = False
    many_to_one: bool = False

    @property
    def is_one_to_one(self) -> bool:
        """Whether a reference has at most one prediction."""
        return not self.many_to_one and self.name != "MaximizeMergeMatching"

    @property
    def least_iou(self) -> float | None:
        """The IoU that a pair must have; None if pairs are matched by something else."""
        return iou_of(self.metric, self.threshold) if self.metric in SCORES else None


@dataclass(frozen=True, slots=True)
class PanopticaEdgeCase:
    """The values of a metric when nothing is matched, by which side has objects."""

    no_instances: EdgeValue
    empty_prediction: EdgeValue
    empty_reference: EdgeValue
    normal: EdgeValue


_ZERO = PanopticaEdgeCase("NAN", "ZERO", "ZERO", "ZERO")
_INF = PanopticaEdgeCase("NAN", "INF", "INF", "INF")
_NAN = PanopticaEdgeCase("NAN", "NAN", "NAN", "NAN")
EdgeCases = Mapping[MetricName, PanopticaEdgeCase]
EDGE_CASES: EdgeCases = {
    "DSC": _ZERO,
    "clDSC": _ZERO,
    "IOU": _ZERO,
    "ASSD": _INF,
    "RVD": _NAN,
    "RVAE": _NAN,
}


@dataclass(frozen=True, slots=True)
class PanopticaConfig:
    """A configuration, with panoptica's defaults for everything that it leaves out.

    Attributes
    ----------
    expected_input
        What the images contain; None if the file only has groups.
    groups
        Groups by name, in lower case as in panoptica; None if all labels are one group.
    approximator, matcher
        None if there is none.
    instance_metrics, global_metrics
        Metrics of each object, and of all objects as one mask.
    decision_metric, decision_threshold
        What a matched pair must also reach to be a true positive.
    per_region
        Whether each reference is evaluated in its own Voronoi region.
    edge_cases
        Edge cases by metric. Without an entry, panoptica stops with an error if nothing matches.
    empty_list_std
        Standard deviation over no objects.
    """

    expected_input: Input | None = "MATCHED_INSTANCE"
    groups: Mapping[str, PanopticaGroup] | None = None
    approximator: PanopticaApproximator | None = None
    matcher: PanopticaMatcher | None = None
    instance_metrics: tuple[MetricName, ...] = ("DSC", "IOU", "ASSD", "RVD")
    global_metrics: tuple[MetricName, ...] = ("DSC",)
    decision_metric: MetricName | None = None
    decision_threshold: float | None = None
    per_region: bool = False
    edge_cases: EdgeCases = field(default_factory=lambda: EDGE_CASES)
    empty_list_std: EdgeValue = "NAN"

    @property
    def classes(self) -> Mapping[str, PanopticaGroup]:
        """The groups, or the one that stands for all labels."""
        return {"ungrouped": PanopticaGroup()} if self.groups is None else self.groups

    @property
    def problem(self) -> str:
        """Why panoptica cannot use it, and what to write instead; '' if it can."""
        matched = self.expected_input == "MATCHED_INSTANCE"
        groups = self.classes.values()
        plain = [group for group in groups if not (group.single_instance or matched)]
        if self.expected_input is None:
            return ""
        if self.decision_metric is not None and self.decision_threshold is None:
            return "decision_metric needs a decision_threshold"
        if self.per_region and self.decision_metric is not None:
            return "per_region_evaluation cannot have a decision_metric: write null"
        if self.per_region and len(plain) < len(groups):
            return (
                "per_region_evaluation matches objects, so it accepts neither MATCHED_INSTANCE "
                "input nor a group with single_instance"
            )
        if plain and self.expected_input == "SEMANTIC" and self.approximator is None:
            return "SEMANTIC input needs an instance_approximator"
        if plain and self.matcher is None:
            return f"{self.expected_input} input needs an instance_matcher"
        if self.expected_input != "SEMANTIC" and any(group.kind == "parts" for group in groups):
            return "a !LabelPartGroup needs SEMANTIC input: panoptica 2.1.7 stops with an error"
        return self._unreachable_threshold()

    def _unreachable_threshold(self) -> str:
        limits = [("decision_threshold", self.decision_metric, self.decision_threshold, False)]
        if self.matcher is not None:
            one = self.matcher
            limits.append(("matching_threshold", one.metric, one.threshold, one.strict))
        for name, metric, limit, strict in limits:
            reachable = limit is None or limit < 1 or (limit == 1 and not strict)
            if metric in SCORES and not reachable:
                return f"{name} is {limit:g}, which no {metric} can reach: write a lower value"
        return ""

    @property
    def singles(self) -> tuple[str, ...]:
        """Names of the groups that are matched without a threshold."""
        if self.expected_input == "MATCHED_INSTANCE":
            return ()
        return tuple(name for name, group in self.classes.items() if group.single_instance)

    @property
    def measured(self) -> tuple[MetricName, ...]:
        """All metrics of single objects; in regions this includes the global ones."""
        more = self.global_metrics if self.per_region else ()
        return tuple(dict.fromkeys((*self.instance_metrics, *more)))

    @property
    def decides(self) -> bool:
        """Whether the decision is by overlap, and stricter than the matching."""
        metric, limit = self.decision_metric, self.decision_threshold
        if metric is None or metric not in SCORES or limit is None or self.matcher is None:
            return False
        return iou_of(metric, limit) > (self.matcher.least_iou or 0.0)

    @property
    def limit(self) -> PairLimit:
        """What a pair must reach to be a true positive, as far as panmatch supports it."""
        decision, at_least = self.decision_metric, self.decision_threshold
        if self.expected_input == "MATCHED_INSTANCE":
            if decision is not None and decision in SCORES and at_least is not None:
                return PairLimit(SCORES[decision], at_least, strict=False)
            return PairLimit("iou", 0.0, strict=True)
        matcher = self.matcher or PanopticaMatcher(threshold=0.0)  # single instances need none
        if matcher.metric not in SCORES:
            return PairLimit("iou", PanopticaMatcher().threshold, strict=True)
        score = SCORES[matcher.metric]
        if self.decides and matcher.is_one_to_one and decision is not None:
            least = at_least or 0.0
            if decision != matcher.metric:
                iou = iou_of(decision, least)
                least = iou if score == "iou" else 2 * iou / (1 + iou)
            return PairLimit(score, least, strict=False)
        return PairLimit(score, matcher.threshold, matcher.strict)


@dataclass(frozen=True, slots=True)
class PairLimit:
    """What a pair must reach, or exceed if it is strict."""

    score: Score
    value: float
    strict: bool

    @property
    def threshold(self) -> float:
        """The equivalent threshold in panmatch, which is strict and below 1."""
        return min(max(self.value, 0.0), math.nextafter(1.0, 0.0))


def iou_of(metric: MetricName, value: float) -> float:
    """Return the IoU of pairs that have this IoU or Dice.

    Examples
    --------
    >>> iou_of("DSC", 0.5)
    0.3333333333333333
    """
    return value / (2 - value) if metric == "DSC" else value
