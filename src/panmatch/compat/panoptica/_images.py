"""Two label images of one group: objects, their overlaps, and the values of matched objects."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from panmatch.compat.panoptica._metrics import Metric
from panmatch.errors import OptionError, ShapeError
from panmatch.formats import as_stored_image, grid_difference, turned_like
from panmatch.labels import LabelArray, as_labels, as_spacing, check_same_shape
from panmatch.overlap import Floats, Ints, Overlap, count_overlaps, sum_by
from panmatch.scoring import ComparedObjects, MeasureOptions, ObjectRows, measure_options

PAD = 2  # voxels that panoptica leaves around objects
LARGEST = 2.0**53  # beyond, floating-point numbers skip whole numbers


def read_pair(
    reference: object, prediction: object, voxelspacing: Sequence[float] | None, *, quirks: bool
) -> tuple[LabelArray, LabelArray, tuple[float, ...] | None]:
    """Return both label images as arrays on one grid, and the distance between their voxels.

    Floating-point arrays must hold whole numbers. With `quirks`, the spacing of a SimpleITK image
    is taken in the order of its own axes, which is not that of the array, and the spacing of a
    NIfTI header in single precision.
    """
    stored = [as_stored_image(reference, "reference_arr"),
              as_stored_image(prediction, "prediction_arr")]  # fmt: skip
    ref, pred = stored
    if ref is None or pred is None:
        images = [as_labels(_whole(one), name) for one, name in (
            (reference if ref is None else ref.labels, "reference_arr"),
            (prediction if pred is None else pred.labels, "prediction_arr"),
        )]  # fmt: skip
        known = next((one.spacing for one in stored if one is not None), None)
    else:
        pred = turned_like(pred, ref)
        check_same_shape({"reference_arr": ref.labels, "prediction_arr": pred.labels})
        if problem := grid_difference(ref, pred, ("reference_arr", "prediction_arr")):
            raise OptionError(f"prediction_arr and reference_arr {problem}")
        images = [as_labels(ref.labels, "reference_arr"), as_labels(pred.labels, "prediction_arr")]
        known = ref.spacing
    check_same_shape({"reference_arr": images[0], "prediction_arr": images[1]})
    if known is not None and quirks:
        itk = hasattr(reference, "GetSpacing")
        known = known[::-1] if itk else tuple(np.array(known, np.float32).tolist())
    if not images[0].ndim:
        raise ShapeError("reference_arr and prediction_arr must have at least one axis.")
    return images[0], images[1], known if voxelspacing is None else _steps(voxelspacing, images[0])


def _steps(voxelspacing: Sequence[float], image: LabelArray) -> tuple[float, ...]:
    """Return the spacing as it was given; numbers of single precision are not rounded."""
    given: npt.ArrayLike = voxelspacing
    with suppress(TypeError, ValueError):
        given = tuple(map(float, voxelspacing))
    sizes: list[float] = as_spacing(given, image.ndim, argument="voxelspacing").tolist()
    return tuple(sizes)


def _whole(array: Any) -> Any:
    values = np.asarray(array)
    whole = values.dtype.kind == "f" and bool((np.abs(values) < LARGEST).all())
    if whole and (values == np.rint(values)).all():
        return values.astype(np.int64)
    return array


def crop_box(reference: LabelArray, prediction: LabelArray) -> tuple[slice, ...]:
    """Return what panoptica crops images to: where their sum is not 0, and two voxels more.

    The sum is in the smallest type that holds the labels, so it may overflow to 0.
    """
    labels = [reference.astype(np.uint64), prediction.astype(np.uint64)]
    largest = int(max(side.max(initial=0) for side in labels))
    limits = {255: 8, 65535: 16, 4294967294: 32}
    bits = next((bits for most, bits in limits.items() if largest <= most), 64)
    places = np.nonzero((labels[0] + labels[1]) & np.uint64(2**bits - 1))
    if not len(places[0]):
        return (slice(None),) * reference.ndim
    return tuple(slice(max(int(one.min()) - PAD, 0), int(one.max()) + PAD + 1) for one in places)


@dataclass(frozen=True, eq=False)
class GroupImages:
    """Objects of one group on both sides.

    Attributes
    ----------
    reference, prediction
        A label for every object.
    spacing
        Distance between voxels along each axis.
    voxel_volume
        Physical volume of a voxel.
    tolerance
        How far a boundary may be off for NSD; the smallest step by default.
    quirks
        Whether to follow panoptica where it is wrong.
    """

    reference: LabelArray
    prediction: LabelArray
    spacing: tuple[float, ...]
    voxel_volume: float
    tolerance: float | None = None
    quirks: bool = False

    @cached_property
    def overlap(self) -> Overlap:
        """The one count of their voxels."""
        return count_overlaps(self.reference, self.prediction)

    @cached_property
    def options(self) -> MeasureOptions:
        """Spacing and tolerance."""
        least = min(self.spacing, default=1.0) if self.tolerance is None else self.tolerance
        return measure_options(self.reference.shape, self.spacing, tolerance=least)

    @cached_property
    def values(self) -> PairValues:
        """Values of pairs of objects."""
        return PairValues(self)


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Which objects match, as positions in an overlap, sorted by reference, then prediction."""

    ref: Ints
    pred: Ints

    @property
    def refs(self) -> Ints:
        """Every matched reference once."""
        return np.unique(self.ref)

    def names(self) -> list[tuple[int, ...]]:
        """Return for every matched reference its position, and those of its predictions."""
        found: dict[int, list[int]] = {}
        for ref, pred in zip(self.ref.tolist(), self.pred.tolist(), strict=True):
            found.setdefault(ref, []).append(pred)
        return [(ref, *preds) for ref, preds in found.items()]


