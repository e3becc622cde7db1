"""When each case runs. No finished case is lost, even if a worker dies."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    wait,
)
from contextlib import contextmanager, suppress
from functools import partial
from typing import TypeVar

from panmatch.datasets._cases import Case
from panmatch.datasets._missing import failed
from panmatch.datasets._worker import Job, Outcome, run_case, run_packed_case
from panmatch.datasets._worker_pool import LostPoolError, WorkerPool
from panmatch.evaluation import Each

Finished = Callable[[Outcome], None]
Running = dict[Future[Outcome], Case]
T = TypeVar("T")
R = TypeVar("R")

STALL_SECONDS = 10.0  # without a finished case before the pool is checked


def run_cases(
    cases: Sequence[Case],
    job: Job,
    pool: WorkerPool,
    known: Mapping[Case, str],
    finished: Finished,
    enough: Callable[[], bool] = lambda: False,
) -> None:
    """Evaluate all cases, and report the outcome of each as soon as it is known.

    If a worker dies, the cases that were running are retried one at a time. A case fails if its
    worker dies again. After an interruption, the workers finish their current cases, and these
    are reported too.

    Parameters
    ----------
    known
        Keys of existing results.
    finished
        Called in this thread, in the order in which the cases finish.
    enough
        Returns whether to start no more cases.
    """
    waiting, lost = list(reversed(cases)), list[Case]()
    while waiting:
        lost += _run_together(waiting, job, pool, known, finished, enough)
    for case in lost:
        _run_alone(case, job, pool, known.get(case, ""), finished)


def _run_together(
    waiting: list[Case],
    job: Job,
    pool: WorkerPool,
    known: Mapping[Case, str],
    finished: Finished,
    enough: Callable[[], bool],
) -> list[Case]:
    """Run the waiting cases until none is left or a worker dies; return those still running."""
    running: Running = {}
    lost: list[Case] = []
    task = run_packed_case if pool.packs else run_case
    try:
        with _opened(pool, running) as executor, suppress(BrokenExecutor):
            while (waiting or running) and not lost:
                while waiting and len(running) < pool.window:
                    # If a worker dies at this moment, the case is still waiting.
                    future = executor.submit(task, job, waiting[-1], known.get(waiting[-1], ""))
                    running[future] = waiting.pop()
                lost += _report(_wait(running, pool), running, finished)
                if enough():
                    waiting.clear()
    finally:
        lost += _report(list(running), running, finished)
    return lost


@contextmanager
def _opened(pool: WorkerPool, running: Running) -> Iterator[Executor]:
    """Yield the workers of a pool, and let them finish their running cases at the end."""
    executor = pool.open()
    try:
        yield executor
    finally:
        try:
            pool.check()
        except LostPoolError:
            running.clear()  # no worker is left to finish them
            raise
        for future in running:
            future.cancel()
        executor.shutdown(wait=True)


def _wait(running: Running, pool: WorkerPool) -> set[Future[Outcome]]:
    """Wait until a case is finished; check the pool if that takes long."""
    while True:
        done, _ = wait(running, STALL_SECONDS, return_when=FIRST_COMPLETED)
        if done:
            return done
        pool.check()


def _report(
    done: Sequence[Future[Outcome]] | set[Future[Outcome]],
    running: Running,
    finished: Finished,
) -> list[Case]:
    """Report finished cases; return those whose worker died."""
    lost = []
    for future in done:
        case = running.pop(future)
        outcome = _outcome(future, case)
        if outcome is None:
            lost.append(case)
        else:
            finished(outcome)
    return lost


def _outcome(future: Future[Outcome], case: Case) -> Outcome | None:
    """Return the outcome of a case; None if its worker died or it never started."""
    try:
        return future.result()
    except (BrokenExecutor, CancelledError):
        return None
    except Exception as error:
        reason = f"its worker failed ({type(error).__name__}: {error})"
        return Outcome(case, "", failed(case, reason), 0.0)


def _run_alone(case: Case, job: Job, pool: WorkerPool, known_key: str, finished: Finished) -> None:
    running: Running = {}
    lost, task = [case], run_packed_case if pool.packs else run_case
    with _opened(pool, running) as executor, suppress(BrokenExecutor):
        running[executor.submit(task, job, case, known_key)] = case
        lost = _report(_wait(running, pool), running, finished)
    if lost:
        reason = "its worker process died twice; the usual cause is running out of memory"
        finished(Outcome(case, "", failed(case, reason), 0.0))


@contextmanager
def call_each(pool: WorkerPool) -> Iterator[Each]:
    """Yield what calls a function with every item in a pool, and returns its answers in order.

    If a worker dies, this process does what is left.
    """
    executor = pool.open()

    def submit(function: Callable[[T], R], item: T) -> Callable[[], R]:
        try:
            future = executor.submit(function, item)
        except BrokenExecutor:
            return partial(function, item)
        return partial(_answer, future, pool, partial(function, item))

    def each(function: Callable[[T], R], items: Iterable[T], /) -> Iterator[R]:
        running: deque[Callable[[], R]] = deque()
        for item in items:
            running.append(submit(function, item))
            if len(running) >= pool.window:
                yield running.popleft()()
        while running:
            yield running.popleft()()

    try:
        yield each
    finally:
        executor.shutdown(wait=True, cancel_futures=True)


def _answer(future: Future[R], pool: WorkerPool, again: Callable[[], R]) -> R:
    while True:
        done, _ = wait([future], STALL_SECONDS)
        if done:
            break
        pool.check()
    try:
        return future.result()
    except BrokenExecutor:
        return again()
