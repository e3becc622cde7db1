"""A server in a thread, and pages that talk to it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from inspect import signature
from typing import Any

from websockets.sync.client import ClientConnection, connect

from panmatch.playground import FilePair, listen
from panmatch.playground._server import make_app, make_server


@contextmanager
def serving(pair: FilePair | None = None) -> Iterator[int]:
    """Yield the port of a server that ends with the block."""
    with listen() as listening:
        port: int = listening.getsockname()[1]
        server = make_server(make_app(pair, port))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield port
        finally:
            server.should_exit = True
            thread.join()


class Page:
    """What a page does: it asks, and hears answers."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket

    def ask(self, kind: str, seq: int = 1, **more: Any) -> None:
        self.socket.send(json.dumps({"ask": kind, "seq": seq, **more}))

    def hear(self) -> dict[str, Any]:
        message: dict[str, Any] = json.loads(self.socket.recv(timeout=60))
        return message

    def hear_of(self, *kinds: str) -> dict[str, Any]:
        """Return the next message of one of these kinds."""
        while True:
            message = self.hear()
            if message["is"] in kinds:
                return message

    def answer(self, kind: str, seq: int = 1, **more: Any) -> dict[str, Any]:
        """Ask, and return the answer, related metrics of earlier ones aside."""
        self.ask(kind, seq, **more)
        while (message := self.hear())["is"] == "related":
            pass
        return message


@contextmanager
def opened(port: int, **options: Any) -> Iterator[Page]:
    """Yield a page of the server on a port."""
    origin = options.pop("origin", f"http://127.0.0.1:{port}")
    host = options.pop("host", "127.0.0.1")
    options |= {"origin": origin, "max_size": None}
    if "proxy" in signature(connect).parameters:  # that of an environment has no business here
        options["proxy"] = None
    with connect(f"ws://{host}:{port}/ws", **options) as socket:
        yield Page(socket)
