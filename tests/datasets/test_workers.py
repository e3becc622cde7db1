"""Workers that die, here and on a cluster: every case is evaluated once, and the bytes agree."""

from __future__ import annotations

import multiprocessing
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from pathlib import Path
from typing import Any, ClassVar

import pytest

from faults.runs import members, wait_until
from panmatch.datasets import (
    Case,
    Job,
    Outcome,
    RunOptions,
    _scheduling,
    pair,
    run_case,
    run_dataset,
)
from panmatch.datasets._scheduling import call_each, run_cases
from panmatch.datasets._sealing import seal, unseal
from panmatch.datasets._worker import run_packed_case, run_packed_cases
from panmatch.datasets._worker_pool import Inline, LostPoolError, WorkerPool, open_pool
from panmatch.errors import OptionError, PanmatchError
from panmatch.evaluation import CaseResult
from tests.clusters import local_cluster
from tests.datasets.folders import JOB, make_folders, run, tables
from tests.platforms import needs_posix

N = 8


@needs_posix
def test_a_pool_whose_worker_is_killed_still_finishes_every_case_once(tmp_path: Path) -> None:
    paths, seen = make_folders(tmp_path, N), list[Outcome]()

    def watch(outcome: Outcome) -> None:
        seen.append(outcome)
        if len(seen) == 2:
            os.kill(multiprocessing.active_children()[0].pid or 0, signal.SIGKILL)

    run_dataset(pair(paths), JOB, tmp_path / "out", RunOptions(workers=2), watch)
    assert sorted(o.case.name for o in seen) == [f"case{at:02}" for at in range(N)]
    assert all(o.result is not None and o.result.status == "ok" for o in seen)
    run(paths, tmp_path / "one")
    assert tables(tmp_path / "out") == tables(tmp_path / "one")


def die_with_case03(job: Job, case: Case, known_key: str) -> Outcome:
    if case.name == "case03":
        os._exit(1)
    return run_case(job, case, known_key)


