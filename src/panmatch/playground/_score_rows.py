"""Scores as rows of JSON: tallies, certificates, losses, curves (D7) and other metrics (D12).

Rows contain no numpy types, and null means undefined (D11).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from panmatch import related
from panmatch.labels import LabelArray, Void, as_labels, connected_components
from panmatch.matching import Certificate, Matching, OneToOne, Tallies, Tally
from panmatch.overlap import Areas, Overlap, count_overlaps
from panmatch.playground._validation import Message
from panmatch.scoring import (
    LOSS_LOOKS,
    REPAIRS,
    Curve,
    Repair,
    RepairGains,
    error_budget,
    find_mistakes,
)

TABLE_THRESHOLDS = tuple(tenth / 10 for tenth in range(10))

MOST_MISTAKES = 30  # that are listed
MOST_TO_REPAIR = 500  # objects of a side; with more, looking at each would slow the page down
MOST_TO_REMATCH = 60  # where everything is matched again for each
LOSSES: tuple[Repair, ...] = REPAIRS[1:]  # with a single class, nothing has the wrong class
SHAPES: tuple[Repair, ...] = ("split", "merged")  # repairs that some strategies do not take

EMPTY = "Undefined: neither side has an object."
NO_REFERENCE = "Undefined: there is no reference."
NO_THRESHOLD = "Undefined at τ = 0: here a pair matches if its IoU equals τ."
PENDING = "Computing from the voxels …"


@dataclass(frozen=True, slots=True, eq=False)
class LabelPair:
    """Two label images of one grid, the distance between their voxels if it is known, and void."""

    reference: LabelArray
    prediction: LabelArray
    spacing: tuple[float, ...] | None = None
    void: Void = Void()  # noqa: RUF009

    def without_void(self) -> LabelPair:
        """Return both images with void set to background."""
        ref, pred = self.void.clear(self.reference, self.prediction)
        return LabelPair(as_labels(ref, "reference"), as_labels(pred, "prediction"), self.spacing)


def json_number(value: float) -> float | None:
    """Return the number, or None where it is NaN.

    Examples
    --------
    >>> json_number(0.5), json_number(float("nan"))
    (0.5, None)
    """
    return None if math.isnan(value) else float(value)


def json_numbers(values: Areas) -> list[float | None]:
    """Return an array as a list, with None for NaN.

    Examples
    --------
    >>> import numpy as np
    >>> json_numbers(np.array([0.5, np.nan])), json_numbers(np.array([1, 2]))
    ([0.5, None], [1, 2])
    """
    return [None if math.isnan(value) else value for value in values.tolist()]


def tally_row(tally: Tally) -> Message:
    """Return counts and scores."""
    scores = ("pq", "sq", "rq", "precision", "recall")
    return {
        **{key: getattr(tally, key) for key in ("tp", "fp", "fn", "quality", "status")},
        **{key: json_number(getattr(tally, key)) for key in scores},
    }


def certificate_row(certificate: Certificate | None) -> Message | None:
    """Return what is proven about an optimal matching; None for heuristics.

    It is about PQ by plain IoU, even if objects have parts. A solver's bound may exceed 1, because
    of rounding or before it has searched; PQ never does.
    """
    if certificate is None:
        return None
    bound = max(min(certificate.upper_bound, 1.0), certificate.value)
    certificate = replace(certificate, upper_bound=bound)
    return {
        "value": json_number(certificate.value),
        "bound": json_number(certificate.upper_bound),
        "gap": json_number(certificate.gap),
        "proven": certificate.proven,
    }


def loss_looks() -> list[Message]:
    """Return how the loss to each kind of mistake is named and drawn, in order."""
    looks = ((kind, LOSS_LOOKS[kind]) for kind in LOSSES)
    return [
        {"kind": kind, "title": look.title, "colour": look.colour, "pattern": look.pattern}
        for kind, look in looks
    ]


def budget_row(matching: Matching) -> Message:
    """Return where 1 − PQ is lost: how much each repair gains, and the costliest mistakes.

    It is about PQ by plain IoU, even if objects have parts. ``"mistakes"`` is None for graphs so
    large that looking for them would slow the page down.
    """
    budget = error_budget(matching)
    gains = RepairGains(Tallies.of(budget.tallies))
    alone, last, shares = gains.repaired, gains.last, gains.shares
    taken = matching.strategy.takes_repairs
    return {
        "pq": json_number(budget.pq),
        "loss": json_number(1 - budget.pq),
        "repairs": [
            {
                "kind": kind,
                "alone": json_number(float(alone[kind])),
                "last": json_number(float(last[kind])),
                "share": json_number(float(shares[kind])),
            }
            for kind in LOSSES
            if taken or kind not in SHAPES
        ],
        **_mistake_rows(matching, budget.tally),
    }


def _mistake_rows(matching: Matching, tally: Tally) -> Message:
    """Return the costliest mistakes, and how many others there are."""
    overlap, strategy = matching.overlap, matching.strategy
    local = not strategy.takes_repairs or strategy.is_local(overlap, matching.threshold)
    largest = max(len(overlap.ref_ids), len(overlap.predictions.ids))
    if largest > (MOST_TO_REPAIR if local else MOST_TO_REMATCH):
        return {"mistakes": None, "more_mistakes": 0}
    found = find_mistakes(matching)
    rows = [
        {
            "kind": mistake.kind,
            "references": mistake.ref_ids,
            "predictions": mistake.pred_ids,
            "cost": mistake.cost(tally),
        }
        for mistake in found[:MOST_MISTAKES]
    ]
    return {"mistakes": rows, "more_mistakes": len(found) - len(rows)}


def curve_row(name: str, steps: Curve) -> Message:
    """Return all steps of a curve and the areas under it; sortedAP where it is defined.

    ``"proven"`` is whether every step is proven to have maximum PQ by plain IoU; None for
    heuristics.
    """
    columns = ("thresholds", "pq", "sq", "rq", "tp", "fp", "fn")
    optimal = steps.strategy == OneToOne(solver="optimal")
    return {
        "strategy": name,
        **{key: json_numbers(getattr(steps, key)) for key in columns},
        "ap": json_numbers(steps.accuracy),
        **{key: json_number(getattr(steps, key)) for key in ("autc", "autc_sq", "autc_rq")},
        "sorted_ap": json_number(steps.sorted_ap) if optimal else None,
        "proven": steps.proven,
    }


def table_row(name: str, steps: Curve) -> Message:
    """Return the scores at the round thresholds."""
    tallies = steps.sampled(np.array(TABLE_THRESHOLDS))
    columns = ("pq", "sq", "rq", "tp", "fp", "fn")
    return {"strategy": name, **{key: json_numbers(getattr(tallies, key)) for key in columns}}


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric: what it is called, what it is, and why it may be undefined."""

    id: str
    name: str
    about: str
    undefined: str = EMPTY

    def row(self, value: float, note: str | None = None) -> Message:
        """Return the row of a value; NaN is null, with the reason."""
        known = json_number(value)
        note = note or (self.undefined if known is None else None)
        return {"id": self.id, "name": self.name, "value": known, "about": self.about, "note": note}


