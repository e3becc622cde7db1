"""Two label files side by side, read and counted once."""

from __future__ import annotations

import os
from functools import cached_property

from panmatch.errors import OptionError, ShapeError
from panmatch.formats import LabelImage, check_same_grid, read_labels
from panmatch.labels import Geometry, as_labels, segment_geometry
from panmatch.overlap import Overlap, count_overlaps, count_region_overlaps
from panmatch.playground.drawing.scene import Side
from panmatch.playground.numbers.counted import Source
from panmatch.playground.numbers.voxels import Voxels
from panmatch.playground.plain import Message
from panmatch.playground.states.view import View


class Pair(Source):
    """A reference and a prediction from files, in two or three dimensions.

    Attributes
    ----------
    reference, prediction
        As read.
    allow_header_mismatch
        Whether the headers were allowed to disagree.
    """

    def __init__(
        self, reference: LabelImage, prediction: LabelImage, *, allow_header_mismatch: bool = False
    ) -> None:
        super().__init__()
        check_same_grid(reference, prediction, allow_header_mismatch=allow_header_mismatch)
        _check_shape(reference)
        self.reference, self.prediction = reference, prediction
        self.allow_header_mismatch = allow_header_mismatch
        self.counted(View())  # what is wrong with the labels is said before a page opens

    @classmethod
    def open(
        cls,
        reference: str | os.PathLike[str],
        prediction: str | os.PathLike[str],
        *,
        allow_header_mismatch: bool = False,
    ) -> Pair:
        """Read two label files, of any format that `panmatch evaluate` reads."""
        images = read_labels(reference), read_labels(prediction)
        return cls(*images, allow_header_mismatch=allow_header_mismatch)

    @property
    def shape(self) -> tuple[int, ...]:
        """Of both arrays."""
        return self.reference.labels.shape

    @property
    def spacing(self) -> tuple[float, ...] | None:
        """Distance between voxels along each axis, where one of the files states it."""
        return self.reference.spacing or self.prediction.spacing

    @property
    def unit(self) -> str | None:
        """Of the spacing: millimetres in medical formats, unknown in others."""
        medical = any(side.affine is not None for side in (self.reference, self.prediction))
        return "mm" if medical else None

    @cached_property
    def voxels(self) -> Voxels:
        """Both images."""
        return Voxels(
            as_labels(self.reference.labels, "reference"),
            as_labels(self.prediction.labels, "prediction"),
            self.spacing,
        )

    @property
    def overlap(self) -> Overlap:
        """Of whole predictions."""
        return self.counted(View()).overlap

    def count(self, view: View) -> Overlap:
        """Count the overlap that a view asks for."""
        if view.parts:
            raise OptionError(
                "parts: the files of a pair have no part images here. `panmatch evaluate` takes "
                "them as --reference-parts and --prediction-parts."
            )
        if view.areas == "analytic":
            raise OptionError("areas='analytic' is for scenes of discs; voxels are counted.")
        images = self.voxels.reference, self.voxels.prediction
        if view.regions:
            return count_region_overlaps(*images, self.spacing)
        return count_overlaps(*images)

    def centre(self, side: Side, number: int) -> list[float] | None:
        """Return the centre of a segment in voxels, along the axes of the array."""
        found = self._geometry[side]
        at = int(found.ids.searchsorted(number))
        centre: list[float] = (found.coordinate_sums[at] / found.voxels[at]).tolist()
        return centre

    def describe(self) -> Message:
        """Return what the page says about the files."""
        overlap = self.overlap
        return {
            "reference": self.reference.path.name,
            "prediction": self.prediction.path.name,
            "shape": list(self.shape),
            "spacing": None if self.spacing is None else list(self.spacing),
            "unit": self.unit,
            "n_reference": len(overlap.ref_ids),
            "n_prediction": len(overlap.pred_ids),
        }

    @cached_property
    def _geometry(self) -> dict[Side, Geometry]:
        return {
            "reference": segment_geometry(self.voxels.reference),
            "prediction": segment_geometry(self.voxels.prediction),
        }


def _check_shape(image: LabelImage) -> None:
    shape = image.labels.shape
    if len(shape) not in (2, 3) or 0 in shape:
        raise ShapeError(
            f"path={str(image.path)!r} has shape {shape}: the playground shows images of two or "
            f"three dimensions that are not empty. `panmatch evaluate` scores any other."
        )
