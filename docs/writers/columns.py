"""The page about all columns of all tables: ``make docs`` keeps docs/reference/columns.md."""

from __future__ import annotations

from collections.abc import Mapping

from panmatch.evaluation import COLUMNS, TABLES, related_meanings

INTRODUCTION = """\
# Columns of the tables

<!-- Written by docs/writers/columns.py. -->

`panmatch evaluate` writes these tables to its output folder, as CSV and, with the extra `parquet`,
as Parquet. In Python, `result.scores`, `result.instances` and the like have the same columns. A
cell is empty if a number is not defined. The spec decides which columns there are: columns of parts
need a class with parts, and columns of metrics need a metric under `metrics`.

Names in capitals stand for any of their kind:

| in a name | stands for |
|---|---|
| `METRIC` | a [metric](metrics.md) of the spec, such as `hd95`; by IoU it is `sq` and `pq` |
| `SIDE` | `ref` or `pred` |
| `AXIS` | an array axis, counted from 0 |
| `REPAIR` | a kind of mistake: `class`, `split`, `merged`, `missed`, `spurious` or `outline` |

D1 to D18 are [the definitions](../explanation/definitions.md).
"""

RELATED = """\
### Related scores

Each score that the spec lists under `related` has a column, or several. Its key `name` replaces the
first part of the column's name. [How these scores are related](../explanation/related.md).
"""

CAPITALS = {
    "{metric}": "METRIC",
    "{share_metric}": "METRIC",
    "{any_metric}": "METRIC",
    "{side}": "SIDE",
    "{axis}": "AXIS",
    "{repair}": "REPAIR",
}


def columns_page() -> str:
    """Return the page as Markdown."""
    sections = [_section(table) for table in COLUMNS]
    return "\n".join([INTRODUCTION, *sections])


def _section(table: str) -> str:
    lines = [f"## {table}", "", f"A row is {TABLES[table]}.", "", *_rows(COLUMNS[table])]
    if table == "scores":
        lines += ["", RELATED, *_rows(related_meanings())]
    return "\n".join([*lines, ""])


def _rows(meanings: Mapping[str, str]) -> list[str]:
    head = ["| column | meaning |", "|---|---|"]
    return head + [f"| `{_shown(name)}` | {_linked(text)} |" for name, text in meanings.items()]


def _shown(name: str) -> str:
    for field, word in CAPITALS.items():
        name = name.replace(field, word)
    return name


def _linked(text: str) -> str:
    """Link definitions: the last number first, so that D1 is not found in D11."""
    for number in range(15, 0, -1):
        text = text.replace(
            f"(D{number})", f"([D{number}](../explanation/definitions.md#d{number}))"
        )
    return text
