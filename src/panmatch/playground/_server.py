"""The conversation with one page: a reader that never waits, and tasks that answer."""

from __future__ import annotations

import asyncio
import mimetypes
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.types import Message as AsgiMessage
from starlette.websockets import WebSocket, WebSocketDisconnect

from panmatch.errors import OptionError, PanmatchError
from panmatch.playground._dropped_files import DropFolder
from panmatch.playground._file_pair import FilePair
from panmatch.playground._receiving import receive_file
from panmatch.playground._request_handler import RequestHandler, problem, read_message
from panmatch.playground._validation import Message

LATEST_ONLY = ("numbers", "slice")
MOST_QUEUED = 64  # of the other kinds; then the reader waits
QUIET_SECONDS = 0.12  # without new numbers, before the slower metrics are computed


class LatestRequest:
    """Hands over the latest request and drops older ones that nobody has taken.

    Examples
    --------
    >>> async def last_of(requests: list[Message]) -> Message:
    ...     latest = LatestRequest()
    ...     for request in requests:
    ...         latest.put(request)
    ...     return await latest.take()
    >>> asyncio.run(last_of([{"seq": 1}, {"seq": 2}]))
    {'seq': 2}
    """

    def __init__(self) -> None:
        self._request: Message = {}
        self._there = asyncio.Event()

    @property
    def waiting(self) -> bool:
        """Whether there is a request that nobody has taken."""
        return self._there.is_set()

    def put(self, request: Message) -> None:
        """Leave a request, replacing one that is still waiting."""
        self._request = request
        self._there.set()

    async def take(self) -> Message:
        """Return the latest request, as soon as there is one."""
        await self._there.wait()
        self._there.clear()
        return self._request


class Session:
    """One open page.

    For numbers and for slices, only the latest waiting request is answered; all other requests are
    answered in turn. Answers are computed in threads, so reading goes on meanwhile.

    Parameters
    ----------
    handler
        What answers.
    receive
        Returns the next message of the page, None once the page is gone.
    send
        Sends a message to the page.
    """

    def __init__(
        self,
        handler: RequestHandler,
        receive: Callable[[], Awaitable[str | None]],
        send: Callable[[str], Awaitable[None]],
    ) -> None:
        self._handler, self._receive, self._send = handler, receive, send
        self._in_turn: asyncio.Queue[Message] = asyncio.Queue(MOST_QUEUED)
        self._latest = {kind: LatestRequest() for kind in LATEST_ONLY}
        self._answered = LatestRequest()  # whose numbers were sent
        self._sending = asyncio.Lock()

    async def run(self) -> None:
        """Answer until the page is gone."""
        jobs = [self._answer_latest(kind) for kind in LATEST_ONLY]
        jobs += [self._answer_in_turn(), self._send_related()]
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(job) for job in jobs]
            while (text := await self._receive()) is not None:
                await self._sort(text)
            for task in tasks:
                task.cancel()

    async def _sort(self, text: str) -> None:
        try:
            request = read_message(text)
        except PanmatchError as error:
            await self._send_text(problem(None, None, str(error)))
            return
        kind = request.get("ask")
        if kind in LATEST_ONLY:
            self._latest[kind].put(request)
        else:
            await self._in_turn.put(request)

    async def _answer_in_turn(self) -> None:
        while True:
            await self._answer(await self._in_turn.get())

    async def _answer_latest(self, kind: str) -> None:
        while True:
            request = await self._latest[kind].take()
            await self._answer(request)
            if kind == "numbers":
                self._answered.put(request)

    async def _answer(self, request: Message) -> None:
        await self._send_text(await asyncio.to_thread(self._handler.answer, request))

    async def _send_related(self) -> None:
        while True:
            request = await self._answered.take()
            await asyncio.sleep(QUIET_SECONDS)
            texts = self._handler.related(request)
            while not (self._answered.waiting or self._latest["numbers"].waiting):
                text = await asyncio.to_thread(next, texts, None)
                if text is None:
                    break
                await self._send_text(text)

    async def _send_text(self, text: str) -> None:
        async with self._sending:
            await self._send(text)


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
            f"--port {port} cannot be used: {error.strerror}. Choose another port, or leave it out "
            "to use a free one."
        ) from error
    return listening


def make_app(pair: FilePair | None, port: int) -> ASGIApp:
    """Return the application that serves the page and talks to it."""
    mimetypes.add_type("text/javascript", ".js")  # some systems say otherwise, and pages then fail
    drops = DropFolder()

    async def talk(websocket: WebSocket) -> None:
        await websocket.accept()
        await _session(websocket, RequestHandler(pair, drops)).run()

    async def receive(request: Request) -> Response:
        return await receive_file(request, drops)

    def show(request: Request) -> FileResponse:
        del request
        return FileResponse(STATIC / "index.html")

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        drops.close()

    routes = [
        Route("/", show),
        Route("/files", receive, methods=["POST"]),
        Mount("/static", StaticFiles(directory=STATIC)),
        WebSocketRoute("/ws", talk),
    ]
    return Guard(Starlette(routes=routes, lifespan=lifespan), port)


def serve(listening: socket.socket, pair: FilePair | None = None) -> None:
    """Serve until interrupted."""
    app = make_app(pair, listening.getsockname()[1])
    make_server(app).run(sockets=[listening])


def make_server(app: ASGIApp) -> uvicorn.Server:
    """Return a server that logs only errors."""
    config = uvicorn.Config(
        app,
        lifespan="on",
        log_level="error",
        access_log=False,
        server_header=False,
        ws_max_size=LARGEST_MESSAGE,
        ws_per_message_deflate=False,  # nothing leaves this machine
        timeout_graceful_shutdown=LAST_WORDS_SECONDS,
    )
    return uvicorn.Server(config)


def _session(websocket: WebSocket, handler: RequestHandler) -> Session:
    async def receive() -> str | None:
        message = await websocket.receive()
        return None if message["type"] == "websocket.disconnect" else message.get("text") or ""

    async def send(text: str) -> None:
        # A page that is gone hears nothing more; the reader learns of it.
        with suppress(WebSocketDisconnect, RuntimeError):
            await websocket.send_text(text)

    return Session(handler, receive, send)


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
        if scope["type"] == "lifespan":  # the server itself starts or ends
            await self._app(scope, receive, send)
            return
        problem = self.refusal(scope)
        if scope["type"] == "websocket":
            if problem:
                await send({"type": "websocket.close", "code": POLICY_VIOLATION, "reason": problem})
                return
            await self._app(scope, receive, send)
            return
        answer: ASGIApp = PlainTextResponse(problem, 403) if problem else self._app

        async def send_safely(message: AsgiMessage) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(self.headers())
            await send(message)

        await answer(scope, receive, send_safely)

    def refusal(self, scope: Scope) -> str:
        """Return why a request is refused; empty if it is not."""
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            return "This server only answers at its own address on this machine."
        if scope["type"] == "http" and scope["method"] in ("GET", "HEAD"):
            return ""
        if headers.getlist("origin") != [f"http://{hosts[0].lower()}"]:
            return "This server only talks to its own page."
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
