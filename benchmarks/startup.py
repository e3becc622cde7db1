"""How long commands take until they have answered, Python's own start included."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import nibabel
import numpy as np

from benchmarks.timing import Row, at_most, below, best_ms
from panmatch import phantoms


def rows() -> Iterator[Row]:
    """Yield every comparison as soon as it is measured."""
    python = best_ms(partial(run, "-c", "pass"), repeats=7)
    with tempfile.TemporaryDirectory() as name:
        out = ["-o", str(Path(name) / "out"), "--overwrite"]
        evaluate = ["evaluate", *small_pair(Path(name)), *out]
        for what, words, bound in (
            ("panmatch --help", ["--help"], 250),
            ("panmatch evaluate, one pair of 64³ from NIfTI, with all tables", evaluate, 800),
        ):
            ours = best_ms(partial(run, "-m", "panmatch", *words), repeats=7)
            yield below(f"{what}, by the clock", ours, "ms", bound)
            yield at_most(f"{what}, by the clock", ours, python, "limit: start Python", None)


def small_pair(folder: Path) -> list[str]:
    """Write two small label images, and return their paths."""
    reference = phantoms.balls((64, 64, 64), 8, radius=(4, 8), seed=1)
    paths = [folder / f"{name}.nii.gz" for name in ("ref", "pred")]
    for path, labels in zip(paths, (reference, phantoms.shift(reference, (1, 0, 1))), strict=True):
        nibabel.save(nibabel.Nifti1Image(labels.astype(np.uint16), np.eye(4)), path)
    return [str(path) for path in paths]


def run(*words: str) -> None:
    subprocess.run([sys.executable, *words], check=True, capture_output=True)
