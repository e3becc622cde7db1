"""Images with many classes: what the labels of any encoding mean, and the segments of one class.

A `Panoptic` holds label arrays as they are, and knows what each combination of their labels means.
So every encoding is counted in one pass, without creating a segment image first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from panmatch.errors import LabelError, OptionError
from panmatch.labels._arrays import Ints, Mask, refuse_beyond_int64, refuse_labels
from panmatch.labels._combinations import Counted, distinct_labels, paint_volumes
from panmatch.labels._volumes import Volume

NO_CLASS = -1
UNKNOWN_PART = -1
STUFF = 1  # all stuff of a class is one segment
UNNUMBERED = (1 << 44) - 1  # id of predicted things that have no number


@dataclass(frozen=True, slots=True)
class SegmentClass:
    """One class.

    Attributes
    ----------
    id
        Number of the class in the data.
    name
        What people call it.
    thing
        Whether its objects are counted one by one; otherwise it is stuff, one segment per image.
    parts
        Labels of its parts; one is enough for the class to have parts (D9).

    Examples
    --------
    >>> import panmatch as pm
    >>> pm.SegmentClass(24, "vertebra", parts=(1, 2)).has_parts
    True
    """

    id: int
    name: str = ""
    thing: bool = True
    parts: tuple[int, ...] = ()

    @property
    def has_parts(self) -> bool:
        """Whether it declares at least one part (D9)."""
        return bool(self.parts)


def check_classes(classes: Iterable[SegmentClass]) -> tuple[SegmentClass, ...]:
    """Return the classes if their ids differ and are not negative, or raise."""
    given = tuple(classes)
    ids = [kind.id for kind in given]
    if len(set(ids)) < len(ids):
        twice = min(number for number in ids if ids.count(number) > 1)
        raise OptionError(f"classes: more than one class has the id {twice}.")
    if not given or min(ids) < 0:
        raise OptionError(f"classes={ids} must be one or more ids, none of them negative.")
    return given


@dataclass(frozen=True, slots=True, eq=False)
class Meaning:
    """What every combination of labels stands for, one row each.

    Attributes
    ----------
    classes
        Position of the class; −1 for none.
    instances
        Number of the segment within its class: 1 for stuff, 0 for things without a number.
    parts
        Part label, 0 for none, −1 for unknown.
    crowd
        Whether it is a group of objects that are not outlined one by one (D10).
    void
        Whether nothing is known there (D10).
    """

    classes: Ints
    instances: Ints
    parts: Ints
    crowd: Mask
    void: Mask

    @classmethod
    def of_labels(
        cls, labels: Ints, void: Mask | None = None, parts: Ints | None = None
    ) -> Meaning:
        """Return the meaning of a plain label image: objects of one class, 0 being background."""
        nothing = np.zeros(len(labels), np.bool_)
        return cls(
            np.where(labels > 0, 0, NO_CLASS),
            labels,
            np.zeros_like(labels) if parts is None else parts,
            nothing,
            nothing if void is None else void,
        )

    def take(self, rows: Ints) -> Meaning:
        """Return the meaning of other rows: row i means what row ``rows[i]`` means here."""
        classes, instances, parts = self.classes[rows], self.instances[rows], self.parts[rows]
        return Meaning(classes, instances, parts, self.crowd[rows], self.void[rows])


def segment_ids(numbers: Ints) -> Ints:
    """Return the ids of segments: their numbers, and `UNNUMBERED` for things that have none (0).

    Examples
    --------
    >>> segment_ids(np.array([5, 0])) == [5, UNNUMBERED]
    array([ True,  True])
    """
    if numbers.all():
        return numbers
    if (numbers == UNNUMBERED).any():
        raise LabelError(
            f"instance {UNNUMBERED} is too large: this id is reserved for things without a number. "
            f"Number the instances from 1 on."
        )
    return np.where(numbers == 0, UNNUMBERED, numbers)


Decode = Callable[[tuple[Ints, ...], Ints], Meaning]


@dataclass(frozen=True, slots=True, eq=False)
class Panoptic:
    """One side of a comparison: label arrays of the same shape, and what their labels mean.

    Create one with `from_maps`, `from_labels`, `from_segments`, `from_cityscapes` or
    `from_panoptic_parts`.

    Attributes
    ----------
    arrays
        The label arrays; some may be chunked.
    classes
        All classes that may occur.
    decode
        Takes the columns of distinct label combinations and their voxel counts, and returns
        their `Meaning`; raises a `LabelError` for combinations without a meaning.

    Examples
    --------
    >>> import panmatch as pm
    >>> image = pm.from_maps([[1, 1, 0]], [[5, 6, 0]], [pm.SegmentClass(1, "cell")])
    >>> image.classes[0].name, len(image.arrays)
    ('cell', 2)
    """

    arrays: tuple[Volume, ...]
    classes: tuple[SegmentClass, ...]
    decode: Decode


def drop_segments(side: Panoptic, dropped: Mapping[int, Ints]) -> Panoptic:
    """Return a side in which some segments are background.

    Parameters
    ----------
    dropped
        Numbers of the segments to drop, by the position of their class.

    Examples
    --------
    >>> from panmatch.labels import SegmentClass, from_maps
    >>> side = from_maps([[1, 1, 1]], [[5, 6, 7]], [SegmentClass(1)])
    >>> SegmentImages(drop_segments(side, {0: np.array([6])})).of_class(0).tolist()
    [[5, 0, 7]]
    """

    def decode(columns: tuple[Ints, ...], counts: Ints) -> Meaning:
        meaning = side.decode(columns, counts)
        gone = np.zeros(len(counts), np.bool_)
        for place, numbers in dropped.items():
            gone |= (meaning.classes == place) & np.isin(meaning.instances, numbers)
        return replace(meaning, classes=np.where(gone, NO_CLASS, meaning.classes))

    return replace(side, decode=decode)


def class_places(numbers: Ints, kinds: tuple[SegmentClass, ...]) -> Ints:
    """Return the positions of the classes with these numbers; −1 for none."""
    place = {kind.id: position for position, kind in enumerate(kinds)}
    return np.array([place.get(number, NO_CLASS) for number in numbers.tolist()], np.int64)


def are_things(places: Ints, kinds: tuple[SegmentClass, ...]) -> Mask:
    """Return which class positions are things; −1 is none."""
    things: Mask = np.array([kind.thing for kind in kinds])[places] & (places >= 0)
    return things


def segment_numbers(places: Ints, instances: Ints, kinds: tuple[SegmentClass, ...]) -> Ints:
    """Return the numbers of segments: their own for things, one number for stuff."""
    return np.where(are_things(places, kinds), instances, STUFF)


def refuse_negative(
    numbers: Ints, counts: Ints, among: Mask, image: Volume, name: str, what: str, remedy: str
) -> None:
    """Raise a `LabelError` if some of the numbers are negative, or too large for int64.

    The remedy is a template as for `refuse_labels`.
    """
    refuse_beyond_int64(numbers, counts, among, image.dtype, name)
    message = "{name} holds the negative {what}{s} {listed}: numbers start at 1, and 0 means none. "
    bad = among & (numbers < 0)
    refuse_labels(numbers, counts, bad, message + remedy, name=name, what=what)


def refuse_unknown(
    numbers: Ints, counts: Ints, bad: Mask, name: str, why: str, remedy: str
) -> None:
    """Raise a `LabelError` if there are numbers without a meaning.

    The reason and the remedy are templates as for `refuse_labels`.
    """
    message = f"{{name}} holds {{listed}}, which {{are}} {why}. {remedy}"
    refuse_labels(numbers, counts, bad, message, name=name)


class SegmentImages:
    """The segments of one side, class by class.

    Parameters
    ----------
    side
        The label arrays, and what they mean.
    crowd
        Whether crowd is a segment, too, as it is in a prediction.
    threads
        Number of threads; by default as many as pay off.
    distinct
        All combinations of its labels and their voxels, as `distinct_labels` returns them, if they
        are known already.
    meaning
        What they mean, if that is known already.

    Examples
    --------
    >>> from panmatch.labels import SegmentClass, from_cityscapes
    >>> side = from_cityscapes([[24000, 24001, 7, 0]], [SegmentClass(24), SegmentClass(7)])
    >>> images = SegmentImages(side)
    >>> images.of_class(0).tolist(), images.void.tolist()
    ([[1, 2, 0, 0]], [[0, 0, 0, 1]])
    """

    def __init__(
        self,
        side: Panoptic,
        *,
        crowd: bool = False,
        threads: int | None = None,
        distinct: Counted | None = None,
        meaning: Meaning | None = None,
    ) -> None:
        self._side, self._threads = side, threads
        self._crowd, self._known, self._known_meaning = crowd, distinct, meaning

    def of_class(self, place: int) -> Volume:
        """Return the ids of the segments of a class, by its position; 0 elsewhere."""
        ours, ids = self._belong_to(place), np.zeros_like(self._meaning.instances)
        ids[ours] = segment_ids(self._meaning.instances[ours])
        return self._painted(ids)

    def parts_of_class(self, place: int, unknown: int) -> Volume:
        """Return the part labels on the segments of a class, `unknown` for unknown ones."""
        parts = self._meaning.parts
        parts = np.where(parts == UNKNOWN_PART, unknown, parts)
        return self._painted(np.where(self._belong_to(place), parts, 0))

    @cached_property
    def void(self) -> Volume | None:
        """Image that is not 0 where nothing is known; None if there are no such voxels."""
        void = self._meaning.void
        return self._painted(void.astype(np.int64)) if void.any() else None

    def _belong_to(self, place: int) -> Mask:
        meaning = self._meaning
        ours: Mask = (meaning.classes == place) & (self._crowd | ~meaning.crowd) & ~meaning.void
        return ours

    @cached_property
    def _distinct(self) -> Counted:
        if self._known is not None:
            return self._known
        return distinct_labels(self._side.arrays, threads=self._threads)

    @cached_property
    def _meaning(self) -> Meaning:
        if self._known_meaning is not None:
            return self._known_meaning
        columns, counts = self._distinct
        return self._side.decode(tuple(columns), counts)

    def _painted(self, numbers: Ints) -> Volume:
        """Return an image that gives every voxel the number of its combination."""
        arrays, values = self._side.arrays, self._distinct[0]
        for array, column in zip(arrays, values, strict=True):
            if np.array_equal(numbers, column):
                return array
        return paint_volumes(arrays, values, numbers, threads=self._threads)
