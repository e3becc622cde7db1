"""Results and comparisons as tables for people: a row per setting, a column per score."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, get_args

import numpy as np

from panmatch._html import Html, block, number, quiet, sparkline, strong, table
from panmatch.datasets._comparison import Comparison
from panmatch.datasets._outputs import averages_with_samples, resampling_of, spread
from panmatch.datasets._statistics import Interval
from panmatch.datasets._verdict import headline_rankings, verdict_on_models
from panmatch.errors import OptionError, check_choice, needs_extra
from panmatch.evaluation import (
    MEANS,
    AverageScore,
    AveragingName,
    ClassSetting,
    Result,
    Setting,
    known_class_scores,
    mean_of_defined,
    plural,
)
from panmatch.matching import Matcher

if TYPE_CHECKING:
    import pandas as pd

USUAL = ("pq", "sq", "rq", "part_pq", "part_sq", "autc", "part_autc")
COUNTS = ("tp", "fp", "fn")
MOST_ROWS = 20  # in a notebook
MOST_FAILURES = 3
NO_INTERVAL = Interval(math.nan, math.nan, 0.95)

Place = tuple[str, ClassSetting, float | None, str]  # model, setting, threshold, score
Found = dict[Place, tuple[float, Interval]]
SettingRow = tuple[str, Setting, float]


def result_table(
    result: Result,
    scores: Sequence[str] = (),
    *,
    averaging: AveragingName = "pooled",
    intervals: bool = False,
    digits: int | None = None,
) -> pd.DataFrame:
    """Return a row for each model, class, strategy and threshold, and a column for each score.

    The first columns say how the rows differ; values that all rows share are in ``attrs``.

    Parameters
    ----------
    scores
        Names of the columns, in this order. By default PQ, SQ and RQ, PartPQ and PartSQ where there
        are parts, AUTC where there are curves, SQ by each other metric, the scores that need no
        matching, and ``tp``, ``fp`` and ``fn``, which are summed over all cases.
    averaging
        ``"pooled"``: tallies of all cases are summed, then scored. ``"mean of cases"``: cases are
        scored, and the scores averaged.
    intervals
        Whether to add the ends of 95 % bootstrap intervals over cases, as ``pq_low`` and
        ``pq_high``. Fewer than 5 cases get no interval.
    digits
        How many digits to round to, for a paper. Cells are then text, such as ``"0.712"``, or
        ``"0.712 [0.650, 0.770]"`` with intervals. By default, cells are exact numbers.

    Examples
    --------
    >>> from panmatch.datasets import evaluate
    >>> reference, prediction = [[1, 1, 0, 2, 2, 2]], [[3, 3, 0, 4, 4, 0]]
    >>> result = evaluate(reference=reference, prediction=prediction, spec={"thresholds": 0.5})
    >>> result_table(result, ["pq", "autc", "tp"], digits=2)
                        strategy    pq  autc tp
    0       one-to-one (optimal)  0.83  0.72  2
    1  many-to-one (merge, seed)  0.83  0.72  2
    2         one-to-many (best)  0.83  0.72  2
    """
    with needs_extra("cli", "Tables"):
        import pandas as pd

    check_choice("averaging", averaging, get_args(AveragingName))
    names = _score_names(result, scores)
    found = _averages(result, averaging, intervals)
    counts = _counts(result)
    settings = list(_settings(result))
    rows = []
    for one in settings:
        row: dict[str, object] = {}
        for name in names:
            value, ends = _find(found, one, name)
            if name in COUNTS:
                row[name] = _count_cell(counts.get(one), name, digits)
            elif digits is not None:
                row[name] = _text(value, ends, digits)
            else:
                row[name] = value
                row |= {f"{name}_low": ends.low, f"{name}_high": ends.high} if intervals else {}
        rows.append(row)
    apart, same = _named(settings)
    content = pd.DataFrame(rows, columns=list(rows[0]) if rows else names)
    for name in content.columns.intersection(list(COUNTS)):
        content[name] = content[name].astype("Int64" if digits is None else object)
    for i, (name, values) in enumerate(apart.items()):
        content.insert(i, name, pd.Series(values, dtype=None if values else object))
    content.attrs = same | {"averaging": averaging}
    return content


def _score_names(result: Result, scores: Sequence[str]) -> list[str]:
    """Return the score columns of a table."""
    if isinstance(scores, str):
        raise OptionError(f"scores={scores!r} is a single name: pass a list, [{scores!r}].")
    known = result.known_scores
    for name in scores:
        check_choice("scores", name, [*known, *COUNTS])
    metrics = [f"sq_{metric.name}" for metric in result.spec.metric_objects]
    usual = [*USUAL, *metrics, *known_class_scores(result.spec)]
    return list(dict.fromkeys(scores)) or [*(name for name in usual if name in known), *COUNTS]


def _averages(result: Result, averaging: AveragingName, intervals: bool) -> Found:
    """Return scores with intervals, or without them those that the result already has."""
    found: Found = {}
    drawn = {model: resampling_of(result, model) for model in result.models if intervals}
    for average in _with_samples(result) if intervals else result.average_scores:
        if average.averaging == averaging:
            place = average.model, average.setting, average.threshold, average.score.name
            ends = spread(average, drawn[average.model]) if intervals else NO_INTERVAL
            found[place] = average.value, ends
    return found


def _with_samples(result: Result) -> Iterator[AverageScore]:
    """Yield averages one matcher at a time: all samples at once would take gigabytes."""
    for model in result.models:
        for matcher in (*result.spec.matching, None):
            yield from averages_with_samples(result, model, matcher)


def _settings(result: Result) -> Iterator[SettingRow]:
    settings = dict.fromkeys(
        (one.model, one.setting)
        for one in result.average_scores
        if isinstance(one.setting, Setting)
    )
    for model, setting in sorted(settings, key=lambda one: result.models.index(one[0])):
        assert isinstance(setting, Setting)
        for threshold in result.spec.thresholds:
            yield model, setting, threshold


def _find(found: Found, row: SettingRow, name: str) -> tuple[float, Interval]:
    """Return a score of a row; areas apply to all thresholds, some scores to all matchers too."""
    model, setting, threshold = row
    of_class = ClassSetting(setting.class_name, setting.kind)
    for place in (
        (model, setting, threshold, name),
        (model, setting, None, name),
        (model, of_class, None, name),
    ):
        if place in found:
            return found[place]
    return math.nan, NO_INTERVAL


def _counts(result: Result) -> dict[SettingRow, dict[str, int]]:
    """Return true positives, false positives and false negatives of all cases."""
    found: dict[SettingRow, dict[str, int]] = {}
    for series in result.series:
        for threshold in result.spec.thresholds:
            tally = series.counts[threshold].sum().tallies.tally()
            counts = {"tp": tally.tp, "fp": tally.fp, "fn": tally.fn}
            found[series.model, series.setting, threshold] = counts
    return found


def _count_cell(counts: dict[str, int] | None, name: str, digits: int | None) -> object:
    """Return a count; a mean over classes has none."""
    if counts is None:
        return None if digits is None else ""
    return counts[name] if digits is None else str(counts[name])


def _text(value: float, ends: Interval, digits: int) -> str:
    if math.isnan(value):
        return "–"
    inside = f" [{ends.low:.{digits}f}, {ends.high:.{digits}f}]" if ends.is_defined else ""
    return f"{value:.{digits}f}{inside}"


def _named(settings: Sequence[SettingRow]) -> tuple[dict[str, list[object]], dict[str, object]]:
    """Return the columns in which rows differ, and the values that all rows share."""
    columns: dict[str, list[object]] = {
        "model": [model for model, _, _ in settings],
        "class": [setting.class_name for _, setting, _ in settings],
        "strategy": [setting.label for _, setting, _ in settings],
        "threshold": [threshold for _, _, threshold in settings],
    }
    apart = [name for name, values in columns.items() if len(set(values)) > 1] or ["strategy"]
    same = {name: values[0] for name, values in columns.items() if name not in apart and values}
    return {name: columns[name] for name in apart}, same


def result_html(result: Result) -> str:
    """Return a result as HTML for a notebook: pooled scores of the headline class, and curves."""
    settings = [
        one
        for one in _settings(result)
        if (one[1].class_name, one[2]) == (result.headline_class, result.spec.thresholds[0])
    ]
    several = len(result.models) > 1
    parts = ["part_pq"] if result.has_parts else []
    scores = ["pq", "sq", "rq", *parts, *(["autc"] if result.spec.curve else [])]
    titles = [result.known_scores[name].title for name in scores]
    found, counts = _averages(result, "pooled", intervals=False), _counts(result)
    head = [*(["model"] if several else []), "strategy", "TP", "FP", "FN", *titles]
    head += ["PQ over τ, 0 to 1"] if result.spec.curve else []
    rows = []
    for one in settings[:MOST_ROWS]:
        row = [*([one[0]] if several else []), one[1].label]
        row += [str(n) for n in counts.get(one, dict.fromkeys(COUNTS, "")).values()]
        row += [number(_find(found, one, name)[0]) for name in scores]
        row += [_curve_of(result, one[0], one[1].matcher)] if result.spec.curve else []
        rows.append(row)
    shown = table(head, rows, left=2 if several else 1)
    n = len({case.case for case in result.with_status("ok", "failed")})
    title = f"Result: {plural(n, 'case')}{f', {len(result.models)} models' if several else ''}"
    return block(title, _meaning(result), shown if rows else "", *_notes(result, settings))


def _meaning(result: Result) -> str:
    """Return what the numbers in a notebook mean (D15)."""
    several = len({case.case for case in result.with_status("ok")}) > 1
    pooled = ", pooled over cases" if several else ""
    named = f"{result.models[0]}: " if len(result.models) == 1 and result.models[0] else ""
    return f"{named}{result.headline_class}, τ = {result.spec.thresholds[0]:g}{pooled}"


def _notes(result: Result, settings: Sequence[SettingRow]) -> Iterator[str]:
    """Yield the notes under a table in a notebook: what is left out, failures and warnings."""
    if len(settings) > MOST_ROWS:
        yield quiet(f"These are the first {MOST_ROWS} of {len(settings)} rows.")
    every = len(list(_settings(result)))
    if every > len(settings):
        yield quiet(f".table() has all {every} rows, for every class and threshold.")
    for case in result.failures[:MOST_FAILURES]:
        yield f"Failed: {case.case}: {case.reason}"
    if len(result.failures) > MOST_FAILURES:
        yield f"… and {len(result.failures) - MOST_FAILURES} more failed."
    for notice in result.notices:
        yield f"Careful: {notice.text}"


def _curve_of(result: Result, model: str, matcher: Matcher) -> Html:
    """Return pooled PQ over the threshold, for the headline class or the mean over classes."""
    name = result.headline_class
    curves = [
        series.pooled_curve
        for series in result.series
        if (series.model, series.setting.matcher) == (model, matcher)
        and (series.setting.class_name == name or series.setting.kind in MEANS.get(name, ()))
        and series.pooled_curve is not None
    ]
    if not curves:
        return Html("–")
    starts = np.unique(np.concatenate([curve.thresholds for curve in curves]))
    heights = mean_of_defined(np.stack([curve.sampled(starts).pq for curve in curves]))
    title = f"PQ over the threshold: {number(float(heights[0]))} at 0"
    return sparkline(starts.tolist(), heights.tolist(), title=title)


def comparison_html(comparison: Comparison) -> str:
    """Return a comparison as HTML for a notebook: the verdict, and the models by setting."""
    rankings = headline_rankings(comparison)
    score, name = comparison.scores[0], next(iter(rankings)).setting.class_name
    rows = []
    for criterion, placings in list(rankings.items())[:MOST_ROWS]:
        of_model = {one.model: one for one in placings}
        cells = [of_model[model] for model in comparison.models]
        values = [strong(number(one.value)) if one.rank == 1 else number(one.value)
                  for one in cells]  # fmt: skip
        rows.append([criterion.setting.label, criterion.level, *values])
    cases = plural(len(comparison.cases), "case")
    return block(
        f"Comparison of {len(comparison.models)} models on {cases}",
        verdict_on_models(comparison),
        quiet(f"Mean {score.title} of cases ({name}):"),
        table(["strategy", "τ", *comparison.models], rows),
        quiet(
            ""
            if len(rankings) <= MOST_ROWS
            else f"The first {MOST_ROWS} of {len(rankings)} settings."
        ),
        *(f"Careful: {notice.text}" for notice in comparison.notices),
    )
