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
    from panmatch.protocols import DETECTION_PROTOCOLS, protocol_names

    names = (*protocol_names(), *DETECTION_PROTOCOLS)
    blocks = ["\n".join(protocol_lines(name, screen_width())) for name in names]
    typer.echo("\n\n".join(blocks))


@protocol_app.command()
def show(name: Annotated[str, typer.Argument(help="Name of a protocol.")]) -> None:
    """Print the definition of a protocol."""
    from panmatch.cli._layout import screen_width
    from panmatch.protocols import DETECTION_PROTOCOLS, protocol_text

    if name in DETECTION_PROTOCOLS:
        typer.echo("\n".join(protocol_lines(name, screen_width())))
        return
    typer.echo(protocol_text(name.partition("/")[0]), nl=False)


def protocol_lines(name: str, width: int) -> Iterator[str]:
    """Yield the description of a protocol, wrapped to a width."""
    from panmatch.cli._layout import wrapped
    from panmatch.protocols import DETECTION_PROTOCOLS, find_protocol

    ranked = DETECTION_PROTOCOLS.get(name)
    found = ranked or find_protocol(name)
    yield f"{name}: {found.title}"
    texts = [
        f"Program: {found.program}, version {found.version}.",
        found.source,
        f"Reproduces: {found.reproduces}",
        f"Verified: {found.verified}",
        *([] if ranked is None else [f"Takes: {ranked.takes}."]),
        *([] if ranked is not None else _about_classes(name)),
        *(f"Note: {text}" for text in found.departs),
        *([] if ranked is not None else _variants(name)),
    ]
    for text in texts:
        yield from (f"{INDENT}{line}" for line in wrapped(text, width - 2, INDENT))


def _about_classes(name: str) -> list[str]:
    from panmatch.protocols import find_protocol

    found = find_protocol(name)
    classes = "the program's own" if found.classes == "fixed" else "yours, or all labels"
    return [f"Classes: {classes}. Over cases: {found.over_cases}."]


def _variants(name: str) -> list[str]:
    from panmatch.protocols import find_protocol

    variants = find_protocol(name).variants
    return [f"Variant {name}/{key}: {one.about}" for key, one in variants.items()]
