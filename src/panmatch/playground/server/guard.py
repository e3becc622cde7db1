"""Who may talk to the server: pages that it served itself, on this machine, and nobody else.

Any web page can send requests to a port of 127.0.0.1, and a name of its own may lead there. Such
requests say so in their headers: `Host` is then a foreign name, or `Origin` a foreign page.
"""

from __future__ import annotations

from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

NAMES = ("127.0.0.1", "localhost")
POLICY_VIOLATION = 1008
HTTP_PORT = 80


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
        answer: Any = PlainTextResponse(problem, 403) if problem else self._app

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
