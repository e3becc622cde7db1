"""Label files of your own in place of phantoms, for the notebooks of this folder.

References are the files that BraTS (``…seg.nii.gz``) and LiTS (``segmentation-….nii``) call so, in
any subfolder. Predictions are looked for in ``predictions/MODEL/`` under the same file names.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from panmatch.errors import FileError
from panmatch.formats import case_name, read_labels
from panmatch.labels import connected_components
from panmatch.phantoms import Anatomy

Image = npt.NDArray[np.int32]
Predictions = dict[str, dict[str, Image]]

PREDICTIONS = "predictions"
BRAIN = {1: "necrosis", 2: "oedema", 3: "enhancing tumour"}
LIVER = {1: "liver", 2: "lesion"}


def read_brats(folder: str | Path, *, most: int = 5) -> tuple[dict[str, Anatomy], Predictions]:
    """Read brains with metastases in the labels 1, 2 and 3, and predictions where there are some.

    Parameters
    ----------
    folder
        As downloaded, or with files named alike.
    most
        How many cases to read.

    Returns
    -------
    dict, dict
        Anatomies by case, and predicted labels by case and model; no models where the folder has
        no predictions.
    """
    anatomies, predictions = {}, {}
    for name, labels, spacing, seen in _read(Path(folder), most):
        objects = connected_components(labels).astype(np.int32)
        room = np.ones(labels.shape, np.bool_)
        layers = (2, 3, 1)
        anatomies[name] = Anatomy(labels, None, objects, room, spacing, BRAIN, {}, layers)
        predictions[name] = seen
    return anatomies, predictions


def read_lits(folder: str | Path, *, most: int = 5) -> tuple[dict[str, Anatomy], Predictions]:
    """Read livers (1) with lesions (2), as `read_brats` does brains."""
    anatomies, predictions = {}, {}
    for name, labels, spacing, seen in _read(Path(folder), most):
        objects = connected_components(labels == 2).astype(np.int32)
        room = labels > 0
        anatomies[name] = Anatomy(labels, None, objects, room, spacing, LIVER, {}, (2,), host=1)
        predictions[name] = seen
    return anatomies, predictions


def _read(
    folder: Path, most: int
) -> Iterator[tuple[str, Image, tuple[float, ...], dict[str, Image]]]:
    files = list(_references(folder))[:most]
    if not files:
        raise FileError(
            f"folder={str(folder)!r} has no reference: names must end in 'seg.nii.gz' or "
            f"'seg.nii', or begin with 'segmentation'."
        )
    for path in files:
        image = read_labels(path)
        spacing = image.spacing or (1.0,) * image.labels.ndim
        seen = _predictions(folder / PREDICTIONS, path.name)
        yield case_name(path), image.labels.astype(np.int32), spacing, seen


def _references(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*.nii*")):
        named = case_name(path).endswith("seg") or path.name.startswith("segmentation")
        if named and path.relative_to(folder).parts[0] != PREDICTIONS:
            yield path


def _predictions(folder: Path, name: str) -> dict[str, Image]:
    if not folder.is_dir():
        return {}
    return {
        model.name: read_labels(model / name).labels.astype(np.int32)
        for model in sorted(folder.iterdir())
        if model.is_dir()
    }
