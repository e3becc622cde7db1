"""Where cases are evaluated: here, in a pool of processes, or on a Dask cluster."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from panmatch.errors import OptionError

AHEAD = 2  # cases that wait for every worker


@dataclass(frozen=True, slots=True)
class Crew:
    """Workers behind the interface of `concurrent.futures`.

    Attributes
    ----------
    open
        Starts them; called again if they broke down.
    window
        How many cases to hand over at a time.
    """

    open: Callable[[], Executor]
    window: int


@contextmanager
def hire(workers: int, dask: str | None) -> Iterator[Crew]:
    """Yield workers: one is this process, several are a pool, or those of a cluster."""
    if dask is not None:
        with _cluster(dask) as crew:
            yield crew
    elif workers == 1:
        yield Crew(Inline, 1)
    else:
        yield Crew(lambda: _started.pop(workers, None) or _pool(workers), workers * (1 + AHEAD))


# Pools that were started ahead of the run that takes them, by their size.
_started: dict[int, ProcessPoolExecutor] = {}


def start_early(workers: int) -> None:
    """Let workers load what they need while this process still looks for its cases."""
    pool = _pool(workers)
    for _ in range(workers):
        pool.submit(_load)
    _started[workers] = pool


def _load() -> None:
    import panmatch.datasets.task  # noqa: F401


class Inline(Executor):
    """Runs everything at once, in this process."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Call the function, and return a future that is done."""
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


def _pool(workers: int) -> ProcessPoolExecutor:
    # Fresh processes: a forked one would inherit threads in an unknown state.
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(workers, mp_context=context, initializer=_leave_interrupts)


def _leave_interrupts() -> None:
    """Let the process that began the run decide what an interruption means."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def _cluster(address: str) -> Iterator[Crew]:
    try:
        from distributed import Client
    except ImportError as error:
        raise OptionError(
            f"--dask {address!r} needs dask and distributed: pip install 'panmatch[cluster]'."
        ) from error
    try:
        client = Client(address, timeout="5s", set_as_default=False)
    except (OSError, ValueError) as error:
        raise OptionError(f"--dask {address!r}: no scheduler answers there ({error}).") from error
    with client:
        size = sum(client.nthreads().values())
        if not size:
            raise OptionError(f"--dask {address!r}: the scheduler has no workers yet.")
        yield Crew(lambda: client.get_executor(pure=False), size * (1 + AHEAD))
