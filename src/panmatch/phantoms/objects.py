"""The objects of a label image under running numbers, so that any ids cost the same.

Mistakes are made on the numbers 1 … count, in the order of the ids, and turned back into ids by
one look-up at the end; that look-up is also what makes every result a new array.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from panmatch.errors import OptionError
from panmatch.labels import LabelArray, as_labels

Numbers = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Box = tuple[slice, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Objects:
    """A label image with its ids taken apart from its voxels.

    Attributes
    ----------
    ids
        The ids that occur, rising, in the dtype of the label image; 0 is left out.
    numbers
        The image, int32: number k stands for ``ids[k - 1]``, and 0 for background.
    """

    ids: LabelArray
    numbers: Numbers

    @property
    def count(self) -> int:
        """The number of objects."""
        return len(self.ids)

    def pick(self, ids: Iterable[int] | None) -> list[int]:
        """Return the numbers of `ids`, rising and without repeats; None means all objects."""
        if ids is None:
            return list(range(1, self.count + 1))
        number_of = {int(value): number for number, value in enumerate(self.ids, start=1)}
        wanted = _as_ids(ids)
        unknown = sorted(wanted - number_of.keys())
        if unknown:
            raise OptionError(_why_unknown(unknown, self.ids))
        return sorted(number_of[value] for value in wanted)

    def boxes(self) -> list[Box]:
        """Return the bounding box of each object, in the order of the numbers."""
        from scipy.ndimage import find_objects

        if not self.count:
            return []  # scipy takes the maximum, which an array without voxels has not
        found: list[Box] = find_objects(self.numbers)
        return found

    def centroids(self) -> Floats:
        """Return the mean voxel position of each object, shape (count, ndim)."""
        means = np.zeros((self.count, self.numbers.ndim))
        for position, box in enumerate(self.boxes()):
            inside = np.argwhere(self.numbers[box] == position + 1)
            means[position] = inside.mean(axis=0) + [side.start for side in box]
        return means

    def new_ids(self, count: int) -> LabelArray:
        """Return `count` ids just above the highest one, in a dtype that holds them all."""
        top = max(int(self.ids.max(initial=0)), 0)
        return np.arange(top + 1, top + count + 1, dtype=dtype_for(top + count, self.ids.dtype))

    def paint(self, ids: LabelArray, numbers: Numbers | None = None) -> LabelArray:
        """Return a new image in which number k, of `numbers` or our own, shows ``ids[k - 1]``."""
        table = np.concatenate([np.zeros(1, dtype=ids.dtype), ids])
        image: LabelArray = table[self.numbers if numbers is None else numbers]
        return image


def number_objects(labels: npt.ArrayLike) -> Objects:
    """Take the ids of a label image apart from its voxels.

    Parameters
    ----------
    labels
        Integers of any dtype, one axis or more. It is never changed.

    Examples
    --------
    >>> objects = number_objects([[0, 70, 70], [5, 5, 0]])
    >>> objects.ids.tolist(), objects.numbers.tolist()
    ([5, 70], [[0, 2, 2], [1, 1, 0]])
    """
    image = as_labels(labels, "labels")
    if image.ndim == 0:
        raise OptionError(f"labels={image} is a single number; pass an array with an axis or more.")
    if _is_narrow(image):
        present = np.zeros(int(image.max()) + 1, dtype=np.bool_)
        present[image] = True
        present[0] = False
        running = np.cumsum(present, dtype=np.int32) * present
        return Objects(np.flatnonzero(present).astype(image.dtype), running[image])
    return _number_by_sorting(image)


def dtype_for(highest: int, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return `dtype` if it holds the id `highest`, otherwise int64."""
    if highest <= np.iinfo(dtype).max:
        return dtype
    if highest <= np.iinfo(np.int64).max:
        return np.dtype(np.int64)
    raise OptionError(
        f"new ids up to {highest} do not fit 64-bit integers; lower the ids first, "
        "for example with panmatch.phantoms.relabel."
    )


def _is_narrow(image: LabelArray) -> bool:
    """Say whether a table by id stays small beside the image: look-up then beats sorting."""
    return image.size > 0 and image.min() >= 0 and int(image.max()) <= 4 * image.size


def _number_by_sorting(image: LabelArray) -> Objects:
    values, places = np.unique(image, return_inverse=True)
    objects = values != 0
    running = np.cumsum(objects, dtype=np.int32) * objects
    return Objects(values[objects], running[places.reshape(image.shape)])


def _as_ids(ids: Iterable[int]) -> set[int]:
    try:
        return {operator.index(value) for value in ids}
    except TypeError:
        raise OptionError(
            f"ids={ids!r} is no list of object ids; pass whole numbers, or None for all objects."
        ) from None


def _why_unknown(unknown: list[int], ids: LabelArray) -> str:
    if unknown == [0]:
        return "ids holds 0, which is background; pass the ids of objects, or None for all."
    missing = ", ".join(map(str, unknown[:5])) + (", …" if len(unknown) > 5 else "")
    known = f"they run from {ids[0]} to {ids[-1]}" if len(ids) else "there are none"
    return f"ids holds {missing}, which labels does not; pass ids that occur in it ({known})."
