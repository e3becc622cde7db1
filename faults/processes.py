"""Processes that are killed, stopped, or run out of memory."""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from faults.fault import Fault, check
from faults.runs import (
    begun,
    command,
    ended,
    evaluate,
    evaluated,
    make_dataset,
    members,
    n_stored,
    run_facts,
    tables,
    wait_until,
    workers_of,
    write_zeros,
)

SCHEDULER = (sys.executable, "-m", "distributed.cli.dask_scheduler")
WORKER = (sys.executable, "-m", "distributed.cli.dask_worker")
KILLS = 20
N = 60


def kill_anywhere(folder: Path) -> str:
    """Kill a run of 200 cases at random moments, and go on."""
    data, chance = make_dataset(folder, 200), random.Random(0)
    start = time.monotonic()
    whole = evaluated(data, folder / "whole", "--workers", "2")
    seconds = time.monotonic() - start
    kept = []
    for at in range(KILLS):
        out = folder / f"out{at}"
        with begun(command(data, out, "--workers", "2")) as process:
            if at % 2:
                time.sleep(chance.uniform(0.0, 1.0) * seconds)
            else:  # while cases are evaluated, however long everything else takes
                wanted = chance.randrange(200)
                wait_until(lambda out=out, n=wanted: n_stored(out) >= n, "so many cases")  # type: ignore[misc]
            process.kill()
            process.communicate()
            wait_until(lambda s=process.pid: not members(s), "the end of orphaned workers", 20)  # type: ignore[misc]
        kept.append(n_stored(out))
        left = evaluate(data, out, "--workers", "2", "--resume")
        check(left.code == 0, f"--resume after kill {at} ended with code {left.code}: {left.err}")
        check(tables(out) == whole, f"tables differ after kill {at} ({kept[-1]} cases were kept)")
    return (
        f"All {KILLS} times the tables are identical to those of an uninterrupted run, byte for "
        f"byte. Between {min(kept)} and {max(kept)} finished cases had been kept. No process was "
        f"left behind."
    )


