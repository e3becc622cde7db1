"""A whole run: cases in, a folder of tables out."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from panmatch.datasets.case import Case
from panmatch.datasets.executors import hire
from panmatch.datasets.outputs import read_run, write_run, write_tables
from panmatch.datasets.running import run_cases
from panmatch.datasets.store import CaseStore, read_results
from panmatch.datasets.task import Order, Outcome
from panmatch.errors import FileError
from panmatch.evaluation import Result
from panmatch.spec import Spec

Watch = Callable[[Outcome], None]


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How to run.

    Attributes
    ----------
    workers, dask
        Number of processes, or the address of a Dask scheduler.
    resume, overwrite
        Whether to go on with what a folder holds, or to drop it.
    """

    workers: int = 1
    dask: str | None = None
    resume: bool = False
    overwrite: bool = False


def run_dataset(
    cases: Sequence[Case],
    order: Order,
    folder: Path,
    options: RunOptions = RunOptions(),  # noqa: B008
    watch: Watch = lambda _: None,
) -> Result:
    """Evaluate all cases, write every result at once and the tables at the end.

    Parameters
    ----------
    cases
        What to evaluate.
    order
        The spec and other things that all cases share.
    folder
        Where results go.
    watch
        Called with every outcome, for progress.

    Raises
    ------
    KeyboardInterrupt
        After the tables of all finished cases are written.
    """
    start, began = time.perf_counter(), datetime.now(UTC)
    spec = Spec.model_validate_json(order.spec)
    store = CaseStore(folder, order.fingerprint)
    if store.path.exists() and not (options.resume or options.overwrite):
        raise FileError(
            f"OUT={str(folder)!r} holds results already: pass --resume to do only what is missing "
            f"or changed, --overwrite to begin anew, or name another folder with -o."
        )
    with closing(store):
        store.open()
        if options.overwrite:
            store.clear()
        seen: list[Outcome] = []

        def finished(outcome: Outcome) -> None:
            if outcome.result is not None:
                store.append(outcome)
            seen.append(outcome)
            watch(outcome)

        keys = store.keys()
        known = {case: keys.get((case.model, case.name), "") for case in cases}
        facts = {
            "order": order.fingerprint,
            "began": began.isoformat(timespec="seconds"),
            "cases": len(cases),
        }
        write_run(folder, spec, status="running", **facts)
        status = "interrupted"
        try:
            with hire(options.workers, options.dask) as crew:
                run_cases(cases, order, crew, known, finished)
            status = "finished"
        finally:
            evaluated = time.perf_counter() - start
            who = [(outcome.case.model, outcome.case.name) for outcome in seen]
            results = store.results()
            result = Result(spec, tuple(results[one] for one in who))
            write_tables(folder, result)
            write_run(
                folder,
                spec,
                status=status,
                **facts,
                evaluated_now=sum(outcome.result is not None for outcome in seen),
                failed=len(result.failures),
                workers=options.workers if options.dask is None else options.dask,
                seconds={
                    "evaluation": round(evaluated, 3),
                    "all": round(time.perf_counter() - start, 3),
                },
                results=[store.facts(one) for one in sorted(who)],
            )
    return result


def load_run(folder: Path) -> Result:
    """Return the result of a run; of one that was killed, all that it finished."""
    run = read_run(folder)
    results = read_results(folder, run["order"])
    listed = run.get("results")
    who = results if listed is None else [(one["model"], one["case"]) for one in listed]
    return Result(
        Spec.model_validate(run["spec"]), tuple(results[one] for one in who if one in results)
    )