class Fragile(ProcessPoolExecutor):
    def submit(self, _: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        return super().submit(die_with_case03, *args, **kwargs)


def test_a_case_that_kills_its_worker_fails_alone(tmp_path: Path) -> None:
    cases, seen = pair(make_folders(tmp_path, N)), list[Outcome]()
    spawn = multiprocessing.get_context("spawn")
    run_cases(cases, JOB, WorkerPool(lambda: Fragile(2, mp_context=spawn), 6), {}, seen.append)
    assert sorted(o.case.name for o in seen) == [case.name for case in cases]
    failed = [o.result for o in seen if o.result is not None and o.result.status == "failed"]
    assert [one.case for one in failed] == ["case03"]
    assert failed[0].reason.startswith("its worker process died twice")


def die_in_a_batch_with_case03(job: Job, cases: list[tuple[Case, str]]) -> list[Outcome]:
    if "case03" in [case.name for case, _ in cases]:
        os._exit(1)
    return run_packed_cases(job, cases)


class FragileInBatches(ProcessPoolExecutor):
    batches: ClassVar[list[list[str]]] = []

    def submit(self, _: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future = super().submit(die_in_a_batch_with_case03, *args, **kwargs)
        self.batches.append([case.name for case, _ in args[1]])
        return future


def test_a_case_that_kills_the_worker_of_its_batch_fails_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_scheduling, "BATCH_SECONDS", 1e6)
    monkeypatch.setattr(_scheduling, "MOST_OF_BATCH", 3)
    monkeypatch.setattr(FragileInBatches, "batches", [])
    cases, seen = pair(make_folders(tmp_path, N)), list[Outcome]()
    spawn = multiprocessing.get_context("spawn")
    pool = WorkerPool(lambda: FragileInBatches(1, mp_context=spawn), 1, packs=True)
    run_cases(cases, JOB, pool, {}, seen.append)
    assert sorted(o.case.name for o in seen) == [case.name for case in cases]
    failed = [o.result for o in seen if o.result is not None and o.result.status == "failed"]
    assert [one.case for one in failed] == ["case03"]
    assert FragileInBatches.batches[:2] == [["case00"], ["case01", "case02", "case03"]]
    assert all(len(one) == 1 for one in FragileInBatches.batches[2:])


def ten_times(number: int) -> int:
    return 10 * number


def ten_times_in_main_only(number: int) -> int:
    if multiprocessing.parent_process() is not None and number == 5:
        os._exit(1)
    return 10 * number


@pytest.mark.parametrize("function", [ten_times, ten_times_in_main_only])
def test_a_pool_answers_in_order_even_if_a_worker_dies(function: Callable[[int], int]) -> None:
    spawn = multiprocessing.get_context("spawn")
    pool = WorkerPool(lambda: ProcessPoolExecutor(2, mp_context=spawn), 3)
    with call_each(pool) as each:
        assert list(each(function, range(12))) == list(range(0, 120, 10))


def test_an_error_of_a_worker_is_that_of_the_run() -> None:
    with (
        open_pool(2, None) as pool,
        call_each(pool) as each,
        pytest.raises(ValueError, match="invalid literal"),
    ):
        list(each(int, ["1", "2", "three"]))


def test_a_packed_result_is_the_line_that_the_result_itself_would_become(tmp_path: Path) -> None:
    case = pair(make_folders(tmp_path, 1))[0]
    plain, packed = run_case(JOB, case), run_packed_case(JOB, case)
    assert plain.result is not None
    assert packed.result is not None
    assert (packed.case, packed.key) == (plain.case, plain.key)
    assert not packed.result.entries  # they are only in the line
    expected = seal(JOB.fingerprint, plain.key, packed.seconds, plain.result)
    assert packed.line == expected
    assert (found := unseal(packed.line)) is not None
    assert CaseResult.from_dict(found).to_dict() == plain.result.to_dict()


def test_a_case_that_is_known_already_is_not_packed(tmp_path: Path) -> None:
    case = pair(make_folders(tmp_path, 1))[0]
    known = run_packed_case(JOB, case, run_case(JOB, case).key)
    assert known.result is None
    assert known.line == b""


def test_workers_end_when_the_run_is_killed(tmp_path: Path) -> None:
    make_folders(tmp_path, N)
    code = (
        "import sys, time; from pathlib import Path; from tests.datasets.folders import *\n"
        "folder = Path(sys.argv[1])\n"
        "def watch(_): print('one', flush=True); time.sleep(60)\n"
        "run_dataset(pair(paths_in(folder)), JOB, folder / 'out', RunOptions(workers=2), watch)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True,
        cwd=Path(__file__).parents[2], start_new_session=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        process.stdout.readline()
        assert len(members(process.pid)) >= 4  # the run, its fork server, two workers
        process.kill()
    wait_until(lambda: not members(process.pid), "the end of all workers", 30)


@needs_posix
def test_a_stopped_worker_is_named_and_the_run_goes_on_when_it_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(_scheduling, "STALL_SECONDS", 0.5)
    paths, seen, victims = make_folders(tmp_path, N), list[Outcome](), list[int]()

    def watch(outcome: Outcome) -> None:
        seen.append(outcome)
        if len(seen) == 2:
            victims.append(multiprocessing.active_children()[0].pid or 0)
            os.kill(victims[0], signal.SIGSTOP)
            threading.Timer(4.0, os.kill, (victims[0], signal.SIGCONT)).start()

    run_dataset(pair(paths), JOB, tmp_path / "out", RunOptions(workers=2), watch)
    assert len(seen) == N
    told = [record.message for record in caplog.records if "is stopped" in record.message]
    assert len(told) == 1
    assert f"worker {victims[0]} is stopped" in told[0]
    assert f"kill -CONT {victims[0]}" in told[0]


def test_a_lost_scheduler_ends_the_run_and_keeps_what_is_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_scheduling, "STALL_SECONDS", 0.5)
    paths, seen = make_folders(tmp_path, N), list[Outcome]()
    with local_cluster(workers=1) as lost:

        def watch(outcome: Outcome) -> None:
            seen.append(outcome)
            if len(seen) == 2:
                lost.close()

        options = RunOptions(dask=lost.scheduler_address)
        with pytest.raises(PanmatchError, match=r"the scheduler no longer responds.*--resume"):
            run_dataset(pair(paths), JOB, tmp_path / "out", options, watch)
    assert 2 <= len(seen) < N
    again = list[Outcome]()
    run(paths, tmp_path / "out", resume=True, seen=again)
    assert sum(outcome.result is None for outcome in again) == len(seen)
    run(paths, tmp_path / "one")
    assert tables(tmp_path / "out") == tables(tmp_path / "one")


class Unreliable(Executor):
    """Answers some calls with an error of its own, as a cluster does while it is being lost."""

    def __init__(self, *failing: int, last: int = 99) -> None:
        self.failing, self.last, self.calls = failing, last, 0

    def submit(self, call: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.calls += 1
        if self.calls > self.last:
            return Future[Any]()  # never done
        if self.calls in self.failing:
            return Inline().submit(int, "no answer")
        return Inline().submit(call, *args, **kwargs)

    def check(self) -> None:
        if self.calls > self.last:
            raise LostPoolError("the scheduler no longer responds")


def statuses(outcomes: list[Outcome]) -> dict[str, str]:
    return {o.case.name: o.result.status for o in outcomes if o.result is not None}


def test_a_case_whose_answer_is_lost_is_retried(tmp_path: Path) -> None:
    cases, seen, pool = pair(make_folders(tmp_path, N)), list[Outcome](), Unreliable(2)
    run_cases(cases, JOB, WorkerPool(lambda: pool, 5, pool.check), {}, seen.append)
    assert [o.case.name for o in seen[-1:]] == ["case01"]  # after all others
    assert statuses(seen) == dict.fromkeys([case.name for case in cases], "ok")


def test_a_case_whose_answer_is_lost_twice_fails_with_the_error(tmp_path: Path) -> None:
    cases, seen, pool = pair(make_folders(tmp_path, N)), list[Outcome](), Unreliable(2, N + 1)
    run_cases(cases, JOB, WorkerPool(lambda: pool, 5, pool.check), {}, seen.append)
    expected = dict.fromkeys([case.name for case in cases], "ok") | {"case01": "failed"}
    assert statuses(seen) == expected
    found = seen[-1].result
    assert found is not None
    assert re.match(r"its worker failed twice \(ValueError: .*no answer", found.reason)


def test_cases_do_not_fail_when_the_scheduler_is_lost_with_their_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_scheduling, "STALL_SECONDS", 0.01)
    cases, seen, pool = pair(make_folders(tmp_path, N)), list[Outcome](), Unreliable(2, last=3)
    with pytest.raises(LostPoolError):
        run_cases(cases, JOB, WorkerPool(lambda: pool, 5, pool.check), {}, seen.append)
    assert statuses(seen) == {"case00": "ok", "case02": "ok"}


class Closing(Unreliable):
    """Takes no more calls once it is lost."""

    def submit(self, call: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future = super().submit(call, *args, **kwargs)
        if self.calls > self.last:
            raise RuntimeError("cannot schedule new futures")
        return future


def test_answers_that_came_before_the_scheduler_was_lost_are_kept(tmp_path: Path) -> None:
    cases, seen, pool = pair(make_folders(tmp_path, N)), list[Outcome](), Closing(last=3)
    with pytest.raises(LostPoolError):
        run_cases(cases, JOB, WorkerPool(lambda: pool, 5, pool.check), {}, seen.append)
    assert statuses(seen) == {"case00": "ok", "case01": "ok", "case02": "ok"}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with local_cluster() as found:
        yield found


@needs_posix
def test_a_cluster_gives_the_same_bytes_even_if_a_worker_is_killed(
    cluster: Any, tmp_path: Path
) -> None:
    from distributed import Client

    paths, seen = make_folders(tmp_path, N), list[Outcome]()
    with Client(cluster.scheduler_address, set_as_default=False) as client:
        victims = list(client.run(os.getpid).values())

    def watch(outcome: Outcome) -> None:
        seen.append(outcome)
        if len(seen) == 2:
            os.kill(victims[0], signal.SIGKILL)

    options = RunOptions(dask=cluster.scheduler_address)
    run_dataset(pair(paths), JOB, tmp_path / "out", options, watch)
    assert len(seen) == N
    assert {o.result.status for o in seen if o.result is not None} == {"ok"}
    run(paths, tmp_path / "one")
    assert tables(tmp_path / "out") == tables(tmp_path / "one")


def test_a_scheduler_that_is_not_there_is_named() -> None:
    with (
        pytest.raises(OptionError, match=r"--dask 'tcp://127.0.0.1:9': no scheduler answers"),
        open_pool(1, "tcp://127.0.0.1:9"),
    ):
        pass
