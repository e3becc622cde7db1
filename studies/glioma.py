"""Gliomas: one large tumour made of regions, some fragments, and several models."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import panmatch as pm
from panmatch import phantoms
from studies.grid import MANY, ONE, UNION, full_spec
from studies.running import curves
from studies.simulating import simulate
from studies.study import Case, Dataset, Picture, Study, crop_together, read, spacing_of

TUMOUR, OUTLINE = "tumour with parts", "tumour by outline"
FUSED = ("hnfnetv1", "isen", "sanet0", "scan", "yixinmpl")
FUSION = (
    "A glioma (TCGA-FG-6692) segmented by five models (BrainLesion tutorials, Apache-2.0). There "
    "is no human reference. It is a fusion (SIMPLE) of the same five models, so a model scores "
    "high if it agrees with the others."
)
STAPLE = (
    "A second glioma, segmented by two models (FeTS LabelFusion, Apache-2.0). The reference is "
    "the STAPLE fusion of these two."
)


def _spec(enhancing: int) -> pm.Spec:
    """Return the grid for whole tumours with parts and without, and for each region."""
    whole = {"labels": [1, 2, enhancing], "instances": "components"}
    kinds = {
        TUMOUR: {**whole, "parts": [1, 2, enhancing]},
        OUTLINE: whole,
        "core": {"labels": [1, enhancing], "instances": "components"},
        "enhancing": {"labels": enhancing, "instances": "components"},
        "oedema": {"labels": 2, "instances": "components"},
    }
    return full_spec(classes=kinds, part_background="none")


def real(data: Path) -> list[Dataset]:
    """Read two tumours."""
    folder = data / "brats_glioma_models"
    first, third = folder / "ref_fusion_simple.nii.gz", folder / "case3_ref_staple.nii.gz"
    files = {
        "Glioma, five models": (first, {name: f"pred_{name}" for name in FUSED}, FUSION),
        "Glioma, two models": (
            third,
            {"unet": "case3_pred_unet", "resunet": "case3_pred_resunet"},
            STAPLE,
        ),
    }
    found = []
    for title, (path, models, about) in files.items():
        images = [read(path), *(read(folder / f"{name}.nii.gz") for name in models.values())]
        reference, *seen = crop_together(images)
        cases = tuple(
            Case("tumour", model, reference, prediction, spacing_of(path))
            for model, prediction in zip(models, seen, strict=True)
        )
        found.append(Dataset(title, about, _spec(4), cases, (TUMOUR,)))
    return found


def made_up(small: bool) -> list[Dataset]:
    """Make a brain with one large tumour and fragments, in the same three layers."""
    shape, n = ((40, 48, 40), 3) if small else ((96, 112, 96), 5)
    radius = (2.0, 9.0) if small else (2.0, 24.0)
    brains = [phantoms.brain_metastases(shape, n, radius_mm=radius, seed=1)]
    models = ("splits", "redraws", "redraws-slightly")
    about = "A synthetic tumour of three layers with fragments. Each model has one habit."
    cases = tuple(simulate(brains, models))
    return [Dataset("Tumours (phantoms)", about, _spec(3), cases, (TUMOUR,))]


def draw(datasets: list[Dataset], results: list[pm.Result]) -> Iterator[Picture]:
    """Draw curves under one strategy, and the first model's tumour under two."""
    dataset, result = datasets[0], results[0]
    for name, way in (("one", ONE), ("union", UNION)):
        figure = result.plot.curve(classes=TUMOUR, strategies=way, width="double")
        words = f"{dataset.title}: PQ over the threshold, {way}"
        yield Picture(f"curves-{name}", words, figure)
    case = dataset.cases[0]
    for name, way in (("scene-one", ONE), ("scene-union", UNION)):
        scene = result.plot.scene(**case.images, class_name=TUMOUR, strategy=way, threshold=0.1)
        yield Picture(name, f"{case.model}, {way} at τ = 0.1", scene)
    graph = result.plot.matching(**case.images, class_name=TUMOUR, strategy=MANY, threshold=0.1)
    yield Picture("graph", f"{case.model}: who overlaps whom, {MANY} at τ = 0.1", graph)
    for more, of_more in zip(datasets[1:], results[1:], strict=True):
        yield curves("two-", more, of_more, TUMOUR)


STUDY = Study(
    "glioma",
    "Gliomas: one large tumour, small fragments and five models",
    ("brats_glioma_models",),
    real,
    made_up,
    draw,
)
