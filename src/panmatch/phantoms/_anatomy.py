"""Anatomies and predictions of them: label images, their objects, and what objects consist of.

Some label images are semantic: labels name tissues, and objects are connected components. In
others every label is an object, and a second image names the parts. Either way there is one image
of objects and one of their content, so simulated models can treat both kinds alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice

import numpy as np

from panmatch.labels import nearest_labels
from panmatch.phantoms._objects import Image, Mask, number_objects

ALL_IDS = (1, 2**31 - 1)


@dataclass(frozen=True, slots=True, eq=False)
class Anatomy:
    """A synthetic label image and what is known about it.

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
        Mask of the voxels where objects may be.
    spacing
        Distance between voxels along each axis, in mm.
    names
        What the labels are called.
    part_names
        What the labels of `parts` are called.
    layers
        What a small object consists of, from outside to inside: labels or parts.
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
        """What each voxel of an object consists of: its label or its part; 0 elsewhere."""
        content = self.labels if self.parts is None else self.parts
        return np.where(self.objects > 0, content, np.int32(0))

    def kind_of(self, number: int) -> int:
        """Return the position of the range in `id_ranges` that contains an id."""
        ranges = enumerate(self.id_ranges)
        return next(kind for kind, (low, high) in ranges if low <= number <= high)


@dataclass(frozen=True, slots=True)
class Profile:
    """The mistakes of a prediction, all of them.

    Reference objects have the ids of `Anatomy.objects`, predicted ones those of
    `Prediction.objects`. An object that is not mentioned is predicted once, under its own id.

    Attributes
    ----------
    split
        For each reference that was split, its predicted pieces: two or more.
    merged
        Pairs of references that became one prediction, under the smaller id.
    missed
        References that were left out, rising.
    spurious
        Predictions without a reference, rising.

    Examples
    --------
    >>> from panmatch.phantoms import Profile
    >>> Profile(missed=(4,)) == Profile(missed=(4,), merged=())
    True
    """

    split: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    merged: tuple[tuple[int, int], ...] = ()
    missed: tuple[int, ...] = ()
    spurious: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Prediction:
    """What a simulated model sees in an anatomy.

    Attributes
    ----------
    labels
        The predicted label image, int32.
    parts
        The predicted parts, int32; None for semantic images.
    objects
        One id per predicted object, int32, as in `profile`. In semantic images the objects are
        connected components of `labels`.
    profile
        The mistakes.

    Examples
    --------
    >>> from panmatch.phantoms import MissesSmall, spine
    >>> prediction = MissesSmall(limit=1e9).predict(spine((64, 48), 2))
    >>> prediction.profile.missed, int(prediction.objects.max())
    ((23, 24, 123), 0)
    """

    labels: Image
    parts: Image | None
    objects: Image
    profile: Profile


def as_prediction(anatomy: Anatomy, objects: Image, content: Image, profile: Profile) -> Prediction:
    """Return a prediction that shows these objects in an anatomy.

    If `content` does not say what a voxel of an object consists of, it is what the nearest voxel of
    the same object consists of.
    """
    filled = np.where(objects > 0, content, np.int32(0))
    numbered = number_objects(objects)
    for number, box in numbered.boxes():
        own = numbered.numbers[box] == number
        unknown = own & (content[box] == 0)
        if unknown.any():
            known = np.where(own, content[box], 0)
            filled[box][unknown] = nearest_labels(known, anatomy.spacing, where=unknown)[unknown]
    if anatomy.parts is not None:
        return Prediction(objects, filled, objects, profile)
    empty = np.where(anatomy.objects > 0, np.int32(anatomy.host), anatomy.labels)
    return Prediction(np.where(objects > 0, filled, empty), None, objects, profile)


class FreshIds:
    """Ids that no object of an anatomy has, each handed out once.

    Ids above all others of their kind come first, where you would expect new ids; then gaps, from
    the highest down.

    Examples
    --------
    >>> from panmatch.phantoms import spine
    >>> fresh = FreshIds(spine((64, 48), 3))
    >>> fresh.take(22, 5), fresh.take(123, 1), fresh.take(22, 21)
    ([25, 26, 27, 28, 21], [124], [])
    """

    def __init__(self, anatomy: Anatomy) -> None:
        used = set(np.unique(anatomy.objects).tolist())
        self._kind_of = anatomy.kind_of
        self._free = [_free_ids(low, high, used) for low, high in anatomy.id_ranges]

    def take(self, like: int, count: int) -> list[int]:
        """Return `count` ids of the kind of the id `like`, or none if fewer are left."""
        kind = self._kind_of(like)
        ids = list(islice(self._free[kind], count))
        if len(ids) < count:
            self._free[kind], ids = iter(ids), []
        return ids


def _free_ids(low: int, high: int, used: set[int]) -> Iterator[int]:
    top = max((value for value in used if low <= value <= high), default=low - 1)
    yield from range(top + 1, high + 1)
    yield from (value for value in range(top - 1, low - 1, -1) if value not in used)
