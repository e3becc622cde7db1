"""Matchers as people write them in a spec: a name, or a mapping with options."""

from __future__ import annotations

from typing import Annotated

from pydantic import PlainSerializer, PlainValidator

from panmatch.errors import PanmatchError, check_choice, nearest_name
from panmatch.labels import REGION_RULES
from panmatch.matching import STRATEGIES, Matcher, Strategy, resolve_strategy

KEYS = ("strategy", "score", "regions", "strict")


def parse_matcher(given: object) -> Matcher:
    """Return the matcher described by an entry of the list `matching`.

    Parameters
    ----------
    given
        The name of a strategy, or a mapping with the keys ``strategy``, the options of that
        strategy, ``score``, ``regions`` (true, false or the name of a rule), and ``strict``, false
        if a score may equal the threshold.

    Examples
    --------
    >>> parse_matcher({"strategy": "many-to-one", "gate": "edge", "regions": True}).label
    'many-to-one (merge, edge) in regions'
    """
    if isinstance(given, Matcher):
        return given
    if isinstance(given, str | Strategy):
        given = {"strategy": given}
    if not isinstance(given, dict) or "strategy" not in given:
        raise ValueError("must be the name of a strategy, or a mapping with the key 'strategy'")
    try:
        default = resolve_strategy(given["strategy"])
        options = {key: value for key, value in given.items() if key not in KEYS}
        strategy = type(default)(**_checked_options(default, options)) if options else default
        regions = _rule(given.get("regions", strategy.needs_regions))
        strict = given.get("strict", True)
        if not isinstance(strict, bool):
            raise ValueError(f"strict={strict!r} must be true or false")
        return Matcher(strategy, given.get("score", "iou"), regions, strict)
    except PanmatchError as error:
        raise ValueError(str(error)) from error


def matcher_as_dict(matcher: Matcher) -> dict[str, str | bool]:
    """Return what `parse_matcher` reads.

    Examples
    --------
    >>> matcher_as_dict(parse_matcher("union"))
    {'strategy': 'union', 'score': 'iou', 'regions': 'voronoi'}
    """
    return {
        "strategy": matcher.name,
        **matcher.strategy.options,
        "score": matcher.score,
        "regions": matcher.regions or False,
        **({} if matcher.strict else {"strict": False}),
    }


def _checked_options(strategy: Strategy, options: dict[str, str]) -> dict[str, str]:
    accepted = [*KEYS, *strategy.choices()]
    for key in options:
        if any(key in other.choices() for other in STRATEGIES.values()) and key not in accepted:
            raise ValueError(f"the strategy {strategy.name!r} has no {key}")
        if key not in accepted:
            raise ValueError(
                f"the key {key!r} is not known{nearest_name(key, accepted)} Accepted: "
                f"{', '.join(accepted)}"
            )
    return {key: value for key, value in options.items() if value is not None}


def _rule(given: object) -> str | None:
    if given is False or given is None:
        return None
    if given is True:
        return next(iter(REGION_RULES))
    check_choice("regions", given, REGION_RULES)
    return str(given)


MatcherEntry = Annotated[
    Matcher, PlainValidator(parse_matcher), PlainSerializer(matcher_as_dict, return_type=dict)
]
