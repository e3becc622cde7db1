"""How far the peak memory of a fresh process rises during a call (Linux only)."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import panmatch as pm
from benchmarks import scenes
from benchmarks.peers import ROOT
from panmatch.labels import nearest_labels


def extra_memory(module: str, call: str) -> float:
    """Return the rise in MiB during what a call of a module here returns, in a fresh process."""
    code = f"from benchmarks import {module}, memory; memory.print_rise({module}.{call})"
    out = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    return float(out)


def count_512() -> Callable[[], object]:
    images = scenes.twice_as_large(scenes.balls(3000))
    return lambda: pm.count_overlaps(*images, threads=2)


def cells_256() -> Callable[[], object]:
    labels = scenes.scattered(200)
    return lambda: nearest_labels(labels, threads=2)


def peak_memory() -> float:
    """Return the highest memory of this process so far, in MB."""
    return _kilobytes("VmHWM") * 1024 / 1e6


def print_rise(call: Callable[[], object]) -> None:
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    before = _kilobytes("VmRSS")
    kept = call()
    print((_kilobytes("VmHWM") - before) / 1024)
    del kept


def _kilobytes(name: str) -> int:
    status = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in status if line.startswith(name))


def peak_of_tree(command: list[str]) -> float:
    """Run a command, and return the peak memory of all its processes together, in MB.

    Pages that processes share count once. Looks every 20 ms, so that a short peak may be missed.
    """
    peak = 0
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
        while running.poll() is None:
            peak = max(peak, sum(map(share_of, descendants(running.pid))))
            time.sleep(0.02)
    return peak / 1e6


def descendants(pid: int) -> list[int]:
    """Return a process and all that it started; those that end meanwhile are left out."""
    found = [pid]
    for one in found:
        with suppress(OSError):
            for task in Path(f"/proc/{one}/task").iterdir():
                found += map(int, (task / "children").read_text().split())
    return found


def share_of(pid: int) -> int:
    """Return the bytes of a process, of shared pages its part."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return 1024 * int(line.split()[1])
    return 0
