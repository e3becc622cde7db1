"""What was computed, with which bounds, and what to be careful about, in plain words."""

from __future__ import annotations

from panmatch.evaluation import Result
from panmatch.evaluation.wording import way_title
from panmatch.matching._catalogue import STRATEGIES

FEW_OBJECTS = 10
MANY_NEAR = 0.2


def what_was_computed(result: Result) -> str:
    """Return one paragraph about strategies, bounds, thresholds and averages."""
    spec = result.spec
    strategies = "; ".join(
        f"{name} ({', '.join(STRATEGIES[name]().bounds)})"
        for name in dict.fromkeys(matcher.strategy for matcher in spec.matching)
    )
    regions = any(matcher.regions for matcher in spec.matching)
    sentences = [
        f"Objects were matched by {strategies}. A pair may be matched if its score is strictly "
        f"above the threshold τ; scores are given at τ = "
        f"{', '.join(f'{t:g}' for t in spec.thresholds)}.",
        "A reference with a match is a true positive, and its quality is the IoU with the union of "
        "its predictions; PQ is the summed quality over TP + ½FP + ½FN.",
    ]
    if spec.curve:
        sentences.append("AUTC is the exact area under PQ over all thresholds from 0 to 1.")
    if regions:
        sentences.append(
            "Where it says regions, predictions were cut by the cells of the references: each "
            "voxel belongs to the reference nearest to it."
        )
    if spec.has_parts:
        background = (
            "with everything outside parts as one more label"
            if spec.part_background == "image"
            else "background left out"
        )
        sentences.append(
            f"Classes with parts have the mean IoU of their parts as quality, {background}."
        )
    sentences.append(
        "Pooled scores sum the counts of all cases, means average the scores of cases; intervals "
        "hold 95 % of 2000 resamples of the cases."
    )
    return " ".join(sentences)


def what_to_be_careful_about(result: Result) -> list[str]:
    """Return warnings that this result gives reason for."""
    found = [
        *_near_thresholds(result),
        *_few_objects(result),
        *_gaps(result),
    ]
    if result.spec.has_parts and result.spec.part_background == "image":
        found.append(
            "The quality of parts counts the background of the whole image: it rises with the "
            "field of view. Compare it only between images of one size, or set part_background to "
            "none."
        )
    if result.failures:
        found.append(f"{len(result.failures)} cases failed and are in no number here.")
    if any(len(result.evaluated(model)) == 1 for model in result.models):
        found.append("There is a single case: nothing can be said about other cases like it.")
    return found


def _near_thresholds(result: Result) -> list[str]:
    lines = []
    for group in result.groups:
        tp, near = group.columns["tp"].sum(), group.columns["near_threshold"].sum()
        if tp and near / tp >= MANY_NEAR and near > 2:
            named = f"{group.model}: " if group.model else ""
            lines.append(
                f"{named}{near:.0f} of {tp:.0f} true positives of {group.way[0]} under "
                f"{way_title(group.way)} at τ = {group.threshold:g} would be lost at a threshold "
                f"higher by 0.05. Look at the curve rather than at one threshold."
            )
    return lines[:3]


def _few_objects(result: Result) -> list[str]:
    first = result.models[0] if result.models else ""
    sums = {
        group.way[0]: group.columns["tp"].sum() + group.columns["fn"].sum()
        for group in result.groups
        if group.model == first
    }
    few = {name: n for name, n in sums.items() if n < FEW_OBJECTS}
    if not few:
        return []
    named = ", ".join(f"{name} ({n:.0f})" for name, n in few.items())
    return [f"There are few references of {named}: single objects decide their scores."]


def _gaps(result: Result) -> list[str]:
    largest = max(
        (
            value
            for one in result.cases
            for value in one.scores.get("gap", ())
            if value is not None and value == value
        ),
        default=0.0,
    )
    if largest <= 1e-9:
        return []
    return [f"Some optimal matchings are proven only up to {largest:.2g} of PQ (column gap)."]
