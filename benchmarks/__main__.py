"""`make bench`: measure everything in one run, print the table, and keep it in README.md."""

from __future__ import annotations

import sys
from itertools import chain
from pathlib import Path

from rich.console import Console
from rich.live import Live
from rich.table import Table

from benchmarks import classes, core, datasets, metrics, optimal, playground, regions
from benchmarks.machine import describe_machine, keep_below
from benchmarks.timing import Row

README = Path(__file__).with_name("README.md")
MARK = "<!-- Everything below is written by `make bench`. -->"
MODULES = (core, optimal, metrics, regions, classes, datasets, playground)
HEAD = ["what", "panmatch", "compared with", "ratio", "target", "met"]


def main() -> None:
    """Measure, show each row as soon as it is there, and write the lot."""
    done: list[Row] = []
    console = Console(width=None if sys.stdout.isatty() else 200)
    with Live(_table(done), console=console, auto_refresh=False) as live:
        for row in chain.from_iterable(module.rows() for module in MODULES):
            done.append(row)
            live.update(_table(done), refresh=sys.stdout.isatty())
        live.update(_table(done), refresh=True)
    keep_below(README, MARK, _report(done))
    missed = [row.what for row in done if row.met is False]
    print(f"{len(done) - len(missed)} of {len(done)} targets met; table kept in {README.name}.")


def _table(rows: list[Row]) -> Table:
    table = Table(*HEAD)
    for row in rows:
        table.add_row(*row.cells())
    return table


def _report(rows: list[Row]) -> str:
    lines = [f"| {' | '.join(HEAD)} |", "|" + "---|" * len(HEAD)]
    lines += [f"| {' | '.join(row.cells())} |" for row in rows]
    return f"Measured on {describe_machine()}.\n\n" + "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
