"""Forest plots of subgroups: a line with an interval for each, on a common scale."""

from __future__ import annotations

import math
from dataclasses import dataclass

from panmatch.datasets import SIZE, SubgroupFamily, Subgroups, subgroup_columns
from panmatch.evaluation import Result

MOST_FAMILIES = 24  # of one class; more are left to `panmatch subgroups`


@dataclass(frozen=True, slots=True)
class ForestLine:
    """A subgroup, with places along the scale in percent."""

    group: str
    cases: int
    value: float
    low: float
    high: float
    pooled: float
    at: float  # of the value
    start: float  # of the ends of the interval
    stop: float
    outer: tuple[float, float]  # of the ends of the simultaneous interval
    is_worst: bool


@dataclass(frozen=True, slots=True)
class Forest:
    """The subgroups of a model, or of the difference between two."""

    class_name: str
    column: str
    title: str
    model: str
    where: str
    p_value: float
    is_difference: bool
    scale: tuple[float, float]
    middle: float  # place of the mean of all subgroups, or of no difference, in percent
    lines: list[ForestLine]
    worst: str


def forests(result: Result) -> dict[str, list[Forest]]:
    """Return the forest plots of every class: by columns of the case table, and by object size."""
    found: dict[str, list[Forest]] = {}
    if not any(result.evaluated(model) for model in result.models):
        return found
    for column in (*subgroup_columns(result), SIZE):
        for family in Subgroups(result, column).families:
            known = [one for one in family.groups if not math.isnan(one.value)]
            mine = found.setdefault(family.setting.class_name, [])
            if len(known) > 1 and len(mine) < MOST_FAMILIES:
                mine.append(_forest(family))
    return {name: mine for name, mine in found.items() if mine}


def _forest(family: SubgroupFamily) -> Forest:
    is_difference = bool(family.second)
    low, high = _scale(family)

    def place(value: float) -> float:
        return math.nan if math.isnan(value) else 100 * (value - low) / (high - low)

    lines = [
        ForestLine(
            one.group,
            one.cases,
            one.value,
            one.interval.low,
            one.interval.high,
            one.pooled,
            place(one.value),
            place(one.interval.low),
            place(one.interval.high),
            (place(one.simultaneous.low), place(one.simultaneous.high)),
            one is family.worst,
        )
        for one in family.groups
        if not math.isnan(one.value)
    ]
    total = sum(line.cases for line in lines)
    mean = sum(line.cases * line.value for line in lines) / total
    return Forest(
        family.setting.class_name,
        family.column,
        f"{family.score.title} of {family.title}".strip() if family.title else family.score.title,
        family.model,
        f"{family.setting.label} at τ = {family.threshold:g}",
        family.p_value,
        is_difference,
        (low, high),
        place(0.0 if is_difference else mean),
        lines,
        _worst_text(family),
    )


def _scale(family: SubgroupFamily) -> tuple[float, float]:
    """Return the ends of the scale: 0 and 1 for a share, else what the intervals need."""
    if family.score.is_share and not family.second:
        return 0.0, 1.0
    ends = [
        end
        for one in family.groups
        for end in (one.value, one.simultaneous.low, one.simultaneous.high)
        if math.isfinite(end)
    ]
    low, high = min([0.0, *ends]), max([0.0, *ends])
    margin = 0.05 * (high - low) or 1.0
    return low - margin, high + margin


def _worst_text(family: SubgroupFamily) -> str:
    worst = family.worst
    if worst is None:
        return ""
    ends = worst.simultaneous
    return (
        f"The worst subgroup is {worst.group}: {worst.value:.3f}, at 95 % confidence for all "
        f"subgroups together {ends.low:.3f} to {ends.high:.3f}."
    )
