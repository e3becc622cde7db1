"""Folders as other programs leave them, with made-up images."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import numpy as np
import numpy.typing as npt

from tests.datasets.folders import save_nifti

SPACING = (1.0, 0.5, 2.0)
CASES = tuple(f"liver_{at:03}" for at in range(5))
LABELS = {"background": 0, "liver": 1, "lesion": 2, "organ": [1, 2]}


def organ(at: int, *, moved: int = 0) -> npt.NDArray[np.integer]:
    """Return a liver (1) with two lesions (2), of which a moved one misses the first."""
    labels = np.zeros((16, 14, 6), np.uint8)
    labels[2:14, 2 + moved : 12, 1:5] = 1
    if not moved:
        labels[3:6, 4:7, 2:4] = 2
    labels[9 : 12 + at % 2, 7:10, 2:4] = 2
    return labels


def make_nnunet(folder: Path, fold: tuple[str, ...] = CASES[:2]) -> tuple[Path, Path]:
    """Write the references of nnU-Net, and all that training and validation of a fold leave."""
    references = folder / "nnUNet_raw" / "Dataset003_Liver"
    model = (
        folder / "nnUNet_results" / "Dataset003_Liver" / "nnUNetTrainer__nnUNetPlans__3d_fullres"
    )
    fold_0, output = model / "fold_0", model / "fold_0" / "validation"
    for at, case in enumerate(CASES):
        save_nifti(references / "labelsTr" / f"{case}.nii.gz", organ(at), SPACING)
    for at, case in enumerate(fold):
        save_nifti(output / f"{case}.nii.gz", organ(at, moved=1), SPACING)
        probabilities = np.full((3, 6, 14, 16), 1 / 3, np.float16)
        np.savez_compressed(output / f"{case}.npz", probabilities=probabilities)
        (output / f"{case}.pkl").write_bytes(pickle.dumps({"spacing": SPACING}))
    dataset = {"channel_names": {"0": "CT"}, "labels": LABELS, "numTraining": 5,
               "regions_class_order": [1, 2, 3], "file_ending": ".nii.gz"}  # fmt: skip
    for path in (references, model, output):
        (path / "dataset.json").write_text(json.dumps(dataset))
    for path in (model / "plans.json", model / "dataset_fingerprint.json", output / "plans.json",
                 output / "summary.json", fold_0 / "debug.json"):  # fmt: skip
        path.write_text("{}")
    (fold_0 / "training_log_2024_5_1_10_00_00.txt").write_text("epoch 0")
    for name in ("checkpoint_best.pth", "checkpoint_final.pth", "progress.png"):
        (fold_0 / name).write_bytes(b"\x89PNG not a label image")
    return references / "labelsTr", fold_0


def make_brats(folder: Path, n: int = 2) -> tuple[Path, Path]:
    """Write cases as BraTS has them: a folder of images for each, and flat predictions."""
    for at in range(n):
        case = f"BraTS-MET-{at:05}-000"
        for kind in ("t1c", "t1n", "t2f", "t2w"):
            save_nifti(folder / "ref" / case / f"{case}-{kind}.nii.gz", organ(at), (1, 1, 1))
        tumour = organ(at)
        save_nifti(folder / "ref" / case / f"{case}-seg.nii.gz", tumour, (1, 1, 1))
        save_nifti(folder / "pred" / f"{case}.nii.gz", organ(at, moved=1), (1, 1, 1))
    return folder / "ref", folder / "pred"


def make_tiffs(folder: Path, n: int = 2) -> tuple[Path, Path]:
    """Write a folder of TIFF files with what people and their computers leave beside them."""
    import tifffile

    for side, moved in (("ref", 0), ("pred", 1)):
        (folder / side).mkdir(parents=True)
        for at in range(n):
            labels = organ(at, moved=moved)[:, :, 2].astype(np.uint16)
            tifffile.imwrite(folder / side / f"cells_{at}.tif", labels)
        for name in ("Thumbs.db", ".DS_Store", "README", "notes.txt", "sizes.csv"):
            (folder / side / name).write_bytes(b"left behind")
    return folder / "ref", folder / "pred"
