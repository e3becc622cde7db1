"""What the console and the shell are told.

Some consoles cannot show every character, such as those of Windows with an old code page.
"""

from __future__ import annotations

import codecs
import io
import sys
from enum import IntEnum
from typing import TextIO


class ExitCode(IntEnum):
    """What a command tells the shell."""

    SUCCESS = 0
    SOME_FAILED = 1
    USAGE = 2
    LIMIT_MISSED = 3
    INTERRUPTED = 130


EXIT_MEANINGS = {
    ExitCode.SUCCESS: "success",
    ExitCode.SOME_FAILED: "some cases failed",
    ExitCode.USAGE: "invalid command or input",
    ExitCode.LIMIT_MISSED: "a score is worse than --fail-under allows",
    ExitCode.INTERRUPTED: "interrupted",
}

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


def exit_codes(*left_out: ExitCode) -> str:
    """Return all exit codes and their meanings as a sentence.

    Examples
    --------
    >>> exit_codes(ExitCode.LIMIT_MISSED)
    'Exit codes: 0 success, 1 some cases failed, 2 invalid command or input, 130 interrupted.'
    """
    listed = [f"{code} {text}" for code, text in EXIT_MEANINGS.items() if code not in left_out]
    return f"Exit codes: {', '.join(listed)}."


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
