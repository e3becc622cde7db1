"""A Python that has imported what a program needs, and forks itself for each time it is run.

Usage: python -m tests.fork_server SOCKET MODULE ..., the number of an inherited socket and what to
import. A request is one line of JSON: the program (a module or the path of a script), its
arguments, the folder to work in and the environment; the three standard streams come with it. The
answer is the exit code, in four bytes.

A child is a process like one that a person starts: it has its own streams, folder, environment and
exit code, and the program is its main module. It only need not import everything again.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import runpy
import socket
import sys
from pathlib import Path
from typing import Any

Request = dict[str, Any]


def serve(channel: socket.socket) -> Request | None:
    """Answer until nobody asks any more; return in a child what it has to do."""
    while True:
        line, streams, _, _ = socket.recv_fds(channel, 1 << 16, 3)
        if not line:
            return None
        while not line.endswith(b"\n"):
            line += channel.recv(1 << 16)
        child = os.fork()
        if not child:
            request: Request = json.loads(line)
            become(request, streams)
            return request
        for stream in streams:
            os.close(stream)
        _, status = os.waitpid(child, 0)
        channel.sendall(os.waitstatus_to_exitcode(status).to_bytes(4, "little", signed=True))


def become(request: Request, streams: list[int]) -> None:
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
    script = request["program"].endswith(".py")
    sys.path[0] = str(Path(request["program"]).parent) if script else request["folder"]


if __name__ == "__main__":
    for name in sys.argv[2:]:
        importlib.import_module(name)
    gc.freeze()  # children need not look at all of this again, not even when they end
    with socket.socket(fileno=int(sys.argv[1])) as channel:
        asked = serve(channel)
    if asked and asked["program"].endswith(".py"):
        runpy.run_path(asked["program"], run_name="__main__")
    elif asked:
        runpy.run_module(asked["program"], run_name="__main__", alter_sys=True)
