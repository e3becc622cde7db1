"""Label images as read from files, and whether two of them are on the same grid."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import permutations, product
from pathlib import Path
from typing import Literal, TypeVar

import numpy as np
import numpy.typing as npt

from panmatch.errors import Argument, FileError
from panmatch.formats._units import micrometres_per
from panmatch.labels import LabelArray, Unit, Volume, check_same_shape

Floats = npt.NDArray[np.float64]

# Headers store float32 or decimal text. Both move a voxel by less than a thousandth of a step.
SHIFT_TOLERANCE = 1e-2
SPACING_TOLERANCE = 1e-3

# The frame that an affine maps to, and the letters for both ends of its three axes.
Frame = Literal["RAS", "xyz"]
DIRECTIONS: dict[Frame, tuple[tuple[str, str], ...]] = {
    "RAS": (("L", "R"), ("P", "A"), ("I", "S")),
    "xyz": (("-x", "+x"), ("-y", "+y"), ("-z", "+z")),
}


@dataclass(frozen=True, slots=True, eq=False)
class StoredImage:
    """A label array, in memory or in chunks, with what its file says about the grid.

    Attributes
    ----------
    labels
        Integers, with the axes in the order of the file: (x, y, z) for medical formats,
        (z, y, x) for microscopy formats, (y, x) for PNG.
    spacing
        Distance between neighbouring voxels along each axis of `labels`; None if the file does
        not say.
    affine
        Maps a voxel's index, with axes as in `labels`, to `frame`: shape (4, 4). None if the file
        does not say.
    path
        The file; ``Path()`` if there is none.
    unit
        Unit of `spacing` and `affine` (D14): millimetres for medical formats, unless a NIfTI header
        says micrometres; micrometres for TIFF and OME-Zarr files that name a unit of length;
        voxel if nothing is known, or if a spacing has no unit.
    name
        Its name in error messages; by default the path.
    frame
        What the affine maps to: RAS+ world space, or coordinates called x, y and z.
    """

    labels: Volume
    spacing: tuple[float, ...] | None
    affine: Floats | None
    path: Path
    unit: Unit = "voxel"
    name: str = ""
    frame: Frame = "RAS"

    @property
    def called(self) -> str:
        """Its name in error messages."""
        return self.name or f"path={str(self.path)!r}"

    @property
    def orientation(self) -> str | None:
        """The nearest world direction of each axis, as a letter: 'RAS' for +x, +y, +z."""
        if self.affine is None:
            return None
        steps = self.affine[:3, : min(self.labels.ndim, 3)]
        along = (steps / np.linalg.norm(steps, axis=0)).T
        rows = range(len(along))
        world = max(
            permutations(range(3), len(along)),
            key=lambda order: float(np.abs(along[rows, order]).sum()),
        )
        directions = DIRECTIONS[self.frame]
        return "".join(
            directions[axis][int(along[row, axis] > 0)] for row, axis in enumerate(world)
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


Placed = TypeVar("Placed", bound=StoredImage)


def check_same_grid(
    reference: StoredImage, prediction: StoredImage, *, allow_header_mismatch: bool = False
) -> None:
    """Raise an error that shows both grids unless voxels with equal index are in the same place.

    Parameters
    ----------
    reference, prediction
        Two images. Only what both files say is compared. Lengths are compared in a common unit, or
        as plain numbers if a unit is unknown.
    allow_header_mismatch
        Compare only the shapes.

    Raises
    ------
    ShapeError
        If the shapes differ, always.
    FileError
        If the affines place a corner of the volume more than a hundredth of the smallest voxel step
        apart, or if the spacings differ by more than a thousandth. Headers that another program
        rounded to float32 stay well below both limits.

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
            f"reference {reference.called}": reference.labels,
            f"prediction {prediction.called}": prediction.labels,
        }
    )
    if allow_header_mismatch:
        return
    if problem := grid_difference(reference, prediction):
        raise FileError(
            f"{prediction.called} and its reference {reference.called} {problem}\n"
            f"Resample or reorient one of them, or pass ",
            Argument("allow_header_mismatch", True),
            " to compare voxel by voxel as stored.",
        )


