"""Slices of a pair of files, as positions of segments that a page can colour."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
import numpy.typing as npt

from panmatch.errors import OptionError
from panmatch.labels import LabelArray
from panmatch.overlap import Ints
from panmatch.playground.numbers.pair import Pair
from panmatch.playground.plain import Message

LONGEST_SIDE = 1_500  # a longer side is thinned out
LARGEST_TABLE = 1 << 22  # entries of a table from labels to positions


def answer_slice(pair: Pair, axis: int, index: int | None) -> Message:
    """Return one slice of both images.

    Parameters
    ----------
    axis, index
        Which slice of a 3-D pair; None for the one in the middle. An image of two dimensions is
        its own only slice, whatever they are.

    Returns
    -------
    dict
        Pixels are positions of segments + 1, 0 for background; ``reference_ids`` and
        ``prediction_ids`` say which id each of them stands for. ``shape`` is that of the pixels
        sent: every ``step``-th along both axes.
    """
    at = _check_place(pair, axis, index)
    sides = pair.voxels.reference, pair.voxels.prediction
    pixels = [labels if labels.ndim == 2 else np.take(labels, at, axis) for labels in sides]
    step = -(-max(pixels[0].shape) // LONGEST_SIDE)
    ids = pair.overlap.ref_ids, pair.overlap.pred_ids
    dtype = np.dtype("<u2" if max(map(len, ids)) < 1 << 16 else "<u4")
    found = [
        to_positions(image[::step, ::step], known, dtype)
        for image, known in zip(pixels, ids, strict=True)
    ]
    return {
        "axis": axis,
        "index": at,
        "shape": list(found[0].shape),
        "step": step,
        "dtype": dtype.name,
        "aspect": _aspect(pair, axis),
        "reference": _encode(found[0]),
        "prediction": _encode(found[1]),
        "reference_ids": _present(found[0], ids[0]),
        "prediction_ids": _present(found[1], ids[1]),
    }


def to_positions(labels: LabelArray, ids: Ints, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
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
        found: npt.NDArray[Any] = table[labels]
        return found
    known = np.concatenate([[0], ids])
    return np.searchsorted(known, labels.astype(np.int64)).astype(dtype)


def _check_place(pair: Pair, axis: int, index: int | None) -> int:
    if len(pair.shape) == 2:
        return 0
    if not 0 <= axis < 3:
        raise OptionError(f"axis={axis} must be 0, 1 or 2.")
    count = pair.shape[axis]
    at = count // 2 if index is None else index
    if not 0 <= at < count:
        raise OptionError(f"index={at} must be from 0 to {count - 1}: axis {axis} ends there.")
    return at


def _aspect(pair: Pair, axis: int) -> float:
    """Return the height of a pixel over its width."""
    if pair.spacing is None:
        return 1.0
    spacing = list(pair.spacing)
    if len(spacing) == 3:
        del spacing[axis]
    return spacing[0] / spacing[1]


def _encode(pixels: npt.NDArray[Any]) -> str:
    return base64.b64encode(np.ascontiguousarray(pixels).tobytes()).decode("ascii")


def _present(pixels: npt.NDArray[Any], ids: Ints) -> list[list[int]]:
    """Return the pixel value and the id of every segment in a slice."""
    values = np.flatnonzero(np.bincount(pixels.ravel())[1:]) + 1
    rows: list[list[int]] = np.stack([values, ids[values - 1]], 1).tolist()
    return rows
