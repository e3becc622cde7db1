"""Labels as read from a file, and whether two of them lie on the same grid."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import permutations, product
from pathlib import Path

import numpy as np
import numpy.typing as npt

from panmatch.errors import FileError
from panmatch.formats._units import micrometres_per
from panmatch.labels import LabelArray, Unit, Volume, check_same_shape

Floats = npt.NDArray[np.float64]

# Headers store float32, or decimal text: both move a voxel by less than a thousandth of a step.
SHIFT_TOLERANCE = 1e-2
SPACING_TOLERANCE = 1e-3

# World axes of an affine, each from its negative to its positive end.
DIRECTIONS = (("L", "R"), ("P", "A"), ("I", "S"))


@dataclass(frozen=True, slots=True, eq=False)
class StoredImage:
    """A label array, in memory or in its chunks, with what its file says about the grid.

    Attributes
    ----------
    labels
        Integers, with the axes in the order of the file: (x, y, z) for medical formats,
        (z, y, x) for microscopy formats, (y, x) for PNG.
    spacing
        Distance between neighbouring voxels along every axis of `labels`; None where the file
        does not say.
    affine
        From a voxel's index, axes as in `labels`, to RAS+ world space: shape (4, 4). None where
        the file does not say.
    path
        The file.
    unit
        Of `spacing` and `affine` (D14): millimetres for medical formats, unless a NIfTI header
        says micrometres; micrometres for TIFF and OME-Zarr files that name a unit of length;
        voxel where nothing is known, or a spacing is stated without a unit.
    """

    labels: Volume
    spacing: tuple[float, ...] | None
    affine: Floats | None
    path: Path
    unit: Unit = "voxel"

    @property
    def orientation(self) -> str | None:
        """Where each axis points, a letter for the nearest world axis: 'RAS' for +x, +y, +z."""
        if self.affine is None:
            return None
        steps = self.affine[:3, : min(self.labels.ndim, 3)]
        along = (steps / np.linalg.norm(steps, axis=0)).T
        rows = range(len(along))
        world = max(
            permutations(range(3), len(along)),
            key=lambda order: float(np.abs(along[rows, order]).sum()),
        )
        return "".join(
            DIRECTIONS[axis][int(along[row, axis] > 0)] for row, axis in enumerate(world)
        )

    def describe(self) -> str:
        """Return shape, spacing with its unit, orientation and origin in one line."""
        spacing = "unknown" if self.spacing is None else f"{_numbers(self.spacing)} {self.unit}"
        if self.affine is None:
            place = "orientation and origin unknown"
        else:
            place = f"orientation {self.orientation}, origin {_numbers(self.affine[:3, 3])}"
        return f"shape {self.labels.shape}, spacing {spacing}, {place}"


@dataclass(frozen=True, slots=True, eq=False)
class LabelImage(StoredImage):
    """A label array in memory, with what its file says about the grid.

    Examples
    --------
    >>> labels = np.zeros((4, 3, 2), np.uint8)
    >>> affine = np.diag([-0.5, 0.5, 2.0, 1.0])
    >>> image = LabelImage(labels, (0.5, 0.5, 2.0), affine, Path("a.nii"), "mm")
    >>> image.orientation
    'LAS'
    >>> image.describe()
    'shape (4, 3, 2), spacing (0.5, 0.5, 2) mm, orientation LAS, origin (0, 0, 0)'
    """

    labels: LabelArray


def check_same_grid(
    reference: StoredImage, prediction: StoredImage, *, allow_header_mismatch: bool = False
) -> None:
    """Raise an error that prints both grids unless voxels of equal index lie in the same place.

    Parameters
    ----------
    reference, prediction
        Two images. Only what both files say is compared: lengths in a common unit, and by their
        numbers where one unit is unknown.
    allow_header_mismatch
        Compare the shapes only.

    Raises
    ------
    ShapeError
        If the shapes differ, always.
    FileError
        If the affines move some corner of the volume apart by more than a hundredth of the
        smallest voxel step, or if the spacings differ by more than a thousandth. Headers that
        were rounded to float32 on their way through another program stay well below both.

    Examples
    --------
    >>> labels = np.zeros((4, 3, 2), np.uint8)
    >>> fine = LabelImage(labels, (0.5, 0.5, 2.0), None, Path("a.tif"))
    >>> coarse = LabelImage(labels, (1.0, 1.0, 2.0), None, Path("b.tif"))
    >>> check_same_grid(fine, coarse, allow_header_mismatch=True)
    >>> check_same_grid(fine, coarse)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    panmatch.errors.FileError: path='b.tif' and its reference path='a.tif' differ in spacing...
    """
    check_same_shape(
        {
            f"reference path={str(reference.path)!r}": reference.labels,
            f"prediction path={str(prediction.path)!r}": prediction.labels,
        }
    )
    if allow_header_mismatch:
        return
    if problem := _grid_difference(reference, prediction):
        raise FileError(
            f"path={str(prediction.path)!r} and its reference path={str(reference.path)!r} "
            f"{problem}:\n"
            f"  reference:  {reference.describe()}\n"
            f"  prediction: {prediction.describe()}\n"
            f"Resample or reorient one of them, or pass --allow-header-mismatch "
            f"(allow_header_mismatch=True) to compare voxel by voxel as they are stored."
        )


def _grid_difference(reference: StoredImage, prediction: StoredImage) -> str | None:
    scale = _scale(prediction.unit, reference.unit)
    if reference.spacing is not None and prediction.spacing is not None:
        spacings = np.array([reference.spacing, np.multiply(prediction.spacing, scale)])
        if (np.ptp(spacings, axis=0) > SPACING_TOLERANCE * spacings.min(axis=0)).any():
            return "differ in spacing"
    if reference.affine is not None and prediction.affine is not None:
        placed = np.diag([scale, scale, scale, 1.0]) @ prediction.affine
        shift = _largest_shift(reference.affine, placed, reference.labels.shape)
        if shift > SHIFT_TOLERANCE:
            return f"place the same voxel up to {shift:.3g} voxel steps apart"
    return None


def _scale(unit: Unit, wanted: Unit) -> float:
    """Return the factor from one unit to another; 1 where one of them is not a length."""
    length, wanted_length = micrometres_per(unit), micrometres_per(wanted)
    return 1.0 if length is None or wanted_length is None else length / wanted_length


def _largest_shift(first: Floats, second: Floats, shape: tuple[int, ...]) -> float:
    """Return the longest distance between the places of one voxel, in smallest voxel steps.

    The difference is an affine function of the index, so it is largest in a corner of the volume.
    """
    extents = shape[:3]
    corners = np.array(list(product(*((-0.5, n - 0.5) for n in extents))))
    difference = (second - first)[:3]
    shifts = corners @ difference[:, : len(extents)].T + difference[:, 3]
    steps = np.linalg.norm(np.stack([first, second])[:, :3, : len(extents)], axis=1)
    return float(np.linalg.norm(shifts, axis=1).max() / steps.min())


def _numbers(values: Iterable[float]) -> str:
    return f"({', '.join(f'{value:.6g}' for value in values)})"
