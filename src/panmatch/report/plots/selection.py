"""What to draw of a result: classes, models, ways to match and thresholds, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from panmatch.errors import OptionError, check_choice
from panmatch.evaluation import Result
from panmatch.evaluation.groups import Key
from panmatch.evaluation.rows import matcher_block
from panmatch.evaluation.wording import way_title
from panmatch.report.wording import short_bounds
from panmatch.spec import Matcher, Spec

MOST_PANELS = 12

Names = str | Sequence[str] | None


@dataclass(frozen=True, slots=True)
class Way:
    """One way to match of a spec.

    Attributes
    ----------
    matcher
        As the spec has it.
    title
        With all options.
    label
        As short as it is still told from the others of the spec.
    """

    matcher: Matcher
    title: str
    label: str

    @property
    def key(self) -> Key:
        """The columns of a group's way, class and kind left out."""
        return tuple(matcher_block(self.matcher).values())

    @property
    def bounds(self) -> str:
        """Both bounds, in short."""
        return short_bounds(self.matcher.made())


def all_ways(spec: Spec) -> list[Way]:
    """Return the ways to match of a spec.

    Examples
    --------
    >>> [way.label for way in all_ways(Spec(matching=["one-to-one", "many-to-one"]))]
    ['one-to-one', 'many-to-one']
    """
    names = [matcher.strategy for matcher in spec.matching]
    titles = [way_title(("", "", *matcher_block(matcher).values())) for matcher in spec.matching]
    return [
        Way(matcher, title, name if names.count(name) == 1 else title)
        for matcher, name, title in zip(spec.matching, names, titles, strict=True)
    ]


def choose_ways(spec: Spec, strategies: Names) -> list[Way]:
    """Return the ways to match of these names or titles, in this order; None for all."""
    ways = all_ways(spec)
    if strategies is None:
        return ways
    chosen = [way for name in _listed(strategies) for way in _named(ways, name, "strategies")]
    _check_some("strategies", chosen)
    return list(dict.fromkeys(chosen))


def choose_way(spec: Spec, strategy: str | None) -> Way:
    """Return the way to match of this name or title; None for the first of the spec."""
    ways = all_ways(spec)
    if strategy is None:
        return ways[0]
    found = _named(ways, strategy, "strategy")
    if len(found) > 1:
        titles = ", ".join(repr(way.title) for way in found)
        raise OptionError(f"strategy={strategy!r} can be any of {titles}: pass one of these.")
    return found[0]


def class_names(result: Result) -> list[str]:
    """Return the classes that a result has scores of; at least one, or an error."""
    names = list(dict.fromkeys(str(group.way[0]) for group in result.groups))
    if not names:
        failed = f"; all {len(result.failures)} cases failed" if result.failures else ""
        raise OptionError(
            f"the result has no scores to draw{failed}: see `scores` and `failures` of the result."
        )
    return names


def choose_classes(result: Result, classes: Names, others: Iterable[str] = ()) -> list[str]:
    """Return the classes to draw a panel of each; None for all, if they are not too many."""
    names = class_names(result)
    if classes is None:
        if len(names) > MOST_PANELS:
            raise OptionError(
                f"the result has {len(names)} classes, which no figure holds: name up to "
                f"{MOST_PANELS} with classes=[…], such as {names[0]!r}."
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
    names = list(dict.fromkeys(group.model for group in result.groups))
    return names if models is None else _checked("models", models, names)


def choose_thresholds(spec: Spec, thresholds: float | Sequence[float] | None) -> list[float]:
    """Return thresholds of a spec; None for all."""
    if thresholds is None:
        return list(spec.thresholds)
    wanted = [thresholds] if isinstance(thresholds, int | float) else list(thresholds)
    _check_some("thresholds", wanted)
    return [choose_threshold(spec, one) for one in wanted]


def choose_threshold(spec: Spec, threshold: float | None) -> float:
    """Return a threshold that a spec has scores at; None for the first."""
    if threshold is None:
        return spec.thresholds[0]
    if threshold not in spec.thresholds:
        raise OptionError(
            f"threshold={threshold!r} has no scores: the spec has "
            f"{', '.join(f'{one:g}' for one in spec.thresholds)}. Pass one of these, or add it to "
            f"the spec and evaluate again."
        )
    return float(threshold)


def _named(ways: list[Way], name: str, argument: str) -> list[Way]:
    matches: list[Callable[[Way], bool]] = [
        lambda way: way.title == name,
        lambda way: way.matcher.strategy == name,
    ]
    for fits in matches:
        found = [way for way in ways if fits(way)]
        if found:
            return found
    known = dict.fromkeys(name for way in ways for name in (way.matcher.strategy, way.title))
    check_choice(argument, name, known)
    return []


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
