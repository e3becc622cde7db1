"""Resampling a label image to the grid of another, by nearest label and both affines."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from panmatch.errors import FileError
from panmatch.formats._images import (
    SHIFT_TOLERANCE,
    Floats,
    StoredImage,
    grid_difference,
    unit_scale,
)
from panmatch.labels import Ints, LabelArray

# Headers round an affine to float32, which moves an index by less than this. So a point halfway
# between two voxels goes to the higher one on every machine, whatever the header's last digit.
INDEX_DIGITS = 3


@dataclass(frozen=True, slots=True, eq=False)
class Resampled:
    """An image on another grid, and the share of that grid that it covers."""

    image: StoredImage
    covered: float


def is_on_grid_of(image: StoredImage, wanted: StoredImage) -> bool:
    """Return whether two images have the same shape and the same position of every voxel."""
    return image.labels.shape == wanted.labels.shape and grid_difference(wanted, image) is None


def can_resample(image: StoredImage, wanted: StoredImage) -> bool:
    """Return whether both files give the position of every voxel, in the same coordinates."""
    return _obstacle(image, wanted) == ""


def resample_like(image: StoredImage, wanted: StoredImage) -> Resampled:
    """Return an image on the grid of another one.

    Each voxel gets the label of the voxel of `image` that contains its centre, or 0 outside of
    `image`. Labels are never mixed. A centre on the border of two voxels goes to the one with the
    higher index.

    Raises
    ------
    FileError
        If one of the files does not say where its voxels are, or if the images do not overlap in
        space.

    Examples
    --------
    >>> from pathlib import Path
    >>> coarse = StoredImage(np.array([[1, 2]]), (2.0, 2.0), np.diag([2.0, 2, 1, 1]), Path("a.nii"))
    >>> fine = StoredImage(np.zeros((1, 4), int), (1.0, 1.0), np.eye(4), Path("b.nii"))
    >>> found = resample_like(coarse, fine)
    >>> found.image.labels, found.covered
    (array([[1, 2, 2, 0]]), 0.75)
    """
    if obstacle := _obstacle(image, wanted):
        raise FileError(
            f"{image.called} cannot be resampled to the grid of {wanted.called}: {obstacle}. "
            f"Resample it with the program that created it."
        )
    matrix, offset = _to_index_of(image, wanted)
    labels, n_inside = _nearest(np.asarray(image.labels), matrix, offset, wanted.labels.shape)
    if n_inside == 0:
        raise FileError(
            f"{image.called} and {wanted.called} do not overlap in space: one of their headers "
            f"must be wrong.\n  {image.describe()}\n  {wanted.describe()}"
        )
    placed = replace(wanted, labels=labels, path=image.path, name=image.name)
    return Resampled(placed, n_inside / labels.size)


def _obstacle(image: StoredImage, wanted: StoredImage) -> str:
    for one in (image, wanted):
        if one.affine is None:
            return f"{one.called} does not say where its voxels are (it has no affine)"
        if not isinstance(one.labels, np.ndarray) or not 1 <= one.labels.ndim <= 3:
            return f"{one.called} is not an image in memory with up to 3 axes"
    if image.frame != wanted.frame or image.labels.ndim != wanted.labels.ndim:
        return "their axes have different meanings"
    return ""


def _to_index_of(image: StoredImage, wanted: StoredImage) -> tuple[Floats, Floats]:
    """Return the affine function from an index of `wanted` to that of `image` at the same point."""
    assert image.affine is not None
    assert wanted.affine is not None
    n = wanted.labels.ndim
    scale = unit_scale(image.unit, wanted.unit)
    steps, origin = image.affine[:3, :n] * scale, image.affine[:3, 3] * scale
    inverse = np.linalg.pinv(steps)
    matrix = inverse @ wanted.affine[:3, :n]
    offset = inverse @ (wanted.affine[:3, 3] - origin)
    corners = np.array(list(product(*((0, length - 1) for length in wanted.labels.shape))))
    there = (corners @ matrix.T + offset) @ steps.T + origin
    apart = there - (corners @ wanted.affine[:3, :n].T + wanted.affine[:3, 3])
    shortest = np.linalg.norm(steps, axis=0).min()
    if np.linalg.norm(apart, axis=1).max() > SHIFT_TOLERANCE * shortest:
        raise FileError(
            f"{image.called} and {wanted.called} are in different planes, so neither can be "
            f"resampled to the other."
        )
    return matrix, offset


def _nearest(
    labels: LabelArray, matrix: Floats, offset: Floats, shape: tuple[int, ...]
) -> tuple[LabelArray, int]:
    """Return the label at each index of a grid, and how many indices are inside the image."""
    along = _axis_by_axis(matrix, shape)
    if along is not None:
        return _nearest_by_axis(labels, matrix, offset, shape, along)
    found, n_inside = np.zeros(shape, labels.dtype), 0
    within = np.indices(shape[1:], np.float64)
    slab = np.tensordot(matrix[:, 1:], within, axes=1) + offset.reshape(-1, *[1] * len(shape[1:]))
    for first in range(shape[0]):
        at = _rounded(slab + (matrix[:, 0] * first).reshape(-1, *[1] * len(shape[1:])))
        inside = np.logical_and.reduce(
            [(row >= 0) & (row < n) for row, n in zip(at, labels.shape, strict=True)]
        )
        found[first][inside] = labels[tuple(row[inside] for row in at)]
        n_inside += int(np.count_nonzero(inside))
    return found, n_inside


def _axis_by_axis(matrix: Floats, shape: tuple[int, ...]) -> list[int] | None:
    """Return the axis of the grid that each axis of the image follows; None if it is oblique."""
    moved = np.abs(matrix) * shape > 0.1 * 10.0**-INDEX_DIGITS
    by_row = moved.sum(axis=1)
    if (by_row > 1).any() or (moved.sum(axis=0) > 1).any():
        return None
    return [int(axis) for axis in np.abs(matrix).argmax(axis=1)]


def _nearest_by_axis(
    labels: LabelArray,
    matrix: Floats,
    offset: Floats,
    shape: tuple[int, ...],
    along: list[int],
) -> tuple[LabelArray, int]:
    turned = np.transpose(labels, np.argsort(along))  # its axes in the order of the grid
    found = np.zeros(shape, labels.dtype)
    inside, taken = [], []
    for axis, length in enumerate(shape):
        own = along.index(axis)
        at = _rounded(matrix[own, axis] * np.arange(length) + offset[own])
        there = np.flatnonzero((at >= 0) & (at < turned.shape[axis]))
        inside.append(there)
        taken.append(at[there])
    found[np.ix_(*inside)] = turned[np.ix_(*taken)]
    return found, int(np.prod([len(there) for there in inside]))


def _rounded(index: Floats) -> Ints:
    nearest: Ints = np.floor(np.round(index, INDEX_DIGITS) + 0.5).astype(np.int64)
    return nearest
