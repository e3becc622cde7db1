"""Slices of a pair of files as messages: as much of them as a screen can show."""

from __future__ import annotations

import base64
import zlib
from typing import Any

import numpy as np
import numpy.typing as npt

from panmatch.errors import OptionError
from panmatch.labels import LabelArray
from panmatch.overlap import Ints
from panmatch.playground._file_pair import FilePair
from panmatch.playground._validation import Message, Whole

Pixels = npt.NDArray[np.unsignedinteger]
Window = tuple[Whole, Whole, Whole, Whole]  # top, left, bottom, right

LONGEST_SIDE = 2_000  # pixels of a tile; a longer side is thinned out
LARGEST_TABLE = 1 << 22  # entries of a table from labels to positions
QUICKEST = 1  # level of compression


def answer_slice(
    pair: FilePair,
    axis: int,
    index: int | None,
    window: Window | None = None,
    pixels: int = LONGEST_SIDE,
) -> Message:
    """Return one slice of both images, or a tile of it.

    Values are positions of segments + 1, 0 for background; ``reference_ids`` and
    ``prediction_ids`` say which id each of them stands for. They are compressed with zlib, and
    ``image`` is the grey image below, or None.

    Parameters
    ----------
    pair
        The files.
    axis, index
        Which slice; None for the one in the middle. A 2-D image is a single slice.
    window
        Top, left, bottom and right of the tile, in pixels of the slice as it is shown; None for
        all of it. It is cut to what there is, and widened to whole blocks.
    pixels
        Longest side of what is sent. Where the tile is larger, blocks of ``step`` × ``step``
        pixels are sent as one, with the largest label in it, so no small object disappears.
    """
    position = _check_place(pair, axis, index)
    plane = pair.planes[0 if len(pair.shape) == 2 else axis]
    sides = pair.images.reference, pair.images.prediction
    slices = [plane.cut(labels, position) for labels in sides]
    (height, width) = slices[0].shape
    step, (top, left, bottom, right) = _fit(
        window or (0, 0, height, width), (height, width), pixels
    )
    ids = pair.overlap.ref_ids, pair.overlap.pred_ids
    dtype = np.dtype("<u2" if max(map(len, ids)) < 1 << 16 else "<u4")
    reference, prediction = (
        to_positions(largest_in_blocks(image[top:bottom, left:right], step), known, dtype)
        for image, known in zip(slices, ids, strict=True)
    )
    grey = None if pair.image is None else plane.cut(pair.image, position)[top:bottom, left:right]
    return {
        "axis": axis,
        "index": position,
        "window": [top, left, bottom, right],
        "shape": list(reference.shape),
        "step": step,
        "dtype": dtype.name,
        "reference": _compressed(reference),
        "prediction": _compressed(prediction),
        "reference_ids": _present(reference, ids[0]),
        "prediction_ids": _present(prediction, ids[1]),
        "image": None if grey is None else _base64(mean_of_blocks(grey, step).tobytes()),
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


def largest_in_blocks(labels: npt.NDArray[Any], step: int) -> npt.NDArray[Any]:
    """Return the largest value of every block; those at the end may be smaller.

    Examples
    --------
    >>> largest_in_blocks(np.array([[1, 0, 0], [0, 2, 0], [0, 0, 3]]), 2)
    array([[2, 0],
           [0, 3]])
    """
    tall = _over_blocks(np.maximum, labels, step)
    return _over_blocks(np.maximum, tall.T, step).T


def mean_of_blocks(grey: npt.NDArray[Any], step: int) -> npt.NDArray[np.uint8]:
    """Return the mean grey level of every block, rounded down.

    Examples
    --------
    >>> mean_of_blocks(np.array([[10, 20, 7], [30, 41, 9]], np.uint8), 2)
    array([[25,  8]], dtype=uint8)
    """
    if step == 1:
        return np.ascontiguousarray(grey, np.uint8)
    sums = _over_blocks(np.add, _over_blocks(np.add, grey, step).T, step).T
    sizes = (np.minimum(step, n - np.arange(0, n, step)) for n in grey.shape)
    means: npt.NDArray[np.uint8] = (sums // np.multiply.outer(*sizes)).astype(np.uint8)
    return np.ascontiguousarray(means)


def _over_blocks(combine: np.ufunc, values: npt.NDArray[Any], step: int) -> npt.NDArray[Any]:
    """Return rows combined in blocks of `step`, which is far quicker than ``reduceat``."""
    if step == 1:
        return values
    blocks = values[::step].astype(np.uint32 if combine is np.add else values.dtype)
    for at in range(1, step):
        others = values[at::step]
        combine(blocks[: len(others)], others, out=blocks[: len(others)])
    return blocks


def _fit(window: Window | None, shape: tuple[int, ...], pixels: int) -> tuple[int, Window]:
    """Return the side of a block, and the window in whole blocks that are in the image.

    Examples
    --------
    >>> _fit((-5, 3, 40, 61), (100, 50), 20)
    (3, (0, 3, 42, 50))
    """
    height, width = shape
    top, left, bottom, right = window = window or (0, 0, height, width)
    if not (top < bottom and left < right and bottom > 0 < right and top < height and left < width):
        raise OptionError(
            f"window={list(window)} must be top, left, bottom, right of a part of the slice, which "
            f"has {height} × {width} pixels."
        )
    if not 1 <= pixels <= LONGEST_SIDE:
        raise OptionError(f"pixels={pixels} must be from 1 to {LONGEST_SIDE}.")
    top, left, bottom, right = max(top, 0), max(left, 0), min(bottom, height), min(right, width)
    step = -(-max(bottom - top, right - left) // pixels)
    return step, (
        top // step * step,
        left // step * step,
        min(-(-bottom // step) * step, height),
        min(-(-right // step) * step, width),
    )


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


def _compressed(pixels: Pixels) -> str:
    return _base64(zlib.compress(np.ascontiguousarray(pixels).tobytes(), QUICKEST))


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")


def _present(pixels: Pixels, ids: Ints) -> list[list[int]]:
    """Return the pixel value and the id of every segment in a slice."""
    values = np.flatnonzero(np.bincount(pixels.ravel())[1:]) + 1
    rows: list[list[int]] = np.stack([values, ids[values - 1]], 1).tolist()
    return rows
