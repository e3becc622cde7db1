"""`panmatch subgroups`: where a model is worse, by site, scanner, size of objects, and so on."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from panmatch.cli._options import CaseColumns, Cluster
from panmatch.errors import OptionError

if TYPE_CHECKING:
    from panmatch.datasets import Interval, SubgroupFamily

Run = Annotated[Path, typer.Argument(metavar="OUT", help="Output folder of `panmatch evaluate`.")]
By = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN",
        help="Column of --cases, such as site, or size for the size of objects. Repeat it for "
        "several; by default size and every column with at most 12 values.",
    ),
]
ScoreName = Annotated[str, typer.Option(help="Score to compare, such as pq, recall or sq_dice.")]
TableFolder = Annotated[
    Path | None, typer.Option("--out", "-o", help="Folder for a table; created if missing.")
]


def subgroups(
    folder: Run,
    by: By = None,
    cases: CaseColumns = None,
    cluster: Cluster = None,
    score: ScoreName = "pq",
    out: TableFolder = None,
) -> None:
    """Compare subgroups, such as sites or sizes of objects."""
    from panmatch.datasets import (
        SIZE,
        Subgroups,
        describe_cases,
        load_run,
        subgroup_columns,
        write_table,
    )
    from panmatch.evaluation import Table

    result = describe_cases(load_run(folder), cases, cluster=cluster)
    found = [Subgroups(result, one, score) for one in by or [*subgroup_columns(result), SIZE]]
    families = [family for one in found for family in one.families]
    if not families:
        raise OptionError(f"OUT={str(folder)!r} has no two subgroups: every case is alike.")
    typer.echo("\n\n".join("\n".join(family_lines(family)) for family in families))
    if out is not None:
        rows = [row for family in families for row in family.rows]
        write_table(out, "subgroups", Table.of_rows(rows))
        typer.echo(f"\nTable: {out / 'subgroups.csv'}")


def family_lines(family: SubgroupFamily) -> list[str]:
    """Return the subgroups of a model, or of the difference between two, as lines."""
    from panmatch.evaluation import number, p_text, signed, table

    shown = signed if family.second else number

    def between(ends: Interval) -> str:
        return f"{shown(ends.low)} to {shown(ends.high)}" if ends.is_defined else "–"

    what = f"{family.score.title} of {family.title} by {family.column}"
    where = f"{family.setting.class_name}, {family.setting.label} at τ = {family.threshold:g}"
    head = ["group", "cases", "mean", "95 % interval", "for all groups", "pooled"]
    rows = [head]
    for one in family.groups:
        pooled = "" if math.isnan(one.pooled) else number(one.pooled)
        rows.append([one.group, str(one.cases), shown(one.value), between(one.interval),
                     between(one.simultaneous), pooled])  # fmt: skip
    lines = [f"{what} ({where}):", *table(rows, left=1)]
    if not math.isnan(family.p_value):
        p = p_text(family.p_value)
        equal = "" if p.startswith("<") else "= "
        lines.append(f"Does it depend on {family.column}? Permutation test: p {equal}{p}.")
    if (worst := family.worst) is not None:
        lines.append(
            f"Worst: {worst.group}, {number(worst.value)}; at 95 % confidence for all groups "
            f"together {between(worst.simultaneous)}."
        )
    return lines
