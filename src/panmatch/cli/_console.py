"""Consoles that cannot show every character, such as those of Windows with an old code page."""

from __future__ import annotations

import codecs
import io
import sys
from typing import TextIO

HANDLER = "panmatch-plain"
PLAIN = {
    "τ": "tau",
    "λ": "lambda",
    "Σ": "sum",
    "∫": "integral",
    "−": "-",
    "–": "-",
    "—": "-",
    "…": "...",
    "≥": ">=",
    "≤": "<=",
    "≠": "!=",
    "→": "->",
    "↔": "<->",
    "×": "x",
    "½": "1/2",
    "µ": "u",
    "μ": "u",
    "·": "|",
    "²": "^2",
    "³": "^3",
    "█": "#",
    "░": ".",
}


def show_anything() -> None:
    """Write characters that a stream cannot encode in plain letters, instead of failing."""
    codecs.register_error(HANDLER, _in_plain_letters)
    for stream in (sys.stdout, sys.stderr):
        _allow_any_text(stream)


def _allow_any_text(stream: TextIO | None) -> None:
    if isinstance(stream, io.TextIOWrapper) and stream.errors in ("strict", "backslashreplace"):
        stream.reconfigure(errors=HANDLER)


def _in_plain_letters(error: UnicodeError) -> tuple[str, int]:
    """Return a replacement for characters that cannot be encoded."""
    assert isinstance(error, UnicodeEncodeError)
    text = error.object[error.start : error.end]
    return "".join(PLAIN.get(letter, "?") for letter in text), error.end
