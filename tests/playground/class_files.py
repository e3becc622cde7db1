"""Small files whose labels are not the objects, and specs that say what the objects are."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from panmatch import phantoms
from panmatch.playground import FilePair, ShownClass
from panmatch.spec import Spec, as_spec
from tests.datasets.folders import SPACING, save_nifti
from tests.page_folders import write_cityscapes

VOID = 9

# By kind, a spec and the name of a class. Where labels 1, 2 and 3 touch, they are one metastasis.
CLASSES: dict[str, tuple[Spec, str]] = {
    "components": (as_spec({"preset": "brats-mets", "background": VOID}), "metastasis"),
    "shared labels": (as_spec({"preset": "brats-mets", "void": VOID}), "core"),
    "void": (as_spec({"void": VOID}), "object"),
    "stuff": (
        as_spec({"classes": {"'édème'": {"labels": 2, "kind": "stuff"}}, "background": "others"}),
        "'édème'",
    ),
    "cityscapes": (as_spec("cityscapes"), "person"),
    "panoptic-parts": (
        as_spec({"encoding": "panoptic-parts",
                 "classes": {"person": {"labels": 24, "parts": [1, 2]}}}),
        "person",
    ),
}  # fmt: skip


def open_class(folder: Path, kind: str) -> FilePair:
    """Write two files, and open the class of that kind in them."""
    write = {"cityscapes": write_street, "panoptic-parts": write_people}.get(kind, write_lesions)
    return FilePair.open(*write(folder), shown_class=ShownClass.of(*CLASSES[kind]))


def write_lesions(folder: Path) -> tuple[Path, Path]:
    """Write metastases and a prediction that splits them, with some void in the reference."""
    brain = phantoms.brain_metastases((24, 30, 26), 5, radius_mm=(2.0, 5.0), seed=4)
    found = phantoms.SIMULATED_MODELS["splits"].predict(brain, seed=4)
    reference, prediction = brain.labels.copy(), np.roll(found.labels, 1, axis=2)
    reference[:, :, :9] = VOID
    paths = folder / "ref.nii.gz", folder / "pred.nii.gz"
    for path, labels in zip(paths, (reference, prediction), strict=True):
        save_nifti(path, labels, SPACING)
    return paths


def write_street(folder: Path) -> tuple[Path, Path]:
    """Write a street with people, a crowd and void in the ids of Cityscapes."""
    write_cityscapes(folder)
    (reference,) = folder.rglob("lindau_000001_*instanceIds.png")
    return reference, folder / "my_model" / "lindau_000001_000019.png"


def write_people(folder: Path) -> tuple[Path, Path]:
    """Write people with an upper and a lower part, and one without parts, which is crowd."""
    people = phantoms.blobs((60, 80), 6, radius=(5, 9), gap=2, seed=5)
    paths = folder / "ref.npy", folder / "pred.npy"
    for path, labels in zip(paths, (people, phantoms.shift(people, (2, 1))), strict=True):
        parts = np.where(np.indices(labels.shape)[0] % 8 < 4, 1, 2)
        uids = np.where(labels == 6, 24_006, 2_400_000 + labels * 100 + parts)
        np.save(path, np.where(labels > 0, uids, 0))
    return paths
