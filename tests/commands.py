"""Commands as people type them, without the second that their imports take each time."""

from __future__ import annotations

import atexit
import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from panmatch.cli._progress import WORDS

ROOT = Path(__file__).parents[1]
# Warnings are errors, except those that the oldest dependencies cause: see `make test-lowest`.
WARNINGS = ("error", *filter(None, os.environ.get("MORE_WARNING_FILTERS", "").split(",")))
STRICT_PYTHON = (sys.executable, *(word for one in WARNINGS for word in ("-W", one)))


@dataclass(frozen=True)
class Program:
    """A module or the path of a script, the Python that runs it, and what it imports anyway."""

    name: str
    python: tuple[str, ...]
    imported: tuple[str, ...]


PANMATCH = Program(
    "panmatch",
    STRICT_PYTHON,
    (
        "nibabel",
        "pandas",
        "yaml",
        "panmatch.cli._app",
        "panmatch.cli._compare",
        "panmatch.cli._evaluate",
        "panmatch.cli._protocol",
        "panmatch.cli._spec",
        "panmatch.datasets",
        "panmatch.formats",
    ),
)


def panmatch(
    *arguments: object, cwd: Path | None = None, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command, and return what it printed."""
    return run(PANMATCH, *arguments, cwd=cwd, environment=environment)


def run(
    program: Program,
    *arguments: object,
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a program, and return what it printed."""
    with (
        Path(os.devnull).open() as nothing,
        tempfile.TemporaryFile("w+") as out,
        tempfile.TemporaryFile("w+") as err,
    ):
        streams = [nothing.fileno(), out.fileno(), err.fileno()]
        code = start(program, arguments, streams, cwd, environment)()
        out.seek(0)
        err.seek(0)
        command = [program.name, *map(str, arguments)]
        return subprocess.CompletedProcess(command, code, out.read(), err.read())


def complaints(stderr: str) -> list[str]:
    """Return what a command says on stderr, without the progress that slow machines are told."""
    phases = tuple(f"panmatch: {words}" for words in WORDS.values())
    return [line for line in stderr.splitlines() if not line.startswith(phases)]


def start(
    program: Program,
    arguments: Sequence[object],
    streams: list[int],
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Callable[[], int]:
    """Start a program with these standard streams, and return what waits for its exit code."""
    if not hasattr(os, "fork"):  # Windows
        return _start_alone(program, arguments, streams, cwd, environment)
    request = {
        "program": program.name,
        "arguments": [*map(str, arguments)],
        "folder": str(cwd or Path.cwd()),
        "environment": {**(os.environ if environment is None else environment)},
    }
    channel = _server(program.python, program.imported)
    line = json.dumps(request).encode() + b"\n"
    sent = socket.send_fds(channel, [line], streams)
    channel.sendall(line[sent:])

    def wait() -> int:
        answer = channel.recv(4)
        assert len(answer) == 4, f"the server of {program.name} has ended: its errors are above"
        return int.from_bytes(answer, "little", signed=True)

    return wait


def _start_alone(
    program: Program,
    arguments: Sequence[object],
    streams: list[int],
    cwd: Path | None,
    environment: Mapping[str, str] | None,
) -> Callable[[], int]:
    """Start a program in a process of its own, which imports everything first."""
    what = [program.name] if program.name.endswith(".py") else ["-m", program.name]
    stdin, stdout, stderr = streams
    process = subprocess.Popen(
        [*program.python, *what, *map(str, arguments)],
        cwd=cwd,
        env=environment,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
    )
    return process.wait


@cache
def _server(python: tuple[str, ...], imported: tuple[str, ...]) -> socket.socket:
    """Start a server that ends with this process."""
    ours, theirs = socket.socketpair()
    with theirs:
        process = subprocess.Popen(
            [*python, "-m", "tests.fork_server", str(theirs.fileno()), *imported],
            cwd=ROOT,
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
        )

    @atexit.register
    def end() -> None:
        ours.close()
        process.wait()

    return ours
