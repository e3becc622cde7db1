"""`panmatch compare`: which model is better, how certain that is, and what it depends on."""

from __future__ import annotations

import math
import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import cast, get_args

from panmatch.cli._compare_screen import comparison_screen
from panmatch.cli._evaluate import Detail, print_warnings, warning_lines
from panmatch.cli._json import as_json, comparison_document
from panmatch.cli._layout import screen_width, wrapped
from panmatch.datasets import (
    CaseDescription,
    Comparison,
    Interval,
    IntervalMethod,
    Placing,
    compare_files,
    compare_runs,
    listed_notices,
    order_text,
    write_table,
)
from panmatch.errors import OptionError, check_choice
from panmatch.evaluation import Notice, Score, number, p_text, plural, signed, table

NARROW = 0.02  # narrower intervals of thresholds are not printed


def run_compare(
    paths: Sequence[Path],
    scores: Sequence[str],
    out: Path | None,
    detail: Detail = "all",
    cases: str | None = None,
    cluster: str | None = None,
    interval: str | None = None,
) -> None:
    """Compare models, print the answer, and write all tables if a folder is given.

    Parameters
    ----------
    paths
        Output folders of runs, or TSV files in panoptica's columns.
    scores
        The scores to compare by.
    out
        Folder for tables.
    cases, cluster, interval
        As for `panmatch.datasets.describe_cases`; None for those of the runs.
    """
    if interval is not None:
        check_choice("--interval", interval, get_args(IntervalMethod))
    how = CaseDescription(cases, cluster, cast("IntervalMethod | None", interval))
    files = [path for path in paths if path.is_file() or path.suffix.lower() == ".tsv"]
    if 0 < len(files) < len(paths):
        raise OptionError(
            f"OUT={str(files[0])!r} is a file, but others are not: name either output folders of "
            f"`panmatch evaluate` or TSV files, which `panmatch evaluate --wide` writes."
        )
    comparison = compare_files(paths, scores, how) if files else compare_runs(paths, scores, how)
    warnings = list(comparison.notices) if files else _warnings(comparison, paths)
    if out is not None:
        for name, content in comparison.plain_tables().items():
            write_table(out, name, content)
    tables = [] if out is None else [f"Tables: {out}{os.sep}"]
    if detail == "json":
        print(as_json(comparison_document(comparison, warnings)))
    elif detail == "all":
        print("\n\n".join([*_blocks(comparison), *tables]))
    elif detail == "short":
        width = screen_width()
        taken = sum(len(wrapped(line, width)) for line in warning_lines(warnings))
        command = shlex.join(["panmatch", "compare", "--all", *map(str, paths)])
        print(comparison_screen(comparison, width, [*tables, f"See everything: {command}"], taken))
    print_warnings(warnings)


def _warnings(comparison: Comparison, folders: Sequence[Path]) -> list[Notice]:
    """Return the warnings of the runs; the one about few cases is that of the shared cases."""
    of_runs = [notice for folder in folders for notice in listed_notices(folder)]
    found = [notice for notice in of_runs if notice.kind != "few-cases"]
    found += [notice for notice in comparison.notices if notice.kind == "few-cases"]
    return list(dict.fromkeys(found))


def _blocks(comparison: Comparison) -> list[str]:
    shown = comparison.headline_class
    blocks = [_headline(comparison)]
    for score in comparison.scores:
        blocks.append(_ranking_lines(comparison, shown, score))
        blocks.append(_difference_lines(comparison, shown, score))
    blocks.append(stability_lines(comparison, shown))
    if comparison.over_threshold:
        blocks.append(_threshold_lines(comparison))
    return ["\n".join(lines) for lines in blocks]


def _headline(comparison: Comparison) -> list[str]:
    n = len(comparison.cases)
    lines = [f"{', '.join(comparison.models)}: {plural(n, 'shared case')}"]
    for model, cases in comparison.left_out.items():
        if cases:
            more = f" and {len(cases) - 5} more" if len(cases) > 5 else ""
            names = ", ".join(cases[:5])
            lines.append(f"  left out because {model} has no result for them: {names}{more}")
    return lines


