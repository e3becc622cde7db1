"""The server behind the page: static files and one WebSocket, for this machine alone."""

from __future__ import annotations

import mimetypes
import os
import socket
from contextlib import suppress
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp
from starlette.websockets import WebSocket, WebSocketDisconnect

from panmatch.errors import OptionError
from panmatch.playground.numbers.pair import Pair
from panmatch.playground.server.desk import Desk
from panmatch.playground.server.guard import Guard
from panmatch.playground.server.session import Session

ADDRESS = "127.0.0.1"  # nothing else: the page may show private images
STATIC = Path(__file__).parent.with_name("static")
LARGEST_MESSAGE = 2_000_000  # bytes from a page
LAST_WORDS_SECONDS = 1  # for open pages, when the server ends


def listen(port: int = 0) -> socket.socket:
    """Return a socket that listens on this machine; port 0 takes a free one."""
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if os.name != "nt":  # there it would let two programs share a port
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((ADDRESS, port))
        found.listen()
    except OSError as error:
        found.close()
        raise OptionError(
            f"--port {port} cannot be used: {error.strerror}. Name another one, or none to take "
            f"a free one."
        ) from error
    return found


def make_app(pair: Pair | None, port: int) -> ASGIApp:
    """Return the application that serves the page and talks to it."""
    mimetypes.add_type("text/javascript", ".js")  # some systems say otherwise, and pages then fail

    async def talk(websocket: WebSocket) -> None:
        await websocket.accept()
        await _session(websocket, pair).run()

    def show(request: Request) -> FileResponse:
        del request
        return FileResponse(STATIC / "index.html")

    routes = [
        Route("/", show),
        Mount("/static", StaticFiles(directory=STATIC)),
        WebSocketRoute("/ws", talk),
    ]
    return Guard(Starlette(routes=routes), port)


def serve(listening: socket.socket, pair: Pair | None = None) -> None:
    """Serve until interrupted."""
    app = make_app(pair, listening.getsockname()[1])
    make_server(app).run(sockets=[listening])


def make_server(app: ASGIApp) -> uvicorn.Server:
    """Return a server that has nothing to say but errors."""
    config = uvicorn.Config(
        app,
        lifespan="off",
        log_level="error",
        access_log=False,
        server_header=False,
        ws_max_size=LARGEST_MESSAGE,
        ws_per_message_deflate=False,  # nothing leaves this machine
        timeout_graceful_shutdown=LAST_WORDS_SECONDS,
    )
    return uvicorn.Server(config)


def _session(websocket: WebSocket, pair: Pair | None) -> Session:
    async def receive() -> str | None:
        message = await websocket.receive()
        return None if message["type"] == "websocket.disconnect" else message.get("text") or ""

    async def send(text: str) -> None:
        # A page that is gone hears nothing more; the reader learns of it.
        with suppress(WebSocketDisconnect, RuntimeError):
            await websocket.send_text(text)

    return Session(Desk(pair), receive, send)
