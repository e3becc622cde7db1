"""What models are ranked by: scores of classes under one matcher and threshold, with weights."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from panmatch.datasets._comparison import Comparison
from panmatch.datasets._criteria import Criterion
from panmatch.errors import Argument, OptionError, check_choice
from panmatch.evaluation import Result, Score, matcher_of
from panmatch.matching import Matcher
from panmatch.spec import Spec


@dataclass(frozen=True, slots=True)
class Weighted:
    """A criterion and its weight."""

    criterion: Criterion
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class ChosenCriteria:
    """Which classes, matcher and threshold to rank by, and the weights of scores and classes."""

    classes: tuple[str, ...] = ()
    strategy: str | None = None
    threshold: float | None = None
    weights: Mapping[str, float] = field(default_factory=dict)


def score_names(
    result: Result,
    by: Sequence[str],
    argument: Argument = Argument("by"),  # noqa: B008
) -> list[str]:
    """Return names of scores; the name of a metric alone means SQ by this metric."""
    known = result.known_scores
    if not by:
        raise OptionError(argument, " is empty: name at least one score, such as pq.")
    found = [f"sq_{name}" if name not in known and f"sq_{name}" in known else name for name in by]
    for name in found:
        check_choice(argument, name, known)
        check_direction(known[name], argument)
    return list(dict.fromkeys(found))


def choose_criteria(
    comparison: Comparison, spec: Spec, chosen: ChosenCriteria
) -> tuple[Weighted, ...]:
    """Return the criteria of a comparison that models are ranked by, with their weights."""
    matcher = choose_matcher(spec, chosen.strategy)
    threshold = choose_threshold(spec, chosen.threshold)
    found = [
        criterion
        for criterion in comparison.values
        if not criterion.setting.is_mean
        and matcher_of(criterion.setting) in (None, matcher)
        and criterion.threshold in (None, threshold)
    ]
    known = list(dict.fromkeys(one.setting.class_name for one in found))
    for name in chosen.classes:
        check_choice(Argument("classes", flag="--class"), name, known)
    kept = [one for one in found if not chosen.classes or one.setting.class_name in chosen.classes]
    _check_weights(chosen.weights, kept)
    weighted = tuple(Weighted(one, _weight(one, chosen.weights)) for one in kept)
    if not any(one.weight for one in weighted):
        raise OptionError(
            Argument("weights"), " are 0 for all criteria: give at least one a weight above 0."
        )
    return tuple(one for one in weighted if one.weight)


def choose_threshold(spec: Spec, threshold: float | None) -> float:
    """Return one of the thresholds of a spec, by default the first."""
    if threshold is not None and threshold not in spec.thresholds:
        raise OptionError(
            Argument("threshold", threshold), " was not evaluated: choose from "
            f"{', '.join(f'{one:g}' for one in spec.thresholds)}.",
        )  # fmt: skip
    return spec.thresholds[0] if threshold is None else threshold


def choose_matcher(spec: Spec, strategy: str | None) -> Matcher:
    """Return the first matcher with a name or label, or the first of all."""
    if strategy is None:
        return spec.matching[0]
    names = {one.label: one for one in spec.matching}
    for one in reversed(spec.matching):
        names[one.name] = one
    check_choice(Argument("strategy"), strategy, names)
    return names[strategy]


def check_direction(score: Score, argument: Argument) -> None:
    """Raise an `OptionError` if neither more nor less is better."""
    if score.direction == "zero":
        raise OptionError(
            replace(argument, value=score.name), " is a signed error, of which neither more nor "
            "less is better: choose a score that has a direction.",
        )  # fmt: skip


def _weight(criterion: Criterion, weights: Mapping[str, float]) -> float:
    name = criterion.score.name
    own = weights.get(name, weights.get(name.removeprefix("sq_"), 1.0))
    return own * weights.get(criterion.setting.class_name, 1.0)


def _check_weights(weights: Mapping[str, float], criteria: Sequence[Criterion]) -> None:
    scores = {one.score.name for one in criteria}
    classes = {one.setting.class_name for one in criteria}
    known = [*scores, *(name.removeprefix("sq_") for name in scores), *classes]
    for name, weight in weights.items():
        check_choice(Argument("weights"), name, sorted(dict.fromkeys(known)))
        if name in scores & classes:
            raise OptionError(
                Argument("weights", name), " is both a score and a class: rename the class."
            )
        if not (math.isfinite(weight) and weight >= 0):
            raise OptionError(
                f"the weight of {name!r} is {weight:g}: weights are numbers from 0 on."
            )
