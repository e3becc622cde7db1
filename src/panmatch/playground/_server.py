"""The server behind the page: static files and one WebSocket, for this machine alone.

Any web page can send requests to a port of 127.0.0.1, and a name of its own may lead there. Such
requests are refused: in their headers `Host` is a foreign name, or `Origin` a foreign page.
"""

from __future__ import annotations

import mimetypes
import os
import socket
from contextlib import suppress
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from panmatch.errors import OptionError
from panmatch.playground._file_pair import FilePair
from panmatch.playground._request_handler import RequestHandler
from panmatch.playground._session import Session

ADDRESS = "127.0.0.1"  # nothing else: the page may show private images
NAMES = (ADDRESS, "localhost")
STATIC = Path(__file__).with_name("static")
LARGEST_MESSAGE = 2_000_000  # bytes from a page
LAST_WORDS_SECONDS = 1  # for open pages, when the server ends
POLICY_VIOLATION = 1008
HTTP_PORT = 80


def listen(port: int = 0) -> socket.socket:
    """Return a socket that listens on this machine; port 0 takes a free one."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if os.name != "nt":  # there it would let two programs share a port
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((ADDRESS, port))
        listening.listen()
    except OSError as error:
        listening.close()
        raise OptionError(
            f"--port {port} cannot be used: {error.strerror}. Name another port, or none to "
            "take a free one."
        ) from error
    return listening


def make_app(pair: FilePair | None, port: int) -> ASGIApp:
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


def serve(listening: socket.socket, pair: FilePair | None = None) -> None:
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


def _session(websocket: WebSocket, pair: FilePair | None) -> Session:
    async def receive() -> str | None:
        message = await websocket.receive()
        return None if message["type"] == "websocket.disconnect" else message.get("text") or ""

    async def send(text: str) -> None:
        # A page that is gone hears nothing more; the reader learns of it.
        with suppress(WebSocketDisconnect, RuntimeError):
            await websocket.send_text(text)

    return Session(RequestHandler(pair), receive, send)


class Guard:
    """Refuses foreign hosts and origins, and adds headers that browsers enforce.

    Parameters
    ----------
    app
        What answers the others.
    port
        Where the server listens.
    """

    def __init__(self, app: ASGIApp, port: int) -> None:
        self._app = app
        self._hosts = {f"{name}:{port}" for name in NAMES}
        if port == HTTP_PORT:  # browsers leave it out
            self._hosts |= set(NAMES)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        problem = self.refusal(scope)
        if scope["type"] == "websocket":
            if problem:
                await send({"type": "websocket.close", "code": POLICY_VIOLATION, "reason": problem})
                return
            await self._app(scope, receive, send)
            return
        answer: ASGIApp = PlainTextResponse(problem, 403) if problem else self._app

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(self.headers())
            await send(message)

        await answer(scope, receive, send_safely)

    def refusal(self, scope: Scope) -> str:
        """Return why a request is refused; empty if it is not."""
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            return "This server answers to its own address only, on this machine."
        if scope["type"] != "websocket":
            return ""
        if headers.getlist("origin") != [f"http://{hosts[0].lower()}"]:
            return "This server talks to its own page only."
        return ""

    def headers(self) -> dict[str, str]:
        """Return the headers of every response."""
        sockets = " ".join(f"ws://{host}" for host in sorted(self._hosts))
        policy = {
            "default-src": "'self'",
            "img-src": "'self' data: blob:",
            "connect-src": f"'self' {sockets}",
            "object-src": "'none'",
            "base-uri": "'none'",
            "form-action": "'none'",
            "frame-ancestors": "'none'",
        }
        return {
            "Content-Security-Policy": "; ".join(f"{key} {value}" for key, value in policy.items()),
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Cache-Control": "no-store",
        }
