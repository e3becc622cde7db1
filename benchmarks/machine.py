"""On what was measured, and where the results are kept."""

from __future__ import annotations

import os
import platform
from datetime import date
from importlib.metadata import version
from pathlib import Path

import panmatch


def describe_machine() -> str:
    """Return the processor, memory and versions in words."""
    names = [
        line.split(":")[1].strip()
        for line in Path("/proc/cpuinfo").read_text().splitlines()
        if line.startswith("model name")
    ]
    gib = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{names[0]} with {os.cpu_count()} cores and {gib:.0f} GiB, {platform.system()}, "
        f"Python {platform.python_version()}, numpy {version('numpy')}, scipy {version('scipy')}, "
        f"panmatch {panmatch.__version__}, {date.today()}"
    )


def keep_below(page: Path, mark: str, text: str) -> None:
    """Replace everything below `mark` in a page."""
    head = page.read_text(encoding="utf-8").split(mark)[0]
    page.write_text(f"{head}{mark}\n\n{text}", encoding="utf-8")


def keep_between(page: Path, marks: tuple[str, str], text: str) -> None:
    """Replace everything between two marks in a page."""
    before, rest = page.read_text(encoding="utf-8").split(marks[0])
    after = rest.split(marks[1])[1]
    page.write_text(f"{before}{marks[0]}\n\n{text}\n\n{marks[1]}{after}", encoding="utf-8")
