"""Which part of an image to show: which way up, which slice, and how much of it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from panmatch.errors import OptionError
from panmatch.labels import LabelArray, as_labels, check_same_shape, mask_of
from panmatch.overlap import Floats, Ints

Mask = npt.NDArray[np.bool_]
Values = TypeVar("Values", bound=np.generic)

ALIKE = 1.01  # spacings that differ by less are the same
MARGIN = 0.08  # around the objects, as a share of what they span
LEAST_MARGIN = 2  # voxels
NARROWEST = 0.7  # shorter side of what is shown, as a share of the longer one
SMALLEST = 0.3  # of what is shown, as a share of the longer side of a slice

# Pictures run from head to feet, from front to back, and from the patient's right to the left: any
# two of these axes, in this order, are the rows and columns of a slice as radiologists see it.
UPRIGHT = ("SI", "AP", "RL")
PLANES = ("axial", "coronal", "sagittal")  # slices across each of them


@dataclass(frozen=True, slots=True)
class Turn:
    """How the axes of a stored image are brought into the order and direction of a picture.

    Attributes
    ----------
    order
        The stored axis behind every axis of the picture.
    reversed_axes
        Axes of the picture that run against the stored ones.
    planes
        What a slice across an axis of the picture is called; empty if that is not known.

    Examples
    --------
    >>> turn = Turn.upright("LAS", 3)
    >>> turn.order, turn.reversed_axes, turn.planes
    ((2, 1, 0), (0, 1), ('axial', 'coronal', 'sagittal'))
    """

    order: tuple[int, ...]
    reversed_axes: tuple[int, ...] = ()
    planes: tuple[str, ...] = ()

    @classmethod
    def upright(cls, orientation: str | None, ndim: int) -> Turn:
        """Return how to turn an image whose axes point to these letters (`StoredImage`).

        Images without an orientation stay as they are stored. Axes beyond the third come last.
        """
        letters = orientation or ""
        if not letters or set(letters) - set("".join(UPRIGHT)):
            return cls(tuple(range(ndim)), (), ("",) * ndim)
        placed = [
            (world, axis)
            for world, ends in enumerate(UPRIGHT)
            for axis, letter in enumerate(letters)
            if letter in ends
        ]
        others = tuple(range(len(letters), ndim))
        return cls(
            tuple(axis for _, axis in placed) + others,
            tuple(
                at for at, (world, axis) in enumerate(placed) if letters[axis] == UPRIGHT[world][0]
            ),
            tuple(PLANES[world] for world, _ in placed) + ("",) * len(others),
        )

    def turned(self, image: npt.NDArray[Values]) -> npt.NDArray[Values]:
        """Return a view of an image with the axes of the picture."""
        return np.flip(np.transpose(image, self.order), self.reversed_axes)

    def slice_text(self, view: View, shape: tuple[int, ...]) -> str:
        """Return which slice of the stored image is shown; nothing for images with two axes.

        Slices are counted from 0 along the stored axis, as in tables, arrays and the playground.

        Parameters
        ----------
        shape
            Of the picture, before a slice was chosen.

        Examples
        --------
        >>> view = View((4, slice(None), slice(None)), (1.0, 1.0))
        >>> Turn.upright("LAS", 3).slice_text(view, (10, 20, 30))
        'slice 5 of 9, axial'
        """
        told = []
        for axis, place in enumerate(view.index):
            if isinstance(place, int):
                last = shape[axis] - 1
                stored = last - place if axis in self.reversed_axes else place
                named = self.planes[axis] or f"axis {self.order[axis]}"
                told.append(f"slice {stored} of {last}, {named}")
        return "; ".join(told)


@dataclass(frozen=True, slots=True)
class View:
    """A rectangle of an image with two or more axes: ``image[index]``."""

    index: tuple[int | slice, ...]
    spacing: tuple[float, float]  # between its rows, and between its columns

    @property
    def slice_text(self) -> str:
        """Which slice it is; nothing for images with two axes."""
        cut = [(axis, place) for axis, place in enumerate(self.index) if isinstance(place, int)]
        return ", ".join(f"slice {place} of axis {axis}" for axis, place in cut)

    def widened(self, shape: tuple[int, ...]) -> View:
        """Show more around a part that is narrow, or small compared with its slice.

        Parameters
        ----------
        shape
            Of the image.
        """
        places = [place for place in self.index if isinstance(place, slice)]
        whole = [n for n, place in zip(shape, self.index, strict=True) if isinstance(place, slice)]
        spans = [place.indices(n) for place, n in zip(places, whole, strict=True)]
        lengths = [
            (stop - start) * step
            for (start, stop, _), step in zip(spans, self.spacing, strict=True)
        ]
        slice_lengths = [n * step for n, step in zip(whole, self.spacing, strict=True)]
        least = max(NARROWEST * max(lengths), SMALLEST * max(slice_lengths))
        wider = iter(
            _at_least(start, stop, math.ceil(least / step), n)
            for (start, stop, _), step, n in zip(spans, self.spacing, whole, strict=True)
        )
        index = tuple(place if isinstance(place, int) else next(wider) for place in self.index)
        return replace(self, index=index)

    def cropped(self, reference: LabelArray, prediction: LabelArray) -> View:
        """Leave out what is far from all objects of the two images."""
        here = np.logical_or(reference[self.index], prediction[self.index])
        if not here.any():
            return self
        box = iter(_box_with_margin(here))
        index = tuple(place if isinstance(place, int) else next(box) for place in self.index)
        return replace(self, index=index)


def disagreement(
    reference: LabelArray, prediction: LabelArray, missed: Iterable[int], false: Iterable[int]
) -> Mask:
    """Return the voxels of one side only, and all voxels of missed objects and false positives.

    Examples
    --------
    >>> disagreement(np.array([1, 1, 2, 0]), np.array([0, 5, 6, 6]), [2], []).tolist()
    [True, False, True, True]
    """
    wrong: Mask = (reference != 0) != (prediction != 0)
    for image, ids in ((reference, list(missed)), (prediction, list(false))):
        if ids:
            wrong |= mask_of(image, ids)
    return wrong


def find_view(reference: LabelArray, prediction: LabelArray, wrong: Mask, spacing: Floats) -> View:
    """Choose a slice until two axes are left; `wrong` is where the images disagree.

    The cut is across the axis with the coarsest spacing. If no axis is coarser than all others, it
    is across the axis with the slice that has the largest area of `wrong`. The first slice wins a
    tie. If nothing is wrong, the slice with the largest area of objects is shown, and if there is
    no object, the one in the middle.

    Examples
    --------
    >>> image = np.zeros((3, 4, 4), np.int64)
    >>> image[1, 2, 1:3] = 1
    >>> find_view(image, 0 * image, image > 0, np.array([5.0, 1, 1])).index
    (1, slice(None, None, None), slice(None, None, None))
    """
    index: list[int | slice] = [slice(None)] * reference.ndim
    axes = list(range(reference.ndim))
    left: Mask = wrong if wrong.any() else np.logical_or(reference, prediction)
    while len(axes) > 2:
        axis, position = _worst_slice(left, spacing[axes])
        index[axes.pop(axis)] = position
        left = left[(slice(None),) * axis + (position,)]
    rows, columns = (float(spacing[axis]) for axis in axes)
    return View(tuple(index), (rows, columns))


def slice_view(slice_: tuple[int, int], shape: tuple[int, ...], spacing: Floats) -> View:
    """Return one slice of a volume, by its axis and position."""
    axis, position = slice_
    if len(shape) != 3 or axis not in range(3) or position not in range(shape[axis]):
        raise OptionError(
            f"slice_={slice_!r} is not a slice of an image with shape {shape}: pass (axis, "
            f"position) for an image with three axes."
        )
    index: list[int | slice] = [slice(None)] * 3
    index[axis] = int(position)
    rows, columns = (float(spacing[other]) for other in range(3) if other != axis)
    return View(tuple(index), (rows, columns))


def as_pair(reference: npt.ArrayLike, prediction: npt.ArrayLike) -> tuple[LabelArray, LabelArray]:
    """Return two label images of the same shape that can be shown, or raise."""
    ref, pred = as_labels(reference, "reference"), as_labels(prediction, "prediction")
    check_same_shape({"reference": ref, "prediction": pred})
    check_axes(ref.ndim)
    return ref, pred


def check_axes(ndim: int) -> None:
    """Raise an `OptionError` unless an image has two axes or more."""
    if ndim < 2:
        raise OptionError(
            f"reference has {ndim} axes, but a picture needs two or more: for a line of voxels "
            f"pass reference[numpy.newaxis] and prediction[numpy.newaxis]."
        )


def _worst_slice(mask: Mask, spacing: Floats) -> tuple[int, int]:
    finer, coarsest = np.sort(spacing)[-2:]
    if coarsest > ALIKE * finer:
        axis = int(np.argmax(spacing))
        counts = _slice_counts(mask, axis)
    else:
        every = [_slice_counts(mask, axis) for axis in range(mask.ndim)]
        axis = int(np.argmax([of.max() / step for of, step in zip(every, spacing, strict=True)]))
        counts = every[axis]
    return axis, int(np.argmax(counts)) if counts.any() else len(counts) // 2


def _slice_counts(mask: Mask, axis: int) -> Ints:
    counts: Ints = mask.sum(axis=tuple(other for other in range(mask.ndim) if other != axis))
    return counts


def _at_least(start: int, stop: int, length: int, n: int) -> slice:
    """Return a range of at least this length around another one, within n voxels.

    Examples
    --------
    >>> _at_least(4, 6, 6, 20), _at_least(1, 3, 6, 20), _at_least(1, 3, 6, 5)
    (slice(2, 8, None), slice(0, 6, None), slice(0, 5, None))
    """
    length = min(max(length, stop - start), n)
    first = (start + stop - length) // 2
    first = min(max(first, 0), n - length)
    return slice(first, first + length)


def _box_with_margin(objects: Mask) -> tuple[slice, slice]:
    ends = [np.flatnonzero(objects.any(axis=1 - axis))[[0, -1]] for axis in (0, 1)]
    span = max(int(last - first) + 1 for first, last in ends)
    margin = max(LEAST_MARGIN, round(MARGIN * span))
    rows, columns = (
        slice(max(0, int(first) - margin), min(n, int(last) + margin + 1))
        for (first, last), n in zip(ends, objects.shape, strict=True)
    )
    return rows, columns
