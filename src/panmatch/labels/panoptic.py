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

from panmatch.errors import LabelError, OptionError, check_choice
from panmatch.labels.classes import SegmentClass, check_classes
from panmatch.labels.components import Connectivity, connected_components
from panmatch.labels.painting import mask_of
from panmatch.labels.validation import LabelArray, as_labels, check_same_shape

Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

NO_CLASS = -1
UNKNOWN_PART = -1
STUFF = 1  # all stuff of a class is one segment


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


Decode = Callable[[tuple[Ints, ...], Ints], Meaning]


@dataclass(frozen=True, slots=True, eq=False)
class Panoptic:
    """One side of a comparison: label arrays of one shape, and what their labels mean.

    Make one with `from_maps`, `from_labels`, `from_segments`, `from_cityscapes` or
    `from_panoptic_parts`.

    Attributes
    ----------
    arrays
        The label arrays.
    classes
        All classes there may be.
    decode
        Takes the columns of distinct label combinations and their voxel counts, and returns
        their `Meaning`; raises a `LabelError` for combinations that mean nothing.
    """

    arrays: tuple[LabelArray, ...]
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
        ``"per class"``: numbers begin anew in every class.
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
        name: as_labels(class_map, name),
        "instance_map": as_labels(instance_map, "instance_map"),
    }
    if part_map is not None:
        arrays["part_map"] = as_labels(part_map, "part_map")
    check_same_shape(arrays)

    def decode(columns: tuple[Ints, ...], counts: Ints) -> Meaning:
        numbers, instances = columns[0], columns[1]
        at = _class_places(numbers, counts, kinds, unknown, name)
        if numbering == "global":
            _check_numbers(at, instances, counts, kinds, name)
        parts = np.zeros_like(numbers) if part_map is None else columns[2]
        _refuse_negative(instances, counts, are_things(at, kinds), "instance_map", "instance")
        _refuse_negative(parts, counts, parts != void_part, "part_map", "part")
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


@dataclass(frozen=True, slots=True)
class LabelGroup:
    """Which labels of an image belong to a class, and what their values mean.

    Attributes
    ----------
    kind
        The class.
    labels
        Values in the image; None for all that are not background, void or ignored.
    instances
        ``"ids"``: every value is one object. ``"components"``: every connected component of
        the values together is one. Stuff is one segment either way.
    connectivity
        Of components, as for `connected_components`.
    min_voxels
        Smaller objects are background.
    """

    kind: SegmentClass
    labels: tuple[int, ...] | None
    instances: Literal["ids", "components"] = "ids"
    connectivity: Connectivity = "full"
    min_voxels: int = 1


def from_labels(
    labels: npt.ArrayLike,
    groups: Iterable[LabelGroup],
    *,
    void: Iterable[int] = (),
    ignored: Iterable[int] | Literal["others"] = (),
    part_map: npt.ArrayLike | None = None,
    void_part: int | None = None,
    not_parts: Iterable[int] = (),
    name: str = "labels",
) -> Panoptic:
    """Read one label image with a schema that says which labels belong to which class.

    Parameters
    ----------
    labels
        Label image; 0 is background. Values that no group has are an error.
    groups
        The schema.
    void
        Values that mean unknown.
    ignored
        Values that belong to no class, or ``"others"`` for all that no group has.
    part_map
        Part labels. Without it, the values themselves are the parts of a class that has some.
    void_part, not_parts
        The part label that means unknown, and those that are no parts.
    name
        What to call the image in an error message.

    Examples
    --------
    >>> liver = LabelGroup(SegmentClass(1, "liver", thing=False), (1,))
    >>> lesions = LabelGroup(SegmentClass(2, "lesion"), (2,), instances="components")
    >>> len(from_labels([[1, 1, 2, 0, 2]], [liver, lesions]).arrays)
    2
    """
    schema, unknown = tuple(groups), tuple(void)
    others = () if ignored == "others" else tuple(ignored)
    kinds = check_classes(group.kind for group in schema)
    owner = _owners(schema)
    image = as_labels(labels, name)
    arrays = {name: image}
    by_component = np.array([group.instances == "components" for group in schema])
    if by_component.any():
        arrays["components"] = _components(image, schema, (*unknown, *others))
    if part_map is not None:
        arrays[f"{name}_parts"] = as_labels(part_map, f"{name}_parts")
    check_same_shape(arrays)
    no_parts = tuple(not_parts)

    def decode(columns: tuple[Ints, ...], counts: Ints) -> Meaning:
        numbers = columns[0]
        left_out = np.isin(numbers, [0, *unknown, *others])
        _refuse_negative(numbers, counts, ~left_out, name, "label")
        default = owner.get(None, NO_CLASS)
        at = np.array([owner.get(number, default) for number in numbers.tolist()], np.int64)
        if ignored != "others":
            strange = ~left_out & (at < 0)
            _refuse(numbers, counts, strange, name, "belongs to no class of the schema")
        at = np.where(left_out, NO_CLASS, at)
        instances = np.where((at >= 0) & by_component[at], columns[1 % len(columns)], numbers)
        instances = np.where(are_things(at, kinds), instances, STUFF)
        at = _without_small(at, instances, counts, np.array([g.min_voxels for g in schema]))
        parts = numbers if part_map is None else columns[-1]
        if part_map is not None:
            _refuse_negative(parts, counts, parts != void_part, f"{name}_parts", "part")
        parts = _parts_of_classes(parts, at, kinds, part_map is None, void_part, no_parts)
        nothing = np.zeros(len(numbers), np.bool_)
        return Meaning(at, instances, parts, nothing, np.isin(numbers, unknown))

    return Panoptic(tuple(arrays.values()), kinds, decode)


