"""The page about all commands, written from their help: ``make docs`` keeps it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import NoneType
from typing import get_args, get_origin, get_type_hints

import typer
from typer import Context
from typer.models import ArgumentInfo, OptionInfo

from panmatch.cli._app import app
from panmatch.cli._console import EXIT_MEANINGS

INTRODUCTION = """\
# Command line

<!-- Written by docs/writers/command_line.py. -->
<!-- commands: parsed -->

`panmatch --help` and `panmatch COMMAND --help` print the same. Results go to standard output,
progress and warnings to standard error.

## Exit codes

| code | meaning |
|---|---|
{codes}
"""

WORDS = {Path: "PATH", int: "INTEGER", float: "FLOAT", str: "TEXT"}


@dataclass(frozen=True, slots=True)
class Command:
    """One command, as its function describes it."""

    name: str  # with everything that stands before it
    function: Callable[..., object]
    epilog: str

    @property
    def about(self) -> str:
        """Its first sentence."""
        return (inspect.getdoc(self.function) or "").split("\n\n")[0]

    @property
    def parameters(self) -> Iterator[Parameter]:
        """Arguments and options, in order."""
        hints = get_type_hints(self.function, include_extras=True)
        for name, one in inspect.signature(self.function).parameters.items():
            if hints[name] is Context:
                continue
            kind, info = get_args(hints[name])[:2]
            yield Parameter(name, kind, info, one.default)

    @property
    def examples(self) -> list[str]:
        """Commands to try."""
        lines = self.epilog.partition("Examples:\n")[2].splitlines()
        return [f"$ {line.strip()}" for line in lines if line.strip()]


@dataclass(frozen=True, slots=True)
class Parameter:
    """An argument or an option of a command."""

    name: str
    kind: object  # its type
    info: ArgumentInfo | OptionInfo
    default: object

    @property
    def is_option(self) -> bool:
        """Whether it is given by name."""
        return isinstance(self.info, OptionInfo)

    @property
    def is_flag(self) -> bool:
        """Whether it takes no value."""
        return self.kind is bool

    @property
    def placeholder(self) -> str:
        """What stands for an argument in a usage line."""
        name = self.info.metavar or self.name.upper()
        return name if self.default is inspect.Parameter.empty else f"[{name}]"

    @property
    def row(self) -> str:
        """Its line of a table."""
        if not self.is_option:
            return f"| `{self.placeholder}` | {_cell(self.info.help)} |"
        names = ", ".join(f"`{name}`" for one in self._given_names for name in one.split("/"))
        if not self.is_flag:
            names += f" `{self.info.metavar or WORDS[_plain(self.kind)]}`"
        if get_origin(_without_none(self.kind)) is list:
            names += " …"
        return f"| {names} | {self._shown_default} | {_cell(self.info.help)} |"

    @property
    def _given_names(self) -> tuple[str, ...]:
        first = self.info.default  # inside of Annotated, typer keeps the first name here
        names = (first,) if isinstance(first, str) else ()
        return (*names, *(self.info.param_decls or ())) or (f"--{self.name.replace('_', '-')}",)

    @property
    def _shown_default(self) -> str:
        if self.is_flag:
            return "on" if self.default is True else "–"
        if self.default is inspect.Parameter.empty:
            return "required"
        return "–" if self.default is None else f"`{self.default}`"


def _without_none(kind: object) -> object:
    kinds = [one for one in get_args(kind) if one is not NoneType]
    return kinds[0] if NoneType in get_args(kind) else kind


def _plain(kind: object) -> type:
    inner = _without_none(kind)
    return get_args(inner)[0] if get_origin(inner) is list else inner  # type: ignore[return-value]


def command_line_page() -> str:
    """Return the page as Markdown."""
    commands = list(_commands(app, "panmatch"))
    overview = [
        "## Commands",
        "",
        "| command | what it does |",
        "|---|---|",
        *(f"| [`{one.name}`](#{one.name.replace(' ', '-')}) | {one.about} |" for one in commands),
        "",
        "`panmatch --version` prints the version. `panmatch --install-completion` lets Tab",
        "complete commands and options from the next shell on; `--show-completion` prints the",
        "script instead.",
        "",
    ]
    introduction = INTRODUCTION.format(codes="\n".join(_exit_codes()))
    return "\n".join([introduction, *overview, *map(_section, commands)])


def _exit_codes() -> Iterator[str]:
    for code, text in EXIT_MEANINGS.items():
        options_as_code = re.sub(r"(--[a-z-]+)", r"`\1`", text)
        yield f"| {code} | {options_as_code} |"


def _commands(group: typer.Typer, before: str) -> Iterator[Command]:
    for one in group.registered_commands:
        assert one.callback is not None
        name = one.name or one.callback.__name__
        yield Command(f"{before} {name}", one.callback, one.epilog or "")
    for inner in group.registered_groups:
        assert inner.typer_instance is not None
        yield from _commands(inner.typer_instance, f"{before} {inner.name}")


def _section(command: Command) -> str:
    options = [one for one in command.parameters if one.is_option]
    arguments = [one for one in command.parameters if not one.is_option]
    words = [*(["[OPTIONS]"] if options else []), *(one.placeholder for one in arguments)]
    lines = [f"## {command.name}", "", command.about, ""]
    lines += ["```text", " ".join([command.name, *words]), "```", ""]
    if arguments:
        lines += ["| argument | meaning |", "|---|---|", *(one.row for one in arguments), ""]
    if options:
        lines += ["| option | default | meaning |", "|---|---|---|"]
        lines += [*(one.row for one in options), ""]
        if any(" …" in one.row for one in options):
            lines += ["Options with … may be given more than once.", ""]
    if command.examples:
        lines += ["```console", *command.examples, "```", ""]
    return "\n".join(lines)


def _cell(text: str | None) -> str:
    return " ".join((text or "").split()).replace("|", "\\|")
