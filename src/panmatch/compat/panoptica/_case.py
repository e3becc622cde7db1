"""One group of one case: who matches whom, and all numbers that follow."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from panmatch.compat.panoptica._edge_cases import EdgeCaseHandler
from panmatch.compat.panoptica._images import GroupImages, Pairs, measure_masks
from panmatch.compat.panoptica._matchers import BY_OVERLAP, find_objects, match_edges
from panmatch.compat.panoptica._metrics import Metric
from panmatch.compat.panoptica._parts import THING_CHANNEL, PartImages, stack_parts
from panmatch.compat.panoptica._regions import region_values
from panmatch.compat.panoptica._result import PanopticaResult, ReferenceSizes
from panmatch.labels import LabelArray
from panmatch.overlap import Floats
from panmatch.scoring import measure_options
from panmatch.spec import PanopticaApproximator, PanopticaConfig, PanopticaGroup, PanopticaMatcher


@dataclass(frozen=True, eq=False)
class GroupCase:
    """Two images of one group, to be judged at one threshold or at many.

    Attributes
    ----------
    group, config
        What to evaluate, and how.
    handler
        Values where nothing matches.
    quirks
        Whether to follow panoptica where it is wrong: see `QUIRKS`.
    reference, prediction
        Labels of the group; others are background.
    spacing
        Distance between voxels; None for voxel units.
    """

    group: PanopticaGroup
    config: PanopticaConfig
    handler: EdgeCaseHandler
    quirks: bool
    reference: LabelArray
    prediction: LabelArray
    spacing: tuple[float, ...] | None
    channel_values: dict[Metric, dict[int, float]] = field(default_factory=dict)

    def result(
        self, matching_threshold: float | None = None, decision_threshold: float | None = None
    ) -> PanopticaResult:
        """Return all numbers, at other thresholds than those of the configuration if given."""
        pairs = self.pairs(matching_threshold)
        kept = self._accepted(pairs, decision_threshold)
        overlap, sizes = self.images.overlap, self._sizes(pairs, kept)
        measured = self.config.instance_metrics
        values = {metric: self._values(metric, pairs)[kept] for metric in map(_metric, measured)}
        n_ref, n_pred = self._counts(pairs)
        both = len(overlap.ref_ids) > 0 and len(overlap.pred_ids) > 0
        return PanopticaResult(
            n_ref_instances=n_ref if both else len(overlap.ref_ids),
            n_pred_instances=n_pred if both else len(overlap.pred_ids),
            tp=int(np.count_nonzero(kept)),
            list_metrics={metric: column.tolist() for metric, column in values.items()},
            global_values=self.whole,
            volumes=self.volumes,
            sizes=sizes,
            handler=self.handler,
            quirks=self.quirks,
            channel_values={m.name.lower(): found for m, found in self.channel_values.items()},
        )

    def region_result(self) -> PanopticaResult:
        """Return the metrics of the whole masks, and their means over regions."""
        return PanopticaResult(
            n_ref_instances=math.nan,
            n_pred_instances=math.nan,
            tp=math.nan,
            list_metrics={},
            global_values=self.whole,
            volumes=self.volumes,
            sizes=ReferenceSizes(),
            handler=self.handler,
            quirks=self.quirks,
            region_values=region_values(
                self.images, self.global_metrics, self._edge_value, quirks=self.quirks
            ),
        )

    @property
    def global_metrics(self) -> list[Metric]:
        """What is measured of all objects as one mask."""
        return [_metric(name) for name in self.config.global_metrics]

    @property
    def matched_already(self) -> bool:
        """Whether equal ids belong together."""
        return self.config.expected_input == "MATCHED_INSTANCE" or self.group.single_instance

    @cached_property
    def parts(self) -> PartImages | None:
        """Channels of things and parts; None for a group without parts."""
        if self.group.kind != "parts":
            return None
        return stack_parts(
            self.reference, self.prediction, self.group, self._steps, quirks=self.quirks
        )

    @cached_property
    def images(self) -> GroupImages:
        """The objects of both sides."""
        if self.parts is not None:
            return self.parts.stacked
        sides = [self.reference, self.prediction]
        if self.config.expected_input == "SEMANTIC" and not self.group.single_instance:
            approximator = self.config.approximator or PanopticaApproximator()
            sides = [find_objects(image, approximator, self.group) for image in sides]
        return GroupImages(sides[0], sides[1], self._steps, float(np.prod(self._steps)))

    @cached_property
    def whole(self) -> dict[Metric, float | None]:
        """Metrics of all objects as one mask."""
        shared, metrics = self._voxels[2], self.global_metrics
        if not metrics:
            return {}
        if not shared:
            return {metric: self._without_overlap(metric) for metric in metrics}
        if self.parts is not None:
            return {metric: self._mean_of_channels(metric) for metric in metrics}
        images, options = self.images, self.images.options
        if self.quirks:
            options = measure_options(images.reference.shape, tolerance=0.5)
        sides = images.reference, images.prediction
        return dict(measure_masks(*sides, self._voxels, metrics, options))

    @property
    def volumes(self) -> tuple[int, int]:
        """Voxels of the prediction, and of the reference."""
        n_ref, n_pred, _ = self._voxels
        return n_pred, n_ref

    @property
    def _steps(self) -> tuple[float, ...]:
        return (1.0,) * self.reference.ndim if self.spacing is None else self.spacing

    @property
    def _voxels(self) -> tuple[int, int, int]:
        overlap = self.images.overlap
        shared = int(overlap.edges.intersection.sum())
        return int(overlap.ref_sizes.sum()), int(overlap.pred_sizes.sum()), shared

    def pairs(self, threshold: float | None = None) -> Pairs:
        """Return who belongs to whom, at another threshold than the configuration's if given."""
        overlap = self.images.overlap
        if self.matched_already:
            _, ref, pred = np.intersect1d(
                overlap.ref_ids, overlap.pred_ids, assume_unique=True, return_indices=True
            )
            return Pairs(ref, pred)
        matcher = self.config.matcher or PanopticaMatcher()
        limit = matcher.threshold if threshold is None else threshold
        if self.parts is not None and matcher.name != "MaximizeMergeMatching":
            scores = self.parts.scores(matcher.metric)
            things = self.parts.things.overlap
            edges = match_edges(matcher, things, scores, limit, quirks=self.quirks)
            return self.parts.pairs_of(edges)
        score, sign = self._scores(matcher)
        edges = match_edges(matcher, overlap, sign * score, sign * limit, quirks=self.quirks)
        return Pairs(overlap.edges.ref[edges], overlap.edges.pred[edges])

    def _scores(self, matcher: PanopticaMatcher) -> tuple[Floats, int]:
        """Return the matching metric of all edges, and −1 where less is better."""
        overlap, metric = self.images.overlap, _metric(matcher.metric)
        if metric.name in BY_OVERLAP:
            return overlap.iou if metric is Metric.IOU else overlap.dice, 1
        values = self.images.values.of_edges(metric)
        return values, -1 if self._decreasing(metric) else 1

    def _decreasing(self, metric: Metric) -> bool:
        return metric.decreasing or (self.quirks and metric is Metric.NSD)

    def _values(self, metric: Metric, pairs: Pairs) -> Floats:
        return self.images.values.of(metric, pairs)

    def _accepted(self, pairs: Pairs, threshold: float | None) -> np.ndarray:
        """Return which matched references reach the decision threshold."""
        metric, limit = self.config.decision_metric, self.config.decision_threshold
        every = np.ones(len(pairs.refs), np.bool_)
        if metric is None:
            return every
        limit = limit if threshold is None else threshold
        if self.group.single_instance and self.config.expected_input != "MATCHED_INSTANCE":
            if not self.quirks:
                return every
            limit = 0.0
        assert limit is not None
        values, decision = self._values(_metric(metric), pairs), _metric(metric)
        kept: np.ndarray = values <= limit if self._decreasing(decision) else values >= limit
        return kept

    def _counts(self, pairs: Pairs) -> tuple[int, int]:
        """Return the objects of both sides; predictions of one reference count once."""
        overlap = self.images.overlap
        merged = len(pairs.refs) + len(overlap.pred_ids) - len(np.unique(pairs.pred))
        if self.parts is None:
            return len(overlap.ref_ids), merged
        things = self.parts.things.overlap
        if merged < len(things.pred_ids):
            return len(overlap.ref_ids), merged
        return len(things.ref_ids), len(things.pred_ids)

    def _sizes(self, pairs: Pairs, kept: np.ndarray) -> ReferenceSizes:
        overlap, refs = self.images.overlap, pairs.refs
        if not len(overlap.ref_ids):
            return ReferenceSizes()
        missed = np.setdiff1d(np.arange(len(overlap.ref_ids)), refs)
        lost = np.concatenate([refs[~kept], missed])
        return ReferenceSizes(
            [int(size) for size in overlap.ref_sizes[refs[kept]]],
            [int(size) for size in overlap.ref_sizes[lost]],
            self.images.voxel_volume,
        )

    def _without_overlap(self, metric: Metric) -> float | None:
        """Return the value of masks that share no voxel."""
        images = self.images
        ref, pred = len(images.overlap.ref_ids), len(images.overlap.pred_ids)
        known = metric in self.handler.listmetric_zeroTP_handling
        if known or self.quirks or not (ref and pred):
            return self._edge_value(metric, pred, ref)
        sides = images.reference, images.prediction
        return measure_masks(*sides, self._voxels, [metric], images.options)[metric]

    def _edge_value(self, metric: Metric, n_pred: int, n_ref: int) -> float | None:
        if metric not in self.handler.listmetric_zeroTP_handling and not self.quirks:
            return math.nan
        return self.handler.handle_zero_tp(metric, 0, n_pred, n_ref)[1]

    def _mean_of_channels(self, metric: Metric) -> float | None:
        """Return the mean over the channels that occur, but that of the things without parts."""
        images = self.images
        found: dict[int, float] = {}
        for channel in range(len(images.reference)):
            ref = (images.reference[channel] != 0).view(np.uint8)
            pred = (images.prediction[channel] != 0).view(np.uint8)
            counts = int(ref.sum()), int(pred.sum()), int((ref & pred).sum())
            if channel == THING_CHANNEL or not (counts[0] or counts[1]):
                continue
            if counts[0] and counts[1]:
                spacing = None if self.quirks else self._steps
                least = 0.5 if self.quirks else min(self._steps)
                options = measure_options(ref.shape, spacing, tolerance=least)
                found[channel] = measure_masks(ref, pred, counts, [metric], options)[metric]
            else:
                sides = [counts[1] > 0, counts[0] > 0]
                value = self._edge_value(metric, *(sides[::-1] if self.quirks else sides))
                found[channel] = math.nan if value is None else value
        self.channel_values[metric] = found
        return float(np.mean(list(found.values()))) if found else self._edge_value(metric, 1, 1)


def _metric(name: str) -> Metric:
    return Metric[name]
