"""The playground without a server: what the worker of a page calls, a text in, a text out."""

from __future__ import annotations

from panmatch.errors import PanmatchError
from panmatch.playground._request_handler import RequestHandler, problem, read_message

_handler = RequestHandler()


def answer(text: str) -> str:
    """Return the answer to a message."""
    try:
        return _handler.answer(read_message(text))
    except PanmatchError as error:
        return problem(None, None, str(error))


def related(text: str) -> str | None:
    """Return the slower metrics for a message that asked for numbers; None if that was refused."""
    return next(_handler.related(read_message(text)), None)