def _owners(schema: tuple[LabelGroup, ...]) -> dict[int | None, int]:
    """Return the position of the group of every label; None is any other label."""
    owner: dict[int | None, int] = {}
    for at, group in enumerate(schema):
        for value in (None,) if group.labels is None else group.labels:
            if value in owner:
                named = "'all others'" if value is None else value
                raise OptionError(f"groups: the label {named} belongs to more than one class.")
            owner[value] = at
    return owner


def _without_small(at: Ints, instances: Ints, counts: Ints, least: Ints) -> Ints:
    """Return the classes with those of objects below the least size of their class taken away."""
    if (least <= 1).all():
        return at
    _, segment = np.unique(np.stack([at, instances]), axis=1, return_inverse=True)
    sizes = np.bincount(segment.ravel(), counts)[segment.ravel()]
    return np.where((at >= 0) & (sizes < least[at]), NO_CLASS, at)


def _parts_of_classes(
    labels: Ints,
    at: Ints,
    kinds: tuple[SegmentClass, ...],
    same_image: bool,
    void_part: int | None,
    no_parts: tuple[int, ...],
) -> Ints:
    """Return the part of every combination: 0 for none, −1 for unknown.

    Where the label image tells the parts, labels that are no parts of their class are none. In a
    part map they stay, for whoever counts parts to refuse them.
    """
    has_parts = np.array([kind.has_parts for kind in kinds])[at] & (at >= 0)
    parts = np.where(has_parts & ~np.isin(labels, no_parts), labels, 0)
    if same_image:
        known = np.zeros(len(labels), np.bool_)
        for place, kind in enumerate(kinds):
            known |= (at == place) & np.isin(labels, kind.parts)
        parts = np.where(known, parts, 0)
    if void_part is not None:
        parts = np.where(has_parts & (labels == void_part), UNKNOWN_PART, parts)
    return parts


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
        _refuse(ids, counts, (ids != 0) & ~np.isin(ids, listed), name, "is not in the table")
        absent = listed[~np.isin(listed, ids)]
        if len(absent):
            raise LabelError(f"{name}: the table lists segment {absent[0]}, which has 0 voxels.")
        at = np.array([place[table[i][0]] if i else NO_CLASS for i in ids.tolist()], np.int64)
        crowd = np.array([bool(i) and table[i][1] for i in ids.tolist()], np.bool_)
        return Meaning(at, ids, np.zeros_like(ids), crowd, ids == 0)

    return Panoptic((as_labels(segments, name),), kinds, decode)


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
    _refuse(numbers, counts, ~known, name, "is no class")
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
            f"If numbers begin anew in every class, pass numbering='per class'."
        )


def _refuse_negative(numbers: Ints, counts: Ints, among: Mask, name: str, what: str) -> None:
    bad = among & (numbers < 0)
    if bad.any():
        raise LabelError(
            f"{name} holds the negative {what} {numbers[bad][0]} ({int(counts[bad].sum())} voxels "
            f"below 0): numbers begin with 1, and 0 is none."
        )


def _refuse(numbers: Ints, counts: Ints, bad: Mask, name: str, why: str) -> None:
    if bad.any():
        number = int(numbers[bad][0])
        voxels = int(counts[numbers == number].sum())
        raise LabelError(
            f"{name} holds {number} ({voxels} voxels), which {why}. Nothing is guessed: add it, "
            f"or declare it void."
        )


def _components(
    image: LabelArray, schema: tuple[LabelGroup, ...], left_out: tuple[int, ...]
) -> LabelArray:
    """Return components of each class that wants them; classes never share one."""
    found: LabelArray | None = None
    named = [value for group in schema for value in group.labels or ()]
    for group in schema:
        if group.instances == "components":
            if group.labels is None:
                mask = mask_of(image, [0, *left_out, *named], others=True)
            else:
                mask = mask_of(image, group.labels)
            numbered = connected_components(mask, group.connectivity)
            found = numbered if found is None else np.where(numbered > 0, numbered, found)
    assert found is not None
    return found
