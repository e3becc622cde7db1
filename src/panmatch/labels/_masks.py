"""Masks that may share voxels: arrays, run-length encodings and polygons, all as runs of voxels."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeGuard

import numpy as np
import numpy.typing as npt

from panmatch import native
from panmatch.errors import LabelError, ShapeError
from panmatch.labels._arrays import Ints, check_is_array

Order = Literal["C", "F"]  # of all voxels; COCO numbers pixels down the columns

FARTHEST = 1e9  # that a corner may be
FEWEST_NUMBERS = 6  # of a polygon: x and y of three corners


@dataclass(frozen=True, slots=True, eq=False)
class Masks:
    """Masks of one image as sorted runs of voxels, which take memory by outline, not by area.

    Attributes
    ----------
    shape
        Of the image.
    first, start, stop
        Mask i has the runs ``first[i]`` to ``first[i + 1]``. A run holds the voxels from ``start``
        up to, but without, ``stop``.
    order
        How voxels are numbered: along the last axis first, or along the first (``"F"``).

    Examples
    --------
    >>> both = read_masks([np.array([1, 1, 0, 1], bool), np.array([0, 1, 1, 0], bool)], "masks")
    >>> both.start, both.stop, both.sizes
    (array([0, 3, 1]), array([2, 4, 3]), array([3, 2]))
    >>> [shared.tolist() for shared in both.shared_with(both)]
    [[0, 0, 1, 1], [0, 1, 0, 1], [3, 1, 1, 2]]
    """

    shape: tuple[int, ...]
    first: Ints
    start: Ints
    stop: Ints
    order: Order = "C"

    def __len__(self) -> int:
        return len(self.first) - 1

    @property
    def sizes(self) -> Ints:
        """Voxels of each mask."""
        return native.run_sizes(*self._runs).astype(np.int64)

    @property
    def row_length(self) -> int:
        """Voxels of the image along the axis that is numbered first."""
        return max(1, self.shape[-1 if self.order == "C" else 0]) if self.shape else 1

    def take(self, which: Ints | npt.NDArray[np.bool_]) -> Masks:
        """Return some of the masks, in the order in which they are listed."""
        chosen = np.arange(len(self))[which]
        counts = np.diff(self.first)[chosen]
        first = np.concatenate([[0], np.cumsum(counts)])
        runs = np.arange(first[-1]) + np.repeat(self.first[:-1][chosen] - first[:-1], counts)
        return Masks(self.shape, first, self.start[runs], self.stop[runs], self.order)

    def union(self) -> Masks:
        """Return one mask with the voxels of all, each voxel once."""
        rising = np.argsort(self.start, kind="stable")
        start, reach = self.start[rising], np.maximum.accumulate(self.stop[rising])
        begins = np.concatenate([[True], start[1:] > reach[:-1]]) if len(start) else start > 0
        ends = np.append(np.flatnonzero(begins)[1:], len(start)) - 1 if len(start) else rising
        first = np.array([0, int(begins.sum())])
        return Masks(self.shape, first, start[begins], reach[ends], self.order)

    def shared_with(self, other: Masks) -> tuple[Ints, Ints, Ints]:
        """Return pairs of masks that share voxels, one of each side, and how many; sorted."""
        if self.shape != other.shape:
            raise ShapeError(
                f"masks of shapes {self.shape} and {other.shape} do not belong to one image."
            )
        rows = np.arange(len(self)), np.arange(len(other))
        groups = np.array([0, len(self)]), np.array([0, len(other)])
        length = np.array([self.row_length])
        everything = np.zeros(0, np.uint8), 0.0
        found = native.shared_pairs(
            *self._runs, *other._runs, *rows, *groups, length, *everything, 1
        )
        first, second, shared = (column.astype(np.int64) for column in found)
        return first, second, shared

    def shared_by_several(self, refs: Masks) -> tuple[Ints, Ints, Ints, Ints]:
        """Return the voxels of every set of two or more masks that lie on each other (D16).

        Row r holds ``voxels[r]`` voxels that are in exactly the masks ``members[first[r]]`` to
        ``members[first[r + 1]]``: all of them where ``ref[r]`` is −1, else those that are also in
        that mask of `refs`.

        Returns
        -------
        ref, first, members, voxels
        """
        found = native.shared_sets(*refs._runs, *self._runs)
        ref, first, members, voxels = (column.astype(np.int64) for column in found)
        return ref, first, members, voxels

    @property
    def _runs(self) -> tuple[Ints, Ints, Ints]:
        return self.first, self.start, self.stop


def read_masks(
    masks: Iterable[Any],
    name: str,
    *,
    size: Sequence[int] | None = None,
    order: Order | None = None,
) -> Masks:
    """Turn masks of one image into runs, one mask at a time.

    Parameters
    ----------
    masks
        Each a boolean array, a run-length encoding of COCO (``{"size": [height, width], "counts":
        …}``, compressed or not), or a list of polygons ``[x0, y0, x1, y1, …]``.
    name
        The argument, for error messages.
    size
        Shape of the image, which polygons need and an empty list should have.
    order
        How to number voxels; by default ``"F"`` if there is an encoding or a polygon, else ``"C"``.
    """
    listed = as_list(masks, name)
    order = order or order_of(listed)
    shape = None if size is None else tuple(int(side) for side in size)
    pieces = [_read(one, f"{name}[{i}]", shape, order) for i, one in enumerate(listed)]
    for i, (found, _, _) in enumerate(pieces):
        shape = found if shape is None else shape
        if found != shape:
            raise ShapeError(
                f"{name}[{i}] has shape {found}, but the image has shape {shape}: all masks must "
                f"cover the whole image."
            )
    counts = [len(start) for _, start, _ in pieces]
    none = np.zeros(0, np.int64)
    return Masks(
        shape or (0,),
        np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]).astype(np.int64),
        np.concatenate([none, *(start for _, start, _ in pieces)]),
        np.concatenate([none, *(stop for _, _, stop in pieces)]),
        order,
    )


def as_list(masks: Iterable[Any], name: str) -> Sequence[Any] | npt.NDArray[Any]:
    """Return masks as something that can be walked twice; a stack of arrays is not copied."""
    if isinstance(masks, Mapping | str | bytes):
        raise LabelError(f"{name} is one {type(masks).__name__}; pass a list of masks.")
    return masks if isinstance(masks, Sequence | np.ndarray) else list(masks)


def order_of(*sides: Iterable[Any]) -> Order:
    """Return how to number the voxels of masks: as in COCO if any comes from there."""
    return "F" if any(is_rle(one) or is_polygons(one) for side in sides for one in side) else "C"


def text_masks(texts: Sequence[bytes | str], shape: tuple[int, int], name: str) -> Masks:
    """Return the masks of compressed run-length encodings of one size, all at once."""
    encoded = [text.encode() if isinstance(text, str) else text for text in texts]
    first = np.concatenate([[0], np.cumsum([len(text) for text in encoded], dtype=np.int64)])
    joined = np.frombuffer(b"".join(encoded), np.uint8)
    return _of_counts(native.text_runs(joined, first.astype(np.int64)), shape, name)


def length_masks(lengths: Sequence[Sequence[int]], shape: tuple[int, int], name: str) -> Masks:
    """Return the masks of plain run lengths, outside and inside in turn."""
    arrays = [np.asarray(one) for one in lengths]
    for i, one in enumerate(arrays):
        if one.ndim != 1 or (one.size and one.dtype.kind not in "iu"):
            raise LabelError(
                f"{_one(name, i, arrays)}: 'counts' must be a text or a list of whole numbers."
            )
    first = np.concatenate([[0], np.cumsum([len(one) for one in arrays], dtype=np.int64)])
    none = np.zeros(0, np.int64)
    joined = np.concatenate([none, *(one.astype(np.int64) for one in arrays)])
    return _of_counts(native.length_runs(joined, first.astype(np.int64)), shape, name)


def polygon_masks(
    masks: Sequence[Sequence[Sequence[float]]], shape: tuple[int, int], name: str
) -> Masks:
    """Return masks of polygons, with the same pixels as in the COCO programs."""
    polygons = [
        corners_of(one, _one(name, i, masks)) for i, mask in enumerate(masks) for one in mask
    ]
    xy_first = np.concatenate([[0], np.cumsum([len(one) for one in polygons], dtype=np.int64)])
    first = np.concatenate([[0], np.cumsum([len(mask) for mask in masks], dtype=np.int64)])
    sides = (np.full(len(masks), side, np.int64) for side in shape)
    xy = np.concatenate([np.zeros(0), *polygons])
    runs = native.polygon_runs(xy, xy_first.astype(np.int64), first.astype(np.int64), *sides)
    return Masks(shape, *runs, order="F")


def _read(
    mask: Any, name: str, shape: tuple[int, ...] | None, order: Order
) -> tuple[tuple[int, ...], Ints, Ints]:
    """Return the shape and the runs of one mask."""
    if is_rle(mask):
        size = _plane(mask["size"], name)
        counts = mask["counts"]
        plain = not isinstance(counts, str | bytes)
        found = (length_masks if plain else text_masks)([counts], size, name)
        return size, found.start, found.stop
    if is_polygons(mask):
        if shape is None:
            raise LabelError(
                f"{name} is a list of polygons, which do not say how large the image is: pass "
                f"size=(height, width)."
            )
        found = polygon_masks([mask], _plane(shape, name), name)
        return found.shape, found.start, found.stop
    return _array_runs(mask, name, order)


def _array_runs(mask: Any, name: str, order: Order) -> tuple[tuple[int, ...], Ints, Ints]:
    check_is_array(mask, name)
    array = np.asarray(mask)
    if array.dtype.kind in "iu" and array.size and 0 <= array.min() <= array.max() <= 1:
        array = array.astype(np.bool_)
    if array.dtype != np.bool_:
        raise LabelError(
            f"{name} has dtype {array.dtype}; a mask must be a boolean array, a run-length "
            f"encoding or a list of polygons. For label images, use count_overlaps."
        )
    flat = np.ravel(array, order)
    edges = np.flatnonzero(flat[1:] != flat[:-1]) + 1
    begins = [0] if flat.size and flat[0] else []
    ends = [flat.size] if flat.size and flat[-1] else []
    edges = np.concatenate([np.array(begins, np.int64), edges, np.array(ends, np.int64)])
    return array.shape, edges[::2].copy(), edges[1::2].copy()


def _of_counts(found: tuple[Ints, Ints, Ints, Ints], shape: tuple[int, int], name: str) -> Masks:
    first, start, stop, totals = found
    for i in np.flatnonzero(totals != math.prod(shape)).tolist():
        what = (
            "has damaged 'counts'"
            if totals[i] < 0
            else f"covers {totals[i]} pixels, but its size {list(shape)} has {math.prod(shape)}"
        )
        raise LabelError(f"{_one(name, i, totals)} {what}: write the run-length encoding again.")
    return Masks(shape, first, start, stop, "F")


def _one(name: str, i: int, masks: Sequence[object] | Ints) -> str:
    """Return what to call one of several masks."""
    return f"{name}[{i}]" if len(masks) > 1 else name


def corners_of(polygon: Sequence[float], name: str) -> npt.NDArray[np.float64]:
    numbers = np.asarray(polygon, np.float64)
    if numbers.ndim != 1 or len(numbers) < FEWEST_NUMBERS or len(numbers) % 2:
        raise LabelError(
            f"{name} has a polygon of {numbers.size} numbers; it must be x and y of at least three "
            f"corners: [x0, y0, x1, y1, x2, y2, …]."
        )
    if not np.isfinite(numbers).all() or np.abs(numbers).max() > FARTHEST:
        raise LabelError(f"{name} has a polygon with a corner that is not a finite position.")
    return numbers


def _plane(size: Sequence[int], name: str) -> tuple[int, int]:
    if len(size) != 2 or min(size) < 0:
        raise LabelError(f"{name}: size={list(size)!r} must be the height and width of the image.")
    return int(size[0]), int(size[1])


def is_rle(mask: object) -> TypeGuard[Mapping[str, Any]]:
    return isinstance(mask, Mapping) and "counts" in mask and "size" in mask


def is_polygons(mask: object) -> TypeGuard[list[list[float]]]:
    if not isinstance(mask, list) or not mask:
        return False
    return all(
        isinstance(one, list | tuple | np.ndarray)
        and len(one) > 0
        and not isinstance(one[0], bool | np.bool_ | list | tuple | np.ndarray)
        for one in mask
    )
