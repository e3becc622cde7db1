"""Commands under a pseudo-terminal of a given width, and stored pictures of what they print."""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.commands import PANMATCH, start

PICTURES = Path(__file__).parent / "pictures"
UPDATE = "UPDATE_PICTURES"  # set it to store what is printed, and look at the difference


@dataclass(frozen=True)
class Shown:
    """What a person saw."""

    text: str
    errors: str
    code: int

    @property
    def lines(self) -> list[str]:
        return self.text.splitlines()


def in_terminal(columns: int, *arguments: object, cwd: Path, errors: bool = False) -> Shown:
    """Run a command whose output goes to a terminal; its errors as well, if they should."""
    fcntl = pytest.importorskip("fcntl", reason="needs a pseudo-terminal")
    termios = pytest.importorskip("termios")
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    hidden = ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    with (cwd / "stderr.txt").open("w+") as stderr:
        streams = [theirs, theirs, theirs if errors else stderr.fileno()]
        wait = start(PANMATCH, arguments, streams, cwd, environment | {"TERM": "xterm"})
        os.close(theirs)
        shown = b"".join(iter(lambda: _read(ours), b""))
        os.close(ours)
        code = wait()
        stderr.seek(0)
        return Shown(shown.decode().replace("\r\n", "\n"), stderr.read(), code)


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # Linux says that nobody writes any more by an error
        return b""


def assert_pictured(name: str, text: str) -> None:
    """Compare a text with the stored picture of that name."""
    path = PICTURES / f"{name}.txt"
    if UPDATE in os.environ:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8"), f"set {UPDATE}=1 to store it"
