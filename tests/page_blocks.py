"""Blocks of a page, and what it takes to run them.

Comments of a page say what its blocks need. Above all blocks: ``<!-- folder: NAME -->`` names a
function of `tests.page_folders` that writes the files the page starts with, ``<!-- needs: torch
-->`` a package, and ``<!-- commands: parsed -->`` that commands are checked, but not run. On the
line before a block: ``<!-- file: NAME -->`` saves it for the commands that follow, ``<!-- exit: N
-->`` is its exit code, and ``<!-- not run: REASON -->`` leaves it out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

FENCE = re.compile(
    r"^(?P<notes>(?:<!-- [^\n]*? -->\n)*)(?P<fence>`{3,})(?P<language>[\w-]*)\n"
    r"(?P<text>.*?)^(?P=fence)$",
    re.MULTILINE | re.DOTALL,
)
NOTE = re.compile(r"<!-- ([\w ]+): (.+?) -->")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block, and what the comments on the lines before it say."""

    language: str
    text: str
    line: int
    notes: dict[str, str]


@dataclass(frozen=True, slots=True)
class Command:
    """A command of a console block, and what the page says it prints."""

    text: str
    shown: str


def notes_of(page: str) -> dict[str, str]:
    """Return what a page says about all its blocks: the comments outside of blocks."""
    return dict(NOTE.findall(FENCE.sub("", page)))


def blocks_of(page: str) -> Iterator[Block]:
    """Yield the blocks of a page that name a language, in order."""
    for found in FENCE.finditer(page):
        if found["language"]:
            line = page.count("\n", 0, found.start("fence")) + 1
            yield Block(found["language"], found["text"], line, dict(NOTE.findall(found["notes"])))


def commands_of(block: Block) -> Iterator[Command]:
    """Yield the commands behind ``$``, each with its continued lines and its output."""
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        found = re.match(r"((?:[^\n]*\\\n)*[^\n]*)\n", part)
        assert found is not None, part
        yield Command(re.sub(r"\\\n\s*", "", found[1]), part[found.end() :])


def shows(shown: str, printed: str) -> bool:
    """Tell whether a page shows what was printed; ``…`` stands for any text, alone for any lines.

    Spaces at the ends of lines and empty lines around everything do not count.
    """
    lines = [line.rstrip() for line in shown.strip("\n").splitlines()]
    parts = [
        r"(?:.*\n)*?" if line == "…" else re.escape(line).replace("…", ".*") + r"\n"
        for line in lines
    ]
    actual = "\n".join(line.rstrip() for line in printed.strip("\n").splitlines()) + "\n"
    return re.fullmatch("".join(parts), actual) is not None
