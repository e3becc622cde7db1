"""Files of cases: NIfTI against decompressing alone, and thousands of small cases per second."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import nibabel
import numpy as np

from benchmarks.limits import UNPACKING, unpack
from benchmarks.timing import Row, at_most, processor_ms
from panmatch import phantoms
from panmatch.datasets import Case, ImageFile, Job, run_case
from panmatch.spec import as_spec

SPEC = as_spec({"thresholds": 0.5, "metrics": ["iou", "dice"]})
SIDES = {128: (30, (4, 11)), 256: (200, (8, 16))}  # objects, and their radii
SMALL_CASES, RATE = 5000, 400


def rows() -> Iterator[Row]:
    """Yield every comparison as soon as it is measured."""
    with tempfile.TemporaryDirectory() as name:
        for side in SIDES:
            yield nifti_case(Path(name), side)
    with tempfile.TemporaryDirectory() as name:
        yield many_cases(Path(name))


def nifti_case(folder: Path, side: int) -> Row:
    """Evaluate one case, and decompress its files with isal, in turns."""
    n_objects, radius = SIDES[side]
    reference = phantoms.balls((side, side, side), n_objects, radius=radius, seed=1)
    prediction = phantoms.shift(reference, (1, -1, 2))
    paths = [folder / f"{name}{side}.nii.gz" for name in ("ref", "pred")]
    for path, labels in zip(paths, (reference, prediction), strict=True):
        nibabel.save(nibabel.Nifti1Image(labels.astype(np.uint16), np.eye(4)), path)
    ref, pred = map(ImageFile, paths)
    job, case = Job(SPEC.model_dump_json(), threads=1), Case("a", "", ref, pred)
    pairs = [
        (
            processor_ms(lambda: run_case(job, case), repeats=1),
            processor_ms(lambda: unpack(paths), repeats=1),
        )
        for _ in range(7)
    ]
    ours, unpacking = map(min, zip(*pairs, strict=True))
    what = f"one case from .nii.gz, {side}³ uint16: 3 strategies, exact curves, IoU and Dice"
    return at_most(what, ours, unpacking, UNPACKING, 1.3)


def many_cases(folder: Path) -> Row:
    """Evaluate thousands of small cases on two workers, with all tables."""
    for side in ("ref", "pred"):
        (folder / side).mkdir()
    for at in range(SMALL_CASES):
        reference = phantoms.blobs((16, 40, 40), 4, radius=(2, 4), gap=1, seed=at).astype(np.uint16)
        np.save(folder / "ref" / f"{at:04}.npy", reference)
        np.save(folder / "pred" / f"{at:04}.npy", phantoms.shift(reference, (0, 1, 0)))
    out, sides = folder / "out", [str(folder / "ref"), str(folder / "pred")]
    command = [sys.executable, "-m", "panmatch", "evaluate", *sides, "-o", str(out), "--quiet"]
    subprocess.run([*command, "--workers", "2"], check=True, capture_output=True)
    seconds = json.loads((out / "run.json").read_text(encoding="utf-8"))["seconds"]
    rate = SMALL_CASES / seconds.pop("all")
    shares = ", ".join(f"{name} {value:.1f} s" for name, value in seconds.items())
    what = f"{SMALL_CASES:,} cases of 16 × 40 × 40, two workers, all tables"
    return Row(
        what, f"{rate:.0f} cases/s", shares, "", f"≥ {RATE} cases/s", rate >= RATE
    )  # fmt: skip
