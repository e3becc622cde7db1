"""Worker pools: this process, several processes, or a Dask cluster."""

from __future__ import annotations

import ctypes
import multiprocessing
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import forkserver
from multiprocessing.context import BaseContext
from typing import Any, ParamSpec, TypeVar

from panmatch.errors import OptionError, needs_extra

P = ParamSpec("P")
T = TypeVar("T")
Client = Any  # of distributed, which has no types

AHEAD = 2  # cases that wait for every worker
KEPT_BYTES = 1 << 28  # that a worker does not give back between two cases
TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # of mallopt, in malloc.h
PRELOADED = ("panmatch.datasets._worker", "nibabel")  # those of them that are installed


@dataclass(frozen=True, slots=True)
class WorkerPool:
    """Workers behind the interface of `concurrent.futures`."""

    open: Callable[[], Executor]  # starts them; called again if a worker died
    window: int  # how many cases to submit at a time


@contextmanager
def open_pool(
    workers: int, dask: str | None, *, share_chunks: bool = False
) -> Iterator[WorkerPool]:
    """Yield a worker pool: this process for one worker, or several, or those of a cluster.

    With `share_chunks` cases run in this process, and a cluster works on their chunks.
    """
    if dask is not None:
        with _client(dask, as_default=share_chunks) as client:
            yield WorkerPool(Inline, 1) if share_chunks else _cluster_pool(client)
    elif workers == 1:
        yield WorkerPool(Inline, 1)
    else:
        yield WorkerPool(lambda: _processes(workers), workers * (1 + AHEAD))


def start_early() -> None:
    """Begin to load what workers need while this process still looks for its cases."""
    if _context().get_start_method() == "forkserver":
        forkserver.ensure_running()


class Inline(Executor):
    """Runs everything in this process, as soon as it is submitted."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Call the function, and return a future that is done."""
        future: Future[T] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


def _processes(workers: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(workers, mp_context=_context(), initializer=_begin_work)


def _context() -> BaseContext:
    """Return how processes are started.

    Not as forks of this one, which would inherit its threads in an unknown state, but, where there
    are forks, as those of a server that has loaded what workers need and does nothing else.
    """
    methods = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
    context.set_forkserver_preload(list(PRELOADED))
    return context


def _begin_work() -> None:
    # The process that began the run decides what an interruption means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _keep_memory()


def _keep_memory() -> None:
    """Let this process keep the memory of a case for the next one.

    Given back and fetched again page by page, as it is by default, it costs a sixth of the time
    of a small case. Does nothing where the C library has no such setting.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError, TypeError):
        return
    mallopt(TRIM_THRESHOLD, KEPT_BYTES)
    mallopt(MMAP_THRESHOLD, KEPT_BYTES // 4)


@contextmanager
def _client(address: str, *, as_default: bool) -> Iterator[Client]:
    with needs_extra("cluster", "Dask clusters"):
        from distributed import Client as DaskClient
    try:
        client = DaskClient(address, timeout="5s", set_as_default=as_default)
    except (OSError, ValueError) as error:
        raise OptionError(f"--dask {address!r}: no scheduler answers there ({error}).") from error
    with client:
        if not client.nthreads():
            raise OptionError(f"--dask {address!r}: the scheduler has no workers yet.")
        yield client


def _cluster_pool(client: Client) -> WorkerPool:
    size = sum(client.nthreads().values())
    return WorkerPool(lambda: client.get_executor(pure=False), size * (1 + AHEAD))
