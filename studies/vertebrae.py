"""Vertebrae: few, large, in contact, and made of parts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import panmatch as pm
from panmatch import phantoms
from panmatch.labels import connected_components
from studies.grid import BEST, MANY, ONE, full_spec
from studies.running import curves
from studies.simulating import simulate
from studies.study import Case, Dataset, Labels, Picture, Study, read, spacing_of

CT = (
    "Nine vertebrae of verse004 (VerSe, CC BY-SA 4.0). Both predictions were made from the "
    "foreground of the reference, so only the cuts between vertebrae differ: face-connected "
    "components (no cuts) and a distance watershed (too many cuts)."
)
MRI = (
    "Vertebrae of one spine MRI with sub-regions: a reference and the prediction of a model "
    "(example data of panoptica, Apache-2.0). The same prediction is evaluated as it is, and as "
    "face-connected components of its foreground."
)
FIRST_PART, LAST_PART = 41, 50
LAST_VERTEBRA, FIRST_DISC = 25, 100  # between them is the sacrum
WITH_PARTS, WITHOUT = "with parts", "by outline"


def real(data: Path) -> list[Dataset]:
    """Read a CT with two ways to cut, and an MRI with parts."""
    folder = data / "spine_ct_verse_tptbox"
    path = folder / "verse004_ref_vertebrae.nii.gz"
    cases = tuple(
        Case("verse004", model, read(path), read(folder / file), spacing_of(path))
        for model, file in (
            ("components", "verse004_pred_cc6.nii.gz"),
            ("watershed", "verse004_pred_watershed.nii.gz"),
        )
    )
    spec = full_spec(classes={"vertebra": {"labels": "all"}})
    ct = Dataset("Vertebrae in CT", CT, spec, cases, ("vertebra",))
    return [ct, _mri(data / "spine_mri_panoptica")]


def _mri(folder: Path) -> Dataset:
    path = folder / "ref_instance.nii.gz"
    reference, reference_parts = _vertebrae(folder, "ref")
    prediction, prediction_parts = _vertebrae(folder, "pred")
    seen = {"model": prediction, "components": _as_components(prediction)}
    cases = tuple(
        Case("spine", model, reference, objects, spacing_of(path), reference_parts,
             prediction_parts)
        for model, objects in seen.items()
    )  # fmt: skip
    return Dataset("Vertebrae in MRI, with parts", MRI, part_spec("41-50"), cases, (WITH_PARTS,))


def _vertebrae(folder: Path, side: str) -> tuple[Labels, Labels]:
    """Return vertebrae, and the sub-regions inside them."""
    objects = read(folder / f"{side}_instance.nii.gz")
    objects = np.where(objects <= LAST_VERTEBRA, objects, 0)
    regions = read(folder / f"{side}_semantic.nii.gz")
    known = (objects > 0) & (regions >= FIRST_PART) & (regions <= LAST_PART)
    return objects, np.where(known, regions, 0)


def _as_components(objects: Labels) -> Labels:
    found: Labels = connected_components(objects, "faces")
    return found


def part_spec(parts: Any) -> pm.Spec:
    """Return the grid for every label as an object, judged with its parts and without."""
    kinds = {WITH_PARTS: {"labels": "all", "parts": parts}, WITHOUT: {"labels": "all"}}
    return full_spec(classes=kinds, part_background="none")


def made_up(small: bool) -> list[Dataset]:
    """Make spines with parts."""
    shape, n = ((40, 30, 24), 2) if small else ((128, 80, 72), 5)
    models = ("merges", "splits", "redraws")
    cases = tuple(
        Case(one.name, one.model, _no_discs(one.reference), _no_discs(one.prediction), one.spacing,
             _inside(one.reference_parts), _inside(one.prediction_parts))
        for one in simulate([phantoms.spine(shape, n, seed=seed) for seed in range(2)], models)
    )  # fmt: skip
    about = "Synthetic vertebrae with parts. Each model has one habit."
    return [Dataset("Vertebrae (phantoms)", about, part_spec("41-50"), cases, (WITH_PARTS,))]


def _no_discs(labels: Labels) -> Labels:
    return np.where(labels < FIRST_DISC, labels, 0)


def _inside(parts: Labels | None) -> Labels:
    assert parts is not None
    return np.where(parts <= LAST_PART, parts, 0)


def draw(datasets: list[Dataset], results: list[pm.Result]) -> Iterator[Picture]:
    """Draw curves, and what the strategies make of the first case."""
    dataset, result = datasets[0], results[0]
    kind = dataset.in_full[0]
    for at, (one, found) in enumerate(zip(datasets, results, strict=True)):
        yield curves("parts-" if at else "", one, found, one.in_full[0])
    for name, model, way in (
        ("scene-one", -1, ONE),
        ("scene-many", -1, MANY),
        ("scene-best", 0, BEST),
    ):
        case = dataset.cases[model]
        scene = result.plot.scene(**case.images, class_name=kind, strategy=way, threshold=0.1)
        yield Picture(name, f"{case.name}, {case.model}, {way} at τ = 0.1", scene)
    case = dataset.cases[-1]
    graph = result.plot.matching(**case.images, class_name=kind, strategy=MANY, threshold=0.1)
    yield Picture(
        "graph", f"{case.name}, {case.model}: who overlaps whom, {MANY} at τ = 0.1", graph
    )


STUDY = Study(
    "vertebrae",
    "Vertebrae: touching, cut wrongly, and made of parts",
    ("spine_ct_verse_tptbox", "spine_mri_panoptica"),
    real,
    made_up,
    draw,
)
