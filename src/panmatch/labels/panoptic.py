"""Images of many classes: how labels of any encoding become segments with classes and parts.

A `Panoptic` holds label arrays as they are, and knows what each combination of their labels means.
So all encodings are counted in one pass, without making a segment image first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from panmatch.errors import LabelError, check_choice
from panmatch.labels.chunked.volumes import Volume, as_volume
from panmatch.labels.classes import SegmentClass, check_classes
from panmatch.labels.validation import check_same_shape, refuse_beyond_int64

Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

NO_CLASS = -1
UNKNOWN_PART = -1
STUFF = 1  # all stuff of a class is one segment
UNNUMBERED = (1 << 44) - 1  # id of predicted things that have no number


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
        Objects of the class that are not told apart (D10).
    void
        Nothing is known here (D10).
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
        """Return the meaning of a plain label image: objects of one class, 0 being background.

        Parameters
        ----------
        labels
            Labels of an image, one per combination.
        void
            Which combinations lie in void; none by default.
        parts
            Part labels; none by default.
        """
        nothing = np.zeros(len(labels), np.bool_)
        return cls(
            np.where(labels > 0, 0, NO_CLASS),
            labels,
            np.zeros_like(labels) if parts is None else parts,
            nothing,
            nothing if void is None else void,
        )

    @property
    def ids(self) -> Ints:
        """Ids of the segments: their numbers, and `UNNUMBERED` for things that have none."""
        unnumbered = (self.instances == 0) & (self.classes >= 0)
        if not unnumbered.any():
            return self.instances
        if (self.instances == UNNUMBERED).any():
            raise LabelError(
                f"instance {UNNUMBERED} is too large: where things have no number, they get this "
                f"id. Number the instances from 1 on."
            )
        return np.where(unnumbered, UNNUMBERED, self.instances)

    def take(self, at: Ints) -> Meaning:
        """Return the meaning of other rows: row i means what row ``at[i]`` means here."""
        return Meaning(
            self.classes[at], self.instances[at], self.parts[at], self.crowd[at], self.void[at]
        )


Decode = Callable[[tuple[Ints, ...], Ints], Meaning]


@dataclass(frozen=True, slots=True, eq=False)
class Panoptic:
    """One side of a comparison: label arrays of one shape, and what their labels mean.

    Make one with `from_maps`, `from_labels`, `from_segments`, `from_cityscapes` or
    `from_panoptic_parts`.

    Attributes
    ----------
    arrays
        The label arrays; some may be chunked.
    classes
        All classes there may be.
    decode
        Takes the columns of distinct label combinations and their voxel counts, and returns
        their `Meaning`; raises a `LabelError` for combinations that mean nothing.
    """

    arrays: tuple[Volume, ...]
    classes: tuple[SegmentClass, ...]
    decode: Decode


def from_maps(
    class_map: npt.ArrayLike,
    instance_map: npt.ArrayLike,
    classes: Iterable[SegmentClass],
    *,
    part_map: npt.ArrayLike | None = None,
    void: Iterable[int] = (),
    void_part: int | None = None,
    numbering: Literal["global", "per class"] = "global",
    name: str = "class_map",
) -> Panoptic:
    """Read a class map with an instance map, and parts if there are any.

    Parameters
    ----------
    class_map
        Class ids. 0 is no class, unless a class has that id.
    instance_map
        Numbers of objects. They do not matter for stuff; a thing without one (0) is an object of
        its own in a prediction and crowd in a reference.
    void
        Class ids that mean unknown. Any other id that is no class is an error.
    part_map, void_part
        Part labels, and the one that means unknown.
    numbering
        ``"global"``: an instance number belongs to one class, anything else is an error.
        ``"per class"``: every class counts from 1.
    name
        What to call the image in an error message.

    Examples
    --------
    >>> person, sky = SegmentClass(1, "person"), SegmentClass(2, "sky", thing=False)
    >>> image = from_maps([[1, 1, 2]], [[7, 8, 0]], [person, sky])
    >>> [kind.name for kind in image.classes]
    ['person', 'sky']
    """
    check_choice("numbering", numbering, ("global", "per class"))
    kinds, unknown = check_classes(classes), tuple(void)
    arrays = {
        name: as_volume(class_map, name),
        "instance_map": as_volume(instance_map, "instance_map"),
    }
    if part_map is not None:
        arrays["part_map"] = as_volume(part_map, "part_map")
    check_same_shape(arrays)

    def decode(columns: tuple[Ints, ...], counts: Ints) -> Meaning:
        numbers, instances = columns[0], columns[1]
        at = _class_places(numbers, counts, kinds, unknown, name)
        if numbering == "global":
            _check_numbers(at, instances, counts, kinds, name)
        parts = np.zeros_like(numbers) if part_map is None else columns[2]
        instance_image = arrays["instance_map"]
        among = are_things(at, kinds)
        refuse_negative(instances, counts, among, instance_image, "instance_map", "instance")
        if part_map is not None:
            known = parts != void_part
            refuse_negative(parts, counts, known, arrays["part_map"], "part_map", "part")
        if void_part is not None:
            parts = np.where(parts == void_part, UNKNOWN_PART, parts)
        things = are_things(at, kinds)
        return Meaning(
            at,
            np.where(things, instances, STUFF),
            parts,
            things & (instances == 0),
            np.isin(numbers, unknown),
        )

    return Panoptic(tuple(arrays.values()), kinds, decode)


def from_segments(
    segments: npt.ArrayLike,
    table: Mapping[int, tuple[int, bool]],
    classes: Iterable[SegmentClass],
    *,
    name: str = "segments",
) -> Panoptic:
    """Read an image of segment ids with a table of classes, as COCO has it.

    Every id of the table is a segment of its own, stuff included. Id 0 is void.

    Parameters
    ----------
    segments
        Segment ids.
    table
        For every id its class and whether it is crowd. An id that is in the image but not in the
        table, or the other way round, is an error.
    name
        What to call the image in an error message.

    Examples
    --------
    >>> image = from_segments([[5, 5, 9, 0]], {5: (1, False), 9: (1, True)}, [SegmentClass(1)])
    >>> image.classes[0].id
    1
    """
    kinds = check_classes(classes)
    if 0 in table:
        raise LabelError(f"{name}: the table lists segment 0, which is void: give it another id.")
    place = {kind.id: at for at, kind in enumerate(kinds)}
    strange = {number for number, _ in table.values() if number not in place}
    if strange:
        ids = [i for i, (number, _) in table.items() if number in strange]
        raise LabelError(
            f"{name}: segment {ids[0]} has the unknown class {sorted(strange)[0]}; there are "
            f"{sorted(place)}."
        )

    def decode(columns: tuple[Ints, ...], counts: Ints) -> Meaning:
        ids = columns[0]
        listed = np.array(sorted(table), np.int64)
        refuse(ids, counts, (ids != 0) & ~np.isin(ids, listed), name, "is not in the table")
        absent = listed[~np.isin(listed, ids)]
        if len(absent):
            raise LabelError(f"{name}: the table lists segment {absent[0]}, which has 0 voxels.")
        at = np.array([place[table[i][0]] if i else NO_CLASS for i in ids.tolist()], np.int64)
        crowd = np.array([bool(i) and table[i][1] for i in ids.tolist()], np.bool_)
        return Meaning(at, ids, np.zeros_like(ids), crowd, ids == 0)

    return Panoptic((as_volume(segments, name),), kinds, decode)


def are_things(at: Ints, kinds: tuple[SegmentClass, ...]) -> Mask:
    """Return which class positions are things; −1 is none."""
    things: Mask = np.array([kind.thing for kind in kinds])[at] & (at >= 0)
    return things


def _class_places(
    numbers: Ints,
    counts: Ints,
    kinds: tuple[SegmentClass, ...],
    void: tuple[int, ...],
    name: str,
) -> Ints:
    places = {kind.id: at for at, kind in enumerate(kinds)}
    known = np.isin(numbers, [0, *places, *void])
    refuse(numbers, counts, ~known, name, "is no class")
    return np.array([places.get(number, NO_CLASS) for number in numbers.tolist()], np.int64)


def _check_numbers(
    at: Ints, instances: Ints, counts: Ints, kinds: tuple[SegmentClass, ...], name: str
) -> None:
    counted = are_things(at, kinds) & (instances > 0)
    pairs = np.unique(np.stack([instances[counted], at[counted]]), axis=1)
    shared = pairs[0][1:][np.diff(pairs[0]) == 0]
    if len(shared):
        owners = [kinds[a].id for a in pairs[1][pairs[0] == shared[0]].tolist()]
        voxels = int(counts[counted & (instances == shared[0])].sum())
        raise LabelError(
            f"{name}: instance {shared[0]} ({voxels} voxels) is shared by the classes {owners}. "
            f"If every class has its own numbers, pass numbering='per class'."
        )


def refuse_negative(
    numbers: Ints, counts: Ints, among: Mask, image: Volume, name: str, what: str
) -> None:
    """Raise a `LabelError` if some of the numbers are negative, or too large for int64."""
    refuse_beyond_int64(numbers, counts, among, image.dtype, name)
    bad = among & (numbers < 0)
    if bad.any():
        raise LabelError(
            f"{name} holds the negative {what} {numbers[bad][0]} ({int(counts[bad].sum())} voxels "
            f"below 0): numbers begin with 1, and 0 is none. Set such voxels to 0 or, where they "
            f"mark unknown ones of the reference, pass a mask of them as void."
        )


def refuse(numbers: Ints, counts: Ints, bad: Mask, name: str, why: str) -> None:
    """Raise a `LabelError` if there is a bad number."""
    if bad.any():
        number = int(numbers[bad][0])
        voxels = int(counts[numbers == number].sum())
        raise LabelError(
            f"{name} holds {number} ({voxels} voxels), which {why}. Nothing is guessed: add it, "
            f"or declare it void."
        )
