"""Output folders that are full, read-only, gone, or taken by somebody else."""

from __future__ import annotations

import ctypes
import os
import resource
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

from faults.fault import Fault, check
from faults.runs import (
    begun,
    command,
    ended,
    evaluate,
    evaluated,
    make_dataset,
    n_stored,
    run_facts,
    tables,
    wait_until,
)

N = 60
PR_CAPBSET_DROP, CAP_DAC_OVERRIDE = 24, 1  # of Linux


def fill_disk(folder: Path) -> str:
    """Let every kind of file hit a limit of its size, as on a full disk."""
    data = make_dataset(folder, N)
    whole = evaluated(data, folder / "whole")
    results = (folder / "whole" / "cases.jsonl").stat().st_size
    kept = []
    for at, size in enumerate((500, results // 3, results - 1, 2 * results)):
        out = folder / f"out{at}"
        left = evaluate(data, out, "--report", before=_limited_to(size))
        check(left.code == 2, f"it ended with code {left.code}: {left.err}")
        check("cannot be written" in left.err, f"nobody was told: {left.err!r}")
        check("Traceback" not in left.err, f"it ended in a traceback: {left.err[-500:]}")
        check(not list(out.glob("**/*.part")), "a file that was half written is left")
        kept.append(n_stored(out))
        again = evaluate(data, out, "--resume")
        check(again.code == 0, f"--resume ended with code {again.code}: {again.err}")
        check(tables(out) == whole, f"tables differ with files of at most {size} bytes")
        check(run_facts(out)["evaluated_now"] == N - kept[-1], "finished cases were lost")
    return (
        f"An error names the folder and the remedy, with exit code 2. No half-written file is "
        f"left. {', '.join(map(str, kept))} finished cases were kept at the four limits, and "
        f"`--resume` completed the same tables."
    )


def _limited_to(size: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def write_protect(folder: Path) -> str:
    """Evaluate into a folder that may not be written."""
    data, out = make_dataset(folder, 4), folder / "out"
    out.mkdir()
    out.chmod(0o555)
    left = evaluate(data, out, before=_bound_by_rights)
    check(left.code == 2, f"it ended with code {left.code}: {left.err}")
    check("cannot be written: Permission denied" in left.err, f"nobody was told: {left.err!r}")
    check(not list(out.iterdir()), "something was written")
    return "An error before the first case is evaluated: “cannot be written: Permission denied”."


def write_protect_later(folder: Path) -> str:
    """Take away the right to write while a run is under way."""
    data, out = make_dataset(folder, N), folder / "out"
    whole = evaluated(data, folder / "whole")
    with begun(command(data, out), before=_bound_by_rights) as process:
        wait_until(lambda: n_stored(out) >= N // 3, "a third of the run")
        out.chmod(0o555)
        left = ended(process)
    check(left.code == 2, f"it ended with code {left.code}: {left.err}")
    check("Permission denied" in left.err, f"nobody was told: {left.err!r}")
    kept = n_stored(out)
    out.chmod(0o777)
    again = evaluate(data, out, "--resume")
    check(again.code == 0, f"--resume ended with code {again.code}: {again.err}")
    check(tables(out) == whole, "tables differ")
    n_again = run_facts(out)["evaluated_now"]
    return (
        f"An error names the file. All {kept} cases are kept. Once the folder is writable again, "
        f"`--resume` evaluates {n_again} cases and writes the tables."
    )


def _bound_by_rights() -> None:
    """Make the rights of files hold for the program to come, even if root starts it."""
    if os.geteuid() == 0:
        ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, 0, 0, 0)


def remove_folder(folder: Path) -> str:
    """Remove the output folder while a run is under way, or rename it."""
    data = make_dataset(folder, N)
    whole = evaluated(data, folder / "whole")
    for deed in ("removed", "renamed"):
        out = folder / deed
        with begun(command(data, out, "--report")) as process:
            wait_until(lambda out=out: n_stored(out) >= N // 3, "a third of the run")  # type: ignore[misc]
            if deed == "removed":
                shutil.rmtree(out)
            else:
                out.rename(folder / "elsewhere")
            left = ended(process)
        check(left.code == 0, f"{deed}: it ended with code {left.code}: {left.err}")
        check(tables(out) == whole, f"{deed}: tables differ")
        check((out / "report.html").exists(), f"{deed}: there is no report")
        check(n_stored(out) == N, f"{deed}: {n_stored(out)} of {N} results are stored")
    return "It is created again with all finished cases. Tables and report are complete."


def share_folder(folder: Path) -> str:
    """Start a second run in the folder of one that is under way."""
    data, out = make_dataset(folder, N), folder / "out"
    whole = evaluated(data, folder / "whole")
    with begun(command(data, out)) as process:
        wait_until(lambda: n_stored(out) >= 5, "the beginning of a run")
        process.send_signal(signal.SIGSTOP)  # so that it is still there in the end
        for options in ((), ("--resume",), ("--overwrite",)):
            left = evaluate(data, out, *options)
            check(left.code == 2, f"{options}: the second ended with code {left.code}: {left.err}")
        check("another run is writing" in left.err, f"nobody was told: {left.err!r}")
        process.send_signal(signal.SIGCONT)
        first = ended(process)
    check(first.code == 0, f"the first ended with code {first.code}: {first.err}")
    check(tables(out) == whole, "tables differ")
    return (
        "The second one refuses to start, even with `--resume` or `--overwrite`, and changes "
        "nothing. The first one is not disturbed."
    )


FAULTS = (
    Fault(
        "The disk fills up at four different moments (simulated by a limit on file sizes)",
        fill_disk,
    ),
    Fault("The output folder is read-only", write_protect),
    Fault("The output folder becomes read-only during the run", write_protect_later),
    Fault("The output folder is deleted or renamed during the run", remove_folder),
    Fault("Two runs use the same output folder", share_folder),
)
