"""What metrics see: references next to the predictions matched to them, and the options."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Literal, TypedDict, get_args

import numpy as np
import numpy.typing as npt

from panmatch.errors import OptionError, check_choice
from panmatch.labels import (
    ElementDistances,
    Geometry,
    LabelArray,
    ObjectPairs,
    SkeletonOverlaps,
    SurfaceDistances,
    Unit,
    Volume,
    as_labels,
    as_spacing,
    element_distances,
    inner_band,
    is_on_device,
    segment_geometry,
    skeleton_overlaps,
    surface_distances,
)
from panmatch.matching import ratio
from panmatch.overlap import Floats, Ints, Overlap, count_overlaps
from panmatch.scoring._rows import ObjectRows

BOUNDARY_SHARE = 0.02  # default width of a boundary band, as a share of the image diagonal

Penalty = float | Literal["diagonal"] | None


class MeasureKeywords(TypedDict, total=False):
    """Options of `measure`, by keyword."""

    unit: Unit | None
    tolerance: float
    boundary_width: float | None
    penalty: Penalty


@dataclass(frozen=True, slots=True)
class MeasureOptions:
    """Everything except the images that the values of objects depend on (D14).

    Attributes
    ----------
    spacing
        Distance between voxels along each axis; voxel units are all ones.
    unit
        Of the spacing, and so of every distance.
    tolerance
        How far a boundary may be off for NSD.
    boundary_width
        Width of the bands of boundary IoU.
    penalty
        Distance of an object without a partner; None for NaN.
    """

    spacing: tuple[float, ...]
    unit: Unit
    tolerance: float
    boundary_width: float
    penalty: float | None


def measure_options(
    shape: tuple[int, ...],
    spacing: npt.ArrayLike | None = None,
    *,
    unit: Unit | None = None,
    tolerance: float = 1.0,
    boundary_width: float | None = None,
    penalty: Penalty = None,
) -> MeasureOptions:
    """Check the options of `measure` for an image of that shape, and fill in defaults."""
    steps = as_spacing(spacing, len(shape))
    diagonal = _length(tuple((steps * shape).tolist()))
    if unit is None:
        unit = "voxel" if spacing is None else "mm"
    check_choice("unit", unit, get_args(Unit))
    if boundary_width is None:
        boundary_width = max(BOUNDARY_SHARE * diagonal, float(steps.max()))
    elif _distance("boundary_width", boundary_width) < steps.min():
        raise OptionError(
            f"boundary_width={boundary_width!r} is less than the distance between voxels "
            f"({steps.min():g}): such a band is empty. Pass a larger width."
        )
    if penalty is not None:
        penalty = diagonal if penalty == "diagonal" else _distance("penalty", penalty)
    return MeasureOptions(
        tuple(steps.tolist()),
        unit,
        _distance("tolerance", tolerance),
        _distance("boundary_width", boundary_width),
        penalty,
    )


@lru_cache(64)
def _length(vector: tuple[float, ...]) -> float:
    return float(np.linalg.norm(vector))


def _distance(argument: str, value: object) -> float:
    if isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool):
        distance = float(value)
        if 0 <= distance < float("inf"):
            return distance
    choice = ", or 'diagonal'" if argument == "penalty" else ""
    raise OptionError(f"{argument}={value!r} must be a distance: a number of at least 0{choice}.")


@dataclass(frozen=True, slots=True, eq=False)
class Bands:
    """Voxels of the inner bands of every row, and those that both have."""

    ref_voxels: Floats
    pred_voxels: Floats
    shared: Floats


@dataclass(frozen=True, eq=False)
class ComparedObjects:
    """Objects that are compared row by row, with what several metrics need, each computed once.

    Attributes
    ----------
    rows
        Which objects are compared.
    reference, prediction
        Label images that hold the labels of the rows; void is background in both.
    options
        Spacing, unit, tolerance, width and penalty.
    threads
        Number of threads; by default as many as pay off.
    known
        Geometry of all segments of both images, if it is known already.
    """

    rows: ObjectRows
    reference: Volume
    prediction: Volume
    options: MeasureOptions
    threads: int | None = None
    known: tuple[Geometry, Geometry] | None = None

    def __len__(self) -> int:
        return len(self.rows.ref_ids)

    @property
    def ref_voxels(self) -> Floats:
        """|g| of every row; 0 for a false positive."""
        return self.rows.ref_voxels

    @property
    def pred_voxels(self) -> Floats:
        """|p| of every row; 0 for a missed reference."""
        return self.rows.pred_voxels

    @property
    def shared(self) -> Floats:
        """|g ∩ p| of every row."""
        return self.rows.shared

    @property
    def tolerance(self) -> float:
        """How far a boundary may be off."""
        return self.options.tolerance

    @property
    def voxel_volume(self) -> float:
        """Physical volume of one voxel."""
        return float(math.prod(self.options.spacing))

    @cached_property
    def paired(self) -> npt.NDArray[np.bool_]:
        """Rows with something on both sides."""
        return (self.ref_voxels > 0) & (self.pred_voxels > 0)

    @cached_property
    def ref_geometry(self) -> Geometry:
        """Voxels, centre and box of every row's reference."""
        with_ref = np.flatnonzero(self.rows.ref_ids)
        return self._segments[0].unite(self.rows.ref_ids[with_ref], with_ref, len(self))

    @cached_property
    def pred_geometry(self) -> Geometry:
        """Voxels, centre and box of every row's union of predictions."""
        return self._segments[1].unite(self.rows.pred_ids, self._pred_rows, len(self))

    @property
    def ref_centroid(self) -> Floats:
        """Mean position of every reference, index × spacing; NaN where there is none."""
        return self._centroid(self.ref_geometry)

    @property
    def pred_centroid(self) -> Floats:
        """Mean position of every union of predictions, index × spacing; NaN where there is none."""
        return self._centroid(self.pred_geometry)

    @cached_property
    def pairs(self) -> ObjectPairs:
        """The paired rows with the boxes around both objects."""
        paired_rows = np.flatnonzero(self.paired)
        lengths = np.diff(self.rows.pred_first)
        ref, pred = self.ref_geometry, self.pred_geometry
        return ObjectPairs(
            ref_ids=self.rows.ref_ids[paired_rows],
            pred_first=np.concatenate([[0], np.cumsum(lengths[paired_rows])]),
            pred_ids=self.rows.pred_ids[np.repeat(self.paired, lengths)],
            start=np.minimum(ref.start[paired_rows], pred.start[paired_rows]),
            stop=np.maximum(ref.stop[paired_rows], pred.stop[paired_rows]),
        )

    @cached_property
    def surface(self) -> SurfaceDistances:
        """Distances between the boundaries of the paired rows."""
        images: tuple[Any, Any] = self.reference, self.prediction
        if not is_on_device(self.reference):
            images = self._whole_images
        return surface_distances(*images, self.pairs, self.options.spacing, threads=self.threads)

    @cached_property
    def elements(self) -> list[tuple[ElementDistances, ElementDistances]]:
        """Distances between the surface elements of the paired rows."""
        return list(element_distances(*self._whole_images, self.pairs, self.options.spacing))

    @cached_property
    def skeletons(self) -> SkeletonOverlaps:
        """Skeletons of the paired rows, and how much of each lies in the other object."""
        return skeleton_overlaps(*self._whole_images, self.pairs)

    @cached_property
    def bands(self) -> Bands:
        """Inner bands of all rows: all objects of an image at once."""
        width, spacing = self.options.boundary_width, self.options.spacing
        unions, union_ids = self._unions()
        box = self._box()
        bands = count_overlaps(
            inner_band(self._whole_images[0][box], width, spacing, threads=self.threads),
            inner_band(unions[box], width, spacing, threads=self.threads),
            threads=self.threads,
        )
        return Bands(
            _look_up(bands.ref_ids, bands.ref_sizes, self.rows.ref_ids),
            _look_up(bands.pred_ids, bands.pred_sizes, union_ids),
            _shared_of(bands, self.rows.ref_ids, union_ids),
        )

    def scatter(self, values: Floats, otherwise: float = float("nan")) -> Floats:
        """Return the values of the paired rows in their places, and `otherwise` elsewhere."""
        column = np.full(len(self), otherwise)
        column[self.paired] = values
        return column

    @cached_property
    def _segments(self) -> tuple[Geometry, Geometry]:
        if self.known is not None:
            return self.known
        return (
            segment_geometry(self.reference, threads=self.threads),
            segment_geometry(self.prediction, threads=self.threads),
        )

    @cached_property
    def _whole_images(self) -> tuple[LabelArray, LabelArray]:
        return as_labels(self.reference, "reference"), as_labels(self.prediction, "prediction")

    @property
    def _pred_rows(self) -> Ints:
        return np.repeat(np.arange(len(self)), np.diff(self.rows.pred_first))

    def _centroid(self, geometry: Geometry) -> Floats:
        sums = geometry.coordinate_sums * np.array(self.options.spacing)
        return ratio(sums, geometry.voxels[:, np.newaxis].astype(np.float64))

    def _unions(self) -> tuple[LabelArray, Ints]:
        """Return the prediction with one label per union, and that label for every row.

        A union of several predictions belongs to one reference alone, so relabelling it takes
        nothing away from another row.
        """
        rows, lengths = self.rows, np.diff(self.rows.pred_first)
        union_ids = np.zeros(len(self), np.int64)
        union_ids[lengths > 0] = rows.pred_ids[rows.pred_first[:-1][lengths > 0]]
        image = self._whole_images[1]
        if (lengths <= 1).all():
            return image, union_ids
        names = union_ids[self._pred_rows]
        other = names != rows.pred_ids
        old, first = np.unique(rows.pred_ids[other], return_index=True)
        voxels = np.isin(image, old)
        unions = image.astype(np.int64)
        unions[voxels] = names[other][first][np.searchsorted(old, image[voxels])]
        return unions, union_ids

    def _box(self) -> tuple[slice, ...]:
        """Return the box around everything that is compared; everything beyond it is outside."""
        sides = self.ref_geometry, self.pred_geometry
        starts = [side.start[side.voxels > 0] for side in sides]
        stops = [side.stop[side.voxels > 0] for side in sides]
        if not sum(map(len, starts)):
            return (slice(0),) * self.reference.ndim
        start, stop = np.concatenate(starts).min(0), np.concatenate(stops).max(0)
        return tuple(map(slice, start.tolist(), stop.tolist()))


def _look_up(ids: Ints, values: npt.NDArray[np.int64], wanted: Ints) -> Floats:
    """Return the value of every wanted id; 0 for one that is not there."""
    values_found = np.zeros(len(wanted))
    if len(ids):
        position = np.minimum(np.searchsorted(ids, wanted), len(ids) - 1)
        values_found = np.where(ids[position] == wanted, values[position], 0.0)
    return values_found


def _shared_of(bands: Overlap, ref_ids: Ints, pred_ids: Ints) -> Floats:
    """Return the intersection of every pair of ids; 0 where they share nothing."""
    pairs = zip(bands.ref_ids[bands.edges.ref], bands.pred_ids[bands.edges.pred], strict=True)
    shared = dict(zip(pairs, bands.edges.intersection, strict=True))
    wanted = zip(ref_ids, pred_ids, strict=True)
    return np.array([shared.get(pair, 0) for pair in wanted], dtype=np.float64)
