"""Where the segments of an image on a CUDA device lie, and images painted there."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from panmatch.labels._arrays import Ints, check_axes, memory_axes
from panmatch.labels._device import as_device_labels, device_joint_counts
from panmatch.labels._device_kernels import DeviceArray, cupy_module, launch
from panmatch.labels._geometry import Geometry

KERNELS = "objects.cu"


def device_geometry(given: object) -> Geometry:
    """Find voxels, centres and boxes of all segments, as `segment_geometry` does on the host."""
    cupy = cupy_module()
    labels = as_device_labels(given, "labels")
    check_axes(labels.ndim, "boxes")
    with labels.device:
        ids, voxels = _ids_and_voxels(labels)
        axes = memory_axes(labels)
        turned = cupy.ascontiguousarray(labels.transpose(axes))
        shape = turned.shape
        zeros = np.zeros((len(ids), len(shape)), np.uint64)
        tables = [cupy.asarray(table) for table in (zeros, zeros + np.uint64(2**63), zeros)]
        lines = math.prod(shape[1:]) if len(ids) else 0
        known = cupy.asarray(ids), np.uint32(len(ids))
        on_device = cupy.asarray(np.array(shape, np.uint64))
        types = labels.dtype.name, len(shape)
        launch(KERNELS, "find_boxes", types, lines, turned.ravel(), on_device, *known, *tables)
        back = np.argsort(axes)
        sums, start, stop = (cupy.asnumpy(table).view(np.int64)[:, back] for table in tables)
    return Geometry(ids, voxels, sums, start, stop)


def _ids_and_voxels(labels: DeviceArray) -> tuple[Ints, Ints]:
    keys, counts = device_joint_counts([labels, labels])
    ids, voxels = keys[:, 0].view(np.int64), counts.view(np.int64)
    order = np.argsort(ids)
    order = order[ids[order] != 0]
    return ids[order], voxels[order]


def paint_on_device(
    first: DeviceArray, second: DeviceArray, combinations: Ints, numbers: Ints
) -> DeviceArray:
    """Return an image that gives every voxel the number of its pair of labels; 0 if not listed.

    Combinations have one row per image.
    """
    cupy = cupy_module()
    with first.device:
        axes = memory_axes(first)
        turned = [cupy.ascontiguousarray(image.transpose(axes)) for image in (first, second)]
        order = np.lexsort(combinations[::-1])
        listed: list[npt.NDArray[np.integer]] = [*combinations[:, order], numbers[order]]
        listed[2] = listed[2].astype(np.int32)
        painted = cupy.empty(turned[0].shape, cupy.int32)
        launch(
            KERNELS, "paint_pairs", tuple(image.dtype.name for image in turned), painted.size,
            *(image.ravel() for image in turned), np.uint64(painted.size),
            *(cupy.asarray(np.ascontiguousarray(column)) for column in listed),
            np.uint32(len(order)), painted,
        )  # fmt: skip
        return painted.transpose(tuple(np.argsort(axes).tolist()))
