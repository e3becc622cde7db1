"""How a ranking changes when one case, cluster, site, score or class is left out."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from panmatch.datasets._model_ranks import Ranking
from panmatch.datasets._statistics import kendall_tau
from panmatch.errors import Argument, OptionError, check_choice
from panmatch.overlap import Floats, Ints

# What can be left out of every ranking; columns of the case table come on top.
ALWAYS = ("case", "cluster", "metric", "class")


@dataclass(frozen=True, slots=True, eq=False)
class LeftOut:
    """The ranking without one case, cluster, site, score or class.

    Attributes
    ----------
    what, name
        What kind of thing is left out, and which.
    cases
        How many cases remain.
    ranks
        The rank of each model, in the order of the models.
    tau
        Kendall's τ_b of this ranking and the whole one; NaN if one of them ties all models.
    same_winner
        Whether the same models rank first.
    """

    what: str
    name: str
    cases: int
    ranks: Floats
    tau: float
    same_winner: bool


def rankings_without(ranking: Ranking, what: str) -> list[LeftOut]:
    """Return the rankings without one thing at a time, as `Ranking.leave_out` does."""
    if what in ("metric", "class"):
        return _without_criteria(ranking, what)
    groups = _groups(ranking, what)
    if len(groups) < 2:
        raise OptionError(
            Argument("leave_out", what), f" leaves nothing: there is only one {what}."
        )
    every = np.arange(len(ranking.cases))
    found = []
    for name, members in groups.items():
        kept = np.setdiff1d(every, members)
        found.append(_compared(ranking, what, name, len(kept), ranking.on(kept)))
    return found


def _without_criteria(ranking: Ranking, what: str) -> list[LeftOut]:
    """Return the rankings without one score, or without one class."""
    named = [
        one.criterion.score.name if what == "metric" else one.criterion.setting.class_name
        for one in ranking.criteria
    ]
    if len(set(named)) < 2:
        kind = "score" if what == "metric" else "class"
        raise OptionError(
            Argument("leave_out", what),
            f" leaves nothing: the models are ranked by only one {kind}, {named[0]}.",
        )
    found = []
    for name in dict.fromkeys(named):
        both = zip(ranking.criteria, named, strict=True)
        rest = replace(ranking, criteria=tuple(one for one, own in both if own != name))
        found.append(_compared(ranking, what, name, len(ranking.cases), rest.ranks))
    return found


def _compared(ranking: Ranking, what: str, name: str, cases: int, ranks: Floats) -> LeftOut:
    same = bool(((ranks == 1) == (ranking.ranks == 1)).all())
    return LeftOut(what, name, cases, ranks, kendall_tau(ranking.ranks, ranks), same)


def _groups(ranking: Ranking, what: str) -> dict[str, Ints]:
    """Return the positions of the cases to leave out together, by name."""
    if what == "case":
        return {case: np.array([i]) for i, case in enumerate(ranking.cases)}
    if what == "cluster":
        return {name: np.flatnonzero(ranking.units == i)
                for i, name in enumerate(_cluster_names(ranking))}  # fmt: skip
    columns = dict.fromkeys(column for row in ranking.about.values() for column in row)
    check_choice(Argument("leave_out"), what, [*ALWAYS, *columns])
    found: dict[str, list[int]] = {}
    for i, case in enumerate(ranking.cases):
        value = ranking.about[case].get(what)
        if value is not None:
            found.setdefault(value, []).append(i)
    return {name: np.array(members) for name, members in sorted(found.items())}


def _cluster_names(ranking: Ranking) -> list[str]:
    units = ranking.comparison.units
    if not isinstance(units, tuple):
        return list(ranking.cases)
    return [name.removeprefix("in ").removeprefix("alone: ") for name in dict.fromkeys(units)]
