"""A run over cells with nuclei: a class with parts, one without, and two models."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from panmatch import phantoms
from panmatch.datasets import DatasetPaths, Job, RunOptions, pair, run_dataset
from panmatch.spec import as_spec
from tests.datasets.folders import save_nifti

BODY, NUCLEUS, DEBRIS = 1, 2, 3
SPEC = {
    "classes": {
        "cell": {
            "labels": [BODY, NUCLEUS],
            "instances": "components",
            "parts": [BODY, NUCLEUS],
        },
        "debris": {"labels": DEBRIS, "instances": "components"},
    },
    "matching": ["one-to-one", "many-to-one", {"strategy": "one-to-many", "regions": True}],
    "thresholds": [0.3, 0.5],
    "metrics": ["dice", "hd95"],
}

Labels = npt.NDArray[np.integer]


def run_with_parts(folder: Path, n: int = 5) -> Path:
    """Evaluate two models on n cases, and return the folder of the run."""
    for i in range(n):
        cells = phantoms.blobs((70, 90), 10, radius=(5, 9), gap=3, seed=i)
        more = phantoms.add_spurious(cells, 6, radius=(2, 3), avoid=cells, gap=4, seed=i)
        debris = np.where(more != cells, more - 10, 0)  # ids from 1
        name = f"case{i}.nii.gz"
        _save(folder / "ref" / name, cells, phantoms.erode(cells, 3), debris)
        near = phantoms.miss(phantoms.shift(cells, (1, 1), ids=[1, 2, 3]), ids=[4])
        _save(folder / "near" / name, near, phantoms.erode(near, 2), debris)
        far = phantoms.split(phantoms.shift(cells, (1, 2)), 2, ids=[1, 2, 5])
        far = np.where(debris > 0, 0, phantoms.erode(far, 1))  # fragments are apart
        _save(folder / "far" / name, far, phantoms.erode(far, 1), phantoms.miss(debris, ids=[1, 2]))
    layout = DatasetPaths(folder / "ref", {name: folder / name for name in ("near", "far")})
    order = Job(as_spec(SPEC).canonical())
    run_dataset(pair(layout), order, folder / "out", RunOptions())
    return folder / "out"


def _save(path: Path, cells: Labels, nuclei: Labels, debris: Labels) -> None:
    labels = np.where(nuclei > 0, NUCLEUS, np.where(cells > 0, BODY, 0))
    save_nifti(path, np.where(debris > 0, DEBRIS, labels)[..., np.newaxis], (0.5, 0.5, 1.0))
