"""A whole run: cases in, a folder of tables out."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from panmatch.datasets._case_table import About, CaseTable, about_cases, check_cluster
from panmatch.datasets._cases import Case, ImageFile
from panmatch.datasets._loading import is_chunked_case
from panmatch.datasets._notices import damaged_results, run_notices
from panmatch.datasets._other_outputs import (
    MAPS,
    with_map_places,
    write_legend,
    write_other_outputs,
)
from panmatch.datasets._outputs import read_run, write_run, write_tables
from panmatch.datasets._phases import Stopwatch
from panmatch.datasets._scheduling import call_each, run_cases
from panmatch.datasets._stopping import StopMonitor, StopRule
from panmatch.datasets._store import CaseStore, read_results
from panmatch.datasets._worker import Job, Outcome
from panmatch.datasets._worker_pool import open_pool
from panmatch.errors import FileError
from panmatch.evaluation import Each, Json, Notice, Result, one_by_one, plural, some_names
from panmatch.spec import Spec

# The tables of many cases are worth a worker pool, up to the number of workers that one process can
# keep busy, unless a result has more bytes than this on average.
MANY_CASES, MOST_HELPERS, LARGE_RESULT = 128, 6, 1 << 18

Watch = Callable[[Outcome], None]


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How to run."""

    # Number of processes, or the address of a Dask scheduler. Several cases are distributed to its
    # workers case by case, a single one with Zarr images chunk by chunk.
    workers: int = 1
    dask: str | None = None
    resume: bool = False  # whether to continue with the results in a folder, or to discard them
    overwrite: bool = False
    also: tuple[str, ...] = ()  # files of `OTHER_OUTPUTS` to write in addition to the tables
    maps: bool = False  # whether to write label maps of the mistakes
    stop: StopRule | None = None  # when to stop before all cases are evaluated
    table: CaseTable | None = None  # what is known about the cases


def run_dataset(
    cases: Sequence[Case],
    job: Job,
    folder: Path,
    options: RunOptions = RunOptions(),
    watch: Watch = lambda _: None,
    clock: Stopwatch | None = None,
    notices: Sequence[Notice] = (),
) -> Result:
    """Evaluate all cases. Write each result as soon as it is there, and tables at the end.

    Parameters
    ----------
    cases
        What to evaluate.
    job
        What to do with every case.
    folder
        Where results go.
    watch
        Called with each outcome, to show progress.
    clock
        Measures each phase; the times are written to run.json.
    notices
        Notices about the dataset, to be written along with those of the run.

    Raises
    ------
    KeyboardInterrupt
        After the tables of all finished cases are written.
    """
    spec = Spec.model_validate_json(job.spec)
    if spec.averaging.cluster is not None:
        check_cluster(spec.averaging.cluster, options.table.columns if options.table else ())
    store = CaseStore(folder, job.fingerprint)
    monitor = None
    if options.stop is not None:
        monitor = StopMonitor(options.stop, spec, cases, store.result)
        cases = monitor.cases
    again = options.resume or options.overwrite or not store.holds_results()
    if not again:
        raise FileError(
            f"OUT={str(folder)!r} already contains results: pass --resume to evaluate only new and "
            f"changed cases, --overwrite to start over, or name another folder with -o."
        )
    with closing(store):
        store.open()
        if not options.resume:
            store.clear()
        clock = clock or Stopwatch()
        if options.table is not None:
            notices = (*notices, *options.table.notices)
        log = _Log(store, folder, spec, job.fingerprint, len(cases), watch, clock, notices)
        log.about = {} if options.table is None else options.table.rows
        log.monitor = monitor
        log.begin()
        if options.maps:
            write_legend(folder / MAPS)
            cases = with_map_places(cases)
        keys = store.keys()
        known = {case: keys.get((case.model, case.name), "") for case in cases}
        share_chunks = options.dask is not None and len(cases) == 1 and is_chunked_case(cases[0])
        try:
            with (
                clock.phase("evaluation"),
                open_pool(options.workers, options.dask, share_chunks=share_chunks) as pool,
            ):
                maps = folder.resolve() / MAPS if options.maps else None
                task = replace(job, chunks_on_dask=share_chunks, maps=maps)
                enough = (lambda: monitor.enough) if monitor else (lambda: False)
                run_cases(cases, task, pool, known, log.finished, enough)
            log.status = "finished"
        finally:
            with _helpers(options, len(cases), store.n_bytes) as each:
                result = log.end(options.workers if options.dask is None else options.dask, each)
        write_other_outputs(folder, result, cases, options.also)
    return result


@contextmanager
def _helpers(options: RunOptions, n_cases: int, n_bytes: int) -> Iterator[Each]:
    """Yield what calls a function with every block of cases: in processes, if there are many.

    Of large results only one block is in memory at a time.
    """
    workers = 1 if options.dask is not None else min(options.workers, MOST_HELPERS)
    if workers == 1 or n_cases < MANY_CASES or n_bytes > n_cases * LARGE_RESULT:
        yield one_by_one
        return
    with open_pool(workers, None) as pool, call_each(pool) as each:
        yield each


