"""Count label images that are on a CUDA device there, and copy only the counts to the host."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from panmatch.errors import LabelError, OptionError
from panmatch.labels._arrays import is_on_device
from panmatch.labels._device_kernels import (
    DeviceArray,
    compiled,
    cupy_module,
    full_name,
)

Counts = tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]

THREADS = 512  # of a block
BLOCKS_PER_PROCESSOR = 4
FIRST_SLOTS = 1 << 20
NO_SLOT = np.uint64(2**64 - 1)  # key of an empty slot, and of two labels −1
TOO_WIDE, FULL = 1, 2  # flags of the kernels: a label beyond 32 bits; too few slots


def as_device_labels(array: object, name: str) -> DeviceArray:
    """Return an array of the device as CuPy's, without a copy; only integers are labels.

    Raises
    ------
    LabelError, OptionError
        If it does not hold integers; if CuPy is missing; if it is on the host while others are not.
    """
    cupy = cupy_module()
    if not is_on_device(array):
        raise OptionError(
            f"{name} is in host memory, but other images are on a CUDA device: move all of them "
            f"to the same place, for instance with cupy.asarray(…) or tensor.cuda()."
        )
    # The DLPack protocol also waits for pending work on the array.
    labels = cupy.from_dlpack(array) if hasattr(array, "__dlpack__") else cupy.asarray(array)
    if labels.dtype.kind not in "iub":
        raise LabelError(
            f"{name} holds {labels.dtype} on a CUDA device; labels must be integers or booleans. "
            f"If they are whole numbers, convert them with astype or to(torch.int32)."
        )
    return labels


def device_joint_counts(arrays: list[DeviceArray]) -> Counts:
    """Count every combination of labels on the device, as `native.joint_counts` does on the host.

    Return one row of labels per combination, as two's complement, and how many voxels carry it.
    """
    with arrays[0].device:
        flat = _in_one_order(arrays)
        try:
            return _count(flat)
        except _TooWideError:
            narrow, lookups = zip(*map(_numbered, flat), strict=True)
            keys, counts = _count(list(narrow))
    columns = [lookup[column] for lookup, column in zip(lookups, keys.T, strict=True)]
    return np.stack(columns, axis=1), counts


class _TooWideError(Exception):
    """Some label does not fit into 32 bits."""


def device_components(array: object, reach: int | None, name: str) -> DeviceArray:
    """Find components on the device, with the numbers that `connected_components` gives.

    Neighbours may differ along `reach` axes; None for all. CuPy joins components at their smallest
    index in C order, whatever the memory order, and numbers them by it.
    """
    cupy = cupy_module()
    from cupyx.scipy import ndimage

    mask = device_mask(array, name)
    if not mask.size:
        return cupy.zeros(mask.shape, cupy.int32)
    neighbours = ndimage.generate_binary_structure(mask.ndim, reach or mask.ndim)
    return ndimage.label(mask, neighbours)[0]


def device_mask(array: object, name: str) -> DeviceArray:
    """Return where an array of the device is not background; a negative value is an error."""
    labels = as_device_labels(array, name)
    if labels.dtype.kind == "i" and labels.size and int(labels.min()) < 0:
        raise LabelError(
            f"{name} holds the negative label {int(labels.min())}: labels are 0 (background) or "
            f"positive ids. Set such voxels to 0 first."
        )
    return labels != 0


def clear_on_device(
    reference: DeviceArray,
    prediction: DeviceArray,
    mask: DeviceArray | None,
    labels: tuple[int, ...],
) -> tuple[DeviceArray, DeviceArray]:
    """Return both images with void set to background: where a mask or a label of it says so."""
    unknown = [] if mask is None else [mask != 0]
    unknown += [reference == label for label in labels if _can_hold(reference.dtype, label)]
    for where in unknown:
        reference, prediction = _without(reference, where), _without(prediction, where)
    return reference, prediction


def _can_hold(dtype: np.dtype[Any], label: int) -> bool:
    """Return whether a dtype holds a label: others cannot even be compared on a device."""
    if dtype.kind == "b":
        return label in (0, 1)
    limits = np.iinfo(dtype)
    return int(limits.min) <= label <= int(limits.max)


def _without(image: DeviceArray, where: DeviceArray) -> DeviceArray:
    return cupy_module().where(where, image.dtype.type(0), image)


def _in_one_order(arrays: list[DeviceArray]) -> list[DeviceArray]:
    """Return all arrays flat, voxel for voxel; a copy on the device only if their orders differ."""
    cupy = cupy_module()
    if all(array.flags.f_contiguous for array in arrays):
        return [array.ravel(order="F") for array in arrays]
    return [cupy.ascontiguousarray(array).ravel() for array in arrays]


def _numbered(array: DeviceArray) -> tuple[DeviceArray, npt.NDArray[np.uint64]]:
    """Return the position of every label among the distinct labels, and the distinct labels."""
    cupy = cupy_module()
    distinct, places = cupy.unique(array, return_inverse=True)
    labels = cupy.asnumpy(distinct).astype(np.int64 if array.dtype.kind == "i" else np.uint64)
    return places.astype(cupy.uint32), labels.view(np.uint64)


def _count(flat: list[DeviceArray]) -> Counts:
    """Count two arrays; with more, the first two become one array of the slots of their pairs."""
    tables = []
    while len(flat) > 2:
        table = _PairTable.count(flat[0], flat[1])
        tables.append(table)
        flat = [table.write_slots(flat[0], flat[1]), *flat[2:]]
    labels, counts = _PairTable.count(flat[0], flat[1]).rows()
    columns = list(labels.T)
    for table in reversed(tables):
        columns[:1] = list(table.labels(columns[0]).T)
    return np.stack(columns, axis=1), counts


@dataclass(frozen=True, slots=True, eq=False)
class _PairTable:
    """A hash table of label pairs in the memory of the device."""

    keys: DeviceArray  # two labels of 32 bits each
    counts: DeviceArray  # voxels of every slot
    notes: DeviceArray  # slots taken, voxels with both labels −1, which no slot has, and flags
    signed: tuple[bool, bool]  # whether the labels of each of the two arrays are

    @classmethod
    def count(cls, first: DeviceArray, second: DeviceArray) -> _PairTable:
        """Count all pairs; a table that proves too small is made larger."""
        slots = FIRST_SLOTS
        while True:
            table = cls._empty(slots, first, second)
            table._launch("count_pairs", first, second)
            flags = int(table.notes[2])
            if flags & TOO_WIDE:
                raise _TooWideError
            if not flags & FULL:
                return table
            slots *= 16

    @classmethod
    def _empty(cls, slots: int, first: DeviceArray, second: DeviceArray) -> _PairTable:
        cupy = cupy_module()
        return cls(
            cupy.full(slots, NO_SLOT, cupy.uint64),
            cupy.zeros(slots, cupy.uint64),
            cupy.zeros(3, cupy.uint64),
            (first.dtype.kind == "i", second.dtype.kind == "i"),
        )

    def write_slots(self, first: DeviceArray, second: DeviceArray) -> DeviceArray:
        """Return the slot of the pair of every voxel; the number of slots where both are −1."""
        cupy = cupy_module()
        slots = cupy.empty(first.size, cupy.uint32)
        self._launch("write_slots", first, second, slots)
        return slots

    def labels(self, slots: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
        """Return the two labels of some slots, or of the pair that no slot has."""
        cupy = cupy_module()
        keys = np.full(len(slots), NO_SLOT)
        taken = np.flatnonzero(slots < self.keys.size)
        there = cupy.asarray(slots[taken].astype(np.int64))
        keys[taken] = cupy.asnumpy(self.keys[there])
        return self._split(keys)

    def rows(self) -> Counts:
        """Return the labels of all pairs that occur, and their counts."""
        cupy = cupy_module()
        taken = cupy.flatnonzero(self.counts)
        keys = np.append(cupy.asnumpy(self.keys[taken]), NO_SLOT)
        counts = np.append(cupy.asnumpy(self.counts[taken]), np.uint64(int(self.notes[1])))
        present = counts > 0
        return self._split(keys[present]), counts[present]

    def _split(self, keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
        halves = (keys >> np.uint64(32)).astype(np.uint32), keys.astype(np.uint32)
        columns = [
            half.view(np.int32).astype(np.int64).view(np.uint64) if signed else half
            for half, signed in zip(halves, self.signed, strict=True)
        ]
        return np.stack(columns, axis=1).astype(np.uint64)

    def _launch(
        self, kernel: str, first: DeviceArray, second: DeviceArray, *more: DeviceArray
    ) -> None:
        if not first.size:
            return
        cupy = cupy_module()
        name = full_name(kernel, (first.dtype.name, second.dtype.name))
        run = compiled("pair_counts.cu", name)
        processors = first.device.attributes["MultiProcessorCount"]
        blocks = min(processors * BLOCKS_PER_PROCESSOR, -(-first.size // THREADS))
        table = self.keys, self.counts, np.uint32(self.keys.size), self.notes
        arrays = [_aligned(array) for array in (first, second)]
        run((blocks,), (THREADS,), (*arrays, cupy.uint64(first.size), *table, *more))


def _aligned(array: DeviceArray) -> DeviceArray:
    """Return the array where the device can load 16 bytes at once: a view may begin anywhere."""
    return array if array.data.ptr % 16 == 0 else array.copy()
