"""The page about all strategies, written from their descriptions: ``make docs`` keeps it."""

from __future__ import annotations

from panmatch.matching import STRATEGIES, Strategy

INTRODUCTION = """\
# Strategies

<!-- Written by docs/writers/strategies.py. -->

The first word counts predictions per reference, the second references per prediction. Other tools
read such names the other way round, so panmatch always prints both bounds. A pair is an edge if its
IoU is strictly greater than the threshold τ. The first value of an option is its default.
"""


def strategies_page() -> str:
    """Return the page as Markdown."""
    sections = [_section(family) for family in STRATEGIES.values()]
    return "\n\n".join([f"{INTRODUCTION}\n{strategies_table()}", *sections]) + "\n"


def strategies_table() -> str:
    """Return the table of the page, which the README has as well."""
    head = ["| strategy | in Python | bounds | forgives | options |", "|---|---|---|---|---|"]
    return "\n".join([*head, *(_line(family()) for family in STRATEGIES.values())])


def _line(strategy: Strategy) -> str:
    options = "; ".join(
        f"`{name}`: {', '.join(f'`{value}`' for value in values)}"
        for name, values in strategy.choices().items()
    )
    bounds = ", ".join(strategy.bounds)
    options = options or ("regions only" if strategy.needs_regions else "–")
    python = f"`pm.{type(strategy).__name__}`"
    return f"| `{strategy.name}` | {python} | {bounds} | {strategy.forgives} | {options} |"


def _section(family: type[Strategy]) -> str:
    lines = [f"- `{variant.label}`: {variant.about}" for variant in family.variants()]
    return "\n".join([f"## {family.name}", "", *lines])
