"""Folders of cases: two workers against one, and against panoptica's aggregator."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import nibabel
import numpy as np
import pandas as pd

from benchmarks.browser import open_tab
from benchmarks.limits import UNPACKING, unpack
from benchmarks.memory import extra_memory
from benchmarks.peers import PEER
from benchmarks.timing import Row, at_most, below, best_ms, faster, not_measured
from panmatch import phantoms
from panmatch.datasets import Case, ImageFile, Job, run_case
from panmatch.spec import as_spec

CASES, PEER_CASES, REPEATS = 200, 10, 3
MODELS = {"first": "pred", "second": "pred", "perfect": "ref"}
SHAPE = (128, 128, 128)
SPEC = as_spec({"thresholds": 0.5, "metrics": ["iou", "dice", "assd", "hd95"]})
PAIR_BYTES = 2 * int(np.prod(SHAPE)) * np.dtype(np.uint16).itemsize


def rows() -> Iterator[Row]:
    """Yield every comparison as soon as it is measured."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder)
        make_cases(data)
        alone, together = evaluate(data, 1, 2)
        yield efficiency(alone, together)
        yield from against_panoptica(data, alone)
        yield memory_of_a_worker(data)
        yield from report_of_three_models(data)


def make_cases(folder: Path) -> None:
    """Write phantom cases of 128³: 30 balls, some missed, the others shifted by a voxel or two."""
    for side in ("ref", "pred"):
        (folder / side).mkdir()
    for seed in range(CASES):
        reference = phantoms.balls(SHAPE, 30, radius=(4, 11), seed=seed)
        prediction = phantoms.shift(reference, (1, -1, 1 + seed % 2))
        prediction = phantoms.miss(prediction, ids=[1 + seed % 30])
        for side, labels in (("ref", reference), ("pred", prediction)):
            image = nibabel.Nifti1Image(labels.astype(np.uint16), np.diag([1.0, 1.0, 2.0, 1.0]))
            nibabel.save(image, folder / side / f"case{seed:03}.nii.gz")


def evaluate(folder: Path, *workers: int) -> list[dict[str, float]]:
    """Return the timings that the command line writes, of the best of several runs in turns."""
    rounds = [[evaluate_once(folder, number) for number in workers] for _ in range(REPEATS)]
    return [min(runs, key=lambda run: run["evaluation"]) for runs in zip(*rounds, strict=True)]


def evaluate_once(folder: Path, workers: int) -> dict[str, float]:
    subprocess.run(evaluation(folder, workers), check=True, capture_output=True)
    written = (folder / f"out{workers}" / "run.json").read_text()
    seconds: dict[str, float] = json.loads(written)["seconds"]
    return seconds


def evaluation(folder: Path, workers: int) -> list[str]:
    """Return the command that evaluates all cases."""
    out, spec = folder / f"out{workers}", folder / "spec.yaml"
    spec.write_text(SPEC.canonical())
    arguments = [folder / "ref", folder / "pred", "--spec", spec, "-o", out, "-j", workers]
    arguments += ["--threads", 1, "--overwrite"]
    return [sys.executable, "-m", "panmatch", "evaluate", *map(str, arguments)]


def efficiency(alone: dict[str, float], together: dict[str, float]) -> Row:
    share = alone["evaluation"] / together["evaluation"] / 2
    return Row(
        f"{CASES} phantom cases of 128³ from NIfTI, two workers of one thread each",
        f"{together['evaluation']:.1f} s ({together['all']:.1f} s with all tables)",
        f"one worker {alone['evaluation']:.1f} s ({alone['all']:.1f} s)",
        f"{share:.0%} efficiency",
        "≥ 85 %",
        share >= 0.85,
    )


