"""What was computed, with which bounds, and what to be careful about, in plain words."""

from __future__ import annotations

from panmatch.datasets import RESAMPLES
from panmatch.evaluation import Result

FEW_OBJECTS = 10
MANY_NEAR = 0.2
QUALITIES = {"iou": "IoU", "parts": "the mean IoU of the parts"}
MOST_WARNINGS = 3  # about thresholds


def what_was_computed(result: Result) -> str:
    """Return one paragraph about strategies, bounds, thresholds, qualities and averages."""
    spec = result.spec
    strategies = "; ".join(
        f"{matcher.label} ({', '.join(matcher.strategy.bounds)})" for matcher in spec.matching
    )
    sentences = [
        f"Objects were matched by {strategies}. A pair may be matched if its score is strictly "
        f"above the threshold τ; scores are given at τ = "
        f"{', '.join(f'{t:g}' for t in spec.thresholds)}.",
        "A reference with a match is a true positive, and its quality is the IoU with the union of "
        "its predictions; PQ is the summed quality over TP + ½FP + ½FN.",
    ]
    if result.has_parts:
        sentences.append(
            f"PartPQ has the same matches and counts, but the quality of a true positive is the "
            f"mean IoU of the parts of its class, {part_background(result)}."
        )
    if spec.curve:
        sentences.append("AUTC is the exact area under PQ over all thresholds from 0 to 1.")
    if any(matcher.regions for matcher in spec.matching):
        sentences.append(
            "Where it says regions, predictions were cut by the Voronoi regions of the references: "
            "each voxel belongs to the reference nearest to it."
        )
    sentences.append(
        f"Pooled scores sum the counts of all cases, means average the scores of cases; intervals "
        f"hold 95 % of {RESAMPLES} resamples of the cases."
    )
    return " ".join(sentences)


def part_background(result: Result) -> str:
    """Return what becomes of the background where parts are compared (D9)."""
    if result.spec.part_background == "image":
        return "with the background of the whole image as one more label"
    return "with the background left out"


def can_compare(result: Result) -> bool:
    """Return whether there are several models, and a case that all of them have."""
    cases = [{case.case for case in result.evaluated(model)} for model in result.models]
    return len(cases) > 1 and bool(set.intersection(*cases))


def what_to_be_careful_about(result: Result) -> list[str]:
    """Return warnings that this result gives reason for."""
    found = [*_near_thresholds(result), *_few_objects(result), *_gaps(result)]
    if result.has_parts and result.spec.part_background == "image":
        found.append(
            "PartPQ counts the background of the whole image: it rises with the field of view. "
            "Compare it only between images of one size, or set part_background to none."
        )
    if result.failures:
        found.append(f"{len(result.failures)} cases failed and are in no number here.")
    if len(result.models) > 1 and not can_compare(result):
        found.append("There is no case that all models have: they are not compared.")
    if any(len(result.evaluated(model)) == 1 for model in result.models):
        found.append("There is a single case: nothing can be said about other cases like it.")
    if result.unit is None and any(result.evaluated(model) for model in result.models):
        found.append("Cases have different units: sizes and distances cannot be compared.")
    return found


def _near_thresholds(result: Result) -> list[str]:
    lines = []
    for series in result.series:
        for threshold, counts in series.counts.items():
            sums = counts.sum()
            tp, near = int(sums.tallies.tp), int(sums.near_threshold)
            if tp and near / tp >= MANY_NEAR and near > 2:
                named = f"{series.model}: " if series.model else ""
                lines.append(
                    f"{named}{near} of {tp} true positives of {series.setting.class_name} under "
                    f"{series.setting.matcher.label} at τ = {threshold:g} would be lost at a "
                    f"threshold higher by 0.05. Look at the curve rather than at one threshold."
                )
    return lines[:MOST_WARNINGS]


def _few_objects(result: Result) -> list[str]:
    few = {}
    for series in result.series:
        if series.model == result.models[0]:
            tally = next(iter(series.counts.values())).sum().tallies
            references = int(tally.tp + tally.fn)
            if references < FEW_OBJECTS:
                few[series.setting.class_name] = references
    if not few:
        return []
    named = ", ".join(f"{name} ({n})" for name, n in few.items())
    return [f"There are few references of {named}: single objects decide their scores."]


def _gaps(result: Result) -> list[str]:
    gaps = [
        level.gap
        for case in result.cases
        for entry in case.entries
        for level in entry.levels
        if level.gap is not None
    ]
    largest = max(gaps, default=0.0)
    if largest <= 1e-9:
        return []
    return [f"Some optimal matchings are proven only up to {largest:.2g} of PQ (column gap)."]