ACCURACY = Metric("accuracy", "Accuracy", "TP / (TP + FP + FN), one-to-one, as in stardist")

OF_OVERLAP: dict[Metric, Callable[[Overlap], float]] = {
    Metric("foreground-dice", "Dice", "Of the whole foreground, without telling objects apart"):
        lambda overlap: foreground(overlap)[0],
    Metric("foreground-iou", "IoU", "Of the whole foreground, without telling objects apart"):
        lambda overlap: foreground(overlap)[1],
    Metric("sorted-ap", "sortedAP", "∫ TP / (TP + FP + FN) dτ, optimal one-to-one"):
        related.sorted_ap,
    Metric("npq", "NPQ", "∫ RQ dτ, optimal one-to-one"): related.npq,
    Metric("aji", "AJI", "Aggregated Jaccard index: summed intersections over summed unions"):
        related.aji,
}  # fmt: skip

OF_IMAGES: dict[Metric, Callable[[LabelPair], float]] = {
    Metric(
        "cc-dice", "CC-Dice",
        "Mean Dice over reference components, each in its Voronoi region", NO_REFERENCE,
    ): lambda images: related.cc_metric(
        reference=images.reference, prediction=images.prediction, spacing=images.spacing
    ).mean,
    Metric("ccdice", "ccDice", "F1 of components that overlap by at least half, for either side"):
        lambda images: related.ccdice(_components(images)),
    Metric("cluster-dice", "Cluster Dice", "Mean Dice over clusters of objects that touch"):
        lambda images: related.cluster_dice(
            reference=images.reference, prediction=images.prediction
        ),
    Metric("lesionwise-dice", "Lesion-wise Dice", "Σ Dice of components / (references + FP)"):
        lambda images: related.lesionwise_dice(
            reference=images.reference, prediction=images.prediction, spacing=images.spacing
        ),
}  # fmt: skip


def overlap_metric_rows(overlap: Overlap, threshold: float) -> list[Message]:
    """Return the metrics that need only the overlap of whole predictions."""
    rows = [metric.row(compute(overlap)) for metric, compute in OF_OVERLAP.items()]
    if threshold == 0:
        return [*rows, ACCURACY.row(math.nan, NO_THRESHOLD)]
    (scores,) = related.stardist_scores(overlap, threshold)
    return [*rows, ACCURACY.row(scores.accuracy)]


def image_metric_rows(images: LabelPair) -> list[Message]:
    """Return the metrics of connected components, which need to see the voxels."""
    known = images.without_void()
    return [metric.row(compute(known)) for metric, compute in OF_IMAGES.items()]


def pending_rows() -> list[Message]:
    """Return the rows of `image_metric_rows` before they are known."""
    return [metric.row(math.nan, PENDING) for metric in OF_IMAGES]


def foreground(overlap: Overlap) -> tuple[float, float]:
    """Return Dice and IoU of the two foregrounds; NaN if both are empty.

    Segments of one side are disjoint, so their counts add up to those of the foreground.

    Examples
    --------
    >>> foreground(Overlap.from_dense([[3, 1]], ref_sizes=[6], pred_sizes=[4, 2]))
    (0.6666666666666666, 0.5)
    """
    shared = overlap.edges.intersection.sum()
    both = overlap.ref_sizes.sum() + overlap.pred_sizes.sum()
    if not both:
        return math.nan, math.nan
    return float(2 * shared / both), float(shared / (both - shared))


def _components(images: LabelPair) -> Overlap:
    return count_overlaps(
        connected_components(images.reference, name="reference"),
        connected_components(images.prediction, name="prediction"),
    )
