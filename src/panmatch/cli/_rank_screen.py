"""The output of `panmatch rank`: the models by rank, and how stable the ranking is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import get_args

import numpy as np

from panmatch.cli._layout import Column, grid, name_length, shortened, wrapped
from panmatch.datasets import Criterion, LeftOut, RankedModel, Ranking, RankMethod
from panmatch.evaluation import number, plural, some_names

RANKING = "panmatch-ranking-1"
INTERVAL, FIRST, POINTS, CRITERIA = 90, 80, 70, 60  # the lowest goes first when space is short


def rank_screen(
    ranking: Ranking, left_out: Sequence[LeftOut], width: int, more: Sequence[str] = ()
) -> list[str]:
    """Return a ranking as lines.

    Parameters
    ----------
    left_out
        Rankings without one case, site, score and so on; may be empty.
    width
        Characters in a line.
    more
        Lines to end with.
    """
    table = grid(_columns(ranking, width), width, "with -o")
    sentences = [
        _other_methods(ranking),
        _significance(ranking),
        _resamples(ranking),
        _without(ranking, left_out),
        *_missing(ranking),
    ]
    below = [line for text in sentences if text for line in wrapped(text, width)]
    lines = [*wrapped(heading(ranking), width), "", *table, "", *below]
    return [*lines, *(["", *more] if more else [])]


def heading(ranking: Ranking) -> str:
    """Return what the models are ranked by (D15)."""
    n = plural(len(ranking.cases), "shared case")
    over = f", {ranking.rule.aggregate} of cases" if ranking.rule.method != "test-based" else ""
    return f"{len(ranking.models)} models, {n}: {ranking.rule.method}{over}, by {_by(ranking)}"


def _by(ranking: Ranking) -> str:
    """Return the criteria: scores, classes and how objects are matched, with their weights."""
    groups: dict[str, tuple[dict[str, None], dict[str, None]]] = {}
    for weighted in ranking.criteria:
        one = weighted.criterion
        at = "" if one.threshold is None else f" at τ = {one.level}"
        scores, classes = groups.setdefault(f"{one.setting.label}{at}", ({}, {}))
        scores[one.score.title] = classes[one.setting.class_name] = None
    text = "; ".join(
        f"{', '.join(scores)} of {', '.join(classes)} ({how})"
        for how, (scores, classes) in groups.items()
    )
    if len({one.weight for one in ranking.criteria}) == 1:
        return text
    weights = (
        f"{one.criterion.score.title} of {one.criterion.setting.class_name} {one.weight:g}"
        for one in ranking.criteria
    )
    return f"{text}, with the weights {', '.join(weights)}"


def _columns(ranking: Ranking, width: int) -> list[Column]:
    placings, longest = ranking.placings, name_length(width)
    at = [ranking.models.index(one.model) for one in placings]
    columns = [
        Column("", "", tuple(str(one.rank) for one in placings)),
        Column("", "model", tuple(shortened(one.model, longest) for one in placings), left=True),
    ]
    if len(ranking.criteria) > 1 or ranking.rule.method == "rank-then-mean":
        cells = tuple(f"{one.points:.2f}" for one in placings)
        columns.append(Column("", "mean rank", cells, POINTS))
    if len(ranking.criteria) > 1 or ranking.rule.method != "rank-then-mean":
        for i, one in enumerate(ranking.criteria):
            values = ranking.points[one.criterion]
            title, head = _heads(ranking, one.criterion)
            cells = tuple(_value(ranking, float(values[j])) for j in at)
            columns.append(Column(title, head, cells, CRITERIA - i))
    if len(ranking.bootstrap):
        spread = tuple(f"{one.low:g}–{one.high:g}" for one in placings)
        first = tuple(_percent(one) for one in placings)
        columns.append(Column("resamples", "95 % of ranks", spread, INTERVAL))
        columns.append(Column("resamples", "first in", first, FIRST))
    return columns


def _heads(ranking: Ranking, criterion: Criterion) -> tuple[str, str]:
    what = {"mean-then-rank": ranking.rule.aggregate, "rank-then-mean": "rank"}
    title = f"{what.get(ranking.rule.method, 'wins')} {criterion.score.title}"
    several = len({one.criterion.setting.class_name for one in ranking.criteria}) > 1
    return ("", title) if not several else (title, shortened(criterion.setting.class_name, 12))


def _value(ranking: Ranking, value: float) -> str:
    if ranking.rule.method == "test-based" and not math.isnan(value):
        others = len(ranking.models) - 1
        return f"{round(value * others)} of {others}"
    return number(value)


def _percent(one: RankedModel) -> str:
    return f"{100 * one.first_share:.0f} %"


def _other_methods(ranking: Ranking) -> str:
    """Return the rankings by the other two methods, or that they are the same."""
    others = {name: ranking.with_method(name)
              for name in get_args(RankMethod) if name != ranking.rule.method}  # fmt: skip
    if all((other.ranks == ranking.ranks).all() for other in others.values()):
        return f"All three methods give {ranking.order}."
    texts = [f"{name}: {other.order}" for name, other in others.items()]
    return f"This ranking: {ranking.order}. By other methods: {'; '.join(texts)}."


def _significance(ranking: Ranking) -> str:
    maps = np.stack([one.p_holm <= ranking.rule.alpha for one in ranking.significance.values()])
    pairs = [
        f"{ranking.models[a]} over {ranking.models[b]}" for a, b in np.argwhere(maps.all(axis=0))
    ]
    where = "" if len(ranking.criteria) == 1 else " under every criterion"
    tests = f"one-sided Wilcoxon, Holm over all ordered pairs, p ≤ {ranking.rule.alpha:g}"
    return f"Significantly better{where} ({tests}): {', '.join(pairs) or 'no model'}."


def _resamples(ranking: Ranking) -> str:
    n = len(ranking.bootstrap)
    if not n:
        return "Fewer than 5 cases: how stable the ranking is cannot be said."
    same = float((ranking.bootstrap == ranking.ranks).all(axis=1).mean())
    tau = ranking.bootstrap_tau[~np.isnan(ranking.bootstrap_tau)]
    agree = ""
    if len(tau):
        low, high = np.quantile(tau, [0.025, 0.975])
        agree = f" Kendall's τ with them: mean {tau.mean():.2f}, 95 % from {low:.2f} to {high:.2f}."
    return f"The same ranking in {100 * same:.0f} % of {n} resamples.{agree}"


def _without(ranking: Ranking, left_out: Sequence[LeftOut]) -> str:
    if not left_out:
        return ""
    what, n = left_out[0].what, len(left_out)
    changed = [one.name for one in left_out if not one.same_winner]
    same = sum(bool((one.ranks == ranking.ranks).all()) for one in left_out)
    text = f"Leaving out one {what} at a time gives the same ranking {same} of {n} times"
    if changed:
        return f"{text}; another model ranks first without {some_names(changed)}."
    return f"{text}; the same model ranks first in all."


def _missing(ranking: Ranking) -> list[str]:
    return [
        f"Left out because {model} has no result: {some_names(cases)}."
        for model, cases in ranking.comparison.left_out.items()
        if cases
    ]
