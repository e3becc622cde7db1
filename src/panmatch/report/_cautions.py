"""Warnings to read before you trust a report, derived from the result."""

from __future__ import annotations

import numpy as np

from panmatch.evaluation import MEANS, Result, matcher_of, plural, some_names

FEW_OBJECTS = 10
MANY_NEAR = 0.2
MOST_WARNINGS = 3  # about thresholds
SMALLEST_GAP = 1e-9  # of PQ
MEANING = {
    "skip": "Means of cases leave them out",
    "zero": "Means of cases count them as 0",
    "one": "Means of cases count them as 1",
}


def can_compare(result: Result) -> bool:
    """Return whether there are several models, and a case that all of them have."""
    cases = [{case.case for case in result.evaluated(model)} for model in result.models]
    return len(cases) > 1 and bool(set.intersection(*cases))


def cautions(result: Result) -> list[str]:
    """Return the warnings that apply to this result, those about all numbers first."""
    found = _failures(result)
    if len(result.models) > 1 and not can_compare(result):
        found.append("No case has a result from every model, so the models are not compared.")
    if any(len(result.evaluated(model)) == 1 for model in result.models):
        found.append("There is only one case, so these scores say nothing about other cases.")
    if result.unit is None and any(result.evaluated(model) for model in result.models):
        found.append("Cases have different units, so sizes and distances cannot be compared.")
    found += [*_undefined(result), *_few_objects(result), *_unproven(result)]
    found += _near_thresholds(result)
    if result.has_parts and result.spec.part_background == "image":
        found.append(
            "PartPQ includes the background of the whole image, so it rises with the field of "
            "view. Compare it only between images of the same size, or set part_background to "
            "none."
        )
    return found


def _failures(result: Result) -> list[str]:
    """Return which cases failed, with the first reason, such as headers that differ."""
    failures = result.failures
    if not failures:
        return []
    names = some_names([f"{one.case} ({one.model})" if one.model else one.case for one in failures])
    verb, first = ("is", "") if len(failures) == 1 else ("are", "the first one: ")
    reason = next(iter(failures[0].reason.splitlines()), "")
    return [
        f"{plural(len(failures), 'case')} failed and {verb} not included in any score: {names}; "
        f"{first}{reason}"
    ]


def _undefined(result: Result) -> list[str]:
    """Return in how many cases PQ is undefined, for every class, by the first matcher."""
    skipped: dict[str, tuple[int, int]] = {}
    first = result.spec.matching[0], result.spec.thresholds[0]
    for one in result.average_scores:
        name = one.setting.class_name
        wanted = (one.score.name, one.averaging) == ("pq", "mean of cases") and name not in MEANS
        if wanted and (matcher_of(one.setting), one.threshold) == first and one.skipped:
            skipped[name] = max(skipped.get(name, (0, 0)), (one.skipped, one.cases + one.skipped))
    if not skipped:
        return []
    named = [f"{name} ({n} of {plural(total, 'case')})" for name, (n, total) in skipped.items()]
    meaning = MEANING[result.spec.averaging.undefined]
    return [
        f"PQ is undefined for cases without any object: {some_names(named)}. {meaning}; pooled "
        f"scores are not affected."
    ]


def _near_thresholds(result: Result) -> list[str]:
    lines = []
    first = [one for one in result.series if one.setting.matcher == result.spec.matching[0]]
    for series in first:
        for threshold, counts in series.counts.items():
            sums = counts.sum()
            tp, near = int(sums.tallies.tp), int(sums.near_threshold)
            if tp and near / tp >= MANY_NEAR and near > 2:
                named = f"{series.model}: " if series.model else ""
                lines.append(
                    f"{named}{near} of {tp} true positives of {series.setting.class_name} under "
                    f"{series.setting.label} at τ = {threshold:g} would be lost if the threshold "
                    f"were 0.05 higher. Look at the curve rather than at one threshold."
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
    return [f"There are few references of {named}, so single objects decide the scores."]


def _unproven(result: Result) -> list[str]:
    """Return how much PQ optimal solvers may have missed, at thresholds of the spec and between."""
    levels = [level for series in result.series for level in series.levels.values()]
    largest = max((float(np.nanmax(level.gaps, initial=0.0)) for level in levels), default=0.0)
    if largest > SMALLEST_GAP:
        strategies = [matcher.strategy for matcher in result.spec.matching]
        optimal = [one for one in strategies if one.options.get("solver") == "optimal"]
        name = " or ".join(sorted({one.maximises for one in optimal}))
        return [
            f"Some optimal matchings are not proven: up to {largest:.2g} of {name} may be missing "
            f"(column gap)."
        ]
    curves = [series.pooled_curve for series in result.series]
    if any(curve is not None and curve.proven is False for curve in curves):
        return [
            "Some curves include matchings that are not proven optimal; the scores themselves are "
            "proven."
        ]
    return []