def grid_difference(
    reference: StoredImage,
    prediction: StoredImage,
    names: tuple[str, str] = ("reference", "prediction"),
) -> str | None:
    """Return how the grids of two images of the same shape differ; None if they do not."""
    problem = _grid_difference(reference, prediction)
    if problem is None:
        return None
    width = max(map(len, names)) + 1
    grids = zip(names, (reference, prediction), strict=True)
    lines = [f"  {f'{name}:':{width}} {image.describe()}" for name, image in grids]
    return "\n".join([f"{problem}:", *lines])


def turned_like(image: StoredImage, wanted: StoredImage) -> StoredImage:
    """Return an image with its axes in the order and direction of another image's axes.

    No voxel moves in space, so nothing is guessed. `grid_difference` then tells whether voxels with
    equal index are in the same place. Images in chunks, without an affine or rotated by about 45°
    stay as they are.

    Examples
    --------
    >>> steps = np.diag([0.5, 0.5, 2.0, 1.0])
    >>> image = LabelImage(np.zeros((4, 3, 2), np.uint8), (0.5, 0.5, 2.0), steps, Path("a.nii"))
    >>> other = LabelImage(image.labels.T, (2, 0.5, 0.5), steps[:, [2, 1, 0, 3]], Path("b.nii"))
    >>> turned_like(other, image).describe()
    'shape (4, 3, 2), spacing (0.5, 0.5, 2) voxel, orientation RAS, origin (0, 0, 0)'
    """
    n = wanted.labels.ndim
    if (
        image.affine is None
        or wanted.affine is None
        or not isinstance(image.labels, np.ndarray)
        or image.frame != wanted.frame
        or not 1 <= n == image.labels.ndim <= 3
    ):
        return image
    steps = np.linalg.pinv(wanted.affine[:3, :n]) @ image.affine[:3, :n]
    signs = np.rint(steps * unit_scale(image.unit, wanted.unit))
    if not all((np.abs(signs).sum(axis=axis) == 1).all() for axis in (0, 1)):
        return image
    return _turned(image, signs)


def reverse_axes(image: LabelImage) -> LabelImage:
    """Return an image with its axes in reverse order; an affine covers only the first three."""
    n = image.labels.ndim
    if image.affine is not None and n <= 3:
        return _turned(image, np.eye(n)[::-1])
    return replace(
        image, labels=image.labels.T, spacing=image.spacing and image.spacing[::-1], affine=None
    )


def _turned(image: Placed, signs: Floats) -> Placed:
    """Return an image whose axis j became axis i if ``signs[i, j]`` is 1, or −1 if reversed."""
    order = np.abs(signs).argmax(axis=1).tolist()
    falls = [i for i, axis in enumerate(order) if signs[i, axis] < 0]
    assert image.affine is not None
    labels: LabelArray = np.flip(np.transpose(np.asarray(image.labels), order), tuple(falls))
    to_old = np.eye(4)
    to_old[: len(order), : len(order)] = signs.T
    for i in falls:
        to_old[order[i], 3] = labels.shape[i] - 1
    spacing = image.spacing and tuple(image.spacing[axis] for axis in order)
    return replace(image, labels=labels, spacing=spacing, affine=image.affine @ to_old)


def _grid_difference(reference: StoredImage, prediction: StoredImage) -> str | None:
    scale = unit_scale(prediction.unit, reference.unit)
    if reference.spacing is not None and prediction.spacing is not None:
        spacings = np.array([reference.spacing, np.multiply(prediction.spacing, scale)])
        if (np.ptp(spacings, axis=0) > SPACING_TOLERANCE * spacings.min(axis=0)).any():
            return "differ in spacing"
    if (
        reference.affine is not None
        and prediction.affine is not None
        and reference.frame == prediction.frame
    ):
        placed = np.diag([scale, scale, scale, 1.0]) @ prediction.affine
        shift = _largest_shift(reference.affine, placed, reference.labels.shape)
        if shift > SHIFT_TOLERANCE:
            return f"place the same voxel up to {shift:.3g} voxel steps apart"
    return None


def unit_scale(unit: Unit, wanted: Unit) -> float:
    """Return the factor from one unit to another; 1 if one of them is not a length."""
    length, wanted_length = micrometres_per(unit), micrometres_per(wanted)
    return 1.0 if length is None or wanted_length is None else length / wanted_length


def _largest_shift(first: Floats, second: Floats, shape: tuple[int, ...]) -> float:
    """Return the largest distance between two positions of a voxel, in smallest voxel steps.

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
