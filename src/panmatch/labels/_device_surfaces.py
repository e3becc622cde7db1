"""Distances between the boundaries of objects that are on a CUDA device, measured there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from panmatch.labels._arrays import Floats, Ints
from panmatch.labels._counted_distances import CountedDistances
from panmatch.labels._device_kernels import DeviceArray, cupy_module, launch
from panmatch.labels._device_regions import WORD, kind_of_squares, strides_along
from panmatch.labels._object_pairs import ObjectPairs, SurfaceDistances
from panmatch.labels._whole_steps import layout_to_measure

KERNELS = "surfaces.cu"
MOST_VOXELS = 1 << 27  # of all crops that are measured at a time
REFERENCE, PREDICTION = np.uint8(1), np.uint8(2)  # marks of boundary voxels

Measured = tuple[Ints, Floats, Ints]  # rows, squared distances, how often each occurs


def device_surface_distances(
    reference: DeviceArray,
    prediction: DeviceArray,
    pairs: ObjectPairs,
    spacing: npt.ArrayLike | None = None,
) -> SurfaceDistances:
    """Measure the distances between the boundaries of all pairs, as `surface_distances` does.

    For every voxel of the boxes around the pairs this needs 9 bytes, or 17 if squared distances
    need 64 bits; boxes of many pairs are measured a part at a time.
    """
    cupy = cupy_module()
    with reference.device:
        axes, steps, unit = layout_to_measure(reference, spacing)
        images = [
            cupy.ascontiguousarray(image.transpose(axes)) for image in (reference, prediction)
        ]
        start, lengths = pairs.start[:, list(axes)], (pairs.stop - pairs.start)[:, list(axes)]
        sides: tuple[list[Measured], list[Measured]] = ([], [])
        for rows in _batches(np.prod(lengths, axis=1)):
            crops = _Crops.of(start[rows], lengths[rows], (steps * steps).tolist())
            marks = crops.mark(images, _taken(pairs, rows))
            for side, (of, to) in zip(
                sides, ((REFERENCE, PREDICTION), (PREDICTION, REFERENCE)), strict=True
            ):
                found, squares, counts = crops.distances(marks, of, to)
                side.append((found + rows.start, squares, counts))
    from_ref, from_pred = (_listed(side, len(pairs.ref_ids), unit) for side in sides)
    return SurfaceDistances(from_ref, from_pred)


def _batches(sizes: Ints) -> Iterator[slice]:
    """Yield rows whose crops are measured at a time: as many as fit, and one at least."""
    start = 0
    while start < len(sizes):
        total = np.cumsum(sizes[start:])
        stop = start + max(1, int(np.searchsorted(total, MOST_VOXELS, side="right")))
        yield slice(start, stop)
        start = stop


def _taken(pairs: ObjectPairs, rows: slice) -> tuple[Ints, Ints, Ints]:
    """Return the labels of some rows: in the reference, and first and all in the prediction."""
    first = pairs.pred_first[rows.start : rows.stop + 1]
    return pairs.ref_ids[rows], first - first[0], pairs.pred_ids[first[0] : first[-1]]


def _listed(parts: list[Measured], n: int, unit: tuple[float, float]) -> CountedDistances:
    """Return the distances of n rows: lengths as the host computes them, from squares."""
    nothing = np.zeros(0, np.int64), np.zeros(0), np.zeros(0, np.int64)
    rows, squares, counts = map(np.concatenate, zip(nothing, *parts, strict=True))
    first = np.searchsorted(rows, np.arange(n + 1))
    roots, (numerator, denominator) = np.sqrt(squares), unit
    lengths = roots if numerator == denominator else roots * numerator / denominator
    return CountedDistances(lengths, first, counts)


@dataclass(frozen=True, slots=True, eq=False)
class _Crops:
    """Boxes around the pairs of some rows, one after the other in one stretch of memory."""

    lengths: Ints  # per row and axis
    sizes: Ints
    weights: list[float]  # per axis
    first: DeviceArray  # first voxel of every crop, and the number of all voxels
    start: DeviceArray  # per row and axis
    length: DeviceArray

    @classmethod
    def of(cls, start: Ints, lengths: Ints, weights: list[float]) -> _Crops:
        sizes = np.prod(lengths, axis=1)
        on_device = _starts(sizes), _unsigned(start), _unsigned(lengths)
        return cls(lengths, sizes, weights, *on_device)

    def mark(self, images: list[DeviceArray], labels: tuple[Ints, Ints, Ints]) -> DeviceArray:
        """Return the boundaries of both sides, a mark per voxel of the crops."""
        cupy = cupy_module()
        marks = cupy.empty(int(self.sizes.sum()), cupy.uint8)
        ref_ids, pred_first, pred_ids = labels
        launch(
            KERNELS, "mark_boundaries", (*(image.dtype.name for image in images), self._axes),
            marks.size, *(image.ravel() for image in images),
            _unsigned(np.array(images[0].shape)), self.first, self.start, self.length, self._count,
            _signed(ref_ids), _unsigned(pred_first), _signed(pred_ids), marks,
        )  # fmt: skip
        return marks

    def distances(self, marks: DeviceArray, of: np.uint8, to: np.uint8) -> Measured:
        """Measure from the boundary with one mark to that with the other."""
        cupy = cupy_module()
        square = self._settled(marks, to)
        voxels = cupy.flatnonzero(marks & of)
        nearest, rows = cupy.empty(voxels.size, "float64"), cupy.empty(voxels.size, "uint32")
        launch(
            KERNELS, "walk_first_axis", (square.dtype.name, self._axes), voxels.size, square,
            voxels, np.uint64(voxels.size), self.first, self.length, self._count,
            np.float64(self.weights[0]), nearest, rows,
        )  # fmt: skip
        return _counted(rows, nearest)

    def _settled(self, marks: DeviceArray, mark: np.uint8) -> DeviceArray:
        """Return squared distances to voxels with a mark, along all axes but the first."""
        cupy = cupy_module()
        longest = self.lengths.max(axis=0).tolist()
        kind, last = kind_of_squares(self.weights, longest), self._axes - 1
        types, square = (kind, self._axes), cupy.empty(marks.size, kind)
        lines, first_line = self._lines(last)
        across = -(-self.lengths[:, last] // WORD)
        words = self.sizes // self.lengths[:, last] * across
        first_word = _starts(words)
        sites = [cupy.empty(int(words.sum()), "uint32") for _ in range(3)]
        table = first_word, self.length, self._count
        mark_sites = KERNELS, "mark_crop_sites", (self._axes,), sites[0].size
        launch(*mark_sites, marks, mark, self.first, *table, sites[0])
        launch(KERNELS, "look_beyond_crops", (self._axes,), lines, first_line, *table, *sites)
        weight = np.float64(self.weights[last])
        settle_rows = KERNELS, "settle_crop_rows", types, marks.size
        launch(*settle_rows, self.first, *table, weight, *sites, square)
        spare = cupy.empty_like(square) if last > 1 else None
        for axis in range(last - 1, 0, -1):
            self._settle_along(axis, longest[axis], square, spare)
            square, spare = spare, square
        return square

    def _settle_along(
        self, axis: int, longest: int, height: DeviceArray, square: DeviceArray
    ) -> None:
        lines, first_line = self._lines(axis)
        types, along = (height.dtype.name, self._axes), np.uint32(axis)
        weight, crops = np.float64(self.weights[axis]), (self.length, self._count, along)
        for stride, points in strides_along(longest):
            find = KERNELS, "find_crop_sites", types, lines * points
            given = self.first, first_line, *crops, weight, np.uint32(stride)
            launch(*find, height, *given, square)
        settle = KERNELS, "settle_crop_lines", types, height.size
        launch(*settle, height, self.first, *crops, weight, square)

    def _lines(self, axis: int) -> tuple[int, DeviceArray]:
        """Return how many lines along an axis there are, and the first of every crop."""
        lines = self.sizes // self.lengths[:, axis]
        return int(lines.sum()), _starts(lines)

    @property
    def _axes(self) -> int:
        return int(self.lengths.shape[1])

    @property
    def _count(self) -> np.uint32:
        return np.uint32(len(self.sizes))


def _counted(rows: DeviceArray, squares: DeviceArray) -> Measured:
    """Return every combination of row and squared distance, sorted, and how often it occurs."""
    cupy = cupy_module()
    distinct, place = cupy.unique(squares, return_inverse=True)
    keys, counts = cupy.unique(rows.astype("int64") * distinct.size + place, return_counts=True)
    here = cupy.asnumpy(keys)
    found = cupy.asnumpy(distinct)[here % distinct.size]
    return here // distinct.size, found, cupy.asnumpy(counts).astype(np.int64)


def _starts(sizes: Ints) -> DeviceArray:
    return _unsigned(np.concatenate([[0], np.cumsum(sizes)]))


def _unsigned(numbers: Ints) -> DeviceArray:
    return cupy_module().asarray(np.ascontiguousarray(numbers.astype(np.uint64)))


def _signed(numbers: Ints) -> DeviceArray:
    return cupy_module().asarray(np.ascontiguousarray(numbers.astype(np.int64)))
