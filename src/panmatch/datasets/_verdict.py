"""How good a model is, or which one is best, in a few sentences, and what would change that."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import panmatch
from panmatch.datasets._comparison import Comparison, Criterion, Placing, compare
from panmatch.datasets._outputs import RESAMPLES, averages_with_samples, spread
from panmatch.datasets._statistics import FEWEST_CASES
from panmatch.errors import FileError
from panmatch.evaluation import (
    MEANS,
    AverageScore,
    Result,
    Setting,
    matcher_of,
    number,
    plural,
)
from panmatch.matching import Matcher

MOST_NAMED = 2  # settings that are named; the others are counted

# What a pair is judged by, in the words of a paper.
EDGE_SCORES = {
    "iou": "IoU",
    "dice": "Dice",
    "prediction-share": "overlap / prediction",
    "reference-share": "overlap / reference",
}


def verdict(result: Result) -> str:
    """Return what to take home from a run of one model or of several.

    Of one model that is its pooled PQ with an interval, of several which one has the highest mean
    PQ of cases; both for the headline class under the first matcher and threshold of the spec, and
    both with the settings of the spec that would change the answer.
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


def verdict_on_models(comparison: Comparison) -> str:
    """Return which model is best by the first score of a comparison, and where another one is."""
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
    """Return the rankings of the headline class by the first score, a setting each."""
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
    """Return how objects were matched; nothing for a score that needs no matching."""
    where = _where(criterion)
    return f" under {where}" if where else ""