def ranking_rows(comparison: Comparison, class_name: str, score: Score) -> list[list[Placing]]:
    """Return the models by rank, one row for each matcher and threshold of a class."""
    return [
        ranking
        for criterion, ranking in comparison.rankings.items()
        if (criterion.setting.class_name, criterion.score) == (class_name, score)
    ]


def _ranking_lines(comparison: Comparison, class_name: str, score: Score) -> list[str]:
    rankings = ranking_rows(comparison, class_name, score)
    rows = [
        [ranking[0].criterion.setting.label, ranking[0].criterion.level]
        + [_placing_text(placing) for placing in ranking]
        for ranking in rankings
    ]
    sure = any(placing.interval.is_defined for ranking in rankings for placing in ranking)
    head = ["strategy", "τ", *(f"rank {i + 1}" for i in range(len(comparison.models)))]
    what = "mean of cases with 95 % interval" if sure else "mean of cases"
    title = f"Ranking by {score.title} ({class_name}, {what}):"
    return [title, *table([head, *rows], left=len(head))]


def _placing_text(placing: Placing) -> str:
    ends, share = placing.interval, placing.first_share
    between = f" [{number(ends.low)}, {number(ends.high)}]" if ends.is_defined else ""
    first = "" if math.isnan(share) else f" first in {share:.0%}"
    return f"{placing.model} {number(placing.value)}{between}{first}"


def _difference_lines(comparison: Comparison, class_name: str, score: Score) -> list[str]:
    head = [
        "strategy",
        "τ",
        "pair",
        "difference",
        "95 % interval",
        "won–lost–tied",
        "p",
        "Holm",
        "all",
    ]
    rows = [head]
    for difference in comparison.differences:
        criterion, test = difference.criterion, difference.test
        if (criterion.setting.class_name, criterion.score) == (class_name, score):
            rows.append(
                [
                    criterion.setting.label,
                    criterion.level,
                    f"{difference.first} − {difference.second}",
                    signed(test.mean_difference),
                    _signed_interval(test.interval),
                    f"{test.wins}–{test.losses}–{test.ties}",
                    p_text(test.p_value),
                    p_text(difference.p_holm),
                    p_text(difference.p_holm_all),
                ]
            )
    tests = "Wilcoxon signed-rank, Holm over the pairs and over all that is compared"
    return [f"Paired differences of {score.title} ({class_name}; {tests}):", *table(rows, left=3)]


def stability_lines(comparison: Comparison, class_name: str) -> list[str]:
    """Return how much the ranking depends on strategy and threshold."""
    stable = comparison.stability(comparison.scores[0])[class_name]
    n = len(stable.rankings)
    lines = [
        f"Rank stability by {comparison.scores[0].title} ({class_name}): {n} settings give "
        f"{plural(stable.distinct_orders, 'ranking')}."
    ]
    if stable.distinct_orders > 1:
        lowest = min(
            (stable.tau[a, b], a, b)
            for a in range(n)
            for b in range(a)
            if not math.isnan(stable.tau[a, b])
        )
        lines.append(f"  They agree least (Kendall's tau {lowest[0]:.2f}) between")
        lines.append(f"  {stable.rankings[lowest[2]]} and {stable.rankings[lowest[1]]}.")
    for model, spread in stable.spread.items():
        lines.append(f"  {model}: best rank {spread.best:g}, worst {spread.worst:g}")
    return lines


def _threshold_lines(comparison: Comparison) -> list[str]:
    lines = ["Ranking by pooled PQ over all thresholds, exactly:"]
    for setting, parts in comparison.over_threshold.items():
        leads = comparison.leads[setting]
        shares = ", ".join(f"{model} {share:.0%}" for model, share in leads.items())
        lines.append(
            f"  {setting.class_name}, {setting.label}: {plural(len(parts) - 1, 'change')}; "
            f"best, alone or tied, on {shares} of [0, 1)"
        )
        wide = [part for part in parts if part.stop - part.start >= NARROW]
        lines += [
            f"    {part.start:.3f} ≤ τ < {part.stop:.3f}  {order_text(part)}" for part in wide
        ]
        if len(wide) < len(parts):
            lines.append(f"    and {len(parts) - len(wide)} intervals narrower than {NARROW}")
    return lines


def _signed_interval(ends: Interval) -> str:
    return f"[{signed(ends.low)}, {signed(ends.high)}]" if ends.is_defined else "–"
