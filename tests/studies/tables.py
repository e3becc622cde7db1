"""Tables in Markdown, read back."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Table:
    """Column names, and rows by column name."""

    head: list[str]
    rows: list[dict[str, str]]


def tables_of(text: str) -> list[Table]:
    """Return all tables of a page."""
    found: list[list[list[str]]] = []
    before = ""
    for line in text.splitlines():
        if line.startswith("|"):
            if not before.startswith("|"):
                found.append([])
            found[-1].append([cell.strip() for cell in line.strip("|").split(" | ")])
        before = line
    return [
        Table(lines[0], [dict(zip(lines[0], row, strict=True)) for row in lines[2:]])
        for lines in found
    ]
