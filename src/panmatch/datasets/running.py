"""All cases through the workers; whatever happens to a worker, no finished case is lost."""

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

from panmatch.datasets.case import Case
from panmatch.datasets.executors import Crew
from panmatch.datasets.task import Order, Outcome, failed, run_case

Finished = Callable[[Outcome], None]


def run_cases(
    cases: Sequence[Case],
    order: Order,
    crew: Crew,
    known: Mapping[Case, str],
    finished: Finished,
) -> None:
    """Evaluate all cases, and hand over what became of each as soon as it is known.

    A worker that dies takes along the cases that were under way: they are run again, one at a
    time, and the one with which a worker dies again has failed. An interruption lets the workers
    finish what they are doing, and hands that over too.

    Parameters
    ----------
    known
        Key of the result that a case has already.
    finished
        Called in this thread, in the order in which cases finish.
    """
    waiting, suspects = list(reversed(cases)), list[Case]()
    while waiting:
        suspects += _run_together(waiting, order, crew, known, finished)
    for case in suspects:
        _run_alone(case, order, crew, known.get(case, ""), finished)


def _run_together(
    waiting: list[Case],
    order: Order,
    crew: Crew,
    known: Mapping[Case, str],
    finished: Finished,
) -> list[Case]:
    """Run the waiting cases until none is left or a worker dies; return those under way then."""
    executor, running = crew.open(), dict[Future[Outcome], Case]()
    suspects: list[Case] = []
    try:
        while (waiting or running) and not suspects:
            while waiting and len(running) < crew.window:
                future = executor.submit(run_case, order, waiting[-1], known.get(waiting[-1], ""))
                running[future] = waiting.pop()
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            suspects += _take_over(done, running, finished)
    except BrokenExecutor:
        pass  # it broke while a case was handed over, which still waits
    finally:
        _stop(executor, running)
        suspects += _take_over(list(running), running, finished)
    return suspects


def _take_over(
    done: Sequence[Future[Outcome]] | set[Future[Outcome]],
    running: dict[Future[Outcome], Case],
    finished: Finished,
) -> list[Case]:
    """Hand over what is finished; return the cases whose worker died."""
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
    """Return what became of a case; None if its worker died or it never began."""
    try:
        return future.result()
    except (BrokenExecutor, CancelledError):
        return None
    except Exception as error:
        reason = f"its worker gave up ({type(error).__name__}: {error})"
        return Outcome(case, "", failed(case, reason), 0.0)


def _run_alone(case: Case, order: Order, crew: Crew, known_key: str, finished: Finished) -> None:
    executor = crew.open()
    running: dict[Future[Outcome], Case] = {}
    try:
        running[executor.submit(run_case, order, case, known_key)] = case
        wait(running)
        lost = _take_over(list(running), running, finished)
    except BrokenExecutor:
        lost = [case]
    finally:
        _stop(executor, running)
    if lost:
        reason = "the worker process died with it, twice; often there is not enough memory"
        finished(Outcome(case, "", failed(case, reason), 0.0))


def _stop(executor: Executor, running: dict[Future[Outcome], Case]) -> None:
    for future in running:
        future.cancel()
    executor.shutdown(wait=True)