def _changes_text(places: Mapping[str, Sequence[str]], settings: int) -> str:
    """Return who leads elsewhere, with two settings at most by name.

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
    scores = list(_headline_scores(result.average_scores, model, result.headline_class, "pooled"))
    if not scores:
        return "No case could be evaluated."
    first = scores[0]
    if math.isnan(first.value):
        return f"PQ is undefined: neither side has an object ({first.setting.class_name})."
    several = len(result.evaluated(model)) > 1
    text = f"PQ is {number(first.value)}{_interval_text(result, first)} ({_meaning(first, several)}"
    if several:
        averages = result.average_scores
        mean = next(_headline_scores(averages, model, result.headline_class, "mean of cases"))
        text += f"; mean of cases: {number(mean.value)}"
    return f"{text}). {_range_text(scores)}".rstrip()


def _headline_scores(
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


def _interval_text(result: Result, first: AverageScore) -> str:
    averages = averages_with_samples(result, first.model, matcher_of(first.setting), areas=False)
    sampled = _headline_scores(averages, first.model, first.setting.class_name, "pooled")
    ends = spread(next(sampled))
    return f", 95 % interval {ends.low:.3f} to {ends.high:.3f}" if ends.is_defined else ""


def _meaning(first: AverageScore, several: bool) -> str:
    pooled = f"; pooled over {plural(first.cases, 'case')}" if several else ""
    return f"{first.setting.class_name}, {_setting_text(first)}{pooled}"


def _range_text(scores: Sequence[AverageScore]) -> str:
    """Return between what PQ lies over the settings of the spec."""
    if len(scores) == 1:
        return ""
    low, high = min(scores, key=lambda one: one.value), max(scores, key=lambda one: one.value)
    if low.value == high.value:
        return f"It is the same in all {len(scores)} settings of the spec."
    return (
        f"Over the {len(scores)} settings of the spec it runs from {number(low.value)} "
        f"({_setting_text(low)}) to {number(high.value)} ({_setting_text(high)})."
    )


def _setting_text(average: AverageScore) -> str:
    return f"{average.setting.label} at τ = {average.threshold:g}"


def methods_sentence(result: Result) -> str:
    """Return how the first setting of the spec was scored: a sentence for the methods of a paper.

    Examples
    --------
    >>> from panmatch.datasets import evaluate
    >>> result = evaluate(reference=[[1, 1, 0]], prediction=[[2, 0, 0]], spec={"thresholds": 0.3})
    >>> methods_sentence(result).split(", and ")[1].split(' (')[0]
    'scored by Panoptic Quality'
    """
    matcher, threshold = result.spec.matching[0], result.spec.thresholds[0]
    edge, sign = EDGE_SCORES[matcher.score], ">" if matcher.strict else "≥"
    return (
        f"Predicted and reference objects{_class_text(result)} were matched "
        f"{_matcher_text(matcher)} at {'an' if edge[0] in 'Io' else 'a'} {edge} threshold of "
        f"{threshold:g} ({edge} {sign} {threshold:g}), and scored by {_scores_text(result)}"
        f"{_pooling_text(result)}, using panmatch {panmatch.__version__}."
    )


def results_sentence(result: Result) -> str:
    """Return PQ of every model in the first setting of the spec: a sentence for the results.

    Examples
    --------
    >>> from panmatch.datasets import evaluate
    >>> results_sentence(evaluate(reference=[[1, 1, 0]], prediction=[[2, 2, 0]]))
    'On 1 case, PQ (object, one-to-one (optimal) at τ = 0.1) was 1.000 (SQ 1.000, RQ 1.000).'
    """
    first = {model: _first_score(result, model) for model in result.models}
    scores = {model: one for model, one in first.items() if one is not None}
    if not scores:
        return "No case could be evaluated."
    cases = sorted({one.cases for one in scores.values()})
    n = plural(cases[-1], "case") if len(cases) == 1 else f"{cases[0]} to {cases[-1]} cases"
    texts = [
        f"{_value_text(result, one)}{f' for {model}' if model else ''}"
        for model, one in scores.items()
    ]
    listed = f"{', '.join(texts[:-1])} and {texts[-1]}" if len(texts) > 1 else texts[0]
    one = next(iter(scores.values()))
    where = f"{one.setting.class_name}, {_setting_text(one)}{', pooled' if cases[-1] > 1 else ''}"
    failed = f" {plural(len(result.failures), 'case')} failed." if result.failures else ""
    return f"On {n}, PQ ({where}) was {listed}.{failed}"


def _first_score(result: Result, model: str, name: str = "pq") -> AverageScore | None:
    """Return a pooled score of a model in the first setting of the spec."""
    averages, of_class = result.average_scores, result.headline_class
    return next(_headline_scores(averages, model, of_class, "pooled", name), None)


def _value_text(result: Result, first: AverageScore) -> str:
    if math.isnan(first.value):
        return "undefined"
    details = [_interval_text(result, first).removeprefix(", ")]
    for name in ("sq", "rq", "part_pq"):
        score = _first_score(result, first.model, name)
        if score is not None:
            details.append(f"{score.score.title} {number(score.value)}")
    return f"{number(first.value)} ({', '.join(filter(None, details))})"


def _matcher_text(matcher: Matcher) -> str:
    """Return how objects are matched, with both bounds (D4)."""
    options = ", ".join(matcher.strategy.options.values())
    inside = " within the Voronoi regions of the references" if matcher.regions else ""
    bounds = ", ".join(matcher.strategy.bounds)
    return f"{matcher.name}{inside} ({f'{options}: ' if options else ''}{bounds})"


def _class_text(result: Result) -> str:
    name = result.headline_class
    if name in MEANS:
        n = len({series.setting.class_name for series in result.series})
        return f" of {n} classes"
    return "" if name == "object" else f" ({name})"


def _scores_text(result: Result) -> str:
    """Return what is reported."""
    scores = ["Panoptic Quality (PQ)"]
    scores += ["its part-aware variant (PartPQ)"] if result.has_parts else []
    scores += ["the exact area under PQ over all thresholds (AUTC)"] if result.spec.curve else []
    return " and ".join(filter(None, (", ".join(scores[:-1]), scores[-1])))


def _pooling_text(result: Result) -> str:
    """Return how cases and classes are averaged, and where intervals come from."""
    n = max((len(result.evaluated(model)) for model in result.models), default=0)
    mean = f", as the {result.headline_class}" if result.headline_class in MEANS else ""
    if n < 2:
        return mean
    intervals = f" with 95 % bootstrap intervals ({RESAMPLES} resamples of cases)"
    return f", pooled over cases{intervals if n >= FEWEST_CASES else ''}{mean}"