class _Log:
    """Keeps track of what a run has done so far, and writes it."""

    def __init__(
        self,
        store: CaseStore,
        folder: Path,
        spec: Spec,
        job: str,
        n_cases: int,
        watch: Watch,
        clock: Stopwatch,
        notices: Sequence[Notice],
    ) -> None:
        self._clock = clock
        self._store, self._folder, self._spec, self._watch = store, folder, spec, watch
        self._notices = notices
        self._seen: dict[Case, bool] = {}  # and whether it was evaluated now
        self.about: About = {}  # what is known about the cases
        self.monitor: StopMonitor | None = None  # says when to stop
        began = datetime.now(UTC).isoformat(timespec="seconds")
        self._facts = {"job": job, "began": began, "cases": n_cases}
        self.status: Literal["running", "interrupted", "finished"] = "running"

    def begin(self) -> None:
        """Note that a run is under way."""
        write_run(self._folder, self._spec, status=self.status, **self._facts)
        self.status = "interrupted"  # until the run is complete

    def finished(self, outcome: Outcome) -> None:
        """Keep the outcome of a case."""
        if outcome.result is not None:
            self._store.append(outcome)
        self._seen[outcome.case] = outcome.result is not None
        if self.monitor is not None:
            self.monitor.finished(outcome.case)
        self._watch(outcome)

    def end(self, workers: int | str, each: Each) -> Result:
        """Write the tables of all finished cases, and how they were made."""
        self._store.restore()
        results = self._store.results()
        keeps = self.monitor.keeps if self.monitor else (lambda _: True)
        seen = sorted(filter(keeps, self._seen), key=_who)
        found_cases = about_cases((results[_who(case)] for case in seen), self.about)
        result = Result(self._spec, found_cases)
        write_tables(self._folder, result, self._clock, each)
        whole = self.status == "finished"
        found = run_notices(result, seen) if whole else result.notices
        notices = (*found, *self._notices, *damaged_results(self._store.n_damaged))
        if whole and self.monitor is not None:
            notices = (self.monitor.notice, *notices)
        write_run(
            self._folder,
            self._spec,
            status=self.status,
            **self._facts,
            evaluated_now=sum(self._seen.values()),
            failed=len(result.failures),
            warnings=[notice.to_dict() for notice in notices],
            workers=workers,
            case_table=self.about,
            seconds=self._clock.seconds,
            results=[self._store.facts(_who(case)) | _files(case) for case in seen],
        )
        return result


def _who(case: Case) -> tuple[str, str]:
    return case.model, case.name


def _files(case: Case) -> Json:
    """Return where the images of a case are, so they can be found later."""
    sides = {"reference": case.reference, "prediction": case.prediction}
    return {name: None if source is None else _place(source) for name, source in sides.items()}


def _place(source: ImageFile) -> Json:
    parts = None if source.parts is None else str(source.parts.resolve())
    scores = {} if source.scores is None else {"scores": str(source.scores.resolve())}
    instances = {"instances": True} if source.instances else {}
    place = {"path": str(source.path.resolve()), "parts": parts, "item": source.item}
    return {**place, **scores, **instances}


def listed_cases(folder: Path) -> dict[tuple[str, str], Case]:
    """Return the cases of a run by model and name, with their files."""
    found = {}
    for one in read_run(folder).get("results", ()):
        case = Case(
            one["case"], one["model"], _source(one["reference"]), _source(one["prediction"])
        )
        found[_who(case)] = case
    return found


def listed_notices(folder: Path) -> list[Notice]:
    """Return the warnings of a run."""
    return [Notice.from_dict(one) for one in read_run(folder).get("warnings", ())]


def play_command(folder: Path, case: Case, slice_number: int | None = None) -> str | None:
    """Return the command that shows a case of a run; None if it is not two separate files.

    Examples
    --------
    >>> files = ImageFile(Path("a.nii.gz")), ImageFile(Path("b.nii.gz"))
    >>> play_command(Path("out"), Case("case 7", "unet", *files), 31)
    "panmatch play out --case 'case 7' --model unet --slice 31"
    """
    sides = case.reference, case.prediction
    if any(side is None or side.item is not None for side in sides):
        return None
    words = ["panmatch", "play", str(folder), "--case", case.name]
    words += ["--model", case.model] if case.model else []
    words += [] if slice_number is None else ["--slice", str(slice_number)]
    return shlex.join(words)


def _source(given: Json | None) -> ImageFile | None:
    if given is None:
        return None
    parts, scores = (
        None if given.get(name) is None else Path(given[name]) for name in ("parts", "scores")
    )
    instances = bool(given.get("instances"))
    return ImageFile(Path(given["path"]), parts, given["item"], scores, instances)


def load_run(folder: Path) -> Result:
    """Return the result of a run; if it was killed, all cases that it finished."""
    run = read_run(folder)
    results = read_results(folder, run["job"])
    listed = run.get("results")
    who = [*results] if listed is None else [(one["model"], one["case"]) for one in listed]
    lost = [case for model, case in who if (model, case) not in results]
    if lost:
        raise FileError(
            f"path={str(folder)!r} has lost {len(lost)} of {plural(len(who), 'result')} "
            f"({some_names(lost)}): cases.jsonl was changed. Evaluate again with --resume."
        )
    cases = about_cases((results[one] for one in who), run.get("case_table", {}))
    return Result(Spec.model_validate(run["spec"]), cases)
