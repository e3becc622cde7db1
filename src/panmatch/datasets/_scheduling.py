"""Which case runs when; whatever happens to a worker, no finished case is lost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    wait,
)

from panmatch.datasets._cases import Case
from panmatch.datasets._missing import failed
from panmatch.datasets._worker import Job, Outcome, run_case
from panmatch.datasets._worker_pool import WorkerPool

Finished = Callable[[Outcome], None]


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
    executor, running = pool.open(), dict[Future[Outcome], Case]()
    lost: list[Case] = []
    try:
        while (waiting or running) and not lost:
            while waiting and len(running) < pool.window:
                future = executor.submit(run_case, job, waiting[-1], known.get(waiting[-1], ""))
                running[future] = waiting.pop()
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            lost += _report(done, running, finished)
    except BrokenExecutor:
        pass  # a worker died while a case was submitted, which still waits
    finally:
        _stop(executor, running)
        lost += _report(list(running), running, finished)
    return lost


def _report(
    done: Sequence[Future[Outcome]] | set[Future[Outcome]],
    running: dict[Future[Outcome], Case],
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
    executor = pool.open()
    running: dict[Future[Outcome], Case] = {}
    try:
        running[executor.submit(run_case, job, case, known_key)] = case
        wait(running)
        lost = _report(list(running), running, finished)
    except BrokenExecutor:
        lost = [case]
    finally:
        _stop(executor, running)
    if lost:
        reason = "the worker process died with it, twice; often because memory runs out"
        finished(Outcome(case, "", failed(case, reason), 0.0))


def _stop(executor: Executor, running: dict[Future[Outcome], Case]) -> None:
    for future in running:
        future.cancel()
    executor.shutdown(wait=True)
