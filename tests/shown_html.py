"""What a reader sees of the HTML by which values show themselves, read back from it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser


@dataclass
class Shown:
    """The texts outside tables, the rows of all tables, and the curves that are drawn."""

    words: str = ""
    rows: list[list[str]] = field(default_factory=list)
    curves: list[list[tuple[float, float, float]]] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.shown = Shown()
        self.open: list[str] = []
        self.box = (0.0, 0.0)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.shown.tags.append(tag)
        if tag == "tr":
            self.shown.rows.append([])
        if tag in ("td", "th"):
            self.shown.rows[-1].append("")
        if tag == "svg":
            self.box = float(given["width"] or 0), float(given["height"] or 0)
        if tag == "path" and given.get("class") == "steps":
            self.shown.curves.append(read_steps(given["d"] or "", *self.box))
        if tag != "path":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag == "path":
            return
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "title" in self.open:
            return
        if {"td", "th"} & set(self.open):
            self.shown.rows[-1][-1] += data
        else:
            self.shown.words += data + ("" if self.open[-1:] == ["span"] else "\n")


def read_html(html: str) -> Shown:
    """Return what is shown; every element that is opened must be closed."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    assert not reader.open
    return reader.shown


def read_steps(path: str, width: float, height: float) -> list[tuple[float, float, float]]:
    """Return (start, stop, value) of every step of a drawn function, in its own units."""
    found, x, y = [], 0.0, 0.0
    for letter, numbers in re.findall(r"([MHV])([\d. -]+)", path):
        values = [float(text) for text in numbers.split()]
        if letter == "M":
            x, y = values
        elif letter == "V":
            (y,) = values
        else:
            found.append((x / width, values[0] / width, 1 - y / height))
            (x,) = values
    return found
