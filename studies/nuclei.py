"""Nuclei in 2-D and 3-D: many, alike, touching."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import panmatch as pm
from panmatch import phantoms
from panmatch.labels import connected_components
from studies.grid import BEST, ONE, full_spec
from studies.running import curves
from studies.simulating import simulate
from studies.study import Case, Dataset, Labels, Picture, Study, read

IMAGES = ("img2", "img3", "img5", "img6", "stardist2d")
METHODS = ("watershed", "otsu_cc")
FLAT = (
    "Four images of the Data Science Bowl 2018 with corrected masks (CC0) and the test image of "
    "StarDist (BSD-3). Both methods start with Otsu's threshold. One then cuts the foreground "
    "with a distance watershed, the other takes its connected components. Two more images were "
    "left out beforehand, because the threshold itself fails on them."
)
SOLID = (
    "One Platynereis embryo with a manual reference and a Voronoi-Otsu labelling, both as "
    "published (BioImageAnalysisNotebooks, CC BY 4.0). The second method takes the connected "
    "components of the same foreground."
)


def real(data: Path) -> list[Dataset]:
    """Read five flat images and one volume."""
    folder = data / "nuclei2d_dsb2018"
    cases = tuple(
        Case(name, method, read(folder / f"{name}_ref.tif"),
             read(folder / f"{name}_pred_{method}.tif"))
        for name in IMAGES for method in METHODS
    )  # fmt: skip
    spec = full_spec(classes={"nucleus": {"labels": "all"}})
    embryo = data / "nuclei3d_platynereis"
    reference, prediction = read(embryo / "ref_gt.tif"), read(embryo / "pred_voronoi_otsu.tif")
    whole: Labels = connected_components(prediction, "faces")
    volumes = (
        Case("embryo", "voronoi_otsu", reference, prediction),
        Case("embryo", "components", reference, whole),
    )
    return [
        Dataset("Nuclei in 2-D", FLAT, spec, cases, ("nucleus",)),
        Dataset("Nuclei in 3-D", SOLID, spec, volumes, ("nucleus",)),
    ]


def made_up(small: bool) -> list[Dataset]:
    """Make dense tissue."""
    shape, n = ((48, 48), 16) if small else ((160, 160), 90)
    tissue = [phantoms.cells(shape, n, seed=seed) for seed in range(2 if small else 5)]
    cases = tuple(
        Case(one.name, one.model, one.reference, one.prediction, one.spacing)
        for one in simulate(tissue, ("splits", "merges", "redraws"))
    )
    spec = full_spec(classes={"nucleus": {"labels": "all"}})
    about = "Synthetic cells that touch. Each model has one habit."
    return [Dataset("Cells (phantoms)", about, spec, cases, ("nucleus",))]


def draw(datasets: list[Dataset], results: list[pm.Result]) -> Iterator[Picture]:
    """Draw curves, recall by size, and merged nuclei under two strategies."""
    for at, (one, found) in enumerate(zip(datasets, results, strict=True)):
        yield curves("3d-" if at else "", one, found, "nucleus")
    dataset, result = datasets[0], results[0]
    sizes = result.plot.sizes(threshold=0.5, width=5.0)
    words = f"{dataset.title}: recall by size of the nucleus, one-to-one at τ = 0.5"
    yield Picture("sizes", words, sizes)
    case = dataset.cases[min(5, len(dataset.cases) - 1)]
    for name, way in (("scene-one", ONE), ("scene-best", BEST)):
        scene = result.plot.scene(**case.images, strategy=way, threshold=0.1, width=4.5)
        yield Picture(name, f"{case.name}, {case.model}, {way} at τ = 0.1", scene)


STUDY = Study(
    "nuclei",
    "Nuclei: dense and touching, in 2-D and 3-D",
    ("nuclei2d_dsb2018", "nuclei3d_platynereis"),
    real,
    made_up,
    draw,
)
