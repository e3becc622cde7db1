"""Two label files side by side, and the image they belong to: read and counted once."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from panmatch.errors import Argument, FileError, OptionError, ShapeError
from panmatch.formats import (
    LabelImage,
    StoredImage,
    check_same_grid,
    grid_difference,
    read_confidences,
    read_grey,
    read_labels,
    read_probabilities,
    turned_like,
)
from panmatch.labels import (
    Geometry,
    LabelArray,
    Void,
    as_labels,
    confidences_from_image,
    segment_geometry,
)
from panmatch.overlap import Overlap, count_overlaps, count_region_overlaps
from panmatch.playground._planes import Plane, planes_of
from panmatch.playground._score_rows import LabelPair
from panmatch.playground._sources import Source
from panmatch.playground._states import SIDES, Side, View
from panmatch.playground._validation import Message

if TYPE_CHECKING:  # a page without a server has no specs
    from panmatch.evaluation import ClassCase
    from panmatch.playground._shown_class import ShownClass


class FilePair(Source):
    """A reference and a prediction from files, in two or three dimensions.

    Every label is an object, unless `shown_class` says what the objects are.

    Parameters
    ----------
    reference, prediction
        Label images of one grid.
    image
        Grey levels from 0 to 255, to show beneath the labels.
    shown_class
        What the objects are.
    allow_header_mismatch
        Compare only the shapes, not what the headers say about the grid.
    dropped
        Whether the files came through the page, so only their names are known.
    scores
        How sure a model is of every prediction (D17): a CSV file with the columns ``id`` and
        ``score``, or an image of probabilities, whose highest value inside a prediction counts.
    """

    def __init__(
        self,
        reference: LabelImage,
        prediction: LabelImage,
        *,
        image: LabelImage | None = None,
        shown_class: ShownClass | None = None,
        allow_header_mismatch: bool = False,
        dropped: bool = False,
        scores: Path | None = None,
    ) -> None:
        super().__init__()
        check_same_grid(reference, prediction, allow_header_mismatch=allow_header_mismatch)
        _check_shape(reference)
        self.reference, self.prediction = reference, prediction
        self.shown_class = shown_class
        self.allow_header_mismatch = allow_header_mismatch
        self.dropped = dropped
        self.image_name = None if image is None else image.path.name
        self.image = None if image is None else _beneath(image, self.placed, allow_header_mismatch)
        self.scores = scores
        self.confidences = None if scores is None else self._read_scores(scores)
        self.counted(View())  # reports bad labels before a page opens

    @classmethod
    def open(
        cls,
        reference: str | os.PathLike[str],
        prediction: str | os.PathLike[str],
        *,
        image: str | os.PathLike[str] | None = None,
        shown_class: ShownClass | None = None,
        allow_header_mismatch: bool = False,
        scores: str | os.PathLike[str] | None = None,
    ) -> FilePair:
        """Read two label files, of any format that `panmatch evaluate` reads, and what is beside.

        Parameters are those of the class, as paths.
        """
        colour_ids = shown_class is not None and shown_class.spec.colour_ids
        return cls(
            read_labels(reference, colour_ids=colour_ids),
            read_labels(prediction, colour_ids=colour_ids),
            image=None if image is None else read_grey(image),
            shown_class=shown_class,
            allow_header_mismatch=allow_header_mismatch,
            scores=None if scores is None else Path(scores),
        )

    @property
    def shape(self) -> tuple[int, ...]:
        """Of both arrays."""
        return self.reference.labels.shape

    @property
    def spacing(self) -> tuple[float, ...] | None:
        """Distance between voxels along each axis, where one of the files states it."""
        return self.reference.spacing or self.prediction.spacing

    @property
    def placed(self) -> LabelImage:
        """The file that says most about the grid: the reference, if both say as much."""
        known = [side for side in (self.reference, self.prediction) if side.affine is not None]
        return known[0] if known else self.reference

    @cached_property
    def planes(self) -> tuple[Plane, ...]:
        """How slices along each axis are shown; a single plane for 2-D images."""
        return planes_of(self.placed)

    @property
    def unit(self) -> str | None:
        """Of the spacing, where a file says; None otherwise."""
        known = (side.unit for side in (self.reference, self.prediction) if side.spacing)
        unit = next(known, "voxel")
        return None if unit == "voxel" else unit

    @cached_property
    def images(self) -> LabelPair:
        """Both label images, with the ids of the objects."""
        case = self._class_case
        sides = (self.reference.labels, self.prediction.labels) if case is None else case.images
        return LabelPair(
            as_labels(sides[0], "reference"),
            as_labels(sides[1], "prediction"),
            self.spacing,
            Void() if case is None else case.void,
        )

    @property
    def overlap(self) -> Overlap:
        """Of whole predictions."""
        return self.counted(View()).overlap

    def count(self, view: View) -> Overlap:
        """Count the overlap that a view asks for."""
        if view.parts:
            raise OptionError(
                "parts are not available for a pair of files here. `panmatch evaluate` takes "
                "them as --reference-parts and --prediction-parts."
            )
        if view.areas == "analytic":
            raise OptionError(
                "areas='analytic' works only for scenes of discs; pass areas='raster'."
            )
        images = self.images.reference, self.images.prediction
        if view.regions:
            self._check_regions()
            return count_region_overlaps(*images, self.spacing, void=self.images.void)
        if self._class_case is not None:
            return self._class_case.overlap.without_parts()
        return count_overlaps(*images)

    def with_confidence(self, overlap: Overlap) -> Overlap:
        """Return an overlap with the confidences of the predictions, where they are known."""
        return overlap if self.confidences is None else overlap.with_confidence(self.confidences)

    def _read_scores(self, path: Path) -> dict[int, float]:
        if path.suffix.lower() == ".csv":
            return read_confidences(path)
        probabilities = read_probabilities(path)
        values = _beneath(probabilities, self.placed, self.allow_header_mismatch)
        return confidences_from_image(self.images.prediction, values)

    def _check_regions(self) -> None:
        encoding = "labels" if self.shown_class is None else self.shown_class.spec.encoding
        if encoding != "labels":
            raise OptionError(
                f"Voronoi regions are not available with the encoding {encoding!r} of the run's "
                f"spec: pass regions=false."
            )

    def centre(self, side: Side, number: int) -> list[float] | None:
        """Return the centre of a segment in voxels, along the axes of the array."""
        geometry = self._geometry[side]
        position = int(geometry.ids.searchsorted(number))
        centre = geometry.coordinate_sums[position] / geometry.voxels[position]
        return [float(coordinate) for coordinate in centre]

    def busiest_slice(self) -> tuple[int, int]:
        """Return the axis and the index of a slice that cuts as many objects as any.

        Of several axes, that with the fewest slices is taken; of several slices, the one in the
        middle. Objects count by their boxes.
        """
        best = (-1, 0, 0, 0)  # objects, − slices, axis, index
        for axis, length in enumerate(self.shape):
            steps = np.zeros(length + 1, np.int64)
            for table in self._geometry.values():
                np.add.at(steps, table.start[:, axis], 1)
                np.add.at(steps, table.stop[:, axis], -1)
            objects = np.cumsum(steps[:-1])
            busy = np.flatnonzero(objects == objects.max())
            best = max(best, (int(objects.max()), -length, axis, int(busy[len(busy) // 2])))
        return best[2:]

    def describe(self) -> Message:
        """Return what the page says about the files."""
        return {
            "reference": self.reference.path.name,
            "prediction": self.prediction.path.name,
            "class_name": None if self.shown_class is None else self.shown_class.name,
            "shape": list(self.shape),
            "spacing": None if self.spacing is None else list(self.spacing),
            "unit": self.unit,
            "image": self.image_name,
            "scores": None if self.scores is None else self.scores.name,
            "planes": [plane.describe(self.shape, self.spacing) for plane in self.planes],
            "dropped": self.dropped,
        }

    @cached_property
    def _class_case(self) -> ClassCase | None:
        shown = self.shown_class
        return None if shown is None else shown.find(self.reference, self.prediction)

    @cached_property
    def _geometry(self) -> dict[Side, Geometry]:
        return {side: segment_geometry(getattr(self.images, side)) for side in SIDES}


def _check_shape(image: LabelImage) -> None:
    shape = image.labels.shape
    if len(shape) not in (2, 3) or 0 in shape:
        raise ShapeError(
            f"path={str(image.path)!r} has shape {shape}, but the playground shows only non-empty "
            f"images with two or three dimensions. `panmatch evaluate` takes any other image."
        )


def _beneath(image: LabelImage, labels: StoredImage, allow_header_mismatch: bool) -> LabelArray:
    """Return the grey levels on the grid of the labels, or raise an error that shows both grids."""
    turned = turned_like(image, labels)
    if turned.labels.shape != labels.labels.shape:
        raise ShapeError(
            f"the image {image.called} has shape {image.labels.shape}, but the labels have shape "
            f"{labels.labels.shape}. Resample the image to the grid of the labels."
        )
    problem = grid_difference(labels, turned, ("labels", "image"))
    if problem is not None and not allow_header_mismatch:
        raise FileError(
            f"the image {image.called} and the labels {problem}\nResample the image to the grid "
            f"of the labels, or pass ",
            Argument("allow_header_mismatch", True),
            " to show it voxel by voxel as stored.",
        )
    return np.asarray(turned.labels)
