"""Other metrics of the field for the same scene or pair (D12)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from panmatch import related
from panmatch.labels import connected_components
from panmatch.overlap import Overlap, count_overlaps
from panmatch.playground.numbers.voxels import Voxels
from panmatch.playground.plain import Message, number

EMPTY = "Neither side has an object."
NO_REFERENCE = "There is no reference, and every component of it has one value."
NO_THRESHOLD = "Pairs of this IoU or more match, so the threshold must be above 0."
PENDING = "Being computed from the voxels."


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric: what it is called, what it is, and why it may be undefined."""

    id: str
    name: str
    about: str
    undefined: str = EMPTY

    def row(self, value: float) -> Message:
        """Return the row of a value; NaN is null, with the reason."""
        found = number(value)
        return self._row(found, self.undefined if found is None else None)

    def without_value(self, reason: str) -> Message:
        """Return the row where there is no value, for a reason."""
        return self._row(None, reason)

    def _row(self, value: float | None, note: str | None) -> Message:
        return {
            "id": self.id,
            "name": self.name,
            "value": value,
            "about": self.about,
            "note": note,
        }


ACCURACY = Metric("accuracy", "Accuracy", "TP / (TP + FP + FN) one-to-one, as stardist counts")

OF_OVERLAP: dict[Metric, Callable[[Overlap], float]] = {
    Metric("foreground-dice", "Dice", "Of everything that is no background, objects ignored"):
        lambda overlap: foreground(overlap)[0],
    Metric("foreground-iou", "IoU", "Of everything that is no background, objects ignored"):
        lambda overlap: foreground(overlap)[1],
    Metric("sorted-ap", "sortedAP", "∫ TP / (TP + FP + FN) dτ, optimal one-to-one"):
        related.sorted_ap,
    Metric("npq", "NPQ", "∫ RQ dτ, optimal one-to-one"): related.npq,
    Metric("aji", "AJI", "Aggregated Jaccard index: summed intersections over summed unions"):
        related.aji,
}  # fmt: skip

OF_VOXELS: dict[Metric, Callable[[Voxels], float]] = {
    Metric(
        "cc-dice", "CC-Dice", "Mean over reference components of Dice within their cells",
        NO_REFERENCE,
    ): lambda voxels: related.cc_metric(
        reference=voxels.reference, prediction=voxels.prediction, spacing=voxels.spacing
    ).mean,
    Metric("ccdice", "ccDice", "F1 of components whose overlap is half of either side or more"):
        lambda voxels: related.ccdice(_components(voxels)),
    Metric("cluster-dice", "Cluster Dice", "Mean Dice of the components of both masks together"):
        lambda voxels: related.cluster_dice(
            reference=voxels.reference, prediction=voxels.prediction
        ),
    Metric("lesionwise-dice", "Lesion-wise Dice", "Σ Dice of components / (references + FP)"):
        lambda voxels: related.lesionwise_dice(
            reference=voxels.reference, prediction=voxels.prediction, spacing=voxels.spacing
        ),
}  # fmt: skip


def compute_overlap_rows(overlap: Overlap, threshold: float) -> list[Message]:
    """Return the metrics that need no more than the overlap of whole predictions."""
    rows = [metric.row(compute(overlap)) for metric, compute in OF_OVERLAP.items()]
    if threshold == 0:
        return [*rows, ACCURACY.without_value(NO_THRESHOLD)]
    (found,) = related.stardist_scores(overlap, threshold)
    return [*rows, ACCURACY.row(found.accuracy)]


def compute_voxel_rows(voxels: Voxels) -> list[Message]:
    """Return the metrics of connected components, which need to see the voxels."""
    return [metric.row(compute(voxels)) for metric, compute in OF_VOXELS.items()]


def pending_rows() -> list[Message]:
    """Return the rows of `compute_voxel_rows` before they are known."""
    return [metric.without_value(PENDING) for metric in OF_VOXELS]


def foreground(overlap: Overlap) -> tuple[float, float]:
    """Return Dice and IoU of the two foregrounds; NaN if both are empty.

    Segments of one side are disjoint, so that their counts add up to those of the foreground.

    Examples
    --------
    >>> foreground(Overlap.from_dense([[3, 1]], ref_sizes=[6], pred_sizes=[4, 2]))
    (0.6666666666666666, 0.5)
    """
    shared = overlap.edges.intersection.sum()
    both = overlap.ref_sizes.sum() + overlap.pred_sizes.sum()
    if not both:
        return float("nan"), float("nan")
    return float(2 * shared / both), float(shared / (both - shared))


def _components(voxels: Voxels) -> Overlap:
    sides = (voxels.reference, "reference"), (voxels.prediction, "prediction")
    return count_overlaps(*(connected_components(side, name=name) for side, name in sides))
