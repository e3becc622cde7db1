"""`panmatch compare` as people type it: its arguments and its help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from panmatch.cli._options import AsJson, CaseColumns, Cluster, Everything, Quiet


def compare(
    outs: Annotated[
        list[Path],
        typer.Argument(
            metavar="OUT...",
            help="Output folders of `panmatch evaluate`, or one panoptica TSV file per model.",
        ),
    ],
    score: Annotated[
        list[str] | None,
        typer.Option(
            help="Score to compare by, such as pq, autc or sq_hd95; by default pq and autc, or "
            "every column of TSV files. Repeat it for several."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder for tables; created if missing.")
    ] = None,
    cases: CaseColumns = None,
    cluster: Cluster = None,
    interval: Annotated[
        str | None,
        typer.Option(
            help="Bootstrap interval: studentised (the default), bca or percentile.",
        ),
    ] = None,
    everything: Everything = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Compare models on the cases they share."""
    from panmatch.cli._compare import run_compare
    from panmatch.cli._evaluate import choose_detail

    detail = choose_detail(everything=everything, quiet=quiet, as_json=as_json)
    run_compare(outs, score or [], out, detail, cases, cluster, interval)
