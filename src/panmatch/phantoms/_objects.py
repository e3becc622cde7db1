"""The objects of a label image under consecutive numbers, so that large ids cost no more.

Objects are changed under the numbers 1 … count, in the order of their ids. One look-up at the end
turns numbers back into ids, and makes every result a new array.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from panmatch.errors import OptionError
from panmatch.labels import LabelArray, as_labels, connected_components
from panmatch.phantoms._options import as_ints

Image = npt.NDArray[np.int32]
Mask = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Box = tuple[slice, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Objects:
    """A label image, with its ids separated from its voxels."""

    ids: LabelArray  # those that occur, rising, in the dtype of the label image, without 0
    numbers: Image  # the image: number k stands for ids[k - 1], and 0 for background

    @property
    def count(self) -> int:
        """The number of objects."""
        return len(self.ids)

    def pick(self, ids: Iterable[int] | None) -> list[int]:
        """Return the numbers of `ids`, rising and without repeats; None means all objects."""
        if ids is None:
            return list(range(1, self.count + 1))
        wanted = as_ints(ids)
        if wanted is None:
            raise OptionError(
                f"ids={ids!r} is not a list of object ids; pass whole numbers, or None for all "
                "objects."
            )
        number_of = {int(value): number for number, value in enumerate(self.ids, start=1)}
        unknown = sorted(set(wanted) - number_of.keys())
        if unknown:
            missing = ", ".join(map(str, unknown[:5])) + (", …" if len(unknown) > 5 else "")
            known = f"{self.ids[0]} to {self.ids[-1]}" if self.count else "there are none"
            raise OptionError(
                f"ids contains {missing}, but labels has no such object; pass ids of objects in "
                f"it ({known}), or None for all."
            )
        return sorted({number_of[value] for value in wanted})

    def boxes(
        self, chosen: Iterable[int] | None = None, *, margin: int = 0
    ) -> Iterator[tuple[int, Box]]:
        """Yield the number and the bounding box of all objects, or of the `chosen` ones.

        Boxes are wider by `margin` voxels on each side, as far as the image goes.
        """
        from scipy.ndimage import find_objects

        if not self.count:
            return  # scipy takes the maximum, which an array without voxels does not have
        tight: list[Box] = find_objects(self.numbers)
        for number in range(1, self.count + 1) if chosen is None else chosen:
            sides = zip(tight[number - 1], self.numbers.shape, strict=True)
            ends = ((max(s.start - margin, 0), min(s.stop + margin, n)) for s, n in sides)
            yield number, tuple(slice(*pair) for pair in ends)

    def centroids(self) -> Floats:
        """Return the mean voxel position of each object, shape (count, ndim)."""
        means = np.zeros((self.count, self.numbers.ndim))
        for number, box in self.boxes():
            inside = np.argwhere(self.numbers[box] == number)
            means[number - 1] = inside.mean(axis=0) + [side.start for side in box]
        return means

    def new_ids(self, count: int) -> LabelArray:
        """Return `count` ids just above the highest one, in a dtype that holds them all."""
        top = max(int(self.ids.max(initial=0)), 0)
        return np.arange(top + 1, top + count + 1, dtype=dtype_for(top + count, self.ids.dtype))

    def paint(self, ids: LabelArray, numbers: Image | None = None) -> LabelArray:
        """Return a new image in which number k, of `numbers` or our own, shows ``ids[k - 1]``."""
        table = np.concatenate([np.zeros(1, dtype=ids.dtype), ids])
        image: LabelArray = table[self.numbers if numbers is None else numbers]
        return image


def number_objects(labels: npt.ArrayLike) -> Objects:
    """Separate the ids of a label image, of any integer dtype, from its voxels.

    Examples
    --------
    >>> objects = number_objects([[0, 70, 70], [5, 5, 0]])
    >>> objects.ids.tolist(), objects.numbers.tolist()
    ([5, 70], [[0, 2, 2], [1, 1, 0]])
    """
    image = as_labels(labels, "labels")
    if image.ndim == 0:
        raise OptionError(
            f"labels={image} is a single number; pass an array with at least one axis."
        )
    if image.size and image.min() >= 0 and int(image.max()) <= 4 * image.size:
        # A table of all ids is small compared with the image, and a look-up is faster than sorting.
        values, places = np.arange(int(image.max()) + 1), image
        is_object = np.zeros(len(values), dtype=np.bool_)
        is_object[image] = True
        is_object[0] = False
    else:
        values, places = np.unique(image, return_inverse=True)
        is_object = values != 0
    running = np.cumsum(is_object, dtype=np.int32) * is_object
    return Objects(values[is_object].astype(image.dtype), running[places.reshape(image.shape)])


def cut(objects: Objects, chosen: Iterable[int], pieces: int) -> tuple[Image, int]:
    """Cut the `chosen` objects across the longest side of their boxes.

    The first piece of an object keeps its number, and the others get new numbers above all. Also
    return how many new numbers there are.
    """
    after, highest = objects.numbers.copy(), objects.count
    for number, box in objects.boxes(chosen):
        layers = np.moveaxis(after[box], int(np.argmax(after[box].shape)), 0)
        inside = layers == number
        size = int(np.count_nonzero(inside))
        parts = min(pieces, size)
        sizes = size // parts + (np.arange(parts) < size % parts)
        # A mask is filled in index order, layer by layer: each run of numbers becomes a slab.
        layers[inside] = np.repeat([number, *range(highest + 1, highest + parts)], sizes)
        highest += parts - 1
    return after, highest - objects.count


def keep_largest_pieces(labels: Image, connectivity: Literal["full", "faces"]) -> None:
    """Remove, in place, all but the largest connected piece of every object.

    Examples
    --------
    >>> image = np.array([[3, 0, 3, 3, 8]], dtype=np.int32)
    >>> keep_largest_pieces(image, "full")
    >>> image.tolist()
    [[0, 0, 3, 3, 8]]
    """
    objects = number_objects(labels)
    for number, box in objects.boxes():
        pieces = connected_components(objects.numbers[box] == number, connectivity)
        sizes = np.bincount(pieces.ravel())[1:]
        labels[box][(pieces > 0) & (pieces != sizes.argmax() + 1)] = 0


def dtype_for(highest: int, dtype: np.dtype[np.integer]) -> np.dtype[np.integer]:
    """Return `dtype` if it holds the id `highest`, otherwise int64."""
    if highest <= np.iinfo(dtype).max:
        return dtype
    if highest <= np.iinfo(np.int64).max:
        return np.dtype(np.int64)
    raise OptionError(
        f"new ids up to {highest} do not fit 64-bit integers; lower the ids first, "
        "for example with panmatch.phantoms.relabel."
    )
