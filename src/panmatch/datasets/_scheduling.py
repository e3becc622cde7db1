"""Which case runs when; whatever happens to a worker, no finished case is lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    wait,
)
from contextlib import contextmanager, suppress

from panmatch.datasets._cases import Case
from panmatch.datasets._missing import failed
from panmatch.datasets._worker import Job, Outcome, run_case
from panmatch.datasets._worker_pool import LostPoolError, WorkerPool

Finished = Callable[[Outcome], None]
Running = dict[Future[Outcome], Case]

STALL_SECONDS = 10.0  # without any finished case, after which the pool is looked at


def run_cases(
    cases: Sequence[Case],
    job: Job,
    pool: WorkerPool,
    known: Mapping[Case, str],
    finished: Finished,
) -> None:
    """Evaluate all cases, and report the outcome of each as soon as it is known.

    When a worker dies, the cases that were under way are retried alone, and the one with which a
    worker dies again has failed. An interruption lets the workers finish what they are doing, and
    reports that too.

    Parameters
    ----------
    known
        Key of the result that a case has already.
    finished
        Called in this thread, in the order in which cases finish.
    """
    waiting, lost = list(reversed(cases)), list[Case]()
    while waiting:
        lost += _run_together(waiting, job, pool, known, finished)
    for case in lost:
        _run_alone(case, job, pool, known.get(case, ""), finished)


def _run_together(
    waiting: list[Case],
    job: Job,
    pool: WorkerPool,
    known: Mapping[Case, str],
    finished: Finished,
) -> list[Case]:
    """Run the waiting cases until none is left or a worker dies; return those under way then."""
    running: Running = {}
    lost: list[Case] = []
    try:
        with _opened(pool, running) as executor, suppress(BrokenExecutor):
            while (waiting or running) and not lost:
                while waiting and len(running) < pool.window:
                    # If a worker dies in this moment, the case still waits.
                    future = executor.submit(run_case, job, waiting[-1], known.get(waiting[-1], ""))
                    running[future] = waiting.pop()
                lost += _report(_wait(running, pool), running, finished)
    finally:
        lost += _report(list(running), running, finished)
    return lost


@contextmanager
def _opened(pool: WorkerPool, running: Running) -> Iterator[Executor]:
    """Yield the workers of a pool, and let them finish what is running in the end."""
    executor = pool.open()
    try:
        yield executor
    finally:
        try:
            pool.check()
        except LostPoolError:
            running.clear()  # nobody is there who would finish it
            raise
        for future in running:
            future.cancel()
        executor.shutdown(wait=True)


def _wait(running: Running, pool: WorkerPool) -> set[Future[Outcome]]:
    """Wait until a case is finished, and see after the pool where none is for a while."""
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
    """Report what is finished; return the cases whose worker died."""
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
    """Return the outcome of a case; None if its worker died or it never began."""
    try:
        return future.result()
    except (BrokenExecutor, CancelledError):
        return None
    except Exception as error:
        reason = f"its worker failed ({type(error).__name__}: {error})"
        return Outcome(case, "", failed(case, reason), 0.0)


def _run_alone(case: Case, job: Job, pool: WorkerPool, known_key: str, finished: Finished) -> None:
    running: Running = {}
    lost = [case]
    with _opened(pool, running) as executor, suppress(BrokenExecutor):
        running[executor.submit(run_case, job, case, known_key)] = case
        lost = _report(_wait(running, pool), running, finished)
    if lost:
        reason = "the worker process died with it, twice; often because memory runs out"
        finished(Outcome(case, "", failed(case, reason), 0.0))
