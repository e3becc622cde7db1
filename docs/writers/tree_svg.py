"""Decision trees as pictures: questions below each other, and a leaf for every yes."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

WIDTH, LEFT = 400, 52  # of the picture; where leaves begin
LINE, PAD, GAP = 18, 9, 14  # height of a line; room inside of a box; room between boxes
WIDE, NARROW = 48, 41  # characters of a line in a box of the whole width, and in a leaf
INK, QUESTION, LEAF, EDGE = "#1c2430", "#dde5f1", "#cfe8d5", "#727d8f"
FONT = "system-ui, 'Segoe UI', Helvetica, Arial, sans-serif"


@dataclass(frozen=True, slots=True)
class Leaf:
    """What to do, and where it is shown."""

    title: str
    detail: str
    link: str


@dataclass(frozen=True, slots=True)
class Question:
    """A question whose answer yes leads to a leaf."""

    text: str
    leaf: Leaf


def tree_svg(title: str, questions: Sequence[Question], otherwise: Leaf) -> str:
    """Return a tree: whoever answers no goes on to the next question."""
    parts: list[str] = []
    y = 0.0
    for question in questions:
        text = _lines(question.text, WIDE)
        height = 2 * PAD + LINE * len(text)
        parts += _box(0, y, WIDTH, height, QUESTION, text)
        leaf_height = _leaf_height(question.leaf)
        top = y + height + GAP
        parts += _arrow(LEFT + 24, y + height, top, "yes", LEFT + 32)
        parts += _leaf(question.leaf, top, leaf_height)
        end = top + leaf_height + GAP
        parts += _arrow(20, y + height, end, "no", 26)
        y = end
    parts += _leaf(otherwise, y, _leaf_height(otherwise, WIDE), x=0)
    y += _leaf_height(otherwise, WIDE)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-1 -1 {WIDTH + 2} {y + 2:g}" '
        f'width="{WIDTH + 2}" height="{y + 2:g}" role="img" font-family="{FONT}" font-size="14">'
    )
    return "\n".join([head, f"<title>{escape(title)}</title>", *parts, "</svg>", ""])


def _lines(text: str, characters: int) -> list[str]:
    return textwrap.wrap(text, characters, break_on_hyphens=False)


def _leaf_height(leaf: Leaf, characters: int = NARROW) -> float:
    return 2 * PAD + LINE * (1 + len(_lines(leaf.detail, characters)))


def _leaf(leaf: Leaf, y: float, height: float, x: float = LEFT) -> Iterator[str]:
    yield f'<a href="{escape(leaf.link)}">'
    lines = _lines(leaf.detail, NARROW if x else WIDE)
    yield from _box(x, y, WIDTH - x, height, LEAF, [leaf.title, *lines], bold=True)
    yield "</a>"


def _box(
    x: float, y: float, width: float, height: float, fill: str, lines: Sequence[str],
    *, bold: bool = False,
) -> Iterator[str]:  # fmt: skip
    yield (
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="7" fill="{fill}" '
        f'stroke="{EDGE}"/>'
    )
    for at, line in enumerate(lines):
        weight = ' font-weight="700"' if bold and at == 0 else ""
        baseline = y + PAD + LINE * at + 13.5
        yield (f'<text x="{x + 12:g}" y="{baseline:g}" fill="{INK}"{weight}>{escape(line)}</text>')


def _arrow(x: float, start: float, end: float, word: str, word_x: float) -> Iterator[str]:
    """Yield an arrow downwards with a word beside its beginning."""
    yield f'<path d="M{x:g} {start:g}V{end - 5:g}" stroke="{EDGE}" stroke-width="1.6" fill="none"/>'
    yield f'<path d="M{x - 4:g} {end - 7:g}L{x:g} {end:g}L{x + 4:g} {end - 7:g}z" fill="{EDGE}"/>'
    yield f'<text x="{word_x:g}" y="{start + 11:g}" fill="{EDGE}" font-size="12">{word}</text>'
