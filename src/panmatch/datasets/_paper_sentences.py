"""Sentences for a paper: how a result was scored, and what came out."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import panmatch
from panmatch.datasets._citations import (
    FRAMEWORK,
    PART_PQ,
    PQ,
    Citation,
    software,
    solver_citations,
)
from panmatch.datasets._outputs import RESAMPLES
from panmatch.datasets._statistics import FEWEST_CASES
from panmatch.datasets._verdict import headline_scores, interval_text, setting_text
from panmatch.evaluation import MEANS, AverageScore, Result, number, plural
from panmatch.matching import Matcher

# What the threshold applies to, in the words of a paper.
EDGE_SCORES = {
    "iou": "IoU",
    "dice": "Dice",
    "prediction-share": "overlap / prediction",
    "reference-share": "overlap / reference",
}
MARK = re.compile(r" \[(@[\w-]+(?:; @[\w-]+)*)\]")  # of works, as Pandoc's Markdown cites them


def methods_sentence(result: Result) -> str:
    """Return a sentence for the methods of a paper: how the first setting of the spec was scored.

    Examples
    --------
    >>> from panmatch.datasets import evaluate
    >>> result = evaluate(reference=[[1, 1, 0]], prediction=[[2, 0, 0]], spec={"thresholds": 0.3})
    >>> methods_sentence(result).split(", and ")[1].split(' (')[0]
    'scored by Panoptic Quality'
    """
    return MARK.sub("", marked_methods(result))


def marked_methods(result: Result, version: str = panmatch.__version__) -> str:
    """Return the methods sentence with the works to cite, such as ``[@kirillov_panoptic]``."""
    matcher, threshold = result.spec.matching[0], result.spec.thresholds[0]
    edge, sign = EDGE_SCORES[matcher.score], ">" if matcher.strict else "≥"
    return (
        f"Predicted and reference objects{_class_text(result)} were matched "
        f"{matcher_text(matcher, result)} at {'an' if edge[0] in 'Io' else 'a'} {edge} threshold "
        f"of {threshold:g} ({edge} {sign} {threshold:g}), and scored by {_scores_text(result)}"
        f"{_pooling_text(result)}, using panmatch {version}{mark(software())}."
    )


def mark(*works: Citation) -> str:
    """Return how works are cited in a sentence; nothing for none.

    Examples
    --------
    >>> mark(PQ, PART_PQ)
    ' [@kirillov_panoptic; @degeus_part]'
    """
    return f" [{'; '.join(f'@{one.key}' for one in works)}]" if works else ""


def listed(texts: Sequence[str]) -> str:
    """Return texts as a list in a sentence.

    Examples
    --------
    >>> listed(["PQ", "SQ", "RQ"])
    'PQ, SQ and RQ'
    """
    return f"{', '.join(texts[:-1])} and {texts[-1]}" if len(texts) > 1 else "".join(texts)


def results_sentence(result: Result) -> str:
    """Return a sentence for the results: PQ of each model in the first setting of the spec.

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
    one = next(iter(scores.values()))
    where = f"{one.setting.class_name}, {setting_text(one)}{', pooled' if cases[-1] > 1 else ''}"
    failed = f" {plural(len(result.failures), 'case')} failed." if result.failures else ""
    return f"On {n}, PQ ({where}) was {listed(texts)}.{failed}"


def _first_score(result: Result, model: str, name: str = "pq") -> AverageScore | None:
    """Return a pooled score of a model in the first setting of the spec."""
    averages, of_class = result.average_scores, result.headline_class
    return next(headline_scores(averages, model, of_class, "pooled", name), None)


def _value_text(result: Result, first: AverageScore) -> str:
    if math.isnan(first.value):
        return "undefined"
    details = [interval_text(result, first).removeprefix(", ")]
    for name in ("sq", "rq", "part_pq"):
        score = _first_score(result, first.model, name)
        if score is not None:
            details.append(f"{score.score.title} {number(score.value)}")
    return f"{number(first.value)} ({', '.join(filter(None, details))})"


def matcher_text(matcher: Matcher, result: Result) -> str:
    """Return how objects are matched, with both bounds (D4), and whose method finds the optimum."""
    options = ", ".join(matcher.strategy.options.values())
    inside = " within the Voronoi regions of the references" if matcher.regions else ""
    bounds = ", ".join(matcher.strategy.bounds)
    works = mark(*solver_citations(matcher, result.spec))
    name = f"by {matcher.name}" if matcher.strategy.needs_regions else matcher.name
    return f"{name}{inside} ({f'{options}: ' if options else ''}{bounds}){works}"


def _class_text(result: Result) -> str:
    name = result.headline_class
    if name in MEANS:
        n = len({series.setting.class_name for series in result.series})
        return f" of {n} classes"
    return "" if name == "object" else f" ({name})"


def _scores_text(result: Result) -> str:
    """Return what is reported."""
    area = f"the exact area under PQ over all thresholds (AUTC){mark(FRAMEWORK)}"
    scores = [f"Panoptic Quality (PQ){mark(PQ)}"]
    scores += [f"its part-aware variant (PartPQ){mark(PART_PQ)}"] if result.has_parts else []
    return listed([*scores, *([area] if result.spec.curve else [])])


def _pooling_text(result: Result) -> str:
    """Return how cases and classes are averaged, and where intervals come from."""
    n = max((len(result.evaluated(model)) for model in result.models), default=0)
    mean = f", as the {result.headline_class}" if result.headline_class in MEANS else ""
    if n < 2:
        return mean
    averaging = result.spec.averaging
    kind = {"bca": "BCa"}.get(averaging.interval, averaging.interval)
    unit = averaging.cluster or "case"
    intervals = f" with {kind} 95 % bootstrap intervals ({RESAMPLES} resamples of {unit}s)"
    return f", pooled over cases{intervals if n >= FEWEST_CASES else ''}{mean}"
