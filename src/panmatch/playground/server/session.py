"""The talk with one page: a reader that never waits for an answer, and lanes that answer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from panmatch.errors import PanmatchError
from panmatch.playground.plain import Message
from panmatch.playground.server.desk import Desk, problem, read_message
from panmatch.playground.server.newest import Newest

NEWEST_ONLY = ("numbers", "slice")
MOST_QUEUED = 64  # of the other kinds; then the reader waits
QUIET_SECONDS = 0.12  # without new numbers, before the slower metrics are computed


class Session:
    """One open page.

    Of requests for numbers and for slices only the newest one that waits is answered, the others
    are answered in turn. Answers are computed in threads, so that reading goes on meanwhile.

    Parameters
    ----------
    desk
        What answers.
    receive
        Returns the next message of the page, None once the page is gone.
    send
        Sends a message to the page.
    """

    def __init__(
        self,
        desk: Desk,
        receive: Callable[[], Awaitable[str | None]],
        send: Callable[[str], Awaitable[None]],
    ) -> None:
        self._desk, self._receive, self._send = desk, receive, send
        self._in_turn: asyncio.Queue[Message] = asyncio.Queue(MOST_QUEUED)
        self._newest = {kind: Newest[Message]() for kind in NEWEST_ONLY}
        self._told = Newest[Message]()  # numbers that were sent
        self._sending = asyncio.Lock()

    async def run(self) -> None:
        """Talk until the page is gone."""
        lanes = [self._answer_newest(kind) for kind in NEWEST_ONLY]
        lanes += [self._answer_in_turn(), self._tell_related()]
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(lane) for lane in lanes]
            while (text := await self._receive()) is not None:
                await self._sort(text)
            for task in tasks:
                task.cancel()

    async def _sort(self, text: str) -> None:
        try:
            asked = read_message(text)
        except PanmatchError as error:
            await self._tell(problem(None, None, str(error)))
            return
        kind = asked.get("ask")
        if kind in NEWEST_ONLY:
            self._newest[kind].put(asked)
        else:
            await self._in_turn.put(asked)

    async def _answer_in_turn(self) -> None:
        while True:
            asked = await self._in_turn.get()
            await self._tell(await asyncio.to_thread(self._desk.answer, asked))

    async def _answer_newest(self, kind: str) -> None:
        while True:
            asked = await self._newest[kind].take()
            await self._tell(await asyncio.to_thread(self._desk.answer, asked))
            if kind == "numbers":
                self._told.put(asked)

    async def _tell_related(self) -> None:
        while True:
            asked = await self._told.take()
            await asyncio.sleep(QUIET_SECONDS)
            texts = self._desk.related(asked)
            while not self._outdated:
                text = await asyncio.to_thread(next, texts, None)
                if text is None:
                    break
                await self._tell(text)

    @property
    def _outdated(self) -> bool:
        return self._told.waiting or self._newest["numbers"].waiting

    async def _tell(self, text: str) -> None:
        async with self._sending:
            await self._send(text)
