"""White blood cells: a cell is its cytoplasm and its nucleus."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

import panmatch as pm
from panmatch import phantoms
from panmatch.labels import edge_distances
from studies.grid import MANY, ONE, full_spec
from studies.running import curves
from studies.study import Case, Dataset, Labels, Picture, Study, read

CELL, OUTLINE, NUCLEI = "cell with parts", "cell by outline", "nucleus alone"
PLASMA, NUCLEUS = 1, 2
CUT = 4  # every so many cells are cut in two in the third model
ABOUT = (
    "Twenty white blood cells in one mosaic (segmentation_WBC, GPL-3.0; Zheng et al. 2018), "
    "outlined by experts. *multi-Otsu* is a classical method that was tuned on these references. "
    "The other two are made from it. *guessed nuclei* has the same outlines and simply calls the "
    "inner half of each cell its nucleus. *cut cells* has the same pixels, but every fourth cell "
    "is cut in two."
)


def cases_of(
    name: str, reference: Labels, inside: Labels, seen: Labels, parts: Labels
) -> list[Case]:
    """Return a prediction as it is, with guessed nuclei, and with cells cut in two."""
    ids = np.unique(seen[seen > 0])[::CUT].tolist()
    models = {
        "multi-Otsu": (seen, parts),
        "guessed nuclei": (seen, guess_nuclei(seen)),
        "cut cells": (phantoms.split(seen, 2, ids=ids), parts),
    }
    return [
        Case(name, model, reference, objects, None, inside, content)
        for model, (objects, content) in models.items()
    ]


def guess_nuclei(cells: Labels) -> Labels:
    """Return parts with the half of each cell that lies deepest as its nucleus."""
    parts: Labels = np.where(cells > 0, PLASMA, 0)
    depth = edge_distances(cells, border=True)
    for cell in np.unique(cells[cells > 0]):
        inside = cells == cell
        parts[inside & (depth > np.median(depth[inside]))] = NUCLEUS
    return parts


def _spec() -> pm.Spec:
    """Return the grid for cells with parts and without."""
    kinds = {CELL: {"labels": "all", "parts": [PLASMA, NUCLEUS]}, OUTLINE: {"labels": "all"}}
    return full_spec(classes=kinds, part_background="none")


def _nuclei(cases: list[Case]) -> Dataset:
    """Return the nuclei as objects of their own: what PQ per region would judge."""
    alone = tuple(
        Case(one.name, one.model, _only_nuclei(one.reference, one.reference_parts),
             _only_nuclei(one.prediction, one.prediction_parts))
        for one in cases
    )  # fmt: skip
    about = "The same images, with the nucleus of each cell as an object of its own."
    spec = full_spec(classes={NUCLEI: {"labels": "all"}})
    return Dataset("Nuclei as objects of their own", about, spec, alone, (NUCLEI,))


def _only_nuclei(cells: Labels, parts: Labels | None) -> Labels:
    return np.where(parts == NUCLEUS, cells, 0)


def real(data: Path) -> list[Dataset]:
    """Read the mosaic."""
    folder = data / "wbc_cell_nucleus_parts"
    names = ("ref_instance", "ref_parts", "pred_instance", "pred_parts")
    reference, inside, seen, parts = (read(folder / f"{name}.tif") for name in names)
    cases = cases_of("mosaic", reference, inside, seen, parts)
    return [Dataset("White blood cells", ABOUT, _spec(), tuple(cases), (CELL,)), _nuclei(cases)]


def made_up(small: bool) -> list[Dataset]:
    """Make tissue of cells with nuclei."""
    shape, n = ((48, 48), 12) if small else ((160, 160), 60)
    cases = []
    for seed in range(1 if small else 3):
        tissue = phantoms.cells(shape, n, seed=seed)
        seen = phantoms.SIMULATED_MODELS["redraws-slightly"].predict(tissue, seed)
        assert tissue.parts is not None
        assert seen.parts is not None
        sides = tissue.labels, tissue.parts, seen.labels, seen.parts
        cases += cases_of(f"phantom {seed + 1}", *sides)
    about = (
        "Synthetic cells with nuclei: redrawn slightly off, with guessed nuclei, and cut in two."
    )
    return [Dataset("Cells (phantoms)", about, _spec(), tuple(cases), (CELL,)), _nuclei(cases)]


def draw(datasets: list[Dataset], results: list[pm.Result]) -> Iterator[Picture]:
    """Draw curves with parts and without, and the cells."""
    dataset, result = datasets[0], results[0]
    yield curves("", dataset, result, CELL, (ONE, MANY))
    words = f"{dataset.title} by outline alone: pooled PQ over the threshold"
    outline = curves("outline-", dataset, result, OUTLINE, (ONE, MANY))
    yield Picture(outline.name, words, outline.figure)
    case = dataset.cases[2]
    scene = result.plot.scene(
        **case.images, class_name=CELL, strategy=ONE, threshold=0.5, width=4.5
    )
    yield Picture("scene", f"{case.name}, {case.model}, {ONE} at τ = 0.5", scene)


STUDY = Study(
    "white_cells",
    "White blood cells: the nucleus as a part, or as an object",
    ("wbc_cell_nucleus_parts",),
    real,
    made_up,
    draw,
)
