"""One label image with a schema that says which labels belong to which class."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
import numpy.typing as npt

from panmatch.errors import OptionError
from panmatch.labels._arrays import Ints, LabelArray, Mask, check_same_shape, refuse_beyond_int64
from panmatch.labels._combinations import mask_of
from panmatch.labels._components import (
    Connectivity,
    Instances,
    components_within_labels,
    connected_components,
)
from panmatch.labels._panoptic import (
    NO_CLASS,
    UNKNOWN_PART,
    Meaning,
    Panoptic,
    SegmentClass,
    check_classes,
    refuse_negative,
    refuse_unknown,
    segment_numbers,
)
from panmatch.labels._volumes import Volume, as_volume, map_labels

# What to do about labels without a meaning, as templates for `refuse_labels`. Labels that
# `from_labels` ignores are called background in a spec.
MARKERS = "If they mark background, write `background: {numbers}` in the spec, or set them to 0"
UNKNOWN = "; if they mark unknown voxels of a reference, write `void: {numbers}`."
OUTSIDE = (
    "If they are objects, add them to the labels of a class; if they are background, write "
    "`background: {numbers}` in the spec (or pass ignored={numbers} to from_labels), or set them "
    "to 0."
)
PART_MARKERS = (
    "If they are not parts, write `not_parts: {numbers}` in the spec; if they mark unknown parts, "
    "write `void_part: {label}`."
)


@dataclass(frozen=True, slots=True)
class LabelGroup:
    """Which labels of an image belong to a class, and what their values mean.

    A list of these is the schema that `from_labels` takes.

    Attributes
    ----------
    kind, labels
        The class, and its values in the image; None for all values that are not background, void
        or ignored.
    instances, connectivity
        What an object is. ``"ids"``: every value. ``"components"``: every connected component of
        all values together, as for `connected_components`. ``"label-components"``: every
        connected component of each value. Stuff is one segment either way.
    min_voxels
        Smaller objects are background.

    Examples
    --------
    >>> import panmatch as pm
    >>> lesion = pm.LabelGroup(pm.SegmentClass(1, "lesion"), (2,), instances="components")
    >>> image = pm.from_labels([[2, 2, 0, 2, 9]], [lesion], ignored=[9])
    >>> pm.count_class_overlaps(image, image)[1]  # the label 2 has two components
    Overlap(2 references, 2 predictions, 2 edges)
    """

    kind: SegmentClass
    labels: tuple[int, ...] | None
    instances: Instances = "ids"
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
        Label image; 0 is background. A value that belongs to no group is an error.
    groups
        The schema.
    void
        Values that mean unknown.
    ignored
        Values that belong to no class, or ``"others"`` for all values that belong to no group.
    part_map
        Part labels. Without it, the values themselves are the parts of a class that has parts.
    void_part, not_parts
        The part label that means unknown, and labels that are not parts.
    name
        What to call the image in an error message.

    Examples
    --------
    >>> import panmatch as pm
    >>> liver = pm.LabelGroup(pm.SegmentClass(1, "liver", thing=False), (1,))
    >>> lesions = pm.LabelGroup(pm.SegmentClass(2, "lesion"), (2,), instances="components")
    >>> len(pm.from_labels([[1, 1, 2, 0, 2]], [liver, lesions]).arrays)
    2
    """
    schema, unknown = tuple(groups), tuple(void)
    others = () if ignored == "others" else tuple(ignored)
    kinds = check_classes(group.kind for group in schema)
    owner = _owners(schema)
    image = as_volume(labels, name)
    arrays = {name: image}
    by_component = np.array([group.instances != "ids" for group in schema])
    if by_component.any():
        arrays["components"] = _components(image, schema, (*unknown, *others))
    if part_map is not None:
        arrays[f"{name}_parts"] = as_volume(part_map, f"{name}_parts")
    check_same_shape(arrays)
    no_parts = tuple(not_parts)

    def decode(columns: tuple[Ints, ...], counts: Ints) -> Meaning:
        numbers = columns[0]
        left_out = _among(numbers, (0, *unknown, *others))
        default = owner.get(None, NO_CLASS)
        if None in owner:  # otherwise negative labels belong to no class, as others do
            remedy = MARKERS + ("." if name == "prediction" else UNKNOWN)
            refuse_negative(numbers, counts, ~left_out, image, name, "label", remedy)
        places = np.array([owner.get(number, default) for number in numbers.tolist()], np.int64)
        if ignored != "others":
            strange = ~left_out & (places < 0)
            refuse_beyond_int64(numbers, counts, strange, image.dtype, name)
            refuse_unknown(numbers, counts, strange, name, "in no class", OUTSIDE)
        places = np.where(left_out, NO_CLASS, places)
        instances = np.where(
            (places >= 0) & by_component[places], columns[1 % len(columns)], numbers
        )
        instances = segment_numbers(places, instances, kinds)
        places = _without_small(places, instances, counts, np.array([g.min_voxels for g in schema]))
        parts = numbers if part_map is None else columns[-1]
        if part_map is not None:
            known, called = ~_among(parts, no_parts) & (parts != void_part), f"{name}_parts"
            refuse_negative(parts, counts, known, arrays[called], called, "part", PART_MARKERS)
        parts = _parts_of_classes(parts, places, kinds, part_map is None, void_part, no_parts)
        nothing = np.zeros(len(numbers), np.bool_)
        return Meaning(places, instances, parts, nothing, _among(numbers, unknown))

    return Panoptic(tuple(arrays.values()), kinds, decode)


