"""Time and memory of large runs: many cases, many objects, many classes.

`make load` writes docs/explanation/load.md.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.browser import open_tab
from benchmarks.machine import describe_machine, keep_below
from benchmarks.memory import descendants, share_of
from benchmarks.peers import ROOT
from panmatch import phantoms

PAGE = ROOT / "docs" / "explanation" / "load.md"
MARK = "<!-- Everything below is written by `make load`. -->"
CASES, MODELS = 2_000, ("a", "b", "c")
SIDE = 59  # objects along every axis of the case with 205,379 of them
CLASSES = 300


@dataclass(frozen=True, slots=True)
class Load:
    """What a run took: MB after a quarter of its cases, in the last one and at most; seconds."""

    seconds: dict[str, float]
    early: float
    late: float
    peak: float


def main() -> None:
    """Measure, and write the page."""
    rows = ["| what | evaluation | tables | peak memory | notes |", "|---|---|---|---|---|"]
    for measure in (some_cases, many_cases, many_objects, many_classes):
        with tempfile.TemporaryDirectory() as name:
            rows.append(measure(Path(name)))
        print(rows[-1], file=sys.stderr, flush=True)
    keep_below(PAGE, MARK, "\n".join([describe_machine(), "", *rows, ""]))


def some_cases(folder: Path) -> str:
    """A quarter of the cases, to see what grows with their number."""
    return _cases(folder, CASES // 4)


def many_cases(folder: Path) -> str:
    """2,000 tiny cases of three models on two workers."""
    return _cases(folder, CASES)


def _cases(folder: Path, n_cases: int) -> str:
    for at in range(n_cases):
        reference = phantoms.blobs((16, 40, 40), 4, radius=(2, 4), gap=1, seed=at)
        _save(folder / "ref" / f"{at:04}.npy", reference)
        for shift, model in enumerate(MODELS, start=1):
            _save(folder / model / f"{at:04}.npy", phantoms.shift(reference, (0, shift, 0)))
    models = [part for name in MODELS for part in ("--model", f"{name}={folder / name}")]
    load = _run(folder, n_cases * len(MODELS), str(folder / "ref"), *models, "--workers", "2")
    start = time.perf_counter()
    subprocess.run([sys.executable, "-m", "panmatch", "report", str(folder / "out")], check=True)
    made = time.perf_counter() - start
    report = folder / "out" / "report.html"
    opened = _seconds_to_open(report)
    return _row(
        f"{n_cases:,} cases × {len(MODELS)} models, two workers",
        load,
        f"{n_cases * len(MODELS) / load.seconds['evaluation']:.0f} cases/s; {load.early:.0f} MB "
        f"after the first quarter of the cases, at most {load.late:.0f} MB in the last quarter, "
        f"and the peak while writing tables; report of {report.stat().st_size / 1e6:.1f} MB "
        f"written in {made:.1f} s, opens in {opened}",
    )


def many_objects(folder: Path) -> str:
    """One case with more than 200,000 objects."""
    ids = np.arange(1, SIDE**3 + 1, dtype=np.int32).reshape(SIDE, SIDE, SIDE)
    reference = np.zeros((6 * SIDE,) * 3, np.int32)
    for corner in np.ndindex(5, 5, 5):
        reference[tuple(slice(at, None, 6) for at in corner)] = ids
    prediction = np.roll(reference, 1, axis=0)
    prediction[prediction % 7 == 0] = 0
    _save(folder / "ref" / "a.npy", reference)
    _save(folder / "pred" / "a.npy", prediction)
    load = _run(folder, 1, str(folder / "ref"), str(folder / "pred"))
    size = (folder / "out" / "cases.jsonl").stat().st_size / 1e6
    return _row(
        f"one case with {SIDE**3:,} objects, {6 * SIDE}³ voxels",
        load,
        f"three strategies at three thresholds, with exact curves; cases.jsonl has {size:.0f} MB",
    )


def many_classes(folder: Path) -> str:
    """A spec with 300 classes."""
    classes = {f"class {at:03}": {"labels": at} for at in range(1, CLASSES + 1)}
    (folder / "spec.json").write_text(json.dumps({"classes": classes}), encoding="utf-8")
    for at in range(10):
        reference = phantoms.blobs((64, 256, 256), CLASSES, radius=(3, 6), gap=1, seed=at)
        _save(folder / "ref" / f"{at}.npy", reference)
        _save(folder / "pred" / f"{at}.npy", phantoms.shift(reference, (0, 1, 0)))
    arguments = str(folder / "ref"), str(folder / "pred"), "--spec", str(folder / "spec.json")
    load = _run(folder, 10, *arguments)
    n_rows = (folder / "out" / "summary.csv").read_bytes().count(b"\n") - 1
    return _row(
        f"{CLASSES} classes, 10 cases of 64 × 256 × 256", load, f"summary.csv has {n_rows:,} rows"
    )


def _save(path: Path, labels: np.ndarray) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    np.save(path, labels.astype(np.int32 if labels.max() > 65_535 else np.uint16))


def _run(folder: Path, n_cases: int, *arguments: str) -> Load:
    """Run `panmatch evaluate`, and look at its memory every 50 ms."""
    out = folder / "out"
    command = [sys.executable, "-m", "panmatch", "evaluate", *arguments, "-o", str(out), "--quiet"]
    early = late = peak = n_done = n_read = 0
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as running:
        while running.poll() is None:
            now = sum(map(share_of, descendants(running.pid)))
            peak = max(peak, now)
            if n_done < n_cases:
                late = max(late, now) if n_done >= 3 * n_cases / 4 else 0
                early = now if n_done < n_cases / 4 else early
                new = _after(out / "cases.jsonl", n_read)
                n_done, n_read = n_done + new.count(b"\n"), n_read + len(new)
            time.sleep(0.05)
        assert running.stderr is not None
        assert running.returncode == 0, running.stderr.read().decode()
    seconds = json.loads((out / "run.json").read_text(encoding="utf-8"))["seconds"]
    return Load(seconds, early / 1e6, late / 1e6, peak / 1e6)


def _after(path: Path, start: int) -> bytes:
    """Return what was written since."""
    with suppress(OSError), path.open("rb") as stream:
        stream.seek(start)
        return stream.read()
    return b""


def _seconds_to_open(page: Path) -> str:
    """Return how long a browser takes, also for the curves, which it draws when they are seen."""
    with open_tab() as tab:
        if tab is None:
            return "a browser (none is installed here)"
        start = time.perf_counter()
        tab.goto(page.as_uri())
        tab.wait_for_function("document.readyState === 'complete'")
        opened = time.perf_counter() - start
        tab.locator("#curves").scroll_into_view_if_needed()
        tab.wait_for_selector("#curves .js-plotly-plot", timeout=60_000)
        drawn = time.perf_counter() - start - opened
        return f"{opened:.1f} s, draws the curves in {drawn:.1f} s"


def _row(what: str, load: Load, notes: str) -> str:
    tables = load.seconds["bootstrap"] + load.seconds["tables"]
    cells = (what, f"{load.seconds['evaluation']:.1f} s", f"{tables:.1f} s", f"{load.peak:.0f} MB")
    return f"| {' | '.join(cells)} | {notes} |"


if __name__ == "__main__":
    main()
