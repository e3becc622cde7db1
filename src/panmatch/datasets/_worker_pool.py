"""Worker pools: this process, several processes, or a Dask cluster."""

from __future__ import annotations

import ctypes
import logging
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.context import BaseContext
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from panmatch.errors import OptionError, PanmatchError, needs_extra

P = ParamSpec("P")
T = TypeVar("T")
Client = Any  # of distributed, which has no types

LOG = logging.getLogger("panmatch")

AHEAD = 2  # cases that wait for every worker
KEPT_BYTES = 1 << 28  # that a worker does not give back between two cases
TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # of mallopt, in malloc.h
PRELOADED = ("panmatch.datasets._worker", "nibabel")  # those of them that are installed


@dataclass(frozen=True, slots=True)
class WorkerPool:
    """Workers behind the interface of `concurrent.futures`."""

    open: Callable[[], Executor]  # starts them; called again if a worker died
    window: int  # how many cases to submit at a time
    # Looks whether all is well when nothing was finished for a while; raises a `LostPoolError`
    # where no case ever will be.
    check: Callable[[], None] = lambda: None


class LostPoolError(PanmatchError):
    """No worker can be reached any more."""


@contextmanager
def open_pool(
    workers: int, dask: str | None, *, share_chunks: bool = False
) -> Iterator[WorkerPool]:
    """Yield a worker pool: this process for one worker, or several, or those of a cluster.

    With `share_chunks` cases run in this process, and a cluster works on their chunks.
    """
    if dask is not None:
        with _client(dask, as_default=share_chunks) as client:
            yield WorkerPool(Inline, 1) if share_chunks else _cluster_pool(client, dask)
    elif workers == 1:
        yield WorkerPool(Inline, 1)
    else:
        told: set[int] = set()
        yield WorkerPool(
            lambda: _processes(workers), workers * (1 + AHEAD), lambda: _tell_of_stopped(told)
        )


def start_early() -> None:
    """Begin to load what workers need while this process still looks for its cases."""
    if _context().get_start_method() == "forkserver":
        from multiprocessing import forkserver

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


def _tell_of_stopped(told: set[int]) -> None:
    """Say which workers hold up the run because somebody has stopped them, each of them once."""
    for child in multiprocessing.active_children():
        pid = child.pid
        if pid and pid not in told and _is_stopped(pid):
            told.add(pid)
            LOG.warning(
                f"panmatch: worker {pid} is stopped, and the run waits for it: let it go on with "
                f"`kill -CONT {pid}`, or end it with `kill -KILL {pid}`; its case is then tried "
                f"again."
            )


def _is_stopped(pid: int) -> bool:
    """Return whether a process has been stopped by a signal; False where nobody can tell."""
    try:
        state = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0]
    except (OSError, IndexError):
        return False
    return state == b"T"


def _context() -> BaseContext:
    """Return how processes are started.

    Not as forks of this one, which would inherit its threads in an unknown state, but, where there
    are forks, as those of a server that has loaded what workers need and does nothing else.
    """
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(PRELOADED))
    return context


def _begin_work() -> None:
    # The process that began the run decides what an interruption means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _keep_memory()
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End this process as soon as the one that began the run is gone, however it ended.

    Workers hold both ends of the queue that they wait for, so they would never hear of it.
    """
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


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
    _silence_logs_of_dask()
    with client:
        if not client.nthreads():
            raise OptionError(f"--dask {address!r}: the scheduler has no workers yet.")
        yield client


def _silence_logs_of_dask() -> None:
    """Leave it to us to say in one line what Dask says about a lost scheduler in dozens."""
    for name in logging.root.manager.loggerDict:
        if name.partition(".")[0] in ("distributed", "tornado", "asyncio"):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)


def _cluster_pool(client: Client, address: str) -> WorkerPool:
    def check() -> None:
        # A scheduler forgets the work of a client that it has lost, so there is no use in waiting.
        if client.status != "running":
            raise LostPoolError(
                f"--dask {address!r}: the scheduler does not answer any more. What was finished "
                f"before is kept: run again with --resume."
            )

    size = sum(client.nthreads().values())
    return WorkerPool(lambda: client.get_executor(pure=False), size * (1 + AHEAD), check)