def _among(numbers: Ints, wanted: tuple[int, ...]) -> Mask:
    """Return which numbers are among a few; `np.isin` takes longer to prepare than to compare."""
    if len(wanted) > 1:
        return np.isin(numbers, wanted)
    return numbers == wanted[0] if wanted else np.zeros(len(numbers), np.bool_)


def _owners(schema: tuple[LabelGroup, ...]) -> dict[int | None, int]:
    """Return the position of the group that owns each label; None is any other label."""
    owner: dict[int | None, int] = {}
    for position, group in enumerate(schema):
        for value in (None,) if group.labels is None else group.labels:
            if value in owner:
                named = "'all others'" if value is None else value
                raise OptionError(f"groups: the label {named} belongs to more than one class.")
            owner[value] = position
    return owner


def _without_small(places: Ints, instances: Ints, counts: Ints, least: Ints) -> Ints:
    """Return the classes without objects that are smaller than their class allows."""
    if (least <= 1).all():
        return places
    _, segment = np.unique(np.stack([places, instances]), axis=1, return_inverse=True)
    sizes = np.bincount(segment.ravel(), counts)[segment.ravel()]
    return np.where((places >= 0) & (sizes < least[places]), NO_CLASS, places)


def _parts_of_classes(
    labels: Ints,
    places: Ints,
    kinds: tuple[SegmentClass, ...],
    same_image: bool,
    void_part: int | None,
    no_parts: tuple[int, ...],
) -> Ints:
    """Return the part of every combination: 0 for none, −1 for unknown.

    Where the label image itself holds the parts, labels that are not parts of their class count as
    none. In a part map such labels stay, and counting the parts refuses them later.
    """
    has_parts = np.array([kind.has_parts for kind in kinds])[places] & (places >= 0)
    if not has_parts.any():
        return np.zeros_like(labels)
    parts = np.where(has_parts & ~_among(labels, no_parts), labels, 0)
    if same_image:
        known = np.zeros(len(labels), np.bool_)
        for place, kind in enumerate(kinds):
            known |= (places == place) & _among(labels, kind.parts)
        parts = np.where(known, parts, 0)
    if void_part is not None:
        parts = np.where(has_parts & (labels == void_part), UNKNOWN_PART, parts)
    return parts


def _components(image: Volume, schema: tuple[LabelGroup, ...], left_out: tuple[int, ...]) -> Volume:
    """Return the components of each class that asks for them; classes never share one."""
    components: Volume | None = None
    named = [value for group in schema for value in group.labels or ()]
    for group in schema:
        if group.instances != "ids":
            others = group.labels is None
            labels = [0, *left_out, *named] if group.labels is None else list(group.labels)
            mask = map_labels(partial(mask_of, labels=labels, others=others), image)
            numbered = (
                connected_components(mask, group.connectivity)
                if group.instances == "components"
                else components_within_labels(map_labels(_kept, image, mask), group.connectivity)
            )
            components = (
                numbered if components is None else map_labels(_first_of, numbered, components)
            )
    assert components is not None
    return components


def _kept(labels: LabelArray, mask: LabelArray) -> LabelArray:
    """Return the labels inside a mask, background elsewhere."""
    return np.where(mask, labels, 0)


def _first_of(labels: LabelArray, otherwise: LabelArray) -> LabelArray:
    """Return `labels`, and `otherwise` where they are background."""
    return np.where(labels > 0, labels, otherwise)
