"""When each case runs. No finished case is lost, even if a worker dies."""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, TypeVar

from panmatch.datasets._cases import Case
from panmatch.datasets._missing import failed
from panmatch.datasets._worker import Job, Outcome, run_case, run_packed_cases
from panmatch.datasets._worker_pool import AHEAD, LostPoolError, WorkerPool
from panmatch.evaluation import Each

Finished = Callable[[Outcome], None]
Answer = Future[Any]  # an outcome, or several
Running = dict[Answer, list[Case]]
T = TypeVar("T")
R = TypeVar("R")

STALL_SECONDS = 10.0  # without a finished case before the pool is checked
# Small cases travel together, because a trip takes as long as a fifth of one: how long a batch
# should take, and the most cases of one.
BATCH_SECONDS, MOST_OF_BATCH = 0.05, 16
DIED = "its worker process died twice; the usual cause is running out of memory"


def run_cases(
    cases: Sequence[Case],
    job: Job,
    pool: WorkerPool,
    known: Mapping[Case, str],
    finished: Finished,
    enough: Callable[[], bool] = lambda: False,
) -> None:
    """Evaluate all cases, and report the outcome of each as soon as it is known.

    If a worker dies, the cases that were running are retried one at a time, and so is every case
    whose answer is an error. It fails if that happens again. After an interruption, the workers
    finish their current cases, and these are reported too.

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
    work = _Work(job, known, pool)
    while waiting:
        for batch in _run_together(waiting, work, pool, finished, enough):
            if len(batch) > 1:  # one of them may have ended the worker: no more batches
                work.most = 1
                waiting += reversed(batch)
            else:
                lost += batch
    for case in lost:
        _run_alone(case, work, pool, finished)


class _Work:
    """What workers are asked to do, and how many cases at a time."""

    def __init__(self, job: Job, known: Mapping[Case, str], pool: WorkerPool) -> None:
        self._job, self._known, self._pool = job, known, pool
        self.most = MOST_OF_BATCH if pool.packs else 1
        self._size = 1

    def submit(self, executor: Executor, batch: Sequence[Case]) -> Answer:
        """Ask for a batch of cases."""
        asked = [(case, self._known.get(case, "")) for case in batch]
        if self._pool.packs:
            return executor.submit(run_packed_cases, self._job, asked)
        return executor.submit(run_case, self._job, *asked[0])

    def next_batch(self, waiting: Sequence[Case]) -> list[Case]:
        """Return the cases to submit next; the last ones are shared out among all workers."""
        share = -(-len(waiting) // self._pool.window)
        size = min(self._size, self.most, share)
        return list(reversed(waiting[len(waiting) - size :]))

    def learn(self, outcomes: Sequence[Outcome]) -> None:
        """Fit the size of batches to the time that cases take."""
        slowest = max(outcome.seconds for outcome in outcomes)
        self._size = max(1, min(MOST_OF_BATCH, int(BATCH_SECONDS / max(slowest, 1e-9))))


def _run_together(
    waiting: list[Case],
    work: _Work,
    pool: WorkerPool,
    finished: Finished,
    enough: Callable[[], bool],
) -> list[list[Case]]:
    """Run the waiting cases until none is left or the workers are gone; return lost ones."""
    running: Running = {}
    lost: list[list[Case]] = []
    try:
        with _opened(pool, running) as executor, suppress(BrokenExecutor):
            while waiting or running:
                while waiting and len(running) < pool.window:
                    batch = work.next_batch(waiting)
                    # If a worker dies at this moment, the cases are still waiting.
                    running[work.submit(executor, batch)] = batch
                    del waiting[len(waiting) - len(batch) :]
                lost += _report(_wait(running, pool), running, work, finished)
                if enough():
                    waiting.clear()
    finally:
        lost += _report(list(running), running, work, finished)
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
            for future in [one for one in running if not one.done()]:
                del running[future]  # no worker is left to finish it
            raise
        for future in running:
            future.cancel()
        executor.shutdown(wait=True)


def _wait(running: Running, pool: WorkerPool) -> set[Answer]:
    """Wait until a case is finished; check the pool if that takes long."""
    while True:
        done, _ = wait(running, STALL_SECONDS, return_when=FIRST_COMPLETED)
        if done:
            return done
        pool.check()


def _report(
    done: Iterable[Answer], running: Running, work: _Work, finished: Finished
) -> list[list[Case]]:
    """Report finished cases; return the batches without an answer."""
    lost = []
    for future in done:
        batch = running.pop(future)
        outcomes = _outcomes(future)
        if outcomes is None:
            lost.append(batch)
            continue
        work.learn(outcomes)
        for outcome in outcomes:
            finished(outcome)
    return lost


def _outcomes(future: Answer) -> list[Outcome] | None:
    """Return the outcomes of cases; None if their answer was lost or they never started.

    The answer may be any error: while a scheduler is being lost, even one of its own library.
    """
    try:
        found: Outcome | list[Outcome] = future.result()
    except Exception:
        return None
    return found if isinstance(found, list) else [found]


def _run_alone(case: Case, work: _Work, pool: WorkerPool, finished: Finished) -> None:
    running: Running = {}
    lost, reason = [[case]], DIED
    with _opened(pool, running) as executor, suppress(BrokenExecutor):
        future = work.submit(executor, [case])
        running[future] = [case]
        lost = _report(_wait(running, pool), running, work, finished)
        reason = _reason(future) if lost else ""
    if lost:
        finished(Outcome(case, "", failed(case, reason), 0.0))


def _reason(future: Answer) -> str:
    """Return why a case has no result."""
    if future.cancelled() or isinstance(error := future.exception(), BrokenExecutor):
        return DIED
    return f"its worker failed twice ({type(error).__name__}: {error})"


@contextmanager
def call_each(pool: WorkerPool) -> Iterator[Each]:
    """Yield what calls a function with every item in a pool, and returns its answers in order.

    If a worker dies, this process does what is left. Answers may be large, so no more than one
    waits while every worker makes another.
    """
    executor, at_once = pool.open(), 1 + pool.window // (1 + AHEAD)

    def submit(function: Callable[[T], R], item: T) -> Callable[[], R]:
        try:
            future = executor.submit(_without_garbage_collection, function, item)
        except BrokenExecutor:
            return partial(function, item)
        return partial(_answer, future, pool, partial(function, item))

    def each(function: Callable[[T], R], items: Iterable[T], /) -> Iterator[R]:
        running: deque[Callable[[], R]] = deque()
        for item in items:
            running.append(submit(function, item))
            if len(running) >= at_once:
                yield running.popleft()()
        while running:
            yield running.popleft()()

    try:
        yield each
    finally:
        executor.shutdown(wait=True, cancel_futures=True)


def _without_garbage_collection(function: Callable[[T], R], item: T) -> R:
    """Call a function that makes many objects and no cycles: looking for some takes a while."""
    gc.disable()
    try:
        return function(item)
    finally:
        gc.enable()


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
