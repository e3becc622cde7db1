"""`panmatch power`: how many cases a comparison needs, from a pilot run."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated

import typer

from panmatch.cli._options import AsJson, CaseColumns, Cluster
from panmatch.cli._rank_command import Runs, Strategy, TableFolder, Threshold

if TYPE_CHECKING:
    from panmatch.datasets import PowerAnalysis

POWER = "panmatch-power-1"


def power(
    outs: Runs,
    difference: Annotated[
        float, typer.Option(help="The mean difference between two models to find, such as 0.03.")
    ],
    power: Annotated[float, typer.Option(help="The chance to find it.")] = 0.8,
    alpha: Annotated[float, typer.Option(help="Level of the two-sided test.")] = 0.05,
    score: Annotated[
        str, typer.Option(help="Score to compare, such as pq, recall or sq_hd95.")
    ] = "pq",
    class_: Annotated[
        str | None, typer.Option("--class", help="Class to compare; by default the headline class.")
    ] = None,
    strategy: Strategy = None,
    threshold: Threshold = None,
    cases: CaseColumns = None,
    cluster: Cluster = None,
    out: TableFolder = None,
    as_json: AsJson = False,
) -> None:
    """Say how many cases are needed to find a difference."""
    import panmatch
    from panmatch.cli._json import as_json as in_json
    from panmatch.cli._layout import screen_width
    from panmatch.datasets import CaseDescription, joined_runs, write_table

    result = joined_runs(outs, CaseDescription(cases, cluster))
    found = panmatch.power(
        result, difference=difference, power=power, alpha=alpha, score=score, class_name=class_,
        strategy=strategy, threshold=threshold,
    )  # fmt: skip
    if out is not None:
        write_table(out, "power", found.table())
    if as_json:
        about = {"format": POWER, "panmatch": panmatch.__version__, "unit": found.unit_name}
        print(in_json({**about, "pairs": found.table().rows()}))
        return
    more = [] if out is None else ["", f"Table: {out / 'power.csv'}"]
    typer.echo("\n".join([*power_lines(found, screen_width()), *more]))


def power_lines(found: PowerAnalysis, width: int) -> list[str]:
    """Return how many cases each pair of models needs, as lines."""
    from panmatch.cli._layout import Column, grid, wrapped

    criterion = found.criterion
    at = "" if criterion.threshold is None else f" at τ = {criterion.level}"
    head = (
        f"{100 * found.power:g} % power to find a mean difference of {found.difference:g} in "
        f"{criterion.score.title} ({criterion.setting.class_name}, {criterion.setting.label}{at}) "
        f"at two-sided α = {found.alpha:g}:"
    )
    pairs, one = found.pairs, found.unit_name
    several = f"{one}s"
    rows = [pair.found for pair in pairs]
    columns = [
        Column("", "pair", tuple(f"{p.first} − {p.second}" for p in pairs), left=True),
        Column(f"{several} needed", "Wilcoxon", tuple(_count(r.units) for r in rows)),
        Column(f"{several} needed", "t-test", tuple(_count(r.by_t_test) for r in rows), 4),
        Column(f"{several} needed", "95 % interval", tuple(_range(r.low, r.high) for r in rows), 5),
        Column("pilot", several, tuple(str(r.pilot_units) for r in rows), 3),
        Column("pilot", "diff.", tuple(f"{r.pilot_difference:+.3f}" for r in rows), 1),
        Column("pilot", "std. dev.", tuple(_three(r.deviation) for r in rows), 2),
        Column("pilot", "power", tuple(_percent(r.power_now) for r in rows), 2),
    ]
    if one != "case":
        columns.insert(
            2, Column(f"{several} needed", "cases", tuple(_count(r.cases) for r in rows))
        )
    about = (
        "The interval says how uncertain the pilot leaves the t-test's number; plan with its upper "
        "end to be safe. Pilot power: the chance of the pilot itself to find the difference."
    )
    return [*wrapped(head, width), "", *grid(columns, width, "with -o"), "", *wrapped(about, width)]


def _count(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:g}" if math.isinf(value) else f"{value:.0f}"


def _range(low: float, high: float) -> str:
    return "–" if math.isnan(low) else f"{_count(low)}–{_count(high)}"


def _three(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.3f}"


def _percent(value: float) -> str:
    return "–" if math.isnan(value) else f"{100 * value:.0f} %"
