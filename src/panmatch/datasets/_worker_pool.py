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

AHEAD = 2  # cases waiting for each worker
KEPT_BYTES = 1 << 28  # memory that a worker keeps between two cases
TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # of mallopt, in malloc.h
PRELOADED = ("panmatch.datasets._worker", "panmatch.datasets._case_tables", "nibabel")


@dataclass(frozen=True, slots=True)
class WorkerPool:
    """Workers behind the interface of `concurrent.futures`."""

    open: Callable[[], Executor]  # starts the workers; called again if one dies
    window: int  # how many cases to submit at a time
    # Checks the pool if no case has finished for a while; raises a `LostPoolError` if none ever
    # will.
    check: Callable[[], None] = lambda: None
    # Whether workers return results as they are stored. On a cluster they do not, because another
    # version of panmatch may run there.
    packs: bool = False


class LostPoolError(PanmatchError):
    """The workers can no longer be reached."""


@contextmanager
def open_pool(
    workers: int, dask: str | None, *, share_chunks: bool = False
) -> Iterator[WorkerPool]:
    """Yield a worker pool: this process, several processes, or the workers of a cluster.

    With `share_chunks`, cases run in this process and a cluster works on their chunks.
    """
    if dask is not None:
        with _client(dask, as_default=share_chunks) as client:
            yield WorkerPool(Inline, 1) if share_chunks else _cluster_pool(client, dask)
    elif workers == 1:
        yield WorkerPool(Inline, 1)
    else:
        told: set[int] = set()
        yield WorkerPool(
            lambda: _processes(workers),
            workers * (1 + AHEAD),
            lambda: _report_stopped(told),
            packs=True,
        )


def start_early() -> None:
    """Start loading what workers need while this process still looks for cases."""
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


def _report_stopped(told: set[int]) -> None:
    """Say, once for each, which workers hold up the run because they were stopped."""
    for child in multiprocessing.active_children():
        pid = child.pid
        if pid and pid not in told and _is_stopped(pid):
            told.add(pid)
            LOG.warning(
                f"panmatch: worker {pid} is stopped, and the run is waiting for it: continue it "
                f"with `kill -CONT {pid}`, or end it with `kill -KILL {pid}`; its case is then "
                f"retried."
            )


def _is_stopped(pid: int) -> bool:
    """Return whether a process has been stopped by a signal; False if that is unknown."""
    try:
        state = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0]
    except (OSError, IndexError):
        return False
    return state == b"T"


def _context() -> BaseContext:
    """Return how processes are started.

    Forks of this process would inherit its threads in an unknown state. If the system has forks,
    workers are forks of a server that only loads what they need.
    """
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(PRELOADED))
    return context


def _begin_work() -> None:
    # The process that started the run decides what an interruption means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _keep_memory()
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End this process as soon as the one that started the run is gone, however it ended.

    Workers hold both ends of the queue that they wait on, so they would never notice.
    """
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _keep_memory() -> None:
    """Let this process keep the memory of a case for the next one.

    By default, memory is released and fetched again page by page, which takes a sixth of the time
    of a small case. This does nothing if the C library has no such setting.
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
    """Hide the dozens of lines that Dask logs about a lost scheduler; we print a single one."""
    for name in logging.root.manager.loggerDict:
        if name.partition(".")[0] in ("distributed", "tornado", "asyncio"):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)


def _cluster_pool(client: Client, address: str) -> WorkerPool:
    def check() -> None:
        # A scheduler forgets the work of a client that it has lost, so waiting is pointless.
        if client.status != "running":
            raise LostPoolError(
                f"--dask {address!r}: the scheduler no longer responds. Finished cases are kept: "
                f"run again with --resume."
            )

    size = sum(client.nthreads().values())
    return WorkerPool(lambda: client.get_executor(pure=False), size * (1 + AHEAD), check)
