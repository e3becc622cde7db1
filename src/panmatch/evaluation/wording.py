"""A result in words, for people."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import panmatch
from panmatch.evaluation.averages import AverageRow
from panmatch.evaluation.columns import height
from panmatch.evaluation.groups import Group, Key
from panmatch.matching.catalogue import STRATEGIES

if TYPE_CHECKING:
    from panmatch.evaluation.case_result import CaseResult
    from panmatch.evaluation.result import Result

MISTAKES = ("splits", "merges", "misses", "hallucinations")
SHOWN = ("pq", "sq", "rq", "autc")
MOST_FAILURES = 10


def title(strategy: str, options: Iterable[str] = (), regions: bool = False) -> str:
    """Return what to call a way to match.

    Examples
    --------
    >>> title("many-to-one", ("merge", "edge"), regions=True)
    'many-to-one (merge, edge) in regions'
    """
    named = ", ".join(option for option in options if option)
    return f"{strategy}{f' ({named})' if named else ''}{' in regions' if regions else ''}"


def way_title(way: Key) -> str:
    """Return what to call the way to match of a group."""
    _, _, strategy, solver, gate, edge_score, regions = way
    score = "" if edge_score == "iou" else f"by {edge_score}"
    return title(strategy, (solver, gate, score), regions and strategy != "union")


def summarise(result: Result) -> str:
    """Return a table per model, what went wrong, what failed, and what the words mean."""
    blocks = [_headline(result)]
    for model in result.models:
        if result.evaluated(model):
            blocks.append("\n".join(_model_lines(result, model)))
    if result.failures:
        blocks.append("\n".join(_failure_lines(result.failures)))
    blocks.append("\n".join(_bounds(result)))
    return "\n\n".join(blocks)


def table(rows: Sequence[Sequence[str]], left: int) -> list[str]:
    """Return rows as lines with aligned columns, the first `left` of them to the left.

    Examples
    --------
    >>> table([["class", "PQ"], ["cell", "0.5"]], left=1)
    ['class   PQ', 'cell   0.5']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if at < left else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def number(value: float) -> str:
    """Return a score with three digits, and a dash for NaN."""
    return "–" if math.isnan(value) else f"{value:.3f}"


def _headline(result: Result) -> str:
    cases = len({one.case for one in result.cases})
    models = f", {len(result.models)} models" if len(result.models) > 1 else ""
    failed = f", {len(result.failures)} failed" if result.failures else ""
    plural = "" if cases == 1 else "s"
    return f"{cases} case{plural}{models}{failed} (panmatch {panmatch.__version__})"


def _model_lines(result: Result, model: str) -> list[str]:
    rows = [row for row in result.average_rows if row.model == model]
    lines = [f"Model {model}"] if model else []
    lines += table(_score_table(result, model, rows), left=2)
    return [*lines, "", *_mistake_lines(result, model)]


def _score_table(result: Result, model: str, rows: list[AverageRow]) -> list[list[str]]:
    several = len({one.case for one in result.cases}) > 1
    found = {
        (row.way, "area" if math.isnan(row.threshold) else row.threshold, row.measure,
         row.averaging): row.value for row in rows
    }  # fmt: skip
    counts = {(group.way, group.threshold): group for group in result.groups
              if group.model == model}  # fmt: skip
    pooled = "pooled " if several else ""
    head = ["class", "strategy", "τ", "TP", "near τ", "FP", "FN", f"{pooled}PQ", "SQ", "RQ"]
    head += ["AUTC"] if result.spec.curve else []
    head += ["mean PQ of cases"] if several else []
    lines = [head]
    for way in dict.fromkeys(row.way for row in rows):
        for threshold in result.spec.thresholds:
            line = [str(way[0]), way_title(way), f"{threshold:g}"]
            line += _counts(counts.get((way, threshold)))
            line += [number(found[way, threshold, name, "pooled"]) for name in ("pq", "sq", "rq")]
            if result.spec.curve:
                line.append(number(found[way, "area", "autc", "pooled"]))
            if several:
                line.append(number(found[way, threshold, "pq", "mean of cases"]))
            lines.append(line)
    return lines


def _counts(group: Group | None) -> list[str]:
    """Return the four counts of a row; a mean over classes has none."""
    names = ("tp", "near_threshold", "fp", "fn")
    return [""] * 4 if group is None else [f"{group.columns[name].sum():.0f}" for name in names]


def _mistake_lines(result: Result, model: str) -> list[str]:
    cases = result.evaluated(model)
    classes = dict.fromkeys(name for one in cases for name in one.diagnosis.get("class", ()))
    sums = {name: dict.fromkeys(MISTAKES, 0) for name in classes}
    for one in cases:
        for row in range(height(one.diagnosis)):
            for mistake in MISTAKES:
                ids = one.diagnosis[f"{mistake}_ids"][row].split()
                sums[one.diagnosis["class"][row]][mistake] += len(ids)
    wrong = {name: found for name, found in sums.items() if any(found.values())}
    if not wrong:
        return ["Nothing is split, merged, missed or made up."]
    rows = [["class", "split", "merged", "missed", "made up"]]
    rows += [
        [name, *(str(found[mistake]) for mistake in MISTAKES)] for name, found in wrong.items()
    ]
    return ["What went wrong, whatever the strategy:", *table(rows, left=1)]


def _failure_lines(failures: Sequence[CaseResult]) -> list[str]:
    lines = ["Failed:"]
    for one in failures[:MOST_FAILURES]:
        lines.append(f"  {one.case}{f' ({one.model})' if one.model else ''}: {one.reason}")
    more = len(failures) - MOST_FAILURES
    return lines + ([f"  … and {more} more"] if more > 0 else [])


def _bounds(result: Result) -> list[str]:
    names = dict.fromkeys(matcher.strategy for matcher in result.spec.matching)
    rows = [[name, ", ".join(STRATEGIES[name]().bounds)] for name in names]
    near = "near τ: true positives that a threshold higher by 0.05 would lose"
    return [*table(rows, left=2), near]
