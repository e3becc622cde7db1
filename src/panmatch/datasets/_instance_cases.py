"""COCO instances as a dataset: an image is a case, a category a class."""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from panmatch.datasets._cases import Case, ImageFile
from panmatch.errors import FileError, OverlapError
from panmatch.evaluation import CaseResult, MaskCase, evaluate_masks
from panmatch.formats import CocoInstances, read_coco_instances, rows_by_group
from panmatch.labels import Ints, Masks, SegmentClass
from panmatch.spec import Spec

PANOPTIC = b'"segments_info"'  # what only panoptic files contain
NONE = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class ListedInstances:
    """The instances of a file, and which of them are in each image and category."""

    instances: CocoInstances
    rows: dict[tuple[int, int], Ints]

    def masks(self, image: int, category: int) -> Masks:
        """Return the masks of a category in an image, with the shape of the image."""
        found = self.instances.table.masks.take(self.rows.get((image, category), NONE))
        size = self.instances.sizes[image]
        return Masks(size, found.first, found.start, found.stop, "F")


def is_panoptic(path: Path) -> bool:
    """Return whether a COCO file is a panoptic one, which lists the segments of an image."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
            return text.find(PANOPTIC) >= 0
    except (OSError, ValueError):
        return True  # reading it says why


def instance_cases(reference: Path, predictions: Mapping[str, Path]) -> list[Case]:
    """Return one case for each image of the reference and each model.

    An image without detections is not missing: nothing was found in it.
    """
    listed = open_instances(reference).instances
    if not listed.sizes:
        raise FileError(f"path={str(reference)!r} does not list any images.")
    cases = []
    for model, path in predictions.items():
        open_instances(path, reference)  # fail now rather than in each case
        for image in listed.sizes:
            ref, pred = (
                ImageFile(one, item=str(image), instances=True) for one in (reference, path)
            )
            cases.append(Case(str(image), model, ref, pred))
    return cases


def open_instances(path: Path, like: Path | None = None) -> ListedInstances:
    """Read a file of instances, and read it again only if it changes.

    Parameters
    ----------
    like
        The references, if these are detections.
    """
    states = []
    for one in (path, *([] if like is None else [like])):
        try:
            state = one.stat()
        except OSError as error:
            raise FileError(f"path={str(one)!r} cannot be read: {error.strerror}.") from error
        states.append((state.st_mtime_ns, state.st_size))
    return _open(path, like, tuple(states))


@lru_cache(maxsize=8)
def _open(path: Path, like: Path | None, _states: tuple[tuple[int, int], ...]) -> ListedInstances:
    found = read_coco_instances(path, None if like is None else open_instances(like).instances)
    return ListedInstances(found, rows_by_group(found.table))


def evaluate_instances(case: Case, spec: Spec) -> CaseResult:
    """Evaluate one image of two files."""
    assert case.reference is not None
    assert case.prediction is not None
    refs = open_instances(case.reference.path)
    preds = open_instances(case.prediction.path, case.reference.path)
    image = int(str(case.reference.item))
    classes = list(_classes(refs, preds, image, spec))
    return evaluate_masks(
        classes, spec, refs.instances.sizes[image], case=case.name, model=case.model
    )


def _classes(
    refs: ListedInstances, preds: ListedInstances, image: int, spec: Spec
) -> Iterator[MaskCase]:
    names = class_names(refs.instances.categories)
    for category, name in names.items():
        ref_rows = refs.rows.get((image, category), NONE)
        pred_rows = preds.rows.get((image, category), NONE)
        if not len(ref_rows) and not len(pred_rows):
            continue
        scores = preds.instances.table.score
        assert scores is not None
        _check_bounds(scores[pred_rows], pred_rows, preds.instances.path, spec)
        yield MaskCase(
            SegmentClass(category, name),
            refs.masks(image, category),
            preds.masks(image, category),
            refs.instances.table.crowd[ref_rows],
            scores[pred_rows],
            spec,
        )


def class_names(categories: Mapping[int, str]) -> dict[int, str]:
    """Return the name of the class of each category; equal names get their number.

    Examples
    --------
    >>> class_names({1: "cell", 2: "cell", 3: "dog"})
    {1: 'cell (1)', 2: 'cell (2)', 3: 'dog'}
    """
    given = list(categories.values())
    return {
        number: name if given.count(name) == 1 and name.strip() else f"{name} ({number})".strip()
        for number, name in categories.items()
    }


def _check_bounds(scores: npt.NDArray[np.float64], rows: Ints, path: Path, spec: Spec) -> None:
    bounds = None if spec.confidence is None else spec.confidence.bounds
    if bounds is None:
        return
    wrong = np.flatnonzero((scores < bounds[0]) | (scores > bounds[1]))
    if len(wrong):
        raise OverlapError(
            f"detection {rows[wrong[0]]} of {str(path)!r} has the score {scores[wrong[0]]}, but "
            f"the spec says `bounds: [{bounds[0]:g}, {bounds[1]:g}]`: correct one of them."
        )
