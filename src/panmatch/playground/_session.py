"""The conversation with one page: a reader that never waits, and tasks that answer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from panmatch.errors import PanmatchError
from panmatch.playground._request_handler import RequestHandler, problem, read_message
from panmatch.playground._validation import Message

LATEST_ONLY = ("numbers", "slice")
MOST_QUEUED = 64  # of the other kinds; then the reader waits
QUIET_SECONDS = 0.12  # without new numbers, before the slower metrics are computed


class LatestRequest:
    """Hands over the latest request; one that nobody took before it came is dropped.

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
        """Leave a request, in place of one that still waits."""
        self._request = request
        self._there.set()

    async def take(self) -> Message:
        """Return the latest request, as soon as there is one."""
        await self._there.wait()
        self._there.clear()
        return self._request


class Session:
    """One open page.

    Of requests for numbers and for slices only the latest one that waits is answered, the others
    are answered in turn. Answers are computed in threads, so that reading goes on meanwhile.

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
