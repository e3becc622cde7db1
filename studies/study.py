"""What a study consists of: cases, grouped by what they show, and figures."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

import panmatch as pm
from panmatch.formats import read_labels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Labels = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """One image as one model sees it."""

    name: str
    model: str
    reference: Labels
    prediction: Labels
    spacing: tuple[float, ...] | None = None
    reference_parts: Labels | None = None
    prediction_parts: Labels | None = None

    @property
    def images(self) -> dict[str, Any]:
        """Everything that `evaluate` and the figures of one case take."""
        return {
            "reference": self.reference,
            "prediction": self.prediction,
            "spacing": self.spacing,
            "reference_parts": self.reference_parts,
            "prediction_parts": self.prediction_parts,
        }


@dataclass(frozen=True, slots=True, eq=False)
class Dataset:
    """Cases of one kind under one spec.

    Attributes
    ----------
    title, about
        Heading, and a sentence on where the images come from.
    spec
        From `full_spec`.
    cases
        Of every model.
    in_full
        Classes whose scores are listed for every strategy and threshold.
    """

    title: str
    about: str
    spec: pm.Spec
    cases: tuple[Case, ...]
    in_full: tuple[str, ...]

    def evaluate(self) -> pm.Result:
        """Return the result of all cases."""
        evaluator = pm.Evaluator(self.spec)
        for case in self.cases:
            evaluator.update(case=case.name, model=case.model, **case.images)
        return evaluator.compute()

    def case(self, name: str, model: str) -> Case:
        """Return one case of one model."""
        return next(one for one in self.cases if (one.name, one.model) == (name, model))


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """A figure, what to call its file, and what it shows in words."""

    name: str
    words: str
    figure: Figure


Draw = Callable[[list[Dataset], list[pm.Result]], Iterator[Picture]]


@dataclass(frozen=True, slots=True)
class Study:
    """A page of docs/explanation/studies.

    Attributes
    ----------
    name, title
        Of the page.
    folders
        Of the data folder; all are needed.
    real
        Reads the data sets from the data folder.
    made_up
        Makes phantoms of the same kind instead; small ones where that is asked for.
    draw
        Draws what a page shows beside the curves.
    """

    name: str
    title: str
    folders: tuple[str, ...]
    real: Callable[[Path], list[Dataset]]
    made_up: Callable[[bool], list[Dataset]]
    draw: Draw

    def has_data(self, data: Path) -> bool:
        """Return whether the real images are at hand."""
        return all((data / folder).is_dir() for folder in self.folders)


def read(path: Path, *, colour_ids: bool = False) -> Labels:
    """Read a label file."""
    return read_labels(path, colour_ids=colour_ids).labels


def spacing_of(path: Path) -> tuple[float, ...] | None:
    """Return the distance between voxels of a label file, in mm."""
    return read_labels(path).spacing


def crop_together(images: list[Labels]) -> list[Labels]:
    """Return the box around all objects of all images: what is empty everywhere says nothing."""
    places = np.argwhere(np.any([image > 0 for image in images], axis=0))
    box = tuple(map(slice, places.min(axis=0), places.max(axis=0) + 1))
    return [np.ascontiguousarray(image[box]) for image in images]
