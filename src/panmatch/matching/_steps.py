"""From the course of a matching to the steps of its tally (D7)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from panmatch import native
from panmatch.matching._exact_sum import to_limbs
from panmatch.matching._solution import Course
from panmatch.matching._tally import Quality, Tallies
from panmatch.overlap import Floats, Ints, Overlap, Unions, predictions_overlap, sum_by


@dataclass(frozen=True, slots=True, eq=False)
class _Events:
    """Edges that join or leave the matching, as +1 or −1, at a threshold."""

    edge: Ints
    threshold: Floats
    sign: Floats

    @classmethod
    def of(cls, course: Course) -> _Events:
        leaving = course.stop < 1.0
        edge = np.concatenate([course.edge[leaving], course.edge])
        threshold = np.concatenate([course.stop[leaving], course.start])
        # Leaving first: sums of float areas then return to exactly 0 before the next edge joins.
        sign = np.repeat([-1.0, 1.0], [int(leaving.sum()), len(course.edge)])
        return cls(edge, threshold, sign)

    def by(self, vertex: Ints) -> tuple[_Events, Ints]:
        """Return the events sorted by vertex, then threshold, and the vertices in that order."""
        order = np.lexsort((self.threshold, vertex))
        events = _Events(self.edge[order], self.threshold[order], self.sign[order])
        return events, vertex[order]


@dataclass(frozen=True, slots=True, eq=False)
class Changes:
    """Where single objects become matched or free as the threshold rises, and by how much.

    Attributes
    ----------
    ref, ref_at, tp, limbs
        A reference, a threshold, and the change there of TP (1, 0 or −1) and of its quality (D13).
    pred, pred_at, matched
        The same for whole predictions that would otherwise be false positives.
    """

    ref: Ints
    ref_at: Floats
    tp: Ints
    limbs: Ints
    pred: Ints
    pred_at: Floats
    matched: Ints


def count_changes(overlap: Overlap, course: Course, quality: Quality = "iou") -> Changes:
    """Return the changes of every object as the threshold rises."""
    events = _Events.of(course)
    return Changes(*_ref_changes(overlap, events, quality), *_pred_changes(overlap, events))


def count_steps(
    overlap: Overlap, course: Course, quality: Quality = "iou"
) -> tuple[Floats, Tallies]:
    """Return every threshold at which the tally changes, from 0 on, and the tally from there."""
    changes = count_changes(overlap, course, quality)
    tp_at, tp_change, quality_change = changes.ref_at, changes.tp, changes.limbs
    pred_at, pred_change = changes.pred_at, changes.matched
    thresholds, place = np.unique(np.concatenate([[0.0], tp_at, pred_at]), return_inverse=True)
    of_refs, of_preds = place[1 : 1 + len(tp_at)], place[1 + len(tp_at) :]
    n = len(thresholds)
    tp = np.cumsum(sum_by(of_refs, tp_change, n))
    matched_preds = np.cumsum(sum_by(of_preds, pred_change, n))
    limbs = np.stack([sum_by(of_refs, limb, n) for limb in quality_change.T], axis=-1)
    fp = np.count_nonzero(~overlap.predictions.dismissible) - matched_preds
    fn = len(overlap.ref_ids) - tp
    tallies = Tallies.of_counts(tp, fp, fn, np.cumsum(limbs, axis=0))
    return _without_repeats(thresholds, tallies)


def _ref_changes(
    overlap: Overlap, events: _Events, quality: Quality
) -> tuple[Ints, Floats, Ints, Ints]:
    """Return references, thresholds, and the changes there of TP and of quality in limbs (D13)."""
    events, ref = events.by(overlap.edges.ref[events.edge])
    pred_areas = overlap.pred_areas[overlap.edges.pred]

    def running(per_edge: npt.NDArray[np.float64]) -> Floats:
        return native.grouped_cumsum(ref, events.sign * per_edge[events.edge])

    partners = running(np.ones(len(overlap.edges)))
    shared = running(overlap.edges.intersection.astype(np.float64))
    covered = running(pred_areas.astype(np.float64))
    if predictions_overlap(overlap):
        excess = _running_excess(overlap, events, ref)
        shared, covered = shared - excess[0], covered - excess[1]
    matched = partners > 0.5
    value = np.where(matched, shared / (overlap.ref_sizes[ref] + covered - shared), 0.0)
    if quality == "parts":
        assert overlap.parts is not None
        columns = overlap.parts.per_edge(overlap.edges.pred).T
        sums = np.column_stack([running(np.ascontiguousarray(column)) for column in columns])
        value = np.where(matched, overlap.parts.quality(ref, sums, value), 0.0)
    last = _last_of_each(ref, events.threshold)
    vertex = ref[last]
    return (
        vertex,
        events.threshold[last],
        _differences(vertex, matched[last].astype(np.int64)),
        _differences(vertex, to_limbs(value[last])),
    )


def _running_excess(overlap: Overlap, events: _Events, ref: Ints) -> tuple[Floats, Floats]:
    """Return, after each event, how much sums over matched predictions exceed their union (D16)."""
    unions, preds = Unions(overlap), overlap.edges.pred[events.edge].tolist()
    excess = np.zeros((2, len(ref)))
    last, members = -1, list[int]()
    for i, (one, pred, sign) in enumerate(
        zip(ref.tolist(), preds, events.sign.tolist(), strict=True)
    ):
        members = members if one == last else []
        last = one
        members.append(pred) if sign > 0 else members.remove(pred)
        if len(members) > 1:
            excess[:, i] = unions.excess(one, members)
    return excess[0], excess[1]


def _pred_changes(overlap: Overlap, events: _Events) -> tuple[Ints, Floats, Ints]:
    """Return predictions, thresholds, and the change there of the number of matched ones.

    Predictions that would be dismissed when unmatched are left out: they are never false positives
    (D10).
    """
    predictions = overlap.predictions
    rows, owner = predictions.expand(overlap.edges.pred[events.edge])
    events = _Events(events.edge[rows], events.threshold[rows], events.sign[rows])
    events, pred = events.by(owner)
    matched = native.grouped_cumsum(pred, events.sign) > 0.5
    last = _last_of_each(pred, events.threshold)
    change = _differences(pred[last], matched[last].astype(np.int64))
    counted = ~predictions.dismissible[pred[last]]
    return pred[last][counted], events.threshold[last][counted], change[counted]


def _last_of_each(vertex: Ints, threshold: Floats) -> Ints:
    """Return the last position of every run of equal (vertex, threshold)."""
    differs = (vertex[1:] != vertex[:-1]) | (threshold[1:] != threshold[:-1])
    return np.flatnonzero(np.concatenate([differs, np.ones(min(len(vertex), 1), np.bool_)]))


def _differences(vertex: Ints, values: Ints) -> Ints:
    """Return each value less the one before it of the same vertex."""
    change = values.copy()
    same = vertex[1:] == vertex[:-1]
    change[1:][same] -= values[:-1][same]
    return change


def _without_repeats(thresholds: Floats, tallies: Tallies) -> tuple[Floats, Tallies]:
    counts = tallies.counts
    keep = np.concatenate([[True], (counts[1:] != counts[:-1]).any(axis=1)])
    return thresholds[keep], tallies[keep]
