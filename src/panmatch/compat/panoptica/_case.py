"""One group of one case: which objects match, and all numbers that follow."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from panmatch.compat.panoptica._edge_cases import EdgeCaseHandler
from panmatch.compat.panoptica._images import GroupImages, Pairs, crop_box, measure_masks
from panmatch.compat.panoptica._matchers import (
    BY_OVERLAP,
    connectivity_of,
    find_objects,
    match_edges,
)
from panmatch.compat.panoptica._metrics import Metric
from panmatch.compat.panoptica._parts import THING_CHANNEL, PartImages, stack_labels, stack_parts
from panmatch.compat.panoptica._regions import region_values
from panmatch.compat.panoptica._result import PanopticaResult, ReferenceSizes
from panmatch.labels import LabelArray
from panmatch.overlap import Floats, Overlap, count_overlaps
from panmatch.scoring import measure_options
from panmatch.spec import PanopticaApproximator, PanopticaConfig, PanopticaGroup, PanopticaMatcher


@dataclass(frozen=True, eq=False)
class GroupCase:
    """Two images of one group, to evaluate at one threshold or at many.

    Attributes
    ----------
    group, config
        What to evaluate, and how.
    handler
        Values to use if nothing matches.
    quirks
        Whether to follow panoptica where it is wrong: see `QUIRKS`.
    reference, prediction
        Labels of the group; others are background.
    spacing
        Distance between voxels; None for voxel units.
    objects_first
        Whether objects are found before images are cropped; this only matters with quirks.
    """

    group: PanopticaGroup
    config: PanopticaConfig
    handler: EdgeCaseHandler
    quirks: bool
    reference: LabelArray
    prediction: LabelArray
    spacing: tuple[float, ...] | None
    objects_first: bool = False
    channel_values: dict[Metric, dict[int, float]] = field(default_factory=dict)

    def result(
        self, matching_threshold: float | None = None, decision_threshold: float | None = None
    ) -> PanopticaResult:
        """Return all numbers, at the thresholds of the configuration unless others are given."""
        pairs = self.pairs(matching_threshold)
        kept = self._accepted(pairs, decision_threshold)
        sizes = self._sizes(pairs, kept)
        measured = self.config.instance_metrics
        values = {metric: self._values(metric, pairs)[kept] for metric in map(_metric, measured)}
        n_ref, n_pred = self._counts(pairs)
        return PanopticaResult(
            n_ref_instances=n_ref,
            n_pred_instances=n_pred,
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
        return stack_parts(*self._sides, self.group, self._steps, quirks=self.quirks)

    @property
    def approximator(self) -> PanopticaApproximator | None:
        """How objects are found; None where they are given."""
        if self.config.expected_input != "SEMANTIC" or self.group.single_instance:
            return None
        return self.config.approximator or PanopticaApproximator()

    @property
    def stacked(self) -> bool:
        """Whether components of every label are in a channel of their own."""
        one_hot = self.approximator is not None and self.approximator.one_hot
        plain = self.group.kind != "parts" and not self.config.per_region
        return self.quirks and one_hot and plain

    @cached_property
    def _sides(self) -> tuple[LabelArray, LabelArray]:
        """The labels of both sides; with quirks, without what cropping loses."""
        if self.objects_first and self.approximator is not None:
            return self.reference, self.prediction
        return self._cropped(self.reference, self.prediction, always=self.stacked)

    def _cropped(
        self, reference: LabelArray, prediction: LabelArray, *, always: bool = False
    ) -> tuple[LabelArray, LabelArray]:
        """Return both images as panoptica crops them, if that loses a voxel, or always."""
        if not self.quirks:
            return reference, prediction
        box = crop_box(reference, prediction)
        cut = reference[box], prediction[box]
        lost = any(
            np.count_nonzero(one) < np.count_nonzero(whole)
            for one, whole in zip(cut, (reference, prediction), strict=True)
        )
        return cut if lost or always else (reference, prediction)

    @cached_property
    def _before_cropping(self) -> Overlap:
        """Objects that are counted; if ids already match, including those that cropping loses."""
        if not self.matched_already or self._sides[0] is self.reference:
            return self.images.overlap
        return count_overlaps(self.reference, self.prediction)

    @cached_property
    def images(self) -> GroupImages:
        """The objects of both sides."""
        if self.parts is not None:
            return self.parts.stacked
        sides, approximator, steps = self._sides, self.approximator, self._steps
        volume = float(np.prod(steps))
        if approximator is not None and self.stacked:
            sides = stack_labels(*sides, connectivity_of(approximator, sides[0]))
            steps = (1.0, *steps)
        elif approximator is not None:
            ref, pred = (find_objects(image, approximator, self.group) for image in sides)
            sides = self._cropped(ref, pred) if self.objects_first else (ref, pred)
        return GroupImages(*sides, steps, volume, quirks=self.quirks)

    @cached_property
    def _line(self) -> GroupImages:
        """The channels one after the other on a line, as panoptica measures most of them."""
        sides = self.images.reference.ravel(), self.images.prediction.ravel()
        return GroupImages(*sides, (1.0,), self.images.voxel_volume, quirks=self.quirks)

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
        images = self._line if self.stacked else self.images
        sides, options = (images.reference, images.prediction), images.options
        if self.quirks:
            options = measure_options(sides[0].shape, tolerance=0.5)
        return dict(measure_masks(*sides, self._voxels, metrics, options, quirks=self.quirks))

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
        """Return which objects match, at the threshold of the configuration unless one is given."""
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
        values = (self._line if self.stacked else self.images).values.of_edges(metric)
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
        overlap = self._before_cropping
        n_ref, n_pred = len(overlap.ref_ids), len(overlap.pred_ids)
        if not (n_ref and n_pred):
            return n_ref, n_pred
        merged = len(pairs.refs) + n_pred - len(np.unique(pairs.pred))
        if self.parts is not None:
            things = self.parts.things.overlap
            whole = len(things.ref_ids), len(things.pred_ids)
        elif self.stacked:
            whole = int(self.images.reference[0].max()), int(self.images.prediction[0].max())
        else:
            whole = n_ref, merged
        return (n_ref, merged) if merged < whole[1] else whole

    def _sizes(self, pairs: Pairs, kept: np.ndarray) -> ReferenceSizes:
        overlap, given = self.images.overlap, self._before_cropping
        sizes = dict(zip(overlap.ref_ids.tolist(), overlap.ref_sizes.tolist(), strict=True))
        matched = partners = overlap.ref_ids[pairs.refs]
        if given is not overlap:
            partners = np.intersect1d(given.ref_ids, given.pred_ids)
        found = matched[kept]
        lost = [*np.setdiff1d(partners, found), *np.setdiff1d(given.ref_ids, partners)]
        return ReferenceSizes(
            [sizes[int(one)] for one in found],
            [sizes.get(int(one), 0) for one in lost],
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
        options = images.options
        return measure_masks(*sides, self._voxels, [metric], options, quirks=False)[metric]

    def _edge_value(self, metric: Metric, n_pred: int, n_ref: int) -> float | None:
        if metric not in self.handler.listmetric_zeroTP_handling and not self.quirks:
            return math.nan
        return self.handler.handle_zero_tp(metric, 0, n_pred, n_ref)[1]

    def _mean_of_channels(self, metric: Metric) -> float | None:
        """Return the mean over the channels that occur, except that of things without parts."""
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
                measured = measure_masks(ref, pred, counts, [metric], options, quirks=self.quirks)
                found[channel] = measured[metric]
            else:
                sides = [counts[1] > 0, counts[0] > 0]
                value = self._edge_value(metric, *(sides[::-1] if self.quirks else sides))
                found[channel] = math.nan if value is None else value
        self.channel_values[metric] = found
        return float(np.mean(list(found.values()))) if found else self._edge_value(metric, 1, 1)


def _metric(name: str) -> Metric:
    return Metric[name]
