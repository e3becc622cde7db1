"""Results with known scores: one object of ten voxels, of which a model covers some."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import panmatch as pm
from panmatch.evaluation import Result

SPEC: dict[str, Any] = {
    "matching": ["one-to-one", "many-to-one"],
    "thresholds": [0.05, 0.5],
    "metrics": ["dice", "hd95"],
}
TWO_CLASSES = {**SPEC, "classes": {"cell": {"labels": [1]}, "lesion": {"labels": [2]}}}


def image(*covered: int) -> Any:
    """Return one object per number, of so many voxels of ten, with labels 1, 2, …"""
    rows = [np.where(np.arange(12) < n, label, 0) for label, n in enumerate(covered, 1)]
    return np.stack(rows)


def covering(models: Mapping[str, Sequence[int | tuple[int, ...]]], spec: Any = None) -> Result:
    """Return a result in which PQ of each case is a tenth of the number given.

    Cases are called c0, c1, …; with tuples, every number is of one class.
    """
    evaluator = pm.Evaluator(SPEC if spec is None else spec)
    for model, cases in models.items():
        for at, covered in enumerate(cases):
            sizes = covered if isinstance(covered, tuple) else (covered,)
            reference = image(*(10 for _ in sizes))
            evaluator.update(
                reference=reference, prediction=image(*sizes), case=f"c{at}", model=model
            )
    return evaluator.compute()


def write_covering(folder: Path, models: Mapping[str, Sequence[int | None]]) -> list[str]:
    """Write references and predictions, and return the arguments that evaluate them."""
    words = [str(folder / "ref")]
    for model, cases in models.items():
        for at, covered in enumerate(cases):
            for side, n in (("ref", 10), (model, covered)):
                if n is not None:
                    (folder / side).mkdir(parents=True, exist_ok=True)
                    np.save(folder / side / f"c{at:02}.npy", image(n).astype(np.uint8))
        words += ["--model", f"{model}={folder / model}"]
    return words