def against_panoptica(folder: Path, alone: dict[str, float]) -> Iterator[Row]:
    script = Path(__file__).with_name("peer_panoptica_folder.py")
    arguments = [PEER, script, folder / "ref", folder / "pred", PEER_CASES]
    done = subprocess.run(list(map(str, arguments)), check=True, capture_output=True, text=True)
    peer = json.loads(done.stdout.splitlines()[-1])
    scores = pd.read_parquet(folder / "out1" / "scores.parquet")
    pq = scores[scores.strategy == "one-to-one"].set_index("case").pq
    for row in peer["rows"]:
        assert abs(pq[row["subject_name"]] - row["groups"]["ungrouped"]["pq"]) < 1e-9
    ours = 1e3 * alone["evaluation"] / CASES
    name = f"panoptica {peer['version']}, one strategy, no curve,"
    what = "one case from NIfTI: 3 strategies, exact curves, IoU, Dice, ASSD, HD95, one worker"
    unpacking = best_ms(lambda: unpack(folder.glob("*/*.nii.gz")), repeats=3) / CASES
    yield at_most(what, ours, unpacking, UNPACKING, None)
    yield faster(what, ours, peer["ms"], name, None)


def memory_of_a_worker(folder: Path) -> Row:
    used = extra_memory("datasets", f"one_case({str(folder)!r})") * 1024**2
    return Row(
        "peak memory of a worker beyond an idle one, 128³ uint16",
        f"{used / 1e6:.1f} MB",
        f"both images of a case {PAIR_BYTES / 1e6:.1f} MB",
        f"{used / PAIR_BYTES:.2f} ×",
        "< 4 ×",
        used < 4 * PAIR_BYTES,
    )


def report_of_three_models(folder: Path) -> Iterator[Row]:
    """Measure the report of all cases with three models, in size and until it is drawn."""
    out = folder / "three"
    models = [f"--model={name}={folder / side}" for name, side in MODELS.items()]
    arguments = [
        folder / "ref",
        *models,
        "--spec",
        folder / "spec.yaml",
        "-o",
        out,
        "-j",
        2,
        "--report",
    ]
    command = [sys.executable, "-m", "panmatch", "evaluate", *map(str, arguments)]
    subprocess.run(command, check=True, capture_output=True)
    page, what = out / "report.html", f"report of {CASES} cases × {len(MODELS)} models"
    yield below(f"{what}, size", page.stat().st_size / 1e6, "MB", 15)
    opened = seconds_to_open(page)
    if opened is None:
        yield not_measured(f"{what}, opened in Chromium", "no Chromium here", "< 3 s")
    else:
        yield below(f"{what}, opened in Chromium until its first chart is drawn", opened, "s", 3)


def seconds_to_open(page: Path) -> float | None:
    """Return how long a browser takes until the first chart is there; None without a browser."""
    with open_tab(height=2400) as tab:
        if tab is None:
            return None
        start = time.perf_counter()
        tab.goto(f"file://{page}")
        tab.wait_for_selector(".js-plotly-plot .scatterlayer")
        return time.perf_counter() - start


def one_case(folder: str) -> Callable[[], object]:
    """Return what evaluates ten cases, after a first one has loaded all that an idle worker has."""
    order = Job(SPEC.canonical(), threads=1)

    def case(at: int) -> Case:
        name = f"case{at:03}.nii.gz"
        return Case(
            name, "", ImageFile(Path(folder, "ref", name)), ImageFile(Path(folder, "pred", name))
        )

    small = Path(folder, "small.npy")
    np.save(small, np.ones((2, 2, 2), np.uint16))
    run_case(order, Case("small", "", ImageFile(small), ImageFile(small)))
    nifti = np.ones((2, 2, 2), np.uint16)
    nibabel.save(nibabel.Nifti1Image(nifti, np.eye(4)), Path(folder, "small.nii.gz"))
    source = ImageFile(Path(folder, "small.nii.gz"))
    run_case(order, Case("small", "", source, source))
    return lambda: [run_case(order, case(at)).seconds for at in range(10)]
