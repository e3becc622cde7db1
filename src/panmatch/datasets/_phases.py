"""The phases of a run, and how long each took."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal

Phase = Literal["search", "evaluation", "bootstrap", "tables", "report"]


class Stopwatch:
    """Measures the seconds of each phase, and can call a function when one begins.

    Examples
    --------
    >>> begun = []
    >>> clock = Stopwatch(begun.append)
    >>> with clock.phase("tables"):
    ...     pass
    >>> begun, list(clock.seconds)
    (['tables'], ['tables', 'all'])
    """

    def __init__(self, enter: Callable[[Phase], None] = lambda _: None) -> None:
        self.enter = enter
        self._start = time.perf_counter()
        self._seconds: dict[str, float] = {}

    @contextmanager
    def phase(self, name: Phase) -> Iterator[None]:
        """Measure the time of a block; a phase may have several blocks."""
        self.enter(name)
        start = time.perf_counter()
        try:
            yield
        finally:
            self._seconds[name] = self._seconds.get(name, 0.0) + time.perf_counter() - start

    @property
    def seconds(self) -> dict[str, float]:
        """Seconds of each phase so far, and in total since the stopwatch was created."""
        everything = {**self._seconds, "all": time.perf_counter() - self._start}
        return {name: round(seconds, 3) for name, seconds in everything.items()}