def kill_worker(folder: Path) -> str:
    """Kill one of two workers."""
    data = make_dataset(folder, N)
    whole, out = evaluated(data, folder / "whole"), folder / "out"
    with begun(command(data, out, "--workers", "2")) as process:
        wait_until(lambda: n_stored(out) >= N // 4, "a quarter of the run")
        os.kill(workers_of(process.pid)[-1], signal.SIGKILL)
        left = ended(process)
    check(left.code == 0, f"it ended with code {left.code}: {left.err}")
    check(tables(out) == whole, "tables differ")
    return "A new worker repeats its case. The tables are those of an undisturbed run."


def stop_worker(folder: Path) -> str:
    """Stop one of two workers, and let it go on later."""
    data = make_dataset(folder, N)
    whole, out = evaluated(data, folder / "whole"), folder / "out"
    with begun(command(data, out, "--workers", "2")) as process:
        wait_until(lambda: n_stored(out) >= N // 4, "a quarter of the run")
        victim = workers_of(process.pid)[-1]
        os.kill(victim, signal.SIGSTOP)
        time.sleep(13)
        done = n_stored(out)
        check(process.poll() is None, "it ended although a worker was stopped")
        os.kill(victim, signal.SIGCONT)
        left = ended(process)
    check(left.code == 0, f"it ended with code {left.code}: {left.err}")
    check(f"worker {victim} is stopped" in left.err, f"nobody was told: {left.err!r}")
    check(tables(out) == whole, "tables differ")
    return (
        f"The other one carries on ({done} of {N} cases done meanwhile). After 10 s without a "
        f"result the run names the stopped worker and the command that resumes it. Once resumed, "
        f"it finishes, and the tables are those of an undisturbed run."
    )


def run_out_of_memory(folder: Path) -> str:
    """Give a run too little memory for one of its cases."""
    data = make_dataset(folder, 6)
    for side in ("ref", "pred"):
        write_zeros(data / side / "large.nii.gz", (1024, 1024, 1500), 1500 * 2**20)

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (3 * 2**30, 3 * 2**30))

    told = []
    for workers in ("1", "2"):
        out = folder / workers
        left = evaluate(data, out, "--workers", workers, before=limit)
        check(left.code == 1, f"it ended with code {left.code}: {left.err}")
        scores = (out / "scores.csv").read_text(encoding="utf-8")
        check("not enough memory" in scores, f"the reason is missing: {left.err}")
        told.append(run_facts(out)["failed"])
    check(told == [1, 1], f"{told} cases failed instead of one")
    return (
        "With one process and with several, that case fails with the reason “there is not enough "
        "memory for it”. All others are evaluated."
    )


def kill_dask_worker(folder: Path) -> str:
    """Kill one of two workers of a cluster."""
    data = make_dataset(folder, N)
    whole, out = evaluated(data, folder / "whole"), folder / "out"
    with (
        _cluster(folder) as (address, _, workers),
        begun(command(data, out, "--dask", address)) as process,
    ):
        wait_until(lambda: n_stored(out) >= N // 4, "a quarter of the run")
        for pid in members(workers[0].pid):
            os.kill(pid, signal.SIGKILL)
        left = ended(process)
    check(left.code == 0, f"it ended with code {left.code}: {left.err}")
    check(tables(out) == whole, "tables differ")
    return "The other worker takes over its cases. The tables are those of an undisturbed run."


def kill_scheduler(folder: Path) -> str:
    """Kill the scheduler of a cluster."""
    data = make_dataset(folder, N)
    whole, out = evaluated(data, folder / "whole"), folder / "out"
    with (
        _cluster(folder) as (address, scheduler, _),
        begun(command(data, out, "--dask", address)) as process,
    ):
        wait_until(lambda: n_stored(out) >= N // 4, "a quarter of the run")
        scheduler.kill()
        start = time.monotonic()
        left = ended(process)
        seconds = time.monotonic() - start
    kept = n_stored(out)
    check(left.code not in (0, 1), f"it ended with code {left.code}: {left.err}")
    check("Traceback" not in left.err, f"it ended in a traceback: {left.err[-3500:]}")
    check("scheduler" in left.err, f"nobody was told: {left.err!r}")
    again = evaluate(data, out, "--resume")
    check(again.code == 0, f"--resume ended with code {again.code}: {again.err}")
    check(tables(out) == whole, "tables differ")
    return (
        f"The run ends after {seconds:.0f} s with an error that says so, and keeps the {kept} "
        f"finished cases. `--resume`, here without a cluster, completes the run."
    )


@contextmanager
def _cluster(
    folder: Path,
) -> Iterator[tuple[str, subprocess.Popen[str], list[subprocess.Popen[str]]]]:
    """Yield the address of a scheduler, its process and those of two workers."""
    file = folder / "scheduler.json"
    quiet = ["--scheduler-file", str(file), "--no-dashboard"]
    with ExitStack() as stack:
        scheduler = stack.enter_context(
            begun([*SCHEDULER, "--host", "127.0.0.1", "--port", "0", *quiet])
        )
        wait_until(lambda: file.exists() and "address" in file.read_text(), "a scheduler", 60)
        worker = [*WORKER, "--nthreads", "1", "--no-nanny", *quiet]
        workers = [stack.enter_context(begun(worker, cwd=folder)) for _ in range(2)]
        address = json.loads(file.read_text())["address"]
        _wait_for_workers(address)
        yield address, scheduler, workers


def _wait_for_workers(address: str) -> None:
    from distributed import Client

    with Client(address, timeout="30s", set_as_default=False) as client:
        client.wait_for_workers(2, timeout=60)


FAULTS = (
    Fault(
        f"A run of 200 cases with two workers is killed (`kill -9`) at {KILLS} random moments, and "
        f"continued with `--resume` each time",
        kill_anywhere,
    ),
    Fault("One of two workers is killed", kill_worker),
    Fault("One of two workers is stopped (`kill -STOP`)", stop_worker),
    Fault("A case needs more memory than the machine has", run_out_of_memory),
    Fault("One of two workers of a Dask cluster is killed", kill_dask_worker),
    Fault("The Dask scheduler is killed", kill_scheduler),
)
