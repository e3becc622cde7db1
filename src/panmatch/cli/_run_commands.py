"""`panmatch report` and `panmatch show`: the results of an earlier run as a page, and again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from panmatch.cli._options import AsJson, CaseColumns, Cluster, Everything, Images, Title


def report(
    folder: Annotated[
        Path, typer.Argument(metavar="OUT", help="Output folder of `panmatch evaluate`.")
    ],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="HTML file; by default OUT/report.html.")
    ] = None,
    images: Images = None,
    title: Title = None,
    cases: CaseColumns = None,
    cluster: Cluster = None,
) -> None:
    """Write the results and figures of a run to one HTML file."""
    from panmatch.datasets import CaseDescription
    from panmatch.report import write_report

    how = CaseDescription(cases, cluster)
    typer.echo(f"Report: {write_report(folder, out, title, images=images, how=how)}")


def show(
    result: Annotated[
        Path,
        typer.Argument(help="Output folder of `panmatch evaluate`, or a result saved as JSON."),
    ],
    everything: Everything = False,
    as_json: AsJson = False,
) -> None:
    """Print the results of an earlier `panmatch evaluate` again."""
    from panmatch.cli._evaluate import choose_detail, print_warnings, result_text
    from panmatch.datasets import listed_notices, load_run
    from panmatch.evaluation import Result

    detail = choose_detail(everything=everything, quiet=False, as_json=as_json)
    found = Result.load(result) if result.is_file() else load_run(result)
    notices = found.notices if result.is_file() else listed_notices(result)
    written = None if result.is_file() else result
    page = result / "report.html"
    existing = page if page.is_file() else None
    typer.echo(result_text(found, detail, notices, written, existing), nl=False)
    print_warnings(notices)
