"""How objects are found and matched: panoptica's options, implemented by panmatch."""

from __future__ import annotations

import math
from typing import ClassVar, Literal, Self, cast

import numpy as np
from yaml import Node

from panmatch.compat.panoptica._config import SavedPart, approximator_node, matcher_node
from panmatch.compat.panoptica._enums import CCABackend
from panmatch.compat.panoptica._metrics import Metric
from panmatch.errors import OptionError
from panmatch.labels import (
    Connectivity,
    LabelArray,
    components_within_labels,
    connected_components,
)
from panmatch.matching import ManyToOne, OneToMany, OneToOne, Strategy
from panmatch.overlap import Edges, Floats, Ints, Overlap
from panmatch.spec import (
    PanopticaApproximator,
    PanopticaConfig,
    PanopticaGroup,
    PanopticaMatcher,
)

BY_OVERLAP = ("IOU", "DSC")
STRATEGIES: dict[str, Strategy] = {
    "NaiveThresholdMatching": OneToOne(solver="greedy"),
    "MaxBipartiteMatching": OneToOne(),
    "MaximizeMergeMatching": ManyToOne(),
}


class InstanceApproximator(SavedPart):
    """How objects are found in masks."""

    one_hot: ClassVar[bool] = False

    def __init__(self, cca_backend: CCABackend | None = None) -> None:
        self.cca_backend = cca_backend
        self.plain = PanopticaApproximator(self.one_hot, _backend(cca_backend))

    def _as_node(self) -> Node:
        return approximator_node(self.plain)

    @classmethod
    def _from_config(cls, config: PanopticaConfig) -> Self:
        assert config.approximator is not None
        return cast(Self, approximator_of(config.approximator))

    @classmethod
    def _tags(cls) -> tuple[str, ...]:
        return tuple(f"!{name}" for name, kind in APPROXIMATORS.items() if issubclass(kind, cls))


class ConnectedComponentsInstanceApproximator(InstanceApproximator):
    """Objects are connected components; without a backend, cc3d in 3-D and scipy in 2-D."""


class OneHotConnectedComponentsInstanceApproximator(InstanceApproximator):
    """Objects are connected components of all labels together."""

    one_hot = True


APPROXIMATORS: dict[str, type[InstanceApproximator]] = {
    kind.__name__: kind
    for kind in (
        ConnectedComponentsInstanceApproximator,
        OneHotConnectedComponentsInstanceApproximator,
    )
}


def _backend(backend: CCABackend | None) -> Literal["cc3d", "scipy"] | None:
    if backend is None:
        return None
    return "cc3d" if CCABackend.named(backend, "cca_backend") is CCABackend.cc3d else "scipy"


def find_objects(
    image: LabelArray, approximator: PanopticaApproximator, group: PanopticaGroup
) -> LabelArray:
    """Return the image with a label for every object.

    cc3d joins voxels at corners and keeps touching labels separate; scipy joins voxels at faces,
    whatever their labels.
    """
    connectivity = connectivity_of(approximator, image)
    if connectivity == "full" and not approximator.one_hot and group.kind == "labels":
        return components_within_labels(image, "full")
    return connected_components(image, connectivity)


def connectivity_of(approximator: PanopticaApproximator, image: LabelArray) -> Connectivity:
    """Return how its backend connects the voxels of an image."""
    return "full" if approximator.backend_for(image.ndim) == "cc3d" else "faces"


class InstanceMatchingAlgorithm(SavedPart):
    """How objects of both sides are matched."""


class ThresholdBasedMatching(InstanceMatchingAlgorithm):
    """Pairs are matched by a metric that reaches a threshold.

    Parameters
    ----------
    matching_metric
        IOU or DSC; with `NaiveThresholdMatching`, any metric.
    matching_threshold
        The value that a pair must reach.
    strict_threshold
        Whether a pair must exceed the threshold.
    """

    def __init__(
        self,
        matching_metric: Metric = Metric.IOU,
        matching_threshold: float = 0.5,
        strict_threshold: bool = False,
    ) -> None:
        self._set(matching_metric, matching_threshold, strict_threshold, False)

    def _set(self, metric: Metric, threshold: float, strict: bool, many: bool) -> None:
        chosen = Metric.named(metric, "matching_metric")
        try:
            limit = float(threshold)
        except (TypeError, ValueError):
            limit = math.nan
        if math.isnan(limit):
            raise OptionError(f"matching_threshold={threshold!r} must be a number, such as 0.5.")
        self._matching_metric, self._matching_threshold = chosen, limit
        self._strict_threshold, self._allow_many_to_one = bool(strict), bool(many)

    @property
    def plain(self) -> PanopticaMatcher:
        """The matcher as it is written in configurations."""
        return PanopticaMatcher(
            type(self).__name__,  # type: ignore[arg-type]
            self._matching_metric.plain,
            self._matching_threshold,
            self._strict_threshold,
            self._allow_many_to_one,
        )

    def _as_node(self) -> Node:
        return matcher_node(self.plain)

    @classmethod
    def _from_config(cls, config: PanopticaConfig) -> Self:
        assert config.matcher is not None
        return cast(Self, matcher_of(config.matcher))

    @classmethod
    def _tags(cls) -> tuple[str, ...]:
        return tuple(f"!{name}" for name, kind in MATCHERS.items() if issubclass(kind, cls))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._matching_metric.name}, {self._matching_threshold:g})"