@dataclass(eq=False)
class PairValues:
    """Values of metrics for pairs; a pair measured for one threshold is not measured again."""

    images: GroupImages
    _at: dict[tuple[int, ...], int] = field(default_factory=dict)
    _batches: list[ComparedObjects] = field(default_factory=list)
    _known: dict[tuple[int, str], Floats] = field(default_factory=dict)

    def of(self, metric: Metric, pairs: Pairs) -> Floats:
        """Return one value for every matched reference."""
        names = pairs.names()
        new = [name for name in names if name not in self._at]
        if new:
            self._at |= {name: len(self._at) + i for i, name in enumerate(new)}
            self._batches.append(self._objects(new))
        columns = [self._column(i, metric) for i in range(len(self._batches))]
        every = np.concatenate(columns) if columns else np.zeros(0)
        return every[[self._at[name] for name in names]]

    def of_edges(self, metric: Metric) -> Floats:
        """Return one value for every edge."""
        edges = self.images.overlap.edges
        objects = self._objects(list(zip(edges.ref.tolist(), edges.pred.tolist(), strict=True)))
        return metric.values(objects, quirks=self.images.quirks)

    def _column(self, batch: int, metric: Metric) -> Floats:
        key = batch, metric.name
        if key not in self._known:
            self._known[key] = metric.values(self._batches[batch], quirks=self.images.quirks)
        return self._known[key]

    def _objects(self, names: Sequence[tuple[int, ...]]) -> ComparedObjects:
        overlap = self.images.overlap
        lengths = np.array([len(name) - 1 for name in names])
        row = np.repeat(np.arange(len(names)), lengths)
        ref = np.array([name[0] for name in names])
        pred = np.array([one for name in names for one in name[1:]])
        rows = ObjectRows(
            ref_ids=overlap.ref_ids[ref],
            pred_first=np.concatenate([[0], np.cumsum(lengths)]),
            pred_ids=overlap.pred_ids[pred],
            names=[" ".join(map(str, overlap.pred_ids[list(name[1:])])) for name in names],
            ref_voxels=overlap.ref_sizes[ref].astype(np.float64),
            pred_voxels=sum_by(row, overlap.pred_sizes[pred], len(names)).astype(np.float64),
            shared=sum_by(row, shared_voxels(overlap, ref[row], pred), len(names)).astype(
                np.float64
            ),
        )
        images = self.images
        return ComparedObjects(rows, images.reference, images.prediction, images.options)


def shared_voxels(overlap: Overlap, ref: Ints, pred: Ints) -> Ints:
    """Return the voxels that pairs share, by position; 0 for a pair that is not an edge."""
    edges, width = overlap.edges, max(len(overlap.pred_ids), 1)
    if not len(edges):
        return np.zeros(len(ref), np.int64)
    keys, wanted = edges.ref * width + edges.pred, ref * width + pred
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[place] == wanted, edges.intersection[place], 0)


def measure_masks(
    reference: LabelArray,
    prediction: LabelArray,
    counts: tuple[int, int, int],
    metrics: Sequence[Metric],
    options: MeasureOptions,
    *,
    quirks: bool,
) -> dict[Metric, float]:
    """Return values of everything that is not background, as one object.

    Parameters
    ----------
    counts
        Voxels of the reference, of the prediction, and of both; none of them zero but the last.
    """
    images = reference, prediction
    if any(metric.ours.needs != "overlap" for metric in metrics):
        images = (reference != 0).view(np.uint8), (prediction != 0).view(np.uint8)
    one = np.ones(1, np.int64)
    sizes = [np.array([float(count)]) for count in counts]
    rows = ObjectRows(one, np.array([0, 1]), one, ["1"], *sizes)
    objects = ComparedObjects(rows, *images, options)
    return {metric: float(metric.values(objects, quirks=quirks)[0]) for metric in metrics}
