"""Tables and sentences that fit on a screen."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

LINES, COLUMNS = 24, 80
WIDEST = 120  # longer lines are hard to read
GAP = 2


def screen_width() -> int:
    """Return the width of a line: the terminal's, up to 120, or 80 without a terminal."""
    if not sys.stdout.isatty():
        return COLUMNS
    return min(max(shutil.get_terminal_size((COLUMNS, LINES)).columns, COLUMNS // 2), WIDEST)


def wrapped(text: str, width: int, indent: str = "") -> list[str]:
    """Return a paragraph as lines, without breaking names and paths at hyphens.

    Examples
    --------
    >>> wrapped("one-to-one at τ = 0.5", 12, "  ")
    ['one-to-one', '  at τ = 0.5']
    """
    return textwrap.wrap(
        text, width, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False
    )


def name_length(width: int) -> int:
    """Return the maximum length of a name in a table."""
    return width // 5


def shortened(name: str, most: int) -> str:
    """Return a name with its middle cut out if it is too long.

    Examples
    --------
    >>> shortened("nnunet_fold0_final", 11)
    'nnune…final'
    """
    half = (most - 1) // 2
    return name if len(name) <= most else f"{name[: most - 1 - half]}…{name[-half:]}"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table, under a title that it may share with its neighbours.

    If a table is too wide, the columns with the lowest `rank` go first. Those without one stay.
    """

    title: str
    head: str
    cells: tuple[str, ...]
    rank: int | None = None
    left: bool = False

    @property
    def width(self) -> int:
        """The width in characters."""
        return max(len(text) for text in (self.head, *self.cells))


def fitting(columns: Sequence[Column], width: int) -> list[Column]:
    """Return the columns that fit into a given width."""
    kept = list(columns)
    while len(_lines(kept)[0]) > width or max(map(len, _lines(kept))) > width:
        droppable = [column for column in kept if column.rank is not None]
        if not droppable:
            break
        kept.remove(min(reversed(droppable), key=lambda column: column.rank or 0))
    return kept


def grid(columns: Sequence[Column], width: int, elsewhere: str = "in summary.csv") -> list[str]:
    r"""Return a table with its titles and heads, and a line about columns that do not fit.

    Examples
    --------
    >>> a, b = Column("", "model", ("unet",), left=True), Column("PQ at τ", "0.5", ("0.7",), 1)
    >>> print(*grid([a, b], 80), sep="\n")
           PQ at τ
    model      0.5
    unet       0.7
    """
    kept = fitting(columns, width)
    missing = len(columns) - len(kept)
    more = f"({missing} more column{'s' * (missing > 1)} in a wider terminal, or {elsewhere})"
    return [*_lines(kept), *([more] if missing else [])]


def _lines(columns: Sequence[Column]) -> list[str]:
    groups = [list(group) for _, group in groupby(columns, key=lambda column: column.title)]
    blocks = [_block(group) for group in groups]
    lines = [(" " * GAP).join(row).rstrip() for row in zip(*blocks, strict=True)]
    return lines if lines[0] else lines[1:]


def _block(group: Sequence[Column]) -> list[str]:
    """Return the lines of the columns under one title, all of the same length."""
    rows = zip(*((column.head, *column.cells) for column in group), strict=True)
    lines = [
        (" " * GAP).join(
            text.ljust(column.width) if column.left else text.rjust(column.width)
            for column, text in zip(group, row, strict=True)
        )
        for row in rows
    ]
    width = max(len(lines[0]), len(group[0].title))
    title = group[0].title
    if group[0].left:
        return [text.ljust(width) for text in (title, *lines)]
    return [title.center(width) if len(group) > 1 else title.rjust(width)] + [
        text.rjust(width) for text in lines
    ]
