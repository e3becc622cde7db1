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
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]


def panmatch(
    *arguments: object, cwd: Path | None = None, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command whose warnings are errors, and return what it printed."""
    with (
        Path(os.devnull).open() as nothing,
        tempfile.TemporaryFile("w+") as out,
        tempfile.TemporaryFile("w+") as err,
    ):
        streams = [nothing.fileno(), out.fileno(), err.fileno()]
        code = start(arguments, streams, cwd, environment)()
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess([*map(str, arguments)], code, out.read(), err.read())


def start(
    arguments: Sequence[object],
    streams: list[int],
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Callable[[], int]:
    """Start a command with these standard streams; what is returned waits for its exit code."""
    if not hasattr(os, "fork"):  # Windows
        return _start_alone(arguments, streams, cwd, environment)
    request = {
        "arguments": [*map(str, arguments)],
        "folder": str(cwd or Path.cwd()),
        "environment": {**(os.environ if environment is None else environment)},
    }
    channel = _server()
    line = json.dumps(request).encode() + b"\n"
    sent = socket.send_fds(channel, [line], streams)
    channel.sendall(line[sent:])
    return lambda: int.from_bytes(channel.recv(4), "little", signed=True)


def _start_alone(
    arguments: Sequence[object],
    streams: list[int],
    cwd: Path | None,
    environment: Mapping[str, str] | None,
) -> Callable[[], int]:
    """Start a command in a process of its own, which imports everything first."""
    command = [sys.executable, "-W", "error", "-m", "panmatch", *map(str, arguments)]
    stdin, stdout, stderr = streams
    process = subprocess.Popen(
        command, cwd=cwd, env=environment, stdin=stdin, stdout=stdout, stderr=stderr
    )
    return process.wait


@cache
def _server() -> socket.socket:
    """Start the server of this test process; both end together."""
    ours, theirs = socket.socketpair()
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-W", "error", "-m", "tests.command_server", str(theirs.fileno())],
            cwd=ROOT,
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
        )

    @atexit.register
    def end() -> None:
        ours.close()
        process.wait()

    return ours
