"""`panmatch protocol`: which programs can be reproduced, and how that was verified."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer

protocol_app = typer.Typer(
    name="protocol",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="List the programs that `evaluate --protocol` reproduces.",
)

INDENT = "  "


@protocol_app.command("list")
def list_protocols() -> None:
    """List the programs, with their versions and how each was verified."""
    from panmatch.cli._layout import screen_width
    from panmatch.protocols import protocol_names

    blocks = ["\n".join(protocol_lines(name, screen_width())) for name in protocol_names()]
    typer.echo("\n\n".join(blocks))


@protocol_app.command()
def show(name: Annotated[str, typer.Argument(help="Name of a protocol.")]) -> None:
    """Print the definition of a protocol."""
    from panmatch.protocols import protocol_text

    typer.echo(protocol_text(name.partition("/")[0]), nl=False)


def protocol_lines(name: str, width: int) -> Iterator[str]:
    """Yield the description of a protocol, wrapped to a width."""
    from panmatch.cli._layout import wrapped
    from panmatch.protocols import find_protocol

    found = find_protocol(name)
    yield f"{name}: {found.title}"
    classes = "the program's own" if found.classes == "fixed" else "yours, or all labels"
    texts = [
        f"Program: {found.program}, version {found.version}.",
        found.source,
        f"Reproduces: {found.reproduces}",
        f"Verified: {found.verified}",
        f"Classes: {classes}. Over cases: {found.over_cases}.",
        *(f"Note: {text}" for text in found.departs),
        *(f"Variant {name}/{key}: {one.about}" for key, one in found.variants.items()),
    ]
    for text in texts:
        yield from (f"{INDENT}{line}" for line in wrapped(text, width - 2, INDENT))
