"""`panmatch compare`: which model is better, how sure that is, and what it depends on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from panmatch.datasets.comparing import MEAN, Comparison, compare
from panmatch.datasets.outputs import write_table
from panmatch.evaluation.groups import WAY, Key
from panmatch.evaluation.wording import number, table, way_title

if TYPE_CHECKING:
    import pandas as pd

NARROW = 0.02  # intervals of thresholds that are not printed


def run_compare(folders: Sequence[Path], measures: Sequence[str], out: Path | None) -> None:
    """Compare models, print what people ask, and write all tables if a folder is named."""
    found = compare(folders, measures)
    differences, rankings = found.differences(), found.rankings()
    over_threshold = found.over_threshold()
    print("\n\n".join(_blocks(found, differences, rankings, over_threshold)))
    if out is not None:
        tables = {"differences": differences, "rankings": rankings, "stability": over_threshold}
        for name, one in tables.items():
            write_table(out, name, one)
        print(f"\nTables: {out}/")


def _blocks(
    found: Comparison, differences: pd.DataFrame, rankings: pd.DataFrame, over: pd.DataFrame
) -> list[str]:
    blocks = [_headline(found)]
    classes = list(dict.fromkeys(rankings["class"]))
    shown = MEAN if MEAN in classes else classes[0]
    for measure in found.measures:
        blocks.append("\n".join(ranking_lines(rankings, shown, measure)))
        blocks.append("\n".join(_difference_lines(differences, shown, measure)))
    blocks.append("\n".join(stability_lines(found, shown)))
    if len(over):
        blocks.append("\n".join(threshold_lines(found, over)))
    return blocks


def _headline(found: Comparison) -> str:
    n = len(found.result.evaluated(found.models[0]))
    lines = [f"{', '.join(found.models)}: {n} shared case{'' if n == 1 else 's'}"]
    for model, cases in found.left_out.items():
        if cases:
            more = f" and {len(cases) - 5} more" if len(cases) > 5 else ""
            names = ", ".join(cases[:5])
            lines.append(f"  left out, since {model} has no result for them: {names}{more}")
    return "\n".join(lines)


def ranking_lines(rankings: pd.DataFrame, kind: str, measure: str) -> list[str]:
    """Return the models by rank, a line for every setting."""
    chosen = rankings[(rankings["class"] == kind) & (rankings["measure"] == measure)]
    rows = []
    for (way, level), group in _by_setting(chosen):
        cells = [
            f"{row.model} {number(row.value)} [{number(row.low)}, {number(row.high)}]"
            f"{'' if math.isnan(row.first_share) else f' first in {row.first_share:.0%}'}"
            for row in group.itertuples()
        ]
        rows.append([way_title(way), level, *cells])
    head = ["strategy", "τ", *(f"rank {at + 1}" for at in range(len(rows[0]) - 2))]
    title = f"Ranking by {measure.upper()} ({kind}, mean of cases with 95 % interval):"
    return [title, *table([head, *rows], left=len(head))]


def _difference_lines(differences: pd.DataFrame, kind: str, measure: str) -> list[str]:
    chosen = differences[(differences["class"] == kind) & (differences["measure"] == measure)]
    head = ["strategy", "τ", "pair", "difference", "95 % interval", "won–lost–tied", "p", "Holm"]
    rows = [head]
    for (way, level), group in _by_setting(chosen):
        for row in group.itertuples():
            rows.append(
                [
                    way_title(way),
                    level,
                    f"{row.first} − {row.second}",
                    _signed(row.difference),
                    f"[{_signed(row.low)}, {_signed(row.high)}]",
                    f"{row.wins}–{row.losses}–{row.ties}",
                    _p(row.p),
                    _p(row.p_holm),
                ]
            )
    tests = "Wilcoxon signed-rank, Holm over the pairs"
    return [f"Paired differences of {measure.upper()} ({kind}; {tests}):", *table(rows, left=3)]


def stability_lines(found: Comparison, kind: str) -> list[str]:
    """Return how much the ranking depends on strategy and threshold."""
    stable = found.stability(found.measures[0])[kind]
    n = len(stable.rankings)
    lines = [
        f"Rank stability ({kind}): {n} settings give {stable.distinct_orders} "
        f"ranking{'' if stable.distinct_orders == 1 else 's'}."
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


def threshold_lines(found: Comparison, over: pd.DataFrame) -> list[str]:
    """Return where the ranking changes with the threshold."""
    lines = ["Ranking by pooled PQ over all thresholds, exactly:"]
    leads = found.leads()
    for way in leads:
        parts = over[(over[list(WAY)] == list(way)).all(axis=1)]
        shares = ", ".join(f"{model} {share:.0%}" for model, share in leads[way].items())
        flips = len(parts) - 1
        lines.append(
            f"  {way[0]}, {way_title(way)}: {flips} change{'' if flips == 1 else 's'}; best, alone "
            f"or tied, on {shares} of [0, 1)"
        )
        wide = parts[parts["stop"] - parts["start"] >= NARROW]
        lines += [
            f"    {row.start:.3f} ≤ τ < {row.stop:.3f}  {row.order}" for row in wide.itertuples()
        ]
        if len(wide) < len(parts):
            lines.append(f"    and {len(parts) - len(wide)} intervals narrower than {NARROW}")
    return lines


def _by_setting(rows: pd.DataFrame) -> list[tuple[tuple[Key, str], pd.DataFrame]]:
    names = [*WAY, "threshold"]
    groups = rows.groupby(names, sort=False, dropna=False)
    return [
        ((tuple(key[:-1]), "area" if math.isnan(key[-1]) else f"{key[-1]:g}"), group)
        for key, group in groups
    ]


def _signed(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:+.3f}"


def _p(value: float) -> str:
    if math.isnan(value):
        return "–"
    return f"{value:.3f}" if value >= 0.001 else "< 0.001"
