"""The `panmatch` command and its subcommands."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

import panmatch
from panmatch.errors import PanmatchError

app = typer.Typer(
    name="panmatch",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

USAGE = 2


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"panmatch {panmatch.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Score a segmentation, object by object, under every matching strategy."""


@app.command()
def demo(
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Folder for the figure; made if missing.")
    ] = Path("panmatch-demo"),
    seed: Annotated[int, typer.Option(min=0, help="Another seed gives another scene.")] = 7,
) -> None:
    """Make a phantom scene, score it under every strategy, and draw it."""
    from panmatch.cli.demo import run_demo

    run_demo(out, seed)


def main() -> None:
    """Run the command line; what the user can mend is one line on stderr, exit code 2."""
    try:
        app()
    except PanmatchError as error:
        typer.echo(f"panmatch: {error}", err=True)
        sys.exit(USAGE)
