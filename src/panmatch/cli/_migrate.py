"""`panmatch migrate`: turn a panoptica configuration into a commented spec."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from panmatch.errors import FileError

if TYPE_CHECKING:
    from panmatch.spec import Migration

WIDTH = 90


def migrate(
    config: Annotated[Path, typer.Argument(help="panoptica 2.1.7 configuration, in YAML.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="File to write; without it, print the spec.")
    ] = None,
    dimensions: Annotated[
        int,
        typer.Option(
            min=1, help="Dimensions of your images: they decide what panoptica calls connected."
        ),
    ] = 3,
) -> None:
    """Turn a panoptica configuration into a commented spec."""
    from panmatch.formats import write_atomically
    from panmatch.spec import read_panoptica, spec_from_panoptica

    found = spec_from_panoptica(read_panoptica(config), dimensions)
    text = commented_spec(found, config.name)
    if out is None:
        print(text, end="")
    elif out.exists():
        raise FileError(f"--out {str(out)!r} already exists: name another file, or move it away.")
    else:
        write_atomically(out, text.encode())
        print(f"Spec: {out}")
    count = len(found.remarks)
    print(
        f"panmatch: {count} comment{'s' * (count != 1)} in the spec where the meaning differs.",
        file=sys.stderr,
    )


def commented_spec(migration: Migration, name: str) -> str:
    """Return a spec as YAML, with each remark as a comment above its key."""
    lines = [*_comment(f"Migrated from {name!r}, a panoptica configuration.", "")]
    lines += _remarks(migration, "", "")
    for key, value in migration.content.items():
        lines += ["", *_remarks(migration, key, "")]
        lines += _entry(migration, key, value)
    return "\n".join([*lines, ""])


def _entry(migration: Migration, key: str, value: object) -> Iterator[str]:
    if key == "matching" and isinstance(value, list):
        yield "matching:"
        yield from (f"  - {_flow(one)}" for one in value)
    elif key == "classes" and isinstance(value, dict):
        yield "classes:"
        for name, options in value.items():
            yield from _remarks(migration, f"classes.{name}", "  ")
            yield f"  {_flow(name)}:"
            yield from (f"    {option}: {_flow(said)}" for option, said in options.items())
    elif key == "edge_cases" and isinstance(value, dict):
        yield "edge_cases:"
        yield from (f"  {name}: {_flow(case)}" for name, case in value.items())
    else:
        yield f"{key}: {_flow(value)}"


def _remarks(migration: Migration, where: str, indent: str) -> list[str]:
    return [
        line
        for remark in migration.remarks
        if remark.where == where
        for line in _comment(str(remark), indent)
    ]


def _comment(text: str, indent: str) -> list[str]:
    from panmatch.cli._layout import wrapped

    return [f"{indent}# {line}" for line in wrapped(" ".join(text.split()), WIDTH - len(indent))]


def _flow(value: object) -> str:
    """Return a value as a single line of YAML."""
    import yaml

    dumped = yaml.safe_dump(value, default_flow_style=True, width=math.inf, sort_keys=False)
    text = str(dumped).removesuffix("\n").removesuffix("\n...")
    return json.dumps(value) if "\n" in text else text
