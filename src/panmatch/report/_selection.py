"""What to draw of a result: scores, classes, models, matchers and thresholds, by name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, get_args

from panmatch.errors import OptionError, check_choice
from panmatch.evaluation import Level, Result, Score
from panmatch.matching import Matcher
from panmatch.spec import Spec

MOST_PANELS = 12

Names = str | Sequence[str] | None
Quantity = Literal["pq", "sq", "rq", "part_pq", "part_sq"]


def choose_quantity(result: Result, quantity: Quantity) -> Score:
    """Return a score by its name; an error where it needs parts and there are none (D9)."""
    check_choice("quantity", quantity, get_args(Quantity))
    known = result.known_scores
    if quantity not in known:
        raise OptionError(
            f"quantity={quantity!r} needs parts, but no class of the result has any: declare them "
            f"with `parts` in the spec and evaluate again, or pass "
            f"{quantity.removeprefix('part_')!r}."
        )
    return known[quantity]


def short_labels(spec: Spec) -> dict[Matcher, str]:
    """Return a short name for every matcher of a spec.

    This is the name of its strategy if no other matcher has it and all options are the defaults,
    and otherwise its label.

    Examples
    --------
    >>> matching = ["one-to-one", {"strategy": "many-to-one", "regions": True}]
    >>> list(short_labels(Spec(matching=matching)).values())
    ['one-to-one', 'many-to-one (merge, seed) in regions']
    """
    names = [matcher.name for matcher in spec.matching]
    labels = {}
    for matcher in spec.matching:
        is_default = matcher.label == type(matcher.strategy)().label
        is_clear = is_default and names.count(matcher.name) == 1
        labels[matcher] = matcher.name if is_clear else matcher.label
    return labels


def choose_matchers(spec: Spec, strategies: Names) -> list[Matcher]:
    """Return the matchers with these names or labels, in this order; None for all."""
    if strategies is None:
        return list(spec.matching)
    chosen = [
        matcher for name in _listed(strategies) for matcher in _named(spec, name, "strategies")
    ]
    _check_some("strategies", chosen)
    return list(dict.fromkeys(chosen))


def choose_matcher(spec: Spec, strategy: str | None) -> Matcher:
    """Return the matcher with this name or label; None for the first of the spec."""
    if strategy is None:
        return spec.matching[0]
    found = _named(spec, strategy, "strategy")
    if len(found) > 1:
        labels = ", ".join(repr(matcher.label) for matcher in found)
        raise OptionError(
            f"strategy={strategy!r} is ambiguous: it can be any of {labels}. Pass one of these."
        )
    return found[0]


def choose_classes(
    result: Result, classes: Names, *, score: Score | None = None, others: Iterable[str] = ()
) -> list[str]:
    """Return the classes to draw a panel of each; None for all, if they are not too many.

    Parameters
    ----------
    score
        Only classes that have it are there to choose from.
    others
        What can be named as well, such as means over classes.
    """
    names = _class_names(result, score)
    if classes is None:
        if len(names) > MOST_PANELS:
            raise OptionError(
                f"the result has {len(names)} classes, which do not fit into one figure: choose up "
                f"to {MOST_PANELS} with classes=[…], such as {names[0]!r}."
            )
        return names
    return _checked("classes", classes, [*names, *others])


def choose_class(names: Sequence[str], class_name: str | None) -> str:
    """Return the class of this name; None for the only one there is."""
    if class_name is None and len(names) == 1:
        return names[0]
    if class_name is None:
        raise OptionError(
            f"class_name is missing: there are {len(names)} classes, {_quoted(names)}. Pass one."
        )
    check_choice("class_name", class_name, names)
    return class_name


def choose_models(result: Result, models: Names) -> list[str]:
    """Return the models to draw; None for all that have scores."""
    names = list(dict.fromkeys(series.model for series in result.series))
    return names if models is None else _checked("models", models, names)


def choose_thresholds(spec: Spec, thresholds: float | Sequence[float] | None) -> list[float]:
    """Return thresholds of a spec; None for all."""
    if thresholds is None:
        return list(spec.thresholds)
    wanted = [thresholds] if isinstance(thresholds, int | float) else list(thresholds)
    _check_some("thresholds", wanted)
    return list(dict.fromkeys(choose_threshold(spec, threshold) for threshold in wanted))


def choose_threshold(spec: Spec, threshold: float | None) -> float:
    """Return a threshold that a spec has scores at; None for the first."""
    if threshold is None:
        return spec.thresholds[0]
    if threshold not in spec.thresholds:
        raise OptionError(
            f"there are no scores at threshold={threshold!r}: the spec lists "
            f"{', '.join(f'{known:g}' for known in spec.thresholds)}. Pass one of these, or add "
            f"yours to the spec and evaluate again."
        )
    return float(threshold)


def find_levels(
    result: Result, model: str, class_name: str, matcher: Matcher, threshold: float
) -> list[Level]:
    """Return the matchings of all cases of a model that have the class."""
    return [
        entry.level(threshold)
        for series in result.series
        if series.model == model
        and series.setting.class_name == class_name
        and series.setting.matcher == matcher
        for entry in series.entries
        if entry is not None
    ]


def _class_names(result: Result, score: Score | None) -> list[str]:
    by_parts = score is not None and score.quality == "parts"
    names = list(
        dict.fromkeys(
            series.setting.class_name
            for series in result.series
            if not by_parts or next(iter(series.counts.values())).has_parts
        )
    )
    if not names:
        failed = f"; all {len(result.failures)} cases failed" if result.failures else ""
        raise OptionError(
            f"the result has no scores to draw{failed}: see `scores` and `failures` of the result."
        )
    return names


def _named(spec: Spec, name: str, argument: str) -> list[Matcher]:
    found = [matcher for matcher in spec.matching if matcher.label == name]
    found = found or [matcher for matcher in spec.matching if matcher.name == name]
    if not found:
        known = [name for matcher in spec.matching for name in (matcher.name, matcher.label)]
        check_choice(argument, name, dict.fromkeys(known))
    return found


def _checked(argument: str, given: str | Sequence[str], names: Sequence[str]) -> list[str]:
    wanted = _listed(given)
    _check_some(argument, wanted)
    for name in wanted:
        check_choice(argument, name, names)
    return list(dict.fromkeys(wanted))


def _check_some(argument: str, chosen: Sequence[object]) -> None:
    if not chosen:
        raise OptionError(f"{argument} is empty: name at least one, or pass None for all.")


def _listed(names: str | Sequence[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def _quoted(names: Sequence[str]) -> str:
    shown = ", ".join(map(repr, names[:MOST_PANELS]))
    return f"{shown}, …" if len(names) > MOST_PANELS else shown
