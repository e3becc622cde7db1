"""Folders of small cases, and runs over them."""

from __future__ import annotations

from pathlib import Path

import nibabel
import numpy as np
import numpy.typing as npt

from panmatch import phantoms
from panmatch.datasets import Case, DatasetPaths, Job, Outcome, RunOptions, pair, run_dataset
from panmatch.evaluation import Result
from panmatch.spec import as_spec

TABLES = (
    "scores",
    "instances",
    "curves",
    "diagnosis",
    "structure",
    "mistakes",
    "budget",
    "summary",
)
SPACING = (0.5, 1.0, 2.0)
JOB = Job(as_spec({"preset": "cells", "metrics": ["dice", "hd95"]}).canonical())


def save_nifti(path: Path, labels: npt.NDArray[np.integer], spacing: tuple[float, ...]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    affine = np.diag([*spacing, 1.0])
    nibabel.save(nibabel.Nifti1Image(labels.astype(np.uint8), affine), path)


def scene(seed: int) -> npt.NDArray[np.integer]:
    return phantoms.blobs((18, 20, 14), 5, radius=(2, 4), gap=1, seed=seed)


def make_folders(folder: Path, n: int, models: tuple[str, ...] = ("model",)) -> DatasetPaths:
    """Write n cases: the reference, and for every model a prediction with errors of its own."""
    for at in range(n):
        reference = scene(at)
        save_nifti(folder / "ref" / f"case{at:02}.nii.gz", reference, SPACING)
        for shift, model in enumerate(models, start=1):
            prediction = phantoms.shift(reference, (shift, 0, 0), ids=[1, 2])
            prediction = phantoms.miss(prediction, ids=[3] if at % 2 else [3, 4])
            save_nifti(folder / model / f"case{at:02}.nii.gz", prediction, SPACING)
    return paths_in(folder, models)


def paths_in(folder: Path, models: tuple[str, ...] = ("model",)) -> DatasetPaths:
    """Return where `make_folders` writes."""
    return DatasetPaths(folder / "ref", {model: folder / model for model in models})


def run(
    paths: DatasetPaths,
    out: Path,
    *,
    job: Job = JOB,
    seen: list[Outcome] | None = None,
    **options: object,
) -> Result:
    watch = (lambda _: None) if seen is None else seen.append
    return run_dataset(pair(paths), job, out, RunOptions(**options), watch)  # type: ignore[arg-type]


def tables(out: Path) -> dict[str, bytes]:
    """Return every table of a run, byte for byte."""
    return {
        f"{name}.{kind}": (out / f"{name}.{kind}").read_bytes()
        for name in TABLES
        for kind in ("csv", "parquet")
    }


def names(cases: list[Case]) -> list[str]:
    return [case.name for case in cases]
