"""The data of the whole grid: all studies, what no other study uses, and phantoms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from panmatch import phantoms
from studies import natural
from studies.grid import full_spec
from studies.study import Case, Dataset, Labels, Study, crop_together, read, spacing_of
from studies.vertebrae import LAST_VERTEBRA, WITH_PARTS, part_spec

FOLDERS = ("totalseg_organs_full_vs_fast", "spine_ct_verse_tptbox", "brats_glioma_models")
THIRDS = (1, 2, 3)
ORGANS = (
    "Organs in CT (TotalSegmentator, Apache-2.0): the full model as reference, and the fast one. "
    "Each organ is a class with one object."
)
CROPS = (
    "Vertebrae of a CT and an MRI crop with their sub-regions (TPTBox, Apache-2.0). The references "
    "are real, the predictions are simulated: each model has one habit."
)
SECOND = "A glioma as two challenge winners see it (deep_quality_estimation); one is the reference."
IN_THIRDS = (
    " Neither data set has parts, so these are made: the upper, middle and lower third of each "
    "segment, found on either side from its own outline."
)


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """A data set, and whether its references and predictions are real."""

    dataset: Dataset
    kind: str


def sources(studies: Sequence[Study], data: Path | None, *, small: bool = False) -> list[Source]:
    """Return everything there is: real images if they are at hand, and phantoms."""
    found = []
    if data is not None:
        for study in studies:
            if study.has_data(data):
                found += _real(study, data)
        if all((data / folder).is_dir() for folder in FOLDERS):
            found += _others(data)
    for study in studies:
        found += [_phantom(study, one) for one in study.made_up(small)]
    return found


def _phantom(study: Study, dataset: Dataset) -> Source:
    """Return phantoms under a title that no other study uses."""
    what = dataset.title.removesuffix(" (phantoms)")
    title = f"Phantoms for {study.name.replace('_', ' ')}: {what[0].lower()}{what[1:]}"
    return Source(replace(dataset, title=title), "phantom")


def _real(study: Study, data: Path) -> list[Source]:
    if study is natural.STUDY:  # the same PQ, and PartPQ beside it
        return [Source(with_thirds(one), "real, parts made") for one in study.real(data)]
    return [Source(one, "real") for one in study.real(data)]


def with_thirds(dataset: Dataset) -> Dataset:
    """Return a data set of flat images in which every thing has its thirds as parts."""
    cases = tuple(
        replace(case, reference_parts=thirds(case.reference),
                prediction_parts=thirds(case.prediction))
        for case in dataset.cases
    )  # fmt: skip
    classes = {}
    for name, one in dataset.spec.classes.items():
        parts = {"parts": list(THIRDS)} if one.kind == "things" else {}
        classes[name] = one.model_dump(exclude_unset=True) | parts
    spec = full_spec(classes=classes, void=dataset.spec.void, part_background="none")
    title = f"{dataset.title}, in thirds"
    return replace(dataset, title=title, about=dataset.about + IN_THIRDS, spec=spec, cases=cases)


def thirds(labels: Labels) -> Labels:
    """Return in which third of the rows of its segment each pixel lies: 1, 2 or 3.

    Examples
    --------
    >>> thirds(np.array([[5, 0], [5, 7], [5, 7], [5, 7], [5, 0], [5, 0]])).T.tolist()
    [[1, 1, 2, 2, 3, 3], [0, 1, 2, 3, 0, 0]]
    """
    found = np.zeros(labels.shape, np.int64)
    for label in np.unique(labels[labels > 0]).tolist():
        here = labels == label
        rows = np.flatnonzero(here.any(axis=1))
        first, height = int(rows[0]), int(rows[-1] - rows[0]) + 1
        place = (np.arange(labels.shape[0]) - first) * len(THIRDS) // height + 1
        found += np.where(here, place[:, np.newaxis], 0)
    return found


def _others(data: Path) -> Iterator[Source]:
    folder = data / FOLDERS[0]
    path = folder / "ref_full_model.nii.gz"
    reference, prediction = read(path), read(folder / "pred_fast_model.nii.gz")
    case = Case("body", "fast", reference, prediction, spacing_of(path))
    organs = {f"organ {label}": {"labels": label} for label in np.unique(reference[reference > 0])
              .tolist()}  # fmt: skip
    yield Source(Dataset("Organs", ORGANS, full_spec(classes=organs), (case,), ()), "real")
    yield Source(_second_glioma(data / FOLDERS[2]), "real")
    spec = part_spec("41-50")
    cases = tuple(_crops(data / FOLDERS[1]))
    title = "Vertebrae, simulated models"
    yield Source(Dataset(title, CROPS, spec, cases, (WITH_PARTS,)), "real, simulated models")


def _second_glioma(folder: Path) -> Dataset:
    path = folder / "case2_ref_BraTS23_1.nii.gz"
    images = crop_together([read(path), read(folder / "case2_pred_isen.nii.gz")])
    case = Case("tumour", "isen", images[0], images[1], spacing_of(path))
    kinds = {"tumour with parts": {"labels": [1, 2, 4], "instances": "components",
                                   "parts": [1, 2, 4]}}  # fmt: skip
    spec = full_spec(classes=kinds, part_background="none")
    return Dataset("Glioma, one model", SECOND, spec, (case,), ())


def _crops(folder: Path) -> Iterator[Case]:
    for name, image in (("CT", "sub-ct_{}_label-22"), ("MRI", "sub-mri_{}_label-6")):
        paths = [folder / f"tptbox_{image.format(kind)}_msk.nii.gz"
                 for kind in ("seg-vert", "seg-subreg")]  # fmt: skip
        objects, parts = (read(path).astype(np.int64) for path in paths)
        objects = np.where(objects <= LAST_VERTEBRA, objects, 0)
        parts = np.where((objects > 0) & (parts >= 41) & (parts <= 50), parts, 0)
        halves = phantoms.split(objects, 2, ids=np.unique(objects[objects > 0])[::2].tolist())
        seen = {
            "splits": (halves, parts),
            "merges": (phantoms.merge_neighbours(objects, 1), parts),
            "shifts": tuple(np.roll(one, 2, axis=0) for one in (objects, parts)),
        }
        for model, (prediction, inside) in seen.items():
            yield Case(name, model, objects, prediction, spacing_of(paths[0]), parts, inside)
