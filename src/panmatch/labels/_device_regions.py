"""Regions of references that are on a CUDA device, found there (D8)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from panmatch.labels._arrays import Floats, check_same_shape, memory_axes
from panmatch.labels._device import as_device_labels
from panmatch.labels._device_kernels import DeviceArray, cupy_module, launch
from panmatch.labels._spacing import as_spacing
from panmatch.labels._whole_steps import comparison_weights, largest_square

KERNELS = "nearest_labels.cu"
MOST = (1 << 32) - 2  # squared distance that fits into 32 bits; lines are then short of 2¹⁶ points


def device_nearest_labels(
    given: object, spacing: npt.ArrayLike | None, where: object | None
) -> DeviceArray:
    """Give every voxel the label of the nearest segment, as `nearest_labels` does on the host.

    Besides the result, this needs memory for four arrays with one number per voxel: two of labels
    and two of squared distances, each of 32 bits, or of 64 where they need it.
    """
    cupy = cupy_module()
    labels = as_device_labels(given, "labels")
    with labels.device:
        axes = memory_axes(labels)
        turned = labels.transpose(axes)
        shape = turned.shape or (1,)
        steps = as_spacing(spacing, labels.ndim)[list(axes)] if labels.ndim else np.ones(1)
        flat = cupy.ascontiguousarray(turned).reshape(shape)
        found = _settled(flat, comparison_weights(shape, steps))
        back = tuple(np.argsort(axes).tolist())
        nearest = found.astype(labels.dtype).reshape(turned.shape).transpose(back)
        if where is None:
            return nearest
        wanted = as_device_labels(where, "where")
        check_same_shape({"labels": labels, "where": wanted})
        return cupy.where(wanted != 0, nearest, labels.dtype.type(0))


def kind_of_squares(weights: Sequence[float], shape: Sequence[int]) -> str:
    """Return the dtype in which squared distances are stored: uint32 if it holds all of them.

    Examples
    --------
    >>> kind_of_squares([1, 1], (512, 512)), kind_of_squares([1, 550836], (512, 512))
    ('uint32', 'float64')
    """
    whole = all(float(weight).is_integer() for weight in weights)
    fit = whole and largest_square([*map(int, weights)], shape) <= MOST
    return "uint32" if fit else "float64"


def _settled(labels: DeviceArray, weights: Floats) -> DeviceArray:
    """Return the nearest label of every voxel of an image in C order, as an unsigned number."""
    cupy = cupy_module()
    shape = labels.shape
    types = f"uint{max(32, 8 * labels.dtype.itemsize)}", kind_of_squares(weights.tolist(), shape)
    nearest, square = (cupy.empty(labels.size, kind) for kind in types)
    if not labels.size:
        return nearest
    rows = labels.size // shape[-1]
    row = np.uint64(rows), np.uint32(shape[-1]), np.float64(weights[-1])
    kinds = labels.dtype.name, *types
    launch(KERNELS, "settle_rows", kinds, rows, labels.ravel(), *row, nearest, square)
    spare = [cupy.empty_like(array) for array in (nearest, square)] if len(shape) > 1 else []
    for axis in reversed(range(len(shape) - 1)):
        lines, step = labels.size // shape[axis], math.prod(shape[axis + 1 :])
        column = np.uint64(lines), np.uint32(shape[axis]), np.uint64(step)
        numbers = *column, np.float64(weights[axis])
        launch(KERNELS, "settle_columns", types, lines, nearest, square, *numbers, *spare)
        (nearest, square), spare = spare, [nearest, square]
    return nearest
