"""What every made-up anatomy has in common: a label image, its objects, and what they are made of.

Some label images are semantic: labels name tissues, and objects are connected components. In
others every label is one object, and a second image names the parts. Either way there is one image
of objects and one of what they are made of, so that a simulated model needs no cases.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice

import numpy as np
import numpy.typing as npt

from panmatch.labels import LabelArray

Image = npt.NDArray[np.int32]
Mask = npt.NDArray[np.bool_]

ALL_IDS = (1, 2**31 - 1)


@dataclass(frozen=True, slots=True, eq=False)
class Anatomy:
    """A made-up label image and what is known about it.

    Attributes
    ----------
    labels
        The label image, int32, with the labels of the preset of its kind.
    parts
        The parts of every object, int32, where each label is one object; None for semantic images.
    objects
        One id per object, int32. Semantic images have the ids that
        `panmatch.labels.connected_components` gives to their objects; elsewhere these are `labels`.
    room
        Mask of the voxels where objects may lie.
    spacing
        Distance between voxels along each axis, in mm.
    names
        What the labels are called.
    part_names
        What the labels of `parts` are called.
    layers
        What a small object is made of, from outside to inside: labels or parts.
    host
        The label that `room` has where there is no object.
    id_ranges
        Lowest and highest id of each kind of object; objects of two kinds never merge.

    Examples
    --------
    >>> from panmatch.phantoms import brain_metastases
    >>> brain = brain_metastases((32, 32), 3, radius_mm=(2, 4))
    >>> brain.is_semantic, brain.names[3], int(brain.objects.max())
    (True, 'enhancing tumour', 3)
    """

    labels: Image
    parts: Image | None
    objects: Image
    room: Mask
    spacing: tuple[float, ...]
    names: Mapping[int, str]
    part_names: Mapping[int, str]
    layers: tuple[int, ...]
    host: int = 0
    id_ranges: tuple[tuple[int, int], ...] = (ALL_IDS,)

    @property
    def is_semantic(self) -> bool:
        """Whether labels name tissues, so that objects are connected components."""
        return self.parts is None

    @property
    def content(self) -> Image:
        """What each voxel of an object is made of: its label or its part; 0 elsewhere."""
        made_of = self.labels if self.parts is None else self.parts
        return np.where(self.objects > 0, made_of, np.int32(0))

    def with_objects(self, objects: Image, content: Image) -> tuple[Image, Image | None]:
        """Return labels and parts of the same anatomy with other objects in it.

        Parameters
        ----------
        objects
            One id per object, 0 elsewhere.
        content
            What the voxels of objects are made of; ignored elsewhere.
        """
        if self.parts is not None:
            return objects, np.where(objects > 0, content, np.int32(0))
        empty = np.where(self.objects > 0, np.int32(self.host), self.labels)
        return np.where(objects > 0, content, empty), None


class FreshIds:
    """Ids that no object of an anatomy has, each handed out once.

    Ids above all others of their kind come first, as one expects new ones there; then gaps, from
    the highest down.

    Examples
    --------
    >>> from panmatch.phantoms import spine
    >>> fresh = FreshIds(spine((64, 48), 3))
    >>> fresh.take(22, 5), fresh.take(123, 1), fresh.take(22, 21)
    ([25, 26, 27, 28, 21], [124], None)
    """

    def __init__(self, anatomy: Anatomy) -> None:
        ids: list[int] = np.unique(anatomy.objects).tolist()
        self._spans = anatomy.id_ranges
        self._taken = [
            {value for value in ids if low <= value <= high} for low, high in self._spans
        ]

    def take(self, like: int, count: int) -> list[int] | None:
        """Return `count` ids of the kind of the id `like`, or None if so many are not left."""
        kind = kind_of(like, self._spans)
        (low, high), taken = self._spans[kind], self._taken[kind]
        top = max(taken, default=low - 1)
        found = list(range(top + 1, min(top + count, high) + 1))
        gaps = (value for value in range(top - 1, low - 1, -1) if value not in taken)
        found += islice(gaps, count - len(found))
        if len(found) < count:
            return None
        taken.update(found)
        return found


def kind_of(number: int, spans: tuple[tuple[int, int], ...]) -> int:
    """Return the position of the range of ids that holds `number`."""
    return next(kind for kind, (low, high) in enumerate(spans) if low <= number <= high)


def as_image(labels: LabelArray) -> Image:
    """Return a label image as int32, the dtype of every anatomy."""
    image: Image = labels.astype(np.int32)
    return image
