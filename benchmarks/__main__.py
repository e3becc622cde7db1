"""`make bench`: measure everything in one run, print the table, and keep it in README.md."""

from __future__ import annotations

import os
import platform
import sys
from datetime import date
from importlib.metadata import version
from pathlib import Path

from rich.console import Console
from rich.live import Live
from rich.table import Table

import panmatch
from benchmarks import core
from benchmarks.timing import Row

README = Path(__file__).with_name("README.md")
MARK = "<!-- Everything below is written by `make bench`. -->"
HEAD = ["what", "panmatch", "compared with", "ratio", "target", "met"]


def main() -> None:
    """Measure, show each row as soon as it is there, and write the lot."""
    done: list[Row] = []
    console = Console(width=None if sys.stdout.isatty() else 200)
    with Live(_table(done), console=console, auto_refresh=False) as live:
        for row in core.rows():
            done.append(row)
            live.update(_table(done), refresh=sys.stdout.isatty())
        live.update(_table(done), refresh=True)
    text = README.read_text(encoding="utf-8").split(MARK)[0]
    README.write_text(f"{text}{MARK}\n\n{_report(done)}", encoding="utf-8")
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
    return f"Measured on {date.today()} on {_machine()}.\n\n" + "\n".join(lines) + "\n"


def _machine() -> str:
    names = [
        line.split(":")[1].strip()
        for line in Path("/proc/cpuinfo").read_text().splitlines()
        if line.startswith("model name")
    ]
    gib = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{names[0]} with {os.cpu_count()} cores and {gib:.0f} GiB, {platform.system()}, "
        f"Python {platform.python_version()}, numpy {version('numpy')}, "
        f"panmatch {panmatch.__version__}"
    )


if __name__ == "__main__":
    main()
