"""`panmatch rank`: one ranking of all models, as challenges make them, and how stable it is."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from panmatch.cli._options import AsJson, CaseColumns, Cluster
from panmatch.errors import OptionError

Runs = Annotated[
    list[Path],
    typer.Argument(
        metavar="OUT...", help="Output folders of `panmatch evaluate`, with two models or more."
    ),
]
Strategy = Annotated[
    str | None,
    typer.Option("--strategy", "-s", help="Strategy of the run; by default its first."),
]
Threshold = Annotated[
    float | None,
    typer.Option("--threshold", "-t", help="Threshold of the run; by default its first."),
]
TableFolder = Annotated[
    Path | None, typer.Option("--out", "-o", help="Folder for tables; created if missing.")
]


def rank(
    outs: Runs,
    by: Annotated[
        str,
        typer.Option(metavar="SCORES", help="Scores to rank by, such as pq,hd95,recall."),
    ] = "pq",
    method: Annotated[
        str, typer.Option(help="mean-then-rank, rank-then-mean or test-based.")
    ] = "mean-then-rank",
    aggregate: Annotated[
        str, typer.Option(help="Over cases, for the first two methods: mean or median.")
    ] = "mean",
    weights: Annotated[
        str | None,
        typer.Option(
            metavar="NAME=NUMBER",
            help="Weights of scores and classes, such as pq=2,lesion=3; 1 by default.",
        ),
    ] = None,
    class_: Annotated[
        list[str] | None,
        typer.Option("--class", help="Class to rank by. Repeat it for several; by default all."),
    ] = None,
    strategy: Strategy = None,
    threshold: Threshold = None,
    alpha: Annotated[float, typer.Option(help="Significance level of the tests.")] = 0.05,
    leave_out: Annotated[
        str | None,
        typer.Option(
            help="What to leave out, one at a time: case, cluster, metric, class, or a column of "
            "--cases such as site."
        ),
    ] = None,
    cases: CaseColumns = None,
    cluster: Cluster = None,
    out: TableFolder = None,
    as_json: AsJson = False,
) -> None:
    """Rank models as challenges do, and show how stable that is."""
    import panmatch
    from panmatch.cli._evaluate import print_warnings
    from panmatch.cli._json import as_json as in_json
    from panmatch.cli._layout import screen_width
    from panmatch.cli._rank_screen import RANKING, rank_screen
    from panmatch.datasets import CaseDescription, joined_runs, write_table

    result = joined_runs(outs, CaseDescription(cases, cluster))
    ranking = panmatch.rank(
        result, listed(by), method=method, aggregate=aggregate,  # type: ignore[arg-type]
        weights=read_weights(weights), classes=class_ or (), strategy=strategy,
        threshold=threshold, alpha=alpha,
    )  # fmt: skip
    left_out = None if leave_out is None else ranking.leave_out(leave_out)
    tables = ranking.plain_tables(leave_out)
    if out is not None:
        for name, table in tables.items():
            write_table(out, name, table)
    if as_json:
        content = {name.removeprefix("ranking_"): table.rows() for name, table in tables.items()}
        about = {"cases": len(ranking.cases), "models": list(ranking.models)}
        print(in_json({"format": RANKING, "panmatch": panmatch.__version__, **about, **content}))
    else:
        more = [] if out is None else [f"Tables: {out}{os.sep}"]
        typer.echo("\n".join(rank_screen(ranking, left_out or [], screen_width(), more)))
    print_warnings(ranking.comparison.notices)


def listed(text: str) -> list[str]:
    """Return names that are separated by commas.

    Examples
    --------
    >>> listed("pq, hd95")
    ['pq', 'hd95']
    """
    return [name.strip() for name in text.split(",") if name.strip()]


def read_weights(text: str | None) -> dict[str, float]:
    """Return weights that are given as text.

    Examples
    --------
    >>> read_weights("pq=2,lesion=0.5")
    {'pq': 2.0, 'lesion': 0.5}
    """
    found = {}
    for part in listed(text or ""):
        name, _, number = part.rpartition("=")
        try:
            found[name.strip()] = float(number)
        except ValueError:
            name = ""
        if not name:
            raise OptionError(
                f"--weights {text!r} must be names and numbers, such as pq=2,lesion=3."
            )
    return found
