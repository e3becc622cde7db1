"""Strategies by name."""

from __future__ import annotations

from functools import cache

from panmatch.errors import StrategyError, nearest_name
from panmatch.matching._many_to_one import ManyToOne
from panmatch.matching._one_to_many import OneToMany
from panmatch.matching._one_to_one import OneToOne
from panmatch.matching._region_union import RegionUnion
from panmatch.matching._same_id import SameId
from panmatch.matching._strategy import Strategy

STRATEGIES: dict[str, type[Strategy]] = {
    strategy.name: strategy for strategy in (OneToOne, ManyToOne, OneToMany, SameId, RegionUnion)
}


@cache
def option_names() -> tuple[str, ...]:
    """Return the names of the options that any strategy has."""
    every = (option for strategy in STRATEGIES.values() for option in strategy.choices())
    return tuple(dict.fromkeys(every))


def resolve_strategy(strategy: str | Strategy) -> Strategy:
    """Return the strategy of that name with its default solver; objects pass through (D4).

    Examples
    --------
    >>> resolve_strategy("many-to-one")
    ManyToOne(solver='merge', gate='seed')
    """
    if isinstance(strategy, Strategy):
        return strategy
    if strategy == "many-to-many":
        raise StrategyError(
            "strategy='many-to-many' is refused: a prediction would be counted in the unions of "
            "several references, so qualities would no longer add up to a Panoptic Quality "
            "(D4). Use cluster_dice for groups of objects, 'many-to-one' for split objects, or "
            "'one-to-many' for merged objects."
        )
    if isinstance(strategy, str) and strategy in STRATEGIES:
        return STRATEGIES[strategy]()
    suggestion = nearest_name(strategy, STRATEGIES, "strategy")
    raise StrategyError(
        f"strategy={strategy!r} is not known{suggestion} Accepted: "
        f"{', '.join(map(repr, STRATEGIES))}, or an object such as OneToOne(solver='greedy')."
    )
