"""Of many requests the newest is answered, and nothing waits for anything else."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest

from panmatch.playground import _server as session
from panmatch.playground._request_handler import RequestHandler
from panmatch.playground._server import Session
from panmatch.playground._validation import Message

Script = Callable[["Talk"], Awaitable[None]]


class SlowHandler(RequestHandler):
    """Answers with what it was asked, a kind only once it may."""

    def __init__(self) -> None:
        super().__init__()
        self.may = {kind: threading.Event() for kind in ("numbers", "slice", "link", "related")}
        self.began: list[Any] = []
        self.related_texts = ["first", "second"]

    def answer(self, asked: Message) -> str:
        self.began.append((asked["ask"], asked["seq"]))
        self.may[asked["ask"]].wait(30)
        return json.dumps([asked["ask"], asked["seq"]])

    def related(self, asked: Message) -> Iterator[str]:
        for text in self.related_texts:
            self.began.append(("related", asked["seq"]))
            self.may["related"].wait(30)
            yield json.dumps([text, asked["seq"]])


class Talk:
    """Both ends of a session."""

    def __init__(self) -> None:
        self.handler = SlowHandler()
        self.sent: list[Any] = []
        self._to: asyncio.Queue[str | None] = asyncio.Queue()
        self._session = Session(self.handler, self._to.get, self._keep)

    def ask(self, kind: str, seq: int) -> None:
        self.say(json.dumps({"ask": kind, "seq": seq}))

    def say(self, text: str | None) -> None:
        self._to.put_nowait(text)

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(30):
            while not condition():
                await asyncio.sleep(0.002)

    async def run(self, script: Script) -> None:
        task = asyncio.create_task(self._session.run())
        try:
            await script(self)
        finally:
            for event in self.handler.may.values():
                event.set()
            self.say(None)
            await asyncio.wait_for(task, 30)

    async def _keep(self, text: str) -> None:
        self.sent.append(json.loads(text))


def play(script: Script) -> None:
    async def talk() -> None:
        await Talk().run(script)

    asyncio.run(talk())


@pytest.fixture(autouse=True)
def _hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "QUIET_SECONDS", 0.01)


@pytest.mark.parametrize("kind", ["numbers", "slice"])
def test_of_requests_that_wait_only_the_newest_is_answered(kind: str) -> None:
    async def script(talk: Talk) -> None:
        talk.handler.related_texts = []
        talk.ask(kind, 0)
        await talk.until(lambda: len(talk.handler.began) == 1)
        for seq in range(1, 50):
            talk.ask(kind, seq)
        await talk.until(lambda: talk._to.empty())
        talk.handler.may[kind].set()
        await talk.until(lambda: len(talk.sent) == 2)
        assert talk.sent == [[kind, 0], [kind, 49]]

    play(script)


def test_other_requests_are_all_answered_in_turn() -> None:
    async def script(talk: Talk) -> None:
        for seq in range(20):
            talk.ask("link", seq)
        talk.handler.may["link"].set()
        await talk.until(lambda: len(talk.sent) == 20)
        assert talk.sent == [["link", seq] for seq in range(20)]

    play(script)


def test_slow_numbers_hold_up_neither_slices_nor_links() -> None:
    async def script(talk: Talk) -> None:
        talk.ask("numbers", 1)
        await talk.until(lambda: len(talk.handler.began) == 1)
        talk.handler.may["slice"].set()
        talk.handler.may["link"].set()
        talk.ask("slice", 2)
        talk.ask("link", 3)
        await talk.until(lambda: len(talk.sent) == 2)
        assert sorted(talk.sent) == [["link", 3], ["slice", 2]]

    play(script)


def test_related_metrics_follow_the_numbers_and_stop_once_there_are_newer_ones() -> None:
    async def script(talk: Talk) -> None:
        talk.handler.may["numbers"].set()
        talk.ask("numbers", 1)
        await talk.until(lambda: ("related", 1) in talk.handler.began)
        talk.ask("numbers", 2)
        await talk.until(lambda: ["numbers", 2] in talk.sent)
        talk.handler.may["related"].set()
        await talk.until(lambda: ["second", 2] in talk.sent)
        assert talk.sent == [
            ["numbers", 1], ["numbers", 2], ["first", 1], ["first", 2], ["second", 2]
        ]  # fmt: skip

    play(script)


def test_related_metrics_are_not_computed_while_numbers_keep_coming(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(session, "QUIET_SECONDS", 0.3)

    async def script(talk: Talk) -> None:
        talk.handler.may["numbers"].set()
        talk.handler.may["related"].set()
        for seq in range(5):
            talk.ask("numbers", seq)
            await talk.until(lambda seq=seq: ["numbers", seq] in talk.sent)  # type: ignore[misc]
        await talk.until(lambda: ["second", 4] in talk.sent)
        assert {seq for kind, seq in talk.handler.began if kind == "related"} == {4}

    play(script)


@pytest.mark.parametrize("text", ["", "{", "[]", "7", "null", "[" * 100_000, '{"seq": NaN}'])
def test_what_is_no_message_is_said_so_and_the_talk_goes_on(text: str) -> None:
    async def script(talk: Talk) -> None:
        talk.say(text)
        talk.handler.may["link"].set()
        talk.ask("link", 7)
        await talk.until(lambda: len(talk.sent) == 2)
        assert talk.sent[0]["is"] == "problem"
        assert talk.sent[1] == ["link", 7]

    play(script)


def test_a_page_that_leaves_ends_the_session_while_answers_are_computed() -> None:
    async def script(talk: Talk) -> None:
        talk.ask("numbers", 1)
        await talk.until(lambda: len(talk.handler.began) == 1)
        talk.say(None)
        await asyncio.sleep(0.05)
        assert talk.sent == []

    play(script)
