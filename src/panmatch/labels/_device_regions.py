"""Regions of references that are on a CUDA device, found there (D8)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from panmatch.labels._arrays import Floats, check_same_shape, memory_axes
from panmatch.labels._device import as_device_labels
from panmatch.labels._device_kernels import DeviceArray, cupy_module, launch
from panmatch.labels._spacing import as_spacing
from panmatch.labels._whole_steps import comparison_weights, largest_square

KERNELS = "nearest_labels.cu"
WORD = 32  # voxels of a row whose sites share a word
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


def strides_along(length: int) -> Iterator[tuple[int, int]]:
    """Yield how far apart points of a line are settled, and how many of them at a time.

    The first point comes first; then points halfway between those that are settled.

    Examples
    --------
    >>> list(strides_along(6))
    [(0, 1), (4, 1), (2, 1), (1, 3)]
    """
    yield 0, 1
    stride = 1 << (length - 1).bit_length() >> 1
    while stride:
        yield stride, (length - 1 - stride) // (2 * stride) + 1
        stride >>= 1


def _settled(labels: DeviceArray, weights: Floats) -> DeviceArray:
    """Return the nearest label of every voxel of an image in C order, as an unsigned number."""
    cupy = cupy_module()
    shape = labels.shape
    types = f"uint{max(32, 8 * labels.dtype.itemsize)}", kind_of_squares(weights.tolist(), shape)
    nearest, square = (cupy.empty(labels.size, kind) for kind in types)
    if not labels.size:
        return nearest
    rows, across = labels.size // shape[-1], -(-shape[-1] // WORD)
    words, before, after = (cupy.empty(rows * across, "uint32") for _ in range(3))
    row, of_labels = (np.uint64(rows), np.uint32(shape[-1])), labels.dtype.name
    launch(KERNELS, "mark_sites", (of_labels,), words.size, labels.ravel(), *row, words)
    launch(KERNELS, "look_beyond", (), rows, *row, words, before, after)
    weight, sites = np.float64(weights[-1]), (words, before, after)
    launch(
        KERNELS, "settle_rows", (of_labels, *types), labels.size,
        labels.ravel(), *row, weight, *sites, nearest, square,
    )  # fmt: skip
    spare = [cupy.empty_like(array) for array in (nearest, square)] if len(shape) > 1 else []
    for axis in reversed(range(len(shape) - 1)):
        lines, step = labels.size // shape[axis], math.prod(shape[axis + 1 :])
        line = np.uint32(shape[axis]), np.uint64(step), np.float64(weights[axis])
        for stride, points in strides_along(shape[axis]):
            given = np.uint64(lines), *line, np.uint32(stride)
            launch(KERNELS, "find_sites", types, lines * points, nearest, square, *given, spare[1])
        voxels = np.uint64(labels.size)
        launch(KERNELS, "settle_lines", types, labels.size, nearest, square, voxels, *line, *spare)
        (nearest, square), spare = spare, [nearest, square]
    return nearest
