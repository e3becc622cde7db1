"""A Python that has imported what commands need, and forks itself for each of them.

Usage: python -W error -m tests.command_server SOCKET, the number of an inherited socket. A request
is one line of JSON: the arguments of `panmatch`, the folder to work in, and the environment; the
three standard streams come with it. The answer is the exit code, in four bytes.

A child is a process like one that a person starts: it has its own streams, folder, environment and
exit code, and `panmatch.__main__` is its main module. It only need not import pandas again.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import runpy
import socket
import sys
from typing import Any

# Neither the playground nor the report: few commands need them.
IMPORTED = (
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
)


def serve(channel: socket.socket) -> bool:
    """Answer requests until there are no more; return True in a child that has one to fulfil."""
    while True:
        request, streams, _, _ = socket.recv_fds(channel, 1 << 16, 3)
        if not request:
            return False
        while not request.endswith(b"\n"):
            request += channel.recv(1 << 16)
        child = os.fork()
        if not child:
            become(json.loads(request), streams)
            return True
        for stream in streams:
            os.close(stream)
        _, status = os.waitpid(child, 0)
        channel.sendall(os.waitstatus_to_exitcode(status).to_bytes(4, "little", signed=True))


def become(request: dict[str, Any], streams: list[int]) -> None:
    """Make this process the one that was asked for."""
    for ours, theirs in enumerate(streams):
        os.dup2(theirs, ours)
        os.close(theirs)
    sys.stdin = os.fdopen(0, closefd=False)
    sys.stdout = os.fdopen(1, "w", errors=sys.stdout.errors, closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, errors=sys.stderr.errors, closefd=False)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.argv[1:] = request["arguments"]
    sys.path[0] = request["folder"]


if __name__ == "__main__":
    for name in IMPORTED:
        importlib.import_module(name)
    gc.freeze()  # children need not look at all of this again, not even when they end
    with socket.socket(fileno=int(sys.argv[1])) as channel:
        asked = serve(channel)
    if asked:
        runpy.run_module("panmatch", run_name="__main__", alter_sys=True)
