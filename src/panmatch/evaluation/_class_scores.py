"""Scores of a class that need no matcher: of the class as one mask, and related scores."""

from __future__ import annotations

from collections.abc import Iterator

from panmatch.evaluation._case_result import ClassScore
from panmatch.evaluation._class_case import ClassCase
from panmatch.evaluation._setting import Kind, Score
from panmatch.labels import LabelArray, as_labels
from panmatch.related import ClassSides, share, single
from panmatch.scoring import Average, Metric, measure_whole
from panmatch.spec import Spec


def whole_score(metric: Metric) -> Score:
    """Return the score of a class as one mask by a metric.

    Examples
    --------
    >>> from panmatch.scoring import all_metrics
    >>> whole_score(all_metrics()["hd95"]).name
    'whole_hd95'
    """
    return Score(
        f"whole_{metric.name}",
        "mask",
        metric.better,
        metric.dimension,
        label=f"whole {metric.name}",
    )


def known_class_scores(spec: Spec) -> dict[str, Score]:
    """Return all scores without a matcher that a spec asks for, by name."""
    scores = [whole_score(metric) for metric in spec.whole_objects]
    for request in spec.related:
        for part in request.parts:
            name = request.column_of(part.suffix)
            title = part.title if not request.name else f"{part.title} ({request.name})"
            scores.append(Score(name, request.score, part.better, part.dimension, label=title))
    return {score.name: score for score in scores}


def class_scores(case: ClassCase, spec: Spec) -> Iterator[ClassScore]:
    """Yield the scores that a spec asks for, for one class."""
    kind: Kind = "things" if case.kind.thing else "stuff"
    known = known_class_scores(spec)
    for name, average in _averages(case, spec):
        yield ClassScore(case.name, kind, known[name], average)


def _averages(case: ClassCase, spec: Spec) -> Iterator[tuple[str, Average]]:
    def paint() -> tuple[LabelArray, LabelArray]:
        reference, prediction = case.void.clear(*case.images)
        return as_labels(reference, "reference"), as_labels(prediction, "prediction")

    sides = ClassSides(
        case.overlap, paint, case.spacing, case.unit, case.threads, case.known_voxels
    )
    if spec.whole:
        yield from _whole_averages(case, spec, sides)
    for request in spec.related:
        for suffix, average in request.averages(sides).items():
            yield request.column_of(suffix), average


def _whole_averages(
    case: ClassCase, spec: Spec, sides: ClassSides
) -> Iterator[tuple[str, Average]]:
    options, counts = spec.metric_options, case.mask_counts
    # Voxels of cases add up; everything else is averaged over cases.
    by_voxels = {
        "dice": share(2 * counts.tp, 2 * counts.tp + counts.fp + counts.fn),
        "iou": share(counts.tp, counts.tp + counts.fp + counts.fn),
    }
    others = [metric for metric in spec.whole_objects if metric.name not in by_voxels]
    measured = {}
    if others:
        found = measure_whole(
            *sides.images, others, case.spacing, unit=case.unit, tolerance=options.tolerance,
            boundary_width=options.boundary_width, penalty=options.penalty, threads=case.threads,
        )  # fmt: skip
        measured = {one.name: single(float(found.columns[one.name][0])) for one in others}
    for metric in spec.whole_objects:
        yield whole_score(metric).name, (by_voxels | measured)[metric.name]
