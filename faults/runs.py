"""Made-up datasets, runs of `panmatch evaluate` over them, and what they leave behind."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nibabel
import numpy as np
import numpy.typing as npt

from faults.fault import check
from panmatch import phantoms

TABLES = ("scores", "instances", "curves", "diagnosis", "summary")
LIMIT_SECONDS = 120.0
WATCHED = """
import resource, subprocess, sys
code = subprocess.call(sys.argv[1:])
print("\\n" + str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss), file=sys.stderr)
sys.exit(code)
"""
SPEC = ("-s", "one-to-one", "-t", "0.5", "-m", "dice")


@dataclass(frozen=True, slots=True)
class Ended:
    """What a process left: its exit code, and what it printed."""

    code: int
    out: str
    err: str


def make_dataset(folder: Path, n: int) -> Path:
    """Write n small cases, references and predictions, and return where they are."""
    for at in range(n):
        reference = phantoms.blobs((32, 32, 16), 5, radius=(2, 4), gap=1, seed=at)
        prediction = phantoms.shift(reference, (1, 0, 0), ids=[1, 2])
        save(folder / "ref" / f"case{at:03}.nii.gz", reference)
        save(folder / "pred" / f"case{at:03}.nii.gz", phantoms.miss(prediction, ids=[3]))
    return folder


def save(path: Path, labels: npt.NDArray[np.integer]) -> None:
    """Write a label image as NIfTI."""
    path.parent.mkdir(parents=True, exist_ok=True)
    nibabel.save(nibabel.Nifti1Image(labels.astype(np.uint8), np.eye(4)), path)


def write_zeros(path: Path, announced: tuple[int, int, int], n_bytes: int) -> None:
    """Write a compressed volume of zeros, behind a header that may announce another size."""
    header = nibabel.Nifti1Header()
    header.set_data_shape(announced)
    header.set_data_dtype(np.uint8)
    header["vox_offset"], header["magic"] = 352, b"n+1"
    slab = bytes(2**20)
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(header.binaryblock + bytes(4))
        for _ in range(n_bytes // len(slab)):
            file.write(slab)


def command(data: Path, out: Path, *options: str) -> list[str]:
    """Return the command that evaluates a dataset."""
    paths = [str(data / "ref"), str(data / "pred"), "-o", str(out)]
    return [sys.executable, "-m", "panmatch", "evaluate", *paths, *SPEC, *options]


@contextmanager
def begun(
    arguments: Sequence[str], *, before: Callable[[], None] | None = None, **options: Any
) -> Iterator[subprocess.Popen[str]]:
    """Start a process in a session of its own; whatever is left of it in the end is killed."""
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        arguments, stdout=pipe, stderr=pipe, text=True, start_new_session=True,
        preexec_fn=before, **options,
    )  # fmt: skip
    try:
        yield process
    finally:
        for pid in members(process.pid):
            os.kill(pid, signal.SIGKILL)
        process.communicate()


def ended(process: subprocess.Popen[str], seconds: float = LIMIT_SECONDS) -> Ended:
    """Wait for a process, and return what it left; one that takes too long hangs."""
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        check(False, f"it hangs: it did not end within {seconds:.0f} s")
    return Ended(process.returncode, out, err)


def run(arguments: Sequence[str], **options: Any) -> Ended:
    """Run a command to its end."""
    with begun(arguments, **options) as process:
        return ended(process)


def evaluate(data: Path, out: Path, *options: str, **how: Any) -> Ended:
    """Run `panmatch evaluate` to its end."""
    return run(command(data, out, *options), **how)


def peak_memory(arguments: Sequence[str], **options: Any) -> tuple[Ended, float]:
    """Run a command to its end, and return its largest memory in MiB as well."""
    left = run([sys.executable, "-c", WATCHED, *arguments], **options)
    *lines, peak = left.err.splitlines()
    return Ended(left.code, left.out, "\n".join(lines)), float(peak) / 1024


def evaluated(data: Path, out: Path, *options: str) -> dict[str, bytes]:
    """Run `panmatch evaluate` undisturbed, and return its tables."""
    left = evaluate(data, out, *options)
    check(left.code == 0, f"an undisturbed run ended with code {left.code}: {left.err.strip()}")
    return tables(out)


def tables(out: Path) -> dict[str, bytes]:
    """Return every table of a run, byte for byte."""
    kinds = [f"{name}.{kind}" for name in TABLES for kind in ("csv", "parquet")]
    return {name: (out / name).read_bytes() for name in kinds if (out / name).exists()}


def run_facts(out: Path) -> dict[str, Any]:
    """Return what run.json says."""
    facts: dict[str, Any] = json.loads((out / "run.json").read_text(encoding="utf-8"))
    return facts


def n_stored(out: Path) -> int:
    """Return how many results are stored so far."""
    file = out / "cases.jsonl"
    return file.read_bytes().count(b"\n") if file.exists() else 0


def wait_until(holds: Callable[[], bool], what: str, seconds: float = LIMIT_SECONDS) -> None:
    """Wait for something to happen."""
    end = time.monotonic() + seconds
    while not holds():
        check(time.monotonic() < end, f"{what} did not happen within {seconds:.0f} s")
        time.sleep(0.005)


def members(session: int) -> list[int]:
    """Return the living processes of a session."""
    return [pid for pid, state, _, of in _processes() if of == session and state != "Z"]


def workers_of(session: int) -> list[int]:
    """Return the processes of a session that evaluate cases: children of the fork server."""
    parents = {pid: parent for pid, _, parent, of in _processes() if of == session}
    return sorted(pid for pid, parent in parents.items() if parents.get(parent) == session)


def _processes() -> Iterator[tuple[int, str, int, int]]:
    """Yield pid, state, parent and session of every process of this machine."""
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                rest = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            yield int(folder.name), rest[0], int(rest[1]), int(rest[3])
