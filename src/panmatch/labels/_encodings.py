"""Encodings of images with classes: class maps, COCO segments, Cityscapes and Panoptic Parts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from panmatch.errors import LabelError, check_choice
from panmatch.labels._arrays import MOST_LISTED, Ints, check_same_shape
from panmatch.labels._panoptic import (
    NO_CLASS,
    UNKNOWN_PART,
    Meaning,
    Panoptic,
    SegmentClass,
    are_things,
    check_classes,
    class_places,
    refuse_negative,
    refuse_unknown,
    segment_numbers,
)
from panmatch.labels._volumes import as_volume

# What to do about numbers without a meaning, as templates for `refuse_labels`.
UNLISTED = (
    "If they are classes, add them; if they are background, set such voxels to 0; if they mark "
    "unknown voxels of a reference, pass void={numbers}."
)
UNLISTED_SEGMENTS = (
    "Add them to the table (segments_info of a COCO file), or set their voxels to 0, which is void."
)
UNNUMBERED_THINGS = "Set them to 0 where there is no object."
UNKNOWN_PARTS = (
    "If they mark unknown parts, pass void_part={label}; if they are not parts, set them to 0."
)


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
        Class ids. 0 belongs to no class, unless a class has that id.
    instance_map
        Numbers of objects. They do not matter for stuff. Voxels of a thing class without a number
        (0) are one more object in a prediction and crowd in a reference.
    void
        Class ids that mean unknown. Other ids without a class are an error.
    part_map, void_part
        Part labels, and the one that means unknown.
    numbering
        ``"global"``: an instance number belongs to one class; a number shared by two classes is an
        error. ``"per class"``: every class counts from 1.
    name
        What to call the image in an error message.

    Examples
    --------
    >>> import panmatch as pm
    >>> person, sky = pm.SegmentClass(1, "person"), pm.SegmentClass(2, "sky", thing=False)
    >>> image = pm.from_maps([[1, 1, 2]], [[7, 8, 0]], [person, sky])
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
        numbers, instances = columns[:2]
        known = np.isin(numbers, [0, *(kind.id for kind in kinds), *unknown])
        refuse_unknown(numbers, counts, ~known, name, "not among the classes", UNLISTED)
        places = class_places(numbers, kinds)
        if numbering == "global":
            _check_numbers(places, instances, counts, kinds, name)
        things, image = are_things(places, kinds), arrays["instance_map"]
        called = "instance_map"
        refuse_negative(instances, counts, things, image, called, "instance", UNNUMBERED_THINGS)
        parts = np.zeros_like(numbers)
        if part_map is not None:
            parts, image = columns[2], arrays["part_map"]
            known, called = parts != void_part, "part_map"
            refuse_negative(parts, counts, known, image, called, "part", UNKNOWN_PARTS)
        if void_part is not None:
            parts = np.where(parts == void_part, UNKNOWN_PART, parts)
        segments, unnumbered = segment_numbers(places, instances, kinds), instances == 0
        return Meaning(places, segments, parts, things & unnumbered, np.isin(numbers, unknown))

    return Panoptic(tuple(arrays.values()), kinds, decode)


def from_segments(
    segments: npt.ArrayLike,
    table: Mapping[int, tuple[int, bool]],
    classes: Iterable[SegmentClass],
    *,
    name: str = "segments",
) -> Panoptic:
    """Read an image of segment ids with a table of classes, as in COCO.

    Every id of the table is a separate segment, stuff included. Id 0 is void.

    Parameters
    ----------
    segments
        Segment ids.
    table
        For every id, its class and whether it is crowd. An id that is in the image but not in the
        table, or in the table but not in the image, is an error.
    name
        What to call the image in an error message.

    Examples
    --------
    >>> import panmatch as pm
    >>> segments = {5: (1, False), 9: (1, True)}
    >>> image = pm.from_segments([[5, 5, 9, 0]], segments, [pm.SegmentClass(1)])
    >>> image.classes[0].id
    1
    """
    kinds = check_classes(classes)
    if 0 in table:
        raise LabelError(f"{name}: the table lists segment 0, which is void: give it another id.")
    place = {kind.id: position for position, kind in enumerate(kinds)}
    strange = {i: number for i, (number, _) in table.items() if number not in place}
    if strange:
        raise LabelError(
            f"{name}: the table assigns segments to unknown classes: "
            f"{_some(f'{i} to {number}' for i, number in strange.items())}. The known classes are "
            f"{sorted(place)}."
        )

    def decode(columns: tuple[Ints, ...], counts: Ints) -> Meaning:
        ids = columns[0]
        listed = np.array(sorted([0, *table]), np.int64)
        row = np.minimum(np.searchsorted(listed, ids), len(listed) - 1)
        refuse_unknown(ids, counts, listed[row] != ids, name, "not in the table", UNLISTED_SEGMENTS)
        absent = listed != 0
        absent[row] = False
        if absent.any():
            raise LabelError(
                f"{name}: the table lists segments without a single voxel: "
                f"{_some(listed[absent].tolist())}. Remove them from the table."
            )
        entries = [table.get(i, (NO_CLASS, False)) for i in listed.tolist()]
        places = np.array([place.get(number, NO_CLASS) for number, _ in entries], np.int64)
        crowd = np.array([crowded for _, crowded in entries], np.bool_)
        return Meaning(places[row], ids, np.zeros_like(ids), crowd[row], ids == 0)

    return Panoptic((as_volume(segments, name),), kinds, decode)


def _some(names: Iterable[object]) -> str:
    """Return names as text, the first ten and how many more there are."""
    shown = [str(name) for name in names]
    more = f" and {len(shown) - MOST_LISTED} more" if len(shown) > MOST_LISTED else ""
    return ", ".join(shown[:MOST_LISTED]) + more


def _check_numbers(
    places: Ints, instances: Ints, counts: Ints, kinds: tuple[SegmentClass, ...], name: str
) -> None:
    counted = are_things(places, kinds) & (instances > 0)
    pairs = np.unique(np.stack([instances[counted], places[counted]]), axis=1)
    shared = pairs[0][1:][np.diff(pairs[0]) == 0]
    if len(shared):
        owners = [kinds[a].id for a in pairs[1][pairs[0] == shared[0]].tolist()]
        voxels = int(counts[counted & (instances == shared[0])].sum())
        raise LabelError(
            f"{name}: instance {shared[0]} ({voxels} voxels) is shared by the classes {owners}. "
            f"If every class is numbered separately, pass numbering='per class'."
        )


def from_cityscapes(
    ids: npt.ArrayLike, classes: Iterable[SegmentClass], *, name: str = "ids"
) -> Panoptic:
    """Read Cityscapes panoptic ids: class × 1000 + instance, or the class alone.

    A thing without an instance number is crowd; an id that belongs to no class is void.

    Examples
    --------
    >>> import panmatch as pm
    >>> classes = [pm.SegmentClass(24), pm.SegmentClass(7)]
    >>> image = pm.from_cityscapes([[24000, 24001, 7, 0]], classes)
    >>> len(image.arrays)
    1
    """
    kinds = check_classes(classes)

    def decode(columns: tuple[Ints, ...], _: Ints) -> Meaning:
        number = np.where(columns[0] >= 1000, columns[0] // 1000, columns[0])
        # Instances count from 0 here, segments from 1.
        instance = np.where(columns[0] >= 1000, columns[0] % 1000 + 1, 0)
        return _coded(number, instance, np.zeros_like(number), kinds)

    return Panoptic((as_volume(ids, name),), kinds, decode)


def from_panoptic_parts(
    uids: npt.ArrayLike, classes: Iterable[SegmentClass], *, name: str = "uids"
) -> Panoptic:
    """Read Panoptic Parts uids: class, class + instance or class + instance + part.

    A uid with 2 digits is a class, one with 5 adds the instance (class × 1000 + instance), and one
    with 7 adds the part (class × 10⁵ + instance × 100 + part). Instances count from 0. Part 0 is
    unknown. A thing without an instance number is crowd, and so is an instance that has no part at
    all although its class has parts. An id that belongs to no class is void. In this format a class
    with a single part counts as a class without parts (D9).

    Examples
    --------
    >>> import panmatch as pm
    >>> classes = [pm.SegmentClass(24), pm.SegmentClass(7)]
    >>> image = pm.from_panoptic_parts([[2400101, 24002, 7]], classes)
    >>> len(image.arrays)
    1
    """
    kinds = tuple(
        replace(kind, parts=()) if len(kind.parts) == 1 else kind for kind in check_classes(classes)
    )

    def decode(columns: tuple[Ints, ...], _: Ints) -> Meaning:
        uid = columns[0]
        full, middle = uid >= 100_000, (uid >= 100) & (uid < 100_000)
        number = np.select([full, middle], [uid // 100_000, uid // 1000], uid)
        # Instances count from 0 here, segments from 1.
        instance = np.select([full, middle], [uid // 100 % 1000 + 1, uid % 1000 + 1], 0)
        part = np.where(full & (uid % 100 > 0), uid % 100, UNKNOWN_PART)
        return _without_partless(_coded(number, instance, part, kinds), kinds)

    return Panoptic((as_volume(uids, name),), kinds, decode)


def _coded(number: Ints, instance: Ints, part: Ints, kinds: tuple[SegmentClass, ...]) -> Meaning:
    """Return the meaning of codes in which a thing without an instance number is crowd."""
    places = class_places(number, kinds)
    crowd = are_things(places, kinds) & (instance == 0)
    segments = segment_numbers(places, instance, kinds)
    return Meaning(places, segments, part, crowd, places == NO_CLASS)


def _without_partless(meaning: Meaning, kinds: tuple[SegmentClass, ...]) -> Meaning:
    """Return the meaning with segments that should have parts, but have none, turned into crowd."""
    has_parts = np.array([kind.has_parts for kind in kinds])[meaning.classes]
    has_parts &= meaning.classes >= 0
    keys = meaning.classes * (1 << 32) + meaning.instances
    partless = has_parts & ~np.isin(keys, keys[meaning.parts > 0])
    return replace(meaning, crowd=meaning.crowd | partless)