class NaiveThresholdMatching(ThresholdBasedMatching):
    """The best pair first, each object once; with `allow_many_to_one`, a reference takes several.

    Examples
    --------
    >>> NaiveThresholdMatching(matching_threshold=0.3)
    NaiveThresholdMatching(IOU, 0.3)
    """

    def __init__(
        self,
        matching_metric: Metric = Metric.IOU,
        matching_threshold: float = 0.5,
        allow_many_to_one: bool = False,
        strict_threshold: bool = False,
    ) -> None:
        self._set(matching_metric, matching_threshold, strict_threshold, allow_many_to_one)


class MaxBipartiteMatching(ThresholdBasedMatching):
    """Each object at most once, with the largest sum of the metric."""


class MaximizeMergeMatching(ThresholdBasedMatching):
    """A reference takes more predictions as long as their union gets better."""


MATCHERS: dict[str, type[ThresholdBasedMatching]] = {
    kind.__name__: kind
    for kind in (NaiveThresholdMatching, MaxBipartiteMatching, MaximizeMergeMatching)
}


def check_matching_metric(matcher: PanopticaMatcher) -> None:
    """Raise an error for a metric that the matcher cannot add up."""
    if matcher.metric not in BY_OVERLAP and matcher.name != "NaiveThresholdMatching":
        raise OptionError(
            f"matching_metric=Metric.{matcher.metric}: {matcher.name} maximises or adds up "
            f"overlaps, so it needs Metric.IOU or Metric.DSC; NaiveThresholdMatching takes "
            f"any metric."
        )


def matcher_of(plain: PanopticaMatcher) -> ThresholdBasedMatching:
    """Return the object for a matcher of a configuration."""
    limit = Metric[plain.metric], plain.threshold
    if plain.name == "NaiveThresholdMatching":
        return NaiveThresholdMatching(*limit, plain.many_to_one, plain.strict)
    return MATCHERS[plain.name](*limit, plain.strict)


def approximator_of(plain: PanopticaApproximator) -> InstanceApproximator:
    """Return the object for an approximator of a configuration."""
    backend = None if plain.backend is None else CCABackend[plain.backend]
    if plain.one_hot:
        return OneHotConnectedComponentsInstanceApproximator(backend)
    return ConnectedComponentsInstanceApproximator(backend)


def match_edges(
    matcher: PanopticaMatcher, overlap: Overlap, score: Floats, threshold: float, *, quirks: bool
) -> Ints:
    """Return the positions of the edges that are matched.

    With `quirks`, if several matchings have the largest sum, it is the one that scipy finds.

    Parameters
    ----------
    score
        Score of every edge; higher is better.
    threshold
        The score that an edge must reach; if the score was negated, so is the threshold.
    """
    limit = threshold if matcher.strict else float(np.nextafter(threshold, -np.inf))
    if quirks and matcher.name == "MaxBipartiteMatching":
        return _assigned_by_scipy(overlap, score, limit)
    if not matcher.many_to_one:
        return STRATEGIES[matcher.name].solve(overlap, score, limit).edges
    # Every prediction takes its best reference: one-to-many, seen from the other side.
    turned = np.lexsort((overlap.edges.ref, overlap.edges.pred))
    chosen = OneToMany().solve(_turned(overlap, turned), score[turned], limit).edges
    return np.sort(turned[chosen])


def _turned(overlap: Overlap, order: Ints) -> Overlap:
    """Return the overlap with its sides exchanged, its edges in the order given."""
    edges = overlap.edges
    return Overlap(
        ref_ids=overlap.pred_ids,
        ref_sizes=overlap.pred_sizes,
        pred_ids=overlap.ref_ids,
        pred_sizes=overlap.ref_sizes,
        edges=Edges(edges.pred[order], edges.ref[order], edges.intersection[order]),
        pred_void=np.zeros_like(overlap.ref_sizes),
    )


def _assigned_by_scipy(overlap: Overlap, score: Floats, limit: float) -> Ints:
    from scipy.optimize import linear_sum_assignment

    passing = np.flatnonzero(score > limit)
    ref, pred = overlap.edges.ref[passing], overlap.edges.pred[passing]
    costs = np.full((len(overlap.ref_ids), len(overlap.pred_ids)), 1 + 1e-6)
    costs[ref, pred] = 1 - score[passing]
    chosen = np.zeros(costs.shape, np.bool_)
    chosen[linear_sum_assignment(costs)] = True
    edges: Ints = passing[chosen[ref, pred]]
    return edges
