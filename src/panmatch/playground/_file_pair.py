"""Two label files side by side: read and counted once, and shown in slices."""

from __future__ import annotations

import base64
import os
from functools import cached_property

import numpy as np
import numpy.typing as npt

from panmatch.errors import OptionError, ShapeError
from panmatch.evaluation import ClassCase
from panmatch.formats import LabelImage, check_same_grid, read_labels
from panmatch.labels import Geometry, LabelArray, Void, as_labels, segment_geometry
from panmatch.overlap import Ints, Overlap, count_overlaps, count_region_overlaps
from panmatch.playground._score_rows import LabelPair
from panmatch.playground._shown_class import ShownClass
from panmatch.playground._sources import Source
from panmatch.playground._states import SIDES, Side, View
from panmatch.playground._validation import Message

Pixels = npt.NDArray[np.unsignedinteger]

LONGEST_SIDE = 1_500  # pixels of a slice; a longer side is thinned out
LARGEST_TABLE = 1 << 22  # entries of a table from labels to positions


class FilePair(Source):
    """A reference and a prediction from files, in two or three dimensions.

    Every label is an object, unless `shown_class` says what the objects are.
    """

    def __init__(
        self,
        reference: LabelImage,
        prediction: LabelImage,
        *,
        shown_class: ShownClass | None = None,
        allow_header_mismatch: bool = False,
    ) -> None:
        super().__init__()
        check_same_grid(reference, prediction, allow_header_mismatch=allow_header_mismatch)
        _check_shape(reference)
        self.reference, self.prediction = reference, prediction
        self.shown_class = shown_class
        self.allow_header_mismatch = allow_header_mismatch
        self.counted(View())  # reports bad labels before a page opens

    @classmethod
    def open(
        cls,
        reference: str | os.PathLike[str],
        prediction: str | os.PathLike[str],
        *,
        shown_class: ShownClass | None = None,
        allow_header_mismatch: bool = False,
    ) -> FilePair:
        """Read two label files, of any format that `panmatch evaluate` reads."""
        colour_ids = shown_class is not None and shown_class.spec.colour_ids
        return cls(
            read_labels(reference, colour_ids=colour_ids),
            read_labels(prediction, colour_ids=colour_ids),
            shown_class=shown_class,
            allow_header_mismatch=allow_header_mismatch,
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
    def unit(self) -> str | None:
        """Of the spacing: millimetres in medical formats, unknown in others."""
        medical = any(side.affine is not None for side in (self.reference, self.prediction))
        return "mm" if medical else None

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

    def describe(self) -> Message:
        """Return what the page says about the files."""
        return {
            "reference": self.reference.path.name,
            "prediction": self.prediction.path.name,
            "class_name": None if self.shown_class is None else self.shown_class.name,
            "shape": list(self.shape),
            "spacing": None if self.spacing is None else list(self.spacing),
            "unit": self.unit,
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


def answer_slice(pair: FilePair, axis: int, index: int | None) -> Message:
    """Return one slice of both images, None for the one in the middle.

    A 2-D image is a single slice. Pixels are positions of segments + 1, 0 for background;
    ``reference_ids`` and ``prediction_ids`` say which id each of them stands for.
    ``shape`` is that of the pixels sent: every ``step``-th along both axes.
    """
    position = _check_place(pair, axis, index)
    sides = pair.images.reference, pair.images.prediction
    pixels = [labels if labels.ndim == 2 else np.take(labels, position, axis) for labels in sides]
    step = -(-max(pixels[0].shape) // LONGEST_SIDE)
    ids = pair.overlap.ref_ids, pair.overlap.pred_ids
    dtype = np.dtype("<u2" if max(map(len, ids)) < 1 << 16 else "<u4")
    reference, prediction = (
        to_positions(image[::step, ::step], known, dtype)
        for image, known in zip(pixels, ids, strict=True)
    )
    return {
        "axis": axis,
        "index": position,
        "shape": list(reference.shape),
        "step": step,
        "dtype": dtype.name,
        "aspect": _aspect(pair, axis),
        "reference": _encode(reference),
        "prediction": _encode(prediction),
        "reference_ids": _present(reference, ids[0]),
        "prediction_ids": _present(prediction, ids[1]),
    }


def to_positions(labels: LabelArray, ids: Ints, dtype: np.dtype[np.unsignedinteger]) -> Pixels:
    """Return position + 1 of every label among the rising `ids`; background stays 0.

    Examples
    --------
    >>> to_positions(np.array([0, 9, 4]), np.array([4, 9]), np.dtype("<u2"))
    array([0, 2, 1], dtype=uint16)
    """
    if len(ids) == 0:
        return np.zeros(labels.shape, dtype)
    if ids[-1] < LARGEST_TABLE:
        table = np.zeros(int(ids[-1]) + 1, dtype)
        table[ids] = np.arange(1, len(ids) + 1)
        return table[labels]
    known = np.concatenate([[0], ids])
    return np.searchsorted(known, labels.astype(np.int64)).astype(dtype)


def _check_place(pair: FilePair, axis: int, index: int | None) -> int:
    if len(pair.shape) == 2:
        return 0
    if not 0 <= axis < 3:
        raise OptionError(f"axis={axis} must be 0, 1 or 2.")
    count = pair.shape[axis]
    position = count // 2 if index is None else index
    if not 0 <= position < count:
        raise OptionError(f"index={position} must be from 0 to {count - 1} on axis {axis}.")
    return position


def _aspect(pair: FilePair, axis: int) -> float:
    """Return the height of a pixel over its width."""
    if pair.spacing is None:
        return 1.0
    spacing = list(pair.spacing)
    if len(spacing) == 3:
        del spacing[axis]
    return spacing[0] / spacing[1]


def _encode(pixels: Pixels) -> str:
    return base64.b64encode(np.ascontiguousarray(pixels).tobytes()).decode("ascii")


def _present(pixels: Pixels, ids: Ints) -> list[list[int]]:
    """Return the pixel value and the id of every segment in a slice."""
    values = np.flatnonzero(np.bincount(pixels.ravel())[1:]) + 1
    rows: list[list[int]] = np.stack([values, ids[values - 1]], 1).tolist()
    return rows
