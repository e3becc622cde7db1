"""The output of `panmatch compare` on one screen: the models by rank, and how certain that is."""

from __future__ import annotations

from collections.abc import Sequence

from panmatch.cli._layout import LINES, Column, grid, name_length, shortened, wrapped
from panmatch.datasets import (
    Comparison,
    Criterion,
    Placing,
    headline_rankings,
    verdict_on_models,
)
from panmatch.evaluation import MEANS, Score, number, p_text, plural, signed, some_names, unit_text

INTERVAL, DIFFERENCE, OTHERS, AREA = 9, 8, 7, 6  # the lowest goes first when space is short


def comparison_screen(
    comparison: Comparison, width: int, more: Sequence[str] = (), taken: int = 0
) -> str:
    """Return a comparison of a few models in at most 24 lines.

    Parameters
    ----------
    width
        Characters in a line.
    more
        Lines to end with.
    taken
        Lines of the screen that are needed for something else, such as warnings.
    """
    comparison = comparison.by(_shown_scores(comparison))  # files may hold hundreds of others
    rankings = headline_rankings(comparison)
    first, placings = next(iter(rankings.items()))
    head = wrapped(_head(comparison, first), width)
    below = [
        *wrapped(verdict_on_models(comparison), width),
        *wrapped(_stability(comparison, first), width),
        *(line for text in _left_out(comparison) for line in wrapped(text, width, "  ")),
    ]
    room = LINES - len(head) - len(below) - len(more) - taken - 6  # blank lines, heads, a note
    shown = placings[: max(room, 5)]
    hidden = len(placings) - len(shown)
    table = grid(_columns(comparison, first, shown, name_length(width)), width, "with --all")
    note = [f"({plural(hidden, 'more model')} with --all)"] if hidden else []
    return "\n".join([*head, "", *table, *note, "", *below, "", *more])


def _head(comparison: Comparison, first: Criterion) -> str:
    n = len(comparison.cases)
    unit = unit_text(first.score, comparison.unit)
    score = f"{first.score.title}{f' in {unit}' if unit else ''}"
    name = first.setting.class_name
    return (
        f"{len(comparison.models)} models, {plural(n, 'shared case')}: mean {score} of cases, "
        f"{name if name in MEANS else f'class {name}'}, {first.setting.label}"
    )


def _columns(
    comparison: Comparison, first: Criterion, placings: Sequence[Placing], longest: int
) -> list[Column]:
    at = first.level if first.threshold is None else f"at τ = {first.level}"
    models = [placing.model for placing in placings]
    columns = [
        Column("", "", tuple(f"{placing.rank:g}" for placing in placings)),
        Column("", "model", tuple(shortened(model, longest) for model in models), left=True),
    ]
    for i, criterion in enumerate(_same_setting(comparison, first)):
        values = {one.model: number(one.value) for one in comparison.rankings[criterion]}
        area = "area" if criterion.score.is_area else ""
        title = area if criterion.threshold is None else f"{criterion.score.title} at τ ="
        head = criterion.score.title if criterion.threshold is None else criterion.level
        rank = (AREA if criterion.threshold is None else OTHERS) * 10 - i if i else None
        columns.append(Column(title, head, tuple(values[model] for model in models), rank))
    intervals = [placing.interval for placing in placings]
    if any(ends.is_defined for ends in intervals):
        cells = [f"{e.low:.3f}–{e.high:.3f}" if e.is_defined else "–" for e in intervals]
        columns.append(Column(at, "95 % interval", tuple(cells), 10 * INTERVAL))
    behind = [_difference(comparison, first, models[0], model) for model in models]
    differences, tests = zip(*behind, strict=True)
    columns.append(Column("against first", "diff.", differences, 10 * DIFFERENCE))
    columns.append(Column("against first", "p (Holm)", tests, 10 * DIFFERENCE - 1))
    return columns


def _shown_scores(comparison: Comparison) -> list[Score]:
    """Return the first score, and the area under its curve if that is compared too."""
    first, name = comparison.scores[0], comparison.scores[0].name
    areas = (f"{name.removesuffix('pq')}autc" if name.endswith("pq") else "", f"autc_{name}")
    return [first, *(score for score in comparison.scores if score.name in areas)]


def _same_setting(comparison: Comparison, first: Criterion) -> list[Criterion]:
    """Return the criteria of the same setting: the shown scores at all thresholds."""
    return [first] + [
        criterion
        for criterion in comparison.rankings
        if criterion.setting == first.setting and criterion != first
    ]


def _difference(
    comparison: Comparison, criterion: Criterion, best: str, model: str
) -> tuple[str, str]:
    """Return how far a model is behind the first, and the corrected p-value."""
    for one in comparison.differences:
        if one.criterion == criterion and {one.first, one.second} == {best, model}:
            sign = 1 if one.second == best else -1
            return signed(sign * one.test.mean_difference), p_text(one.p_holm)
    return "", ""


def _stability(comparison: Comparison, first: Criterion) -> str:
    stable = comparison.stability(first.score)[first.setting.class_name]
    n = len(stable.rankings)
    if n == 1:
        return ""
    return f"{n} settings of {comparison.source} give {plural(stable.distinct_orders, 'ranking')}."


def _left_out(comparison: Comparison) -> list[str]:
    return [
        f"Left out because {model} has no result: {some_names(cases)}."
        for model, cases in comparison.left_out.items()
        if cases
    ]
