"""`make bench`: measure everything, print the tables, and keep them in README.md.

`python -m benchmarks core playground` measures these again and leaves the other tables as they are.
`threads` and `device` need another machine than most, and are measured only when they are named.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType

from rich.console import Console
from rich.live import Live
from rich.table import Table

from benchmarks import figures
from benchmarks.machine import describe_machine, keep_below
from benchmarks.timing import Row

README = Path(__file__).with_name("README.md")
MARK = "<!-- Everything below is written by `make bench`. -->"
ELSEWHERE = ("threads", "device")  # on machines with many cores and with a GPU: only when named
TITLES = {
    "core": "counting, matching and curves",
    "small": "one small image in a loop",
    "startup": "commands until they have answered",
    "compat": "the drop-in for panoptica",
    "optimal": "proven optimal matching",
    "metrics": "object metrics and distances",
    "masks": "distances of whole masks",
    "regions": "Voronoi regions",
    "classes": "many classes, and parts",
    "coco": "COCO panoptic files",
    "instances": "COCO instances",
    "files": "cases from files",
    "datasets": "folders of cases",
    "chunked": "volumes on disk",
    "playground": "the playground",
    "threads": "one thread and all cores",
    "device": "a CUDA device",
}
HEAD = ["what", "panmatch", "compared with", "ratio", "target", "met"]


def main(names: Sequence[str]) -> None:
    """Measure, show each row as soon as it is there, and keep each table once it is complete."""
    console = Console(width=None if sys.stdout.isatty() else 200)
    missed = 0
    for name in names:
        module = import_module(f"benchmarks.{name}")
        rows = measure(module, console)
        missed += sum(row.met is False for row in rows)
        keep_below(README, MARK, join({**read_sections(), name: report(module, rows)}))
    if set(names) - set(ELSEWHERE):
        figures.main()
    print(f"{missed} targets missed; tables kept in {README.name}.")


def measure(module: ModuleType, console: Console) -> list[Row]:
    done: list[Row] = []
    with Live(show(done), console=console, auto_refresh=False) as live:
        for row in module.rows():
            done.append(row)
            live.update(show(done), refresh=sys.stdout.isatty())
        live.update(show(done), refresh=True)
    return done


def show(rows: list[Row]) -> Table:
    table = Table(*HEAD)
    for row in rows:
        table.add_row(*row.cells())
    return table


def report(module: ModuleType, rows: list[Row]) -> str:
    lines = [f"| {' | '.join(HEAD)} |", "|" + "---|" * len(HEAD)]
    lines += [f"| {' | '.join(row.cells())} |" for row in rows]
    machine = getattr(module, "describe", describe_machine)()
    return f"Measured on {machine}.\n\n" + "\n".join(lines)


def read_sections() -> dict[str, str]:
    """Return the tables that are kept, by the names of their modules."""
    below = README.read_text(encoding="utf-8").partition(MARK)[2]
    parts = [part.partition("\n") for part in below.split("\n## ")[1:]]
    return {title.partition(":")[0]: text.strip() for title, _, text in parts}


def join(sections: Mapping[str, str]) -> str:
    known = [name for name in TITLES if name in sections]
    parts = (f"## {name}: {TITLES[name]}\n\n{sections[name]}" for name in known)
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    main(sys.argv[1:] or [name for name in TITLES if name not in ELSEWHERE])
