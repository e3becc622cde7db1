"""Images whose ids spell class, instance and part in their digits."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from panmatch.labels.chunked.volumes import as_volume
from panmatch.labels.classes import SegmentClass, check_classes
from panmatch.labels.panoptic import (
    NO_CLASS,
    STUFF,
    UNKNOWN_PART,
    Ints,
    Meaning,
    Panoptic,
    are_things,
)


def from_cityscapes(
    ids: npt.ArrayLike, classes: Iterable[SegmentClass], *, name: str = "ids"
) -> Panoptic:
    """Read Cityscapes panoptic ids: class × 1000 + instance, or the class alone.

    A thing without instance is crowd; an id of no class is void.

    Examples
    --------
    >>> image = from_cityscapes([[24000, 24001, 7, 0]], [SegmentClass(24), SegmentClass(7)])
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

    2 digits are a class, 5 add the instance (class × 1000 + instance), 7 the part
    (class × 10⁵ + instance × 100 + part). Part 0 is unknown. A thing without instance is crowd, and
    so is an instance of a class with parts that has no part at all. An id of no class is void. In
    this format a class with a single part counts as one without parts (D9).

    Examples
    --------
    >>> image = from_panoptic_parts([[2400101, 24002, 7]], [SegmentClass(24), SegmentClass(7)])
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
        instance = np.select([full, middle], [uid // 100 % 1000, uid % 1000], 0)
        part = np.where(full & (uid % 100 > 0), uid % 100, UNKNOWN_PART)
        return _without_partless(_coded(number, instance, part, kinds), kinds)

    return Panoptic((as_volume(uids, name),), kinds, decode)


def _coded(number: Ints, instance: Ints, part: Ints, kinds: tuple[SegmentClass, ...]) -> Meaning:
    """Return the meaning of codes in which a thing without instance is crowd."""
    places = {kind.id: at for at, kind in enumerate(kinds)}
    at = np.array([places.get(value, NO_CLASS) for value in number.tolist()], np.int64)
    things = are_things(at, kinds)
    crowd = things & (instance == 0)
    return Meaning(at, np.where(things, instance, STUFF), part, crowd, at == NO_CLASS)


def _without_partless(meaning: Meaning, kinds: tuple[SegmentClass, ...]) -> Meaning:
    """Return the meaning with segments that should have parts, and have none, as crowd."""
    has_parts = np.array([kind.has_parts for kind in kinds])[meaning.classes]
    has_parts &= meaning.classes >= 0
    keys = meaning.classes * (1 << 32) + meaning.instances
    partless = has_parts & ~np.isin(keys, keys[meaning.parts > 0])
    crowd = meaning.crowd | partless
    return Meaning(meaning.classes, meaning.instances, meaning.parts, crowd, meaning.void)
