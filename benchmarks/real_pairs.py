"""Real segmentations for studies, as pairs of label images; skipped where the data is absent."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from panmatch.labels import connected_components

DATA = Path(__file__).parents[2] / "shared" / "data"

Labels = npt.NDArray[np.integer[Any]]
Pair = tuple[Labels, Labels]


def read(path: Path) -> Labels:
    """Return the label image of a file; colours of COCO are numbers to the base 256."""
    if path.suffix == ".tif":
        import tifffile

        return np.asarray(tifffile.imread(path))
    if path.suffix == ".png":
        from PIL import Image

        colours = np.asarray(Image.open(path).convert("RGB")).astype(np.int64)
        return np.asarray(colours @ np.array([1, 256, 256**2]))
    import nibabel

    image: Any = nibabel.load(path)
    return np.asarray(image.dataobj)


def pairs_of(files: list[tuple[Path, Path]]) -> Iterator[Pair]:
    for reference, prediction in files:
        yield read(reference), read(prediction)


def nuclei_2d() -> Iterator[Pair]:
    folder = DATA / "nuclei2d_dsb2018"
    return pairs_of(
        [
            (ref, ref.with_name(ref.name.replace("_ref", f"_pred_{method}")))
            for ref in sorted(folder.glob("*_ref.tif"))
            for method in ("watershed", "otsu_cc")
        ]
    )


def nuclei_3d() -> Iterator[Pair]:
    folder = DATA / "nuclei3d_platynereis"
    return pairs_of([(folder / "ref_gt.tif", folder / "pred_voronoi_otsu.tif")])


def vertebrae_ct() -> Iterator[Pair]:
    folder = DATA / "spine_ct_verse_tptbox"
    reference = folder / "verse004_ref_vertebrae.nii.gz"
    return pairs_of([(reference, pred) for pred in sorted(folder.glob("verse004_pred_*.nii.gz"))])


def vertebrae_mri() -> Iterator[Pair]:
    folder = DATA / "spine_mri_panoptica"
    return pairs_of([(folder / "ref_instance.nii.gz", folder / "pred_instance.nii.gz")])


def ms_lesions() -> Iterator[Pair]:
    folder = DATA / "ms_lesions"
    return pairs_of(
        [
            (folder / f"{patient}_ref.nii.gz", pred)
            for patient in ("patient07", "patient19")
            for pred in sorted(folder.glob(f"{patient}_pred_*.nii.gz"))
        ]
    )


def lung_nodules() -> Iterator[Pair]:
    """Every radiologist against every other."""
    folder = DATA / "lidc_nodules_4raters"
    patients = sorted({path.name.split("_")[0] for path in folder.glob("*.nii.gz")})
    raters = [sorted(folder.glob(f"{patient}_*.nii.gz")) for patient in patients]
    return pairs_of([pair for group in raters for pair in combinations(group, 2)])


def gliomas() -> Iterator[Pair]:
    """Connected components of whole tumours."""
    folder = DATA / "brats_glioma_models"
    cases = [
        ("ref_fusion_simple", sorted(folder.glob("pred_*.nii.gz"))),
        ("case2_ref_BraTS23_1", sorted(folder.glob("case2_pred_*.nii.gz"))),
        ("case3_ref_staple", sorted(folder.glob("case3_pred_*.nii.gz"))),
    ]
    files = [(folder / f"{ref}.nii.gz", pred) for ref, preds in cases for pred in preds]
    for reference, prediction in pairs_of(files):
        yield connected_components(reference > 0), connected_components(prediction > 0)


def organs() -> Iterator[Pair]:
    folder = DATA / "totalseg_organs_full_vs_fast"
    return pairs_of([(folder / "ref_full_model.nii.gz", folder / "pred_fast_model.nii.gz")])


def white_blood_cells() -> Iterator[Pair]:
    folder = DATA / "wbc_cell_nucleus_parts"
    return pairs_of([(folder / "ref_instance.tif", folder / "pred_instance.tif")])


def natural_images() -> Iterator[Pair]:
    """COCO segments of all classes against superpixels."""
    folder = DATA / "coco_panoptic_sample"
    return pairs_of(
        [
            (ref, ref.with_name(ref.name.replace("_ref_panoptic.png", "_pred_felzenszwalb.tif")))
            for ref in sorted(folder.glob("*_ref_panoptic.png"))
        ]
    )


REAL: dict[str, Callable[[], Iterator[Pair]]] = {
    "nuclei 2-D": nuclei_2d,
    "nuclei 3-D": nuclei_3d,
    "vertebrae CT": vertebrae_ct,
    "vertebrae MRI": vertebrae_mri,
    "MS lesions": ms_lesions,
    "lung nodules": lung_nodules,
    "gliomas": gliomas,
    "organs": organs,
    "white blood cells": white_blood_cells,
    "natural images": natural_images,
}
