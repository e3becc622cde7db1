"""The files that pages of the documentation start with: ``<!-- folder: NAME -->`` names one."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from panmatch import phantoms
from panmatch.cli._demo import make_dataset

Labels = npt.NDArray[Any]
LESIONS = (20, 44, 48)  # shape of small livers
STREETS = (96, 160)
PERSON, CAR, SKY, ROAD = 24, 26, 23, 7  # classes of Cityscapes


def write_demo(folder: Path) -> None:
    """Write what `panmatch demo` leaves behind for its reader to evaluate."""
    make_dataset(folder / "panmatch-demo" / "data", seed=7)


def write_nnunet(folder: Path) -> None:
    """Write a dataset of nnU-Net with six livers, two folds, and predictions of a test set."""
    raw = folder / "nnUNet_raw" / "Dataset003_Liver"
    model = (
        folder / "nnUNet_results" / "Dataset003_Liver" / "nnUNetTrainer__nnUNetPlans__3d_fullres"
    )
    habits = ("redraws", "misses-small")
    for i in range(6):
        liver = phantoms.liver_lesions(LESIONS, 6, radius_mm=(1.0, 4.0), seed=i)
        found = phantoms.SIMULATED_MODELS[habits[i % 2]].predict(liver, seed=i)
        validation = model / f"fold_{i // 3}" / "validation"
        _save_nifti(raw / "labelsTr" / f"liver_{i:03}.nii.gz", liver.labels)
        _save_nifti(validation / f"liver_{i:03}.nii.gz", found.labels)
        np.savez(validation / f"liver_{i:03}.npz", probabilities=np.zeros(1, np.float16))
        (validation / "summary.json").write_text("{}")
        if i < 4:
            _save_nifti(raw / "labelsTs" / f"liver_{i:03}.nii.gz", liver.labels)
        if i < 3:
            _save_nifti(folder / "predictions" / f"liver_{i:03}.nii.gz", found.labels)
    content = {
        "channel_names": {"0": "CT"},
        "labels": {"background": 0, "liver": [1, 2], "tumour": 2},
        "regions_class_order": [1, 2],
        "numTraining": 6,
        "file_ending": ".nii.gz",
    }
    (raw / "dataset.json").write_text(json.dumps(content))
    (model / "plans.json").write_text("{}")


def write_lesions(folder: Path) -> None:
    """Write cases of BraTS as its organisers name them, and the predictions of a model."""
    for i in range(6):
        brain = phantoms.brain_metastases((40, 48, 40), 7, radius_mm=(1.5, 6.0), seed=i)
        habit = ("splits", "misses-small", "adds-spurious")[i % 3]
        found = phantoms.SIMULATED_MODELS[habit].predict(brain, seed=i)
        name = f"BraTS-MET-{i:05}-000"
        _save_nifti(folder / "BraTS-MET-Train" / name / f"{name}-seg.nii.gz", brain.labels)
        _save_nifti(folder / "BraTS-MET-Train" / name / f"{name}-t1c.nii.gz", brain.labels)
        _save_nifti(folder / "predictions" / f"{name}.nii.gz", found.labels)


def write_coco(folder: Path) -> None:
    """Write streets as COCO panoptic files: a reference with a crowd, and a prediction."""
    categories = [
        {"id": 1, "name": "person", "isthing": 1},
        {"id": 3, "name": "car", "isthing": 1},
        {"id": 149, "name": "road", "isthing": 0},
        {"id": 187, "name": "sky", "isthing": 0},
    ]
    numbers = {PERSON: 1, CAR: 3, ROAD: 149, SKY: 187}
    for side, name in enumerate(("panoptic_val2017", "my_model")):
        annotations = []
        for i in range(4):
            street = _street(i)[side]
            file = f"{i + 1:012}.png"
            segments = [
                {
                    "id": int(one),
                    "category_id": numbers[int(one) // 1000 or int(one)],
                    "iscrowd": int(side == 0 and one == PERSON),
                    "area": int((street == one).sum()),
                    "bbox": [0, 0, *STREETS[::-1]],
                }
                for one in np.unique(street)
                if one
            ]
            annotations.append({"image_id": i + 1, "file_name": file, "segments_info": segments})
            _save_png(folder / name / file, _as_colours(street))
        content = {"annotations": annotations, "categories": categories}
        content["images"] = [
            {"id": i + 1, "file_name": f"{i + 1:012}.jpg", "height": 96, "width": 160}
            for i in range(4)
        ]
        (folder / f"{name}.json").write_text(json.dumps(content))


def write_cityscapes(folder: Path) -> None:
    """Write streets as Cityscapes names its files: class × 1000 + instance in 16 bits."""
    for i in range(4):
        reference, prediction = _street(i)
        case = f"lindau_{i:06}_000019"
        place = folder / "gtFine" / "val" / "lindau"
        _save_png(place / f"{case}_gtFine_instanceIds.png", reference.astype(np.uint16))
        _save_png(place / f"{case}_gtFine_color.png", _as_colours(reference))
        _save_png(folder / "my_model" / f"{case}.png", prediction.astype(np.uint16))


def write_zarr(folder: Path) -> None:
    """Write a pair of volumes of cells as Zarr folders with different chunks."""
    import zarr

    cells = phantoms.cells((48, 96, 96), 120, seed=3)
    found = phantoms.SIMULATED_MODELS["merges"].predict(cells, seed=3)
    sides = {
        "reference": (cells.labels, (16, 32, 32)),
        "prediction": (found.labels, (48, 20, 96)),
    }
    for name, (labels, chunks) in sides.items():
        zarr.array(labels.astype(np.uint16), chunks=chunks, store=str(folder / f"{name}.zarr"))


def write_files(folder: Path) -> None:
    """Write cells under all the names that a page about pairing files has."""
    for i in range(6):
        cells = phantoms.cells((64, 64), 20, seed=i)
        found = {
            model: phantoms.SIMULATED_MODELS[habit].predict(cells, seed=i)
            for model, habit in {"unet": "merges", "nnunet": "redraws-slightly"}.items()
        }
        case = f"plate{i // 3}_well{i % 3}"
        _save_tiff(folder / "masks" / f"{case}.tif", cells.labels)
        _save_tiff(folder / "mixed" / f"{case}_ref.tif", cells.labels)
        for model, image in found.items():
            _save_tiff(folder / "results" / model / f"{case}.tif", image.labels)
            _save_tiff(folder / "mixed" / f"{case}_pred_{model}.tif", image.labels)
    (folder / "masks" / "notes.txt").write_text("Drawn twice.\n")
    with (folder / "cases.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["case", "reference", "prediction", "model"])
        for name in ("plate0_well0", "plate0_well1"):
            rows.writerow([name, f"masks/{name}.tif", f"results/unet/{name}.tif", "unet"])


def write_detections(folder: Path) -> None:
    """Write lesions, predictions with a confidence for each, and COCO instances."""
    from tests.detection_scenes import write_instances

    for i in range(12):
        reference = phantoms.blobs((48, 56), 7, radius=(3, 6), gap=2, seed=i)
        found = phantoms.miss(phantoms.shift(reference, (1, 0)), 1, seed=i)
        spurious = phantoms.blobs((48, 56), 3, radius=(2, 4), gap=2, seed=100 + i)
        found = np.where((found == 0) & (spurious > 0), spurious + 50, found)
        _save_tiff(folder / "ref" / f"scan{i:02}.tif", reference)
        _save_tiff(folder / "pred" / f"scan{i:02}.tif", found)
        scores = folder / "scores" / f"scan{i:02}.csv"
        scores.parent.mkdir(exist_ok=True)
        rng = np.random.default_rng(i)
        with scores.open("w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["id", "score"])
            for one in np.unique(found)[1:].tolist():
                mean = 0.3 if one > 50 else 0.7
                rows.writerow([one, round(float(np.clip(rng.normal(mean, 0.15), 0, 1)), 2)])
    write_instances(folder, range(5))


def _street(seed: int) -> tuple[Labels, Labels]:
    """Return a street and what a model makes of it, in the ids of Cityscapes."""
    people = phantoms.blobs(STREETS, 9, radius=(5, 9), gap=2, seed=seed)
    found = phantoms.merge_neighbours(phantoms.shift(people, (1, 0)), 2, seed=seed)
    found = phantoms.miss(found, 1, seed=seed)
    images = []
    for objects, horizon in ((people, 40), (found, 44)):
        street = np.full(STREETS, ROAD, np.int64)
        street[:horizon] = SKY
        for one in np.unique(objects)[1:]:
            street[objects == one] = 1000 * (CAR if one > 6 else PERSON) + one
        images.append(street)
    images[0][80:, :40] = PERSON  # a crowd
    images[0][:, 150:] = 0  # unknown
    return images[0], images[1]


def _as_colours(ids: Labels) -> Labels:
    return np.stack([ids % 256, ids // 256 % 256, ids // 65536], axis=-1).astype(np.uint8)


def _save_nifti(path: Path, labels: Labels) -> None:
    import nibabel

    path.parent.mkdir(parents=True, exist_ok=True)
    nibabel.save(nibabel.Nifti1Image(labels.astype(np.uint8), np.eye(4)), path)


def _save_png(path: Path, pixels: Labels) -> None:
    from PIL import Image

    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(path)


def _save_tiff(path: Path, labels: Labels) -> None:
    import tifffile

    path.parent.mkdir(parents=True, exist_ok=True)
    tifffile.imwrite(path, labels.astype(np.uint16))


FOLDERS: dict[str, Callable[[Path], None]] = {
    "demo": write_demo,
    "nnunet": write_nnunet,
    "lesions": write_lesions,
    "coco": write_coco,
    "cityscapes": write_cityscapes,
    "zarr": write_zarr,
    "files": write_files,
    "detections": write_detections,
}
