"""True positives, false positives, false negatives and summed quality: what scores are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from panmatch.matching.exact_sum import sum_units, to_units
from panmatch.overlap import Areas, Floats, Ints, Overlap

NAN = float("nan")


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts on vertices and the summed quality of a matching (D3); tallies of images add.

    Attributes
    ----------
    tp
        References with at least one matched prediction.
    fp
        Predictions with no matched reference (dismissed ones aside, D10).
    fn
        References with no matched prediction.
    quality
        Sum over true positives of IoU(union of the matched predictions, reference), or of the
        mean IoU of its parts (D9).

    Examples
    --------
    >>> tally = Tally(tp=3, fp=1, fn=2, quality=2.4) + Tally(tp=1, fp=0, fn=0, quality=0.6)
    >>> tally.sq, round(tally.rq, 4), round(tally.pq, 4)
    (0.75, 0.7273, 0.5455)
    """

    tp: int
    fp: int
    fn: int
    quality: float

    def __add__(self, other: Tally) -> Tally:
        if not isinstance(other, Tally):
            return NotImplemented
        return Tally(
            self.tp + other.tp,
            self.fp + other.fp,
            self.fn + other.fn,
            self.quality + other.quality,
        )

    def __radd__(self, other: object) -> Tally:
        return self if other == 0 else NotImplemented  # sum() begins with 0

    @property
    def status(self) -> Literal["ok", "empty"]:
        """``"empty"`` where neither side has a segment: every score is NaN then (D11)."""
        return "ok" if self.tp + self.fp + self.fn else "empty"

    @property
    def pq(self) -> float:
        """Panoptic quality Σquality / (TP + ½FP + ½FN); NaN if both sides are empty."""
        return _ratio(self.quality, self.tp + 0.5 * self.fp + 0.5 * self.fn)

    @property
    def sq(self) -> float:
        """Segmentation quality, the mean quality over TP; 0 without any TP, NaN if empty."""
        return self.quality / self.tp if self.tp else self.rq

    @property
    def rq(self) -> float:
        """Recognition quality TP / (TP + ½FP + ½FN); NaN if both sides are empty."""
        return _ratio(self.tp, self.tp + 0.5 * self.fp + 0.5 * self.fn)

    @property
    def f1(self) -> float:
        """The F1 score: another name of `rq`."""
        return self.rq

    @property
    def precision(self) -> float:
        """TP / (TP + FP); NaN where there is neither."""
        return _ratio(self.tp, self.tp + self.fp)

    @property
    def recall(self) -> float:
        """TP / (TP + FN); NaN without references."""
        return _ratio(self.tp, self.tp + self.fn)


def tally_edges(overlap: Overlap, edges: Ints) -> Tally:
    """Count the matching that consists of the given edge positions."""
    tp = len(np.unique(overlap.edges.ref[edges]))
    return Tally(
        tp=tp,
        fp=int(np.count_nonzero(are_false(overlap, edges))),
        fn=len(overlap.ref_ids) - tp,
        quality=sum_units(to_units(union_quality(overlap, edges))),
    )


def are_false(overlap: Overlap, edges: Ints) -> npt.NDArray[np.bool_]:
    """Return which predictions are false positives: no voxel matched, not dismissed (D8, D10)."""
    predictions = overlap.predictions
    return ~predictions.dismissible & ~predictions.touched(overlap.edges.pred[edges])


def union_areas(overlap: Overlap, edges: Ints) -> tuple[Areas, Areas]:
    """Return |u ∩ g| and |u ∪ g| for every reference g, u being its matched predictions (D3)."""
    n, ref = len(overlap.ref_ids), overlap.edges.ref[edges]
    shared = np.bincount(ref, overlap.edges.intersection[edges], n)
    covered = np.bincount(ref, overlap.pred_areas[overlap.edges.pred[edges]], n)
    return shared, overlap.ref_sizes + covered - shared


def union_iou(overlap: Overlap, edges: Ints) -> Floats:
    """Return IoU(union of the matched predictions, g) for every reference; 0 where none is (D3)."""
    shared, union = union_areas(overlap, edges)
    quality: Floats = shared / union
    return quality


def union_quality(overlap: Overlap, edges: Ints) -> Floats:
    """Return the quality of every reference, 0 where none is matched: IoU, or by parts (D9)."""
    iou = union_iou(overlap, edges)
    if overlap.parts is None:
        return iou
    sums = part_sums(overlap, edges)
    quality = overlap.parts.quality(np.arange(len(overlap.ref_ids)), sums, iou)
    matched = np.zeros(len(overlap.ref_ids), np.bool_)
    matched[overlap.edges.ref[edges]] = True
    return np.where(matched, quality, 0.0)


def part_sums(overlap: Overlap, edges: Ints) -> Floats:
    """Return what parts add up to over the matched predictions of every reference."""
    assert overlap.parts is not None
    per_edge = overlap.parts.per_edge(overlap.edges.pred)
    sums = np.zeros((len(overlap.ref_ids), per_edge.shape[1]))
    np.add.at(sums, overlap.edges.ref[edges], per_edge[edges])
    return sums


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else NAN
