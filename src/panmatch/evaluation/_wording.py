"""A result as readable text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import panmatch
from panmatch._html import number, plural
from panmatch.evaluation._averages import AveragingName
from panmatch.evaluation._diagnosis import MISTAKES
from panmatch.evaluation._setting import Setting
from panmatch.evaluation._tables import unit_text

if TYPE_CHECKING:
    from panmatch.evaluation._case_result import CaseResult
    from panmatch.evaluation._result import Result
    from panmatch.evaluation._series import CaseSeries

MOST_FAILURES = 10


def summarise(result: Result) -> str:
    """Return a table per model, the mistakes, the failures, and what the words mean."""
    blocks = [_headline(result)]
    for model in result.models:
        if result.evaluated(model):
            blocks.append("\n".join(_model_lines(result, model)))
    if result.failures:
        blocks.append("\n".join(_failure_lines(result.failures)))
    blocks.append("\n".join(_notes(result)))
    return "\n\n".join(blocks)


def table(rows: Sequence[Sequence[str]], left: int) -> list[str]:
    """Return rows as lines with aligned columns, the first `left` of them left-aligned.

    Examples
    --------
    >>> table([["class", "PQ"], ["cell", "0.5"]], left=1)
    ['class   PQ', 'cell   0.5']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            text.ljust(width) if i < left else text.rjust(width)
            for i, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def signed(value: float) -> str:
    """Return a difference with its sign, or a dash for NaN."""
    return "–" if math.isnan(value) else f"{value:+.3f}"


def p_text(value: float) -> str:
    """Return a p-value with three digits, or a dash for NaN."""
    if math.isnan(value):
        return "–"
    return f"{value:.3f}" if value >= 0.001 else "< 0.001"


def _headline(result: Result) -> str:
    cases = plural(len({case.case for case in result.with_status("ok", "failed")}), "case")
    models = f", {len(result.models)} models" if len(result.models) > 1 else ""
    failed = f", {len(result.failures)} failed" if result.failures else ""
    return f"{cases}{models}{failed} (panmatch {panmatch.__version__})"


def _model_lines(result: Result, model: str) -> list[str]:
    lines = [f"Model {model}"] if model else []
    lines += table(_score_table(result, model), left=2)
    if result.class_series:
        lines += ["", "Scores that need no matching:"]
        lines += table(_class_score_table(result, model), left=2)
    return [*lines, "", *_mistake_lines(result, model)]


def _score_table(result: Result, model: str) -> list[list[str]]:
    several = len({case.case for case in result.with_status("ok", "failed")}) > 1
    averages = [average for average in result.average_scores if average.model == model]
    series = {one.setting: one for one in result.series if one.model == model}
    pooled = "pooled " if several else ""
    head = ["class", "strategy", "τ", "TP", "near τ", "FP", "FN", f"{pooled}PQ", "SQ", "RQ"]
    names = ["pq", "sq", "rq"]
    if result.has_parts:
        head.append("PartPQ")
        names.append("part_pq")
    head += ["AUTC"] if result.spec.curve else []
    head += ["mean PQ of cases"] if several else []
    lines = [head]
    found = {
        (one.setting, one.threshold, one.score.name, one.averaging): one.value for one in averages
    }

    def value(
        setting: Setting, threshold: float | None, name: str, averaging: AveragingName
    ) -> str:
        return number(found.get((setting, threshold, name, averaging), math.nan))

    settings = dict.fromkeys(average.setting for average in averages)
    for setting in (one for one in settings if isinstance(one, Setting)):
        for threshold in result.spec.thresholds:
            line = [setting.class_name, setting.label, f"{threshold:g}"]
            line += _counts(series.get(setting), threshold)
            line += [value(setting, threshold, name, "pooled") for name in names]
            if result.spec.curve:
                line.append(value(setting, None, "autc", "pooled"))
            if several:
                line.append(value(setting, threshold, "pq", "mean of cases"))
            lines.append(line)
    return lines


def _class_score_table(result: Result, model: str) -> list[list[str]]:
    """Return a row per class and score."""
    several = len(result.evaluated(model)) > 1
    lines = [["class", "score", "pooled" if several else "value"]]
    lines[0] += ["mean of cases"] if several else []
    found: dict[tuple[str, str], list[str]] = {}
    for average in result.average_scores:
        setting, score = average.setting, average.score
        if average.model == model and not isinstance(setting, Setting):
            unit = unit_text(score, result.unit)
            key = setting.class_name, f"{score.title} {unit}".rstrip()
            found.setdefault(key, []).append(number(average.value))
    values = len(lines[0]) - 2
    return lines + [[*key, *cells[:values]] for key, cells in found.items()]


def _counts(series: CaseSeries | None, threshold: float) -> list[str]:
    """Return the four counts of a row; a mean over classes has none."""
    if series is None:
        return [""] * 4
    sums = series.counts[threshold].sum()
    tally = sums.tallies.tally()
    return [str(n) for n in (tally.tp, int(sums.near_threshold), tally.fp, tally.fn)]


def count_mistakes(result: Result, model: str) -> dict[str, dict[str, int]]:
    """Return how many objects have each kind of mistake, by class, over all cases of a model."""
    first = {one.setting.class_name: one for one in reversed(result.series) if one.model == model}
    return {
        name: dict(zip(MISTAKES, first[name].mistakes.sum(axis=0).tolist(), strict=True))
        for name in reversed(first)
    }


def _mistake_lines(result: Result, model: str) -> list[str]:
    sums = count_mistakes(result, model)
    wrong = {name: counts for name, counts in sums.items() if any(counts.values())}
    if not wrong:
        return ["Nothing is split, merged, missed or spurious."]
    rows = [["class", *MISTAKES]]
    rows += [[name, *map(str, counts.values())] for name, counts in wrong.items()]
    return ["What went wrong, regardless of the strategy:", *table(rows, left=1)]


def _failure_lines(failures: Sequence[CaseResult]) -> list[str]:
    lines = ["Failed:"]
    for case in failures[:MOST_FAILURES]:
        lines.append(f"  {case.case}{f' ({case.model})' if case.model else ''}: {case.reason}")
    more = len(failures) - MOST_FAILURES
    return lines + ([f"  … and {more} more"] if more > 0 else [])


def _notes(result: Result) -> list[str]:
    strategies = {matcher.name: matcher.strategy for matcher in result.spec.matching}
    rows = [[name, ", ".join(strategy.bounds)] for name, strategy in strategies.items()]
    notes = [*table(rows, left=2)]
    notes.append("near τ: true positives that would be lost if the threshold were 0.05 higher")
    if result.has_parts:
        background = result.spec.part_background
        how = "the whole image" if background == "image" else "none"
        notes.append(f"PQ uses IoU; PartPQ uses the mean IoU of the parts (background: {how})")
    return notes
