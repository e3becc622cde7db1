"""A verdict in a few sentences: how good a model is, or which is best, and what changes that."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from panmatch.datasets._comparison import Comparison, compare
from panmatch.datasets._criteria import Criterion, Placing
from panmatch.datasets._outputs import averages_with_samples, resampling_of, spread
from panmatch.errors import FileError
from panmatch.evaluation import AverageScore, Result, Setting, matcher_of, number, plural
from panmatch.matching import Matcher

MOST_NAMED = 2  # settings that are named; the others are counted
CHOICES = ("class", "strategy", "threshold")

Choice = tuple[str, Matcher | None, float | None]  # of the class, the matcher and the threshold


def verdict(result: Result) -> str:
    """Return the main finding of a run of one or several models.

    For one model, this is its pooled PQ with an interval. For several, it is the model with the
    highest mean PQ of cases. Both are for the headline class under the first matcher and threshold
    of the spec, and both mention the settings of the spec that would change the answer.
    """
    models = [model for model in result.models if result.evaluated(model)]
    if not models:
        return "No case could be evaluated."
    if len(models) == 1:
        return _of_one_model(result, models[0])
    evaluated = tuple(case for case in result.cases if case.model in models)
    try:
        return verdict_on_models(compare(replace(result, cases=evaluated), ["pq"]))
    except FileError:
        return "The models have no case in common, so they cannot be compared."


def what_would_change(result: Result) -> str:
    """Return which choice would change the verdict: another class, strategy or threshold.

    This changes one choice at a time and leaves the others as in the verdict. For one model, it
    says how far pooled PQ moves; for several, who leads by the mean PQ of cases.
    """
    models = [model for model in result.models if result.evaluated(model)]
    if not models:
        return ""
    if len(models) == 1:
        return _moves_text(result, models[0])
    evaluated = tuple(case for case in result.cases if case.model in models)
    try:
        return what_would_change_between(compare(replace(result, cases=evaluated), ["pq"]))
    except FileError:
        return ""


def verdict_on_models(comparison: Comparison) -> str:
    """Return which model is best by the first score of a comparison, and where another leads."""
    rankings = headline_rankings(comparison)
    criterion, placings = next(iter(rankings.items()))
    best = [placing for placing in placings if placing.rank == placings[0].rank]
    text, leaders = _leader_text(criterion, best, comparison), {one.model for one in best}
    places: dict[str, list[str]] = {}
    for other, ranking in rankings.items():
        if ranking[0].rank == 1 and ranking[0].model not in leaders:
            places.setdefault(ranking[0].model, []).append(_where(other))
    if places:
        return f"{text} {_changes_text(places, len(rankings))}"
    if len(rankings) == 1 or math.isnan(best[0].value):
        return text
    alone = all(one[0].rank == 1 and one[0].model in leaders for one in rankings.values())
    if alone and len(best) == 1:
        return f"{text} It leads in every setting of {comparison.source}."
    return f"{text} No other model leads alone in any setting of {comparison.source}."


def headline_rankings(comparison: Comparison) -> dict[Criterion, list[Placing]]:
    """Return the rankings of the headline class by the first score, one for each setting."""
    score = comparison.scores[0]
    of_score = {
        criterion: placings
        for criterion, placings in comparison.rankings.items()
        if criterion.score == score
    }
    shown = {
        criterion: placings
        for criterion, placings in of_score.items()
        if criterion.setting.class_name == comparison.headline_class
    }
    return shown or of_score  # a single class with parts has no mean of PartPQ over classes


def _leader_text(criterion: Criterion, best: Sequence[Placing], comparison: Comparison) -> str:
    value, ends, share = best[0].value, best[0].interval, best[0].first_share
    better = "highest" if criterion.score.higher_is_better else "best"
    what = f"mean {criterion.score.title} of cases"
    if math.isnan(value):
        return f"No model has a {what} ({criterion.setting.class_name}){_under(criterion)}."
    details = f"{criterion.setting.class_name}: {number(value)}"
    if len(best) == 1 and ends.is_defined:
        details += f", 95 % interval {ends.low:.3f} to {ends.high:.3f}"
    if len(best) == 1 and not math.isnan(share):
        details += f", first in {100 * share:.0f} % of resamples"
    names = f"{', '.join(one.model for one in best[:-1])} and {best[-1].model} share"
    who = f"{best[0].model} has" if len(best) == 1 else names
    left_out = len({case for cases in comparison.left_out.values() for case in cases})
    n = len(comparison.cases)
    shared = f" on the {plural(n, 'case')} that all models have" if left_out else ""
    return f"{who} the {better} {what}{shared} ({details}){_under(criterion)}."


def _under(criterion: Criterion) -> str:
    """Return how objects were matched; empty for a score that needs no matching."""
    where = _where(criterion)
    return f" under {where}" if where else ""


def _changes_text(places: Mapping[str, Sequence[str]], settings: int) -> str:
    """Return who leads elsewhere, naming at most two settings.

    Examples
    --------
    >>> _changes_text({"b": ["x at τ = 0.1", "x at τ = 0.5", "y at τ = 0.1"]}, 9)
    'But b leads under x at τ = 0.1, x at τ = 0.5 and 1 more of the 9 settings.'
    """
    n = sum(map(len, places.values()))
    if len(places) == 1:
        ((model, where),) = places.items()
        more = f" and {n - MOST_NAMED} more" if n > MOST_NAMED else ""
        of_all = f" of the {settings} settings" if more else ""
        return f"But {model} leads under {', '.join(where[:MOST_NAMED])}{more}{of_all}."
    named = [f"{model} under {where[0]}" for model, where in places.items()][:MOST_NAMED]
    return f"But others lead in {n} of the {settings} settings, such as {' and '.join(named)}."


def _where(criterion: Criterion) -> str:
    """Return matcher and threshold, as far as they are known."""
    label = criterion.setting.label if isinstance(criterion.setting, Setting) else ""
    at = "" if criterion.threshold is None else f"τ = {criterion.level}"
    return " at ".join(filter(None, (label, at)))


def _of_one_model(result: Result, model: str) -> str:
    scores = list(headline_scores(result.average_scores, model, result.headline_class, "pooled"))
    if not scores:
        return "No case could be evaluated."
    first = scores[0]
    if math.isnan(first.value):
        return f"PQ is undefined: neither side has an object ({first.setting.class_name})."
    several = len(result.evaluated(model)) > 1
    text = f"PQ is {number(first.value)}{interval_text(result, first)} ({_meaning(first, several)}"
    if several:
        averages = result.average_scores
        mean = next(headline_scores(averages, model, result.headline_class, "mean of cases"))
        text += f"; mean of cases: {number(mean.value)}"
    return f"{text}). {_range_text(scores)}".rstrip()


def headline_scores(
    averages: Sequence[AverageScore],
    model: str,
    class_name: str,
    averaging: str,
    name: str = "pq",
) -> Iterator[AverageScore]:
    """Yield PQ, or another score, under all settings of a class, in the order of the spec."""
    for one in averages:
        same = (one.model, one.setting.class_name, one.averaging) == (model, class_name, averaging)
        if same and one.score.name == name:
            yield one


def interval_text(result: Result, first: AverageScore) -> str:
    averages = averages_with_samples(result, first.model, matcher_of(first.setting), areas=False)
    sampled = headline_scores(averages, first.model, first.setting.class_name, "pooled")
    ends = spread(next(sampled), resampling_of(result, first.model))
    return f", 95 % interval {ends.low:.3f} to {ends.high:.3f}" if ends.is_defined else ""


def _meaning(first: AverageScore, several: bool) -> str:
    pooled = f"; pooled over {plural(first.cases, 'case')}" if several else ""
    return f"{first.setting.class_name}, {setting_text(first)}{pooled}"


def _range_text(scores: Sequence[AverageScore]) -> str:
    """Return the range of PQ over the settings of the spec."""
    if len(scores) == 1:
        return ""
    low, high = min(scores, key=lambda one: one.value), max(scores, key=lambda one: one.value)
    if low.value == high.value:
        return f"It is the same in all {len(scores)} settings of the spec."
    return (
        f"Over the {len(scores)} settings of the spec it runs from {number(low.value)} "
        f"({setting_text(low)}) to {number(high.value)} ({setting_text(high)})."
    )


def setting_text(average: AverageScore) -> str:
    return f"{average.setting.label} at τ = {average.threshold:g}"


def what_would_change_between(comparison: Comparison) -> str:
    """Return which choices would put another model in the lead."""
    rankings = {
        _chosen(one): {placing.model for placing in placings if placing.rank == placings[0].rank}
        for one, placings in comparison.rankings.items()
        if one.score == comparison.scores[0] and not math.isnan(placings[0].value)
    }
    first = _chosen(next(iter(headline_rankings(comparison))))
    if first not in rankings:
        return ""
    named, others = [], []
    for choice, options in _one_apart(first, rankings).items():
        leads = {one: rankings[one] for one in options if rankings[one] != rankings[first]}
        words = [
            f"{_option(one, choice)}: {_listed(sorted(who), 'and')}" for one, who in leads.items()
        ]
        more = f"; {len(words) - MOST_NAMED} more" if len(words) > MOST_NAMED else ""
        if words:
            named.append(f"the {choice} ({'; '.join(words[:MOST_NAMED])}{more})")
        else:
            others.append(f"the {choice}")
    if not named:
        return f"Who leads does not depend on {_listed(others, 'or')}." if others else ""
    without = f", but not on {_listed(others, 'or')}" if others else ""
    return f"Who leads depends on {_listed(named, 'and')}{without}."


def _moves_text(result: Result, model: str) -> str:
    """Return the range of PQ over each choice, starting with the one that matters most."""
    every = [
        one
        for one in result.average_scores
        if (one.model, one.score.name, one.averaging) == (model, "pq", "pooled")
        and not math.isnan(one.value)
    ]
    values = {
        (one.setting.class_name, matcher_of(one.setting), one.threshold): one.value for one in every
    }
    own = [one for one in values if one[0] == result.headline_class]
    if not own:
        return ""
    moves, still = {}, []
    for choice, options in _one_apart(own[0], values).items():
        low, high = (pick((own[0], *options), key=values.__getitem__) for pick in (min, max))
        if round(values[high] - values[low], 3):
            ends = (f"{number(values[one])} ({_option(one, choice)})" for one in (low, high))
            moves[f"with the {choice} from {' to '.join(ends)}"] = values[high] - values[low]
        else:
            still.append(f"the {choice}")
    if not moves:
        return f"PQ does not depend on {_listed(still, 'or')}." if still else ""
    without = f"; not with {_listed(still, 'or')}" if still else ""
    return f"PQ moves {', '.join(sorted(moves, key=lambda one: -moves[one]))}{without}."


def _chosen(criterion: Criterion) -> Choice:
    return criterion.setting.class_name, matcher_of(criterion.setting), criterion.threshold


def _one_apart(first: Choice, known: Iterable[Choice]) -> dict[str, list[Choice]]:
    """Return, for each choice, the settings that differ from the first only in that choice."""
    found: dict[str, list[Choice]] = {}
    for one in known:
        differing = [name for name, a, b in zip(CHOICES, first, one, strict=True) if a != b]
        if len(differing) == 1:
            found.setdefault(differing[0], []).append(one)
    return {choice: found[choice] for choice in CHOICES[1:] + CHOICES[:1] if choice in found}


def _option(chosen: Choice, choice: str) -> str:
    """Return what was chosen, in words."""
    class_name, matcher, threshold = chosen
    if choice == "class":
        return class_name
    return f"τ = {threshold:g}" if choice == "threshold" else getattr(matcher, "label", "")


def _listed(words: Sequence[str], last: Literal["and", "or"]) -> str:
    """Return words as a list in a sentence.

    Examples
    --------
    >>> _listed(["a"], "or"), _listed(["a", "b", "c"], "or")
    ('a', 'a, b or c')
    """
    head = ", ".join(words[:-1])
    return f"{head} {last} {words[-1]}" if head else words[-1]
