"""Labels that are evaluated together."""

from __future__ import annotations

import logging
import operator
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

import numpy as np
from yaml import Node

from panmatch.compat.panoptica._config import Saved, config_node
from panmatch.errors import CallError, LabelError, OptionError
from panmatch.labels import LabelArray, as_labels, mask_of
from panmatch.spec import UNGROUPED, PanopticaConfig, PanopticaGroup

logger = logging.getLogger("panmatch.compat.panoptica")
RESERVED = ("-", "_inst_")  # they separate names in tables


class LabelGroup:
    """Labels that are objects of one class.

    Parameters
    ----------
    value_labels
        One label or several, all above 0.
    single_instance
        Whether the label is one object, which is matched without a threshold.

    Examples
    --------
    >>> import numpy as np
    >>> LabelGroup([2, 3])(np.array([1, 2, 3])).tolist()
    [0, 2, 3]
    """

    _kind: ClassVar[str] = "LabelGroup"

    def __init__(self, value_labels: Sequence[int] | int, single_instance: bool = False) -> None:
        labels = _as_labels(value_labels, "value_labels")
        self.plain = PanopticaGroup(labels, single_instance=_single(single_instance, labels))

    @property
    def value_labels(self) -> list[int]:
        """All labels, rising."""
        return list(self.plain.labels)

    @property
    def single_instance(self) -> bool:
        """Whether the group is one object."""
        return self.plain.single_instance

    def extract_label(self, array: LabelArray, set_to_binary: bool = False) -> LabelArray:
        """Return the image without other labels; in a binary one, those that stay become 1.

        Things and their parts keep their labels in any case.
        """
        kept = mask_of(as_labels(array, "array"), self.value_labels)
        if set_to_binary and self.plain.kind != "parts":
            return kept.astype(np.asarray(array).dtype)
        return np.where(kept, array, 0)

    def __call__(self, array: LabelArray) -> LabelArray:
        return self.extract_label(array, set_to_binary=self.plain.kind == "merged")

    def __str__(self) -> str:
        return f"{self._kind} {self.value_labels}, single_instance={self.single_instance}"

    def __repr__(self) -> str:
        return str(self)


class LabelMergeGroup(LabelGroup):
    """Labels that count as one mask.

    Examples
    --------
    >>> import numpy as np
    >>> LabelMergeGroup([2, 3])(np.array([1, 2, 3])).tolist()
    [0, 1, 1]
    """

    def __init__(self, value_labels: Sequence[int] | int, single_instance: bool = False) -> None:
        labels = _as_labels(value_labels, "value_labels")
        single = _single(single_instance, labels)
        self.plain = PanopticaGroup(labels, "merged", single_instance=single)

    def __str__(self) -> str:
        return f"LabelMergeGroup {self.value_labels} -> ONE, single_instance={self.single_instance}"


class LabelPartGroup(LabelGroup):
    """Things with their parts: an object is a connected component of all labels together."""

    def __init__(
        self,
        thing_labels: Sequence[int] | int,
        part_labels: Sequence[int] | int,
        single_instance: bool = False,
    ) -> None:
        things = _as_labels(thing_labels, "thing_labels")
        parts = _as_labels(part_labels, "part_labels")
        if both := sorted({*things} & {*parts}):
            raise OptionError(f"part_labels={list(parts)} and thing_labels share {both}.")
        every = tuple(sorted((*things, *parts)))
        self.plain = PanopticaGroup(every, "parts", parts, _single(single_instance, every))

    @property
    def thing_labels(self) -> list[int]:
        """Labels of the things."""
        return [label for label in self.plain.labels if label not in self.plain.parts]

    @property
    def part_labels(self) -> list[int]:
        """Labels of the parts."""
        return list(self.plain.parts)

    @property
    def thing_label(self) -> int:
        """The first label of the things."""
        return self.thing_labels[0]

    def __str__(self) -> str:
        return (
            f"LabelPartGroup Things: {self.thing_labels}, Parts: {self.part_labels}, "
            f"single_instance={self.single_instance}"
        )


class AnyLabelGroup(LabelGroup):
    """All labels that occur."""

    def __init__(self) -> None:
        self.plain = PanopticaGroup()

    def __call__(self, array: LabelArray) -> LabelArray:
        return array.copy()

    def __str__(self) -> str:
        return "LabelGroupAny"


def group_of(plain: PanopticaGroup) -> LabelGroup:
    """Return the object for a group of a configuration."""
    if plain.kind == "parts":
        things = [label for label in plain.labels if label not in plain.parts]
        return LabelPartGroup(things, list(plain.parts), plain.single_instance)
    kind = LabelMergeGroup if plain.kind == "merged" else LabelGroup
    return kind(plain.labels, plain.single_instance) if plain.labels else AnyLabelGroup()


class SegmentationClassGroups(Saved):
    """Groups by name, in lower case; those of a list are called ``group_0`` and so on.

    Examples
    --------
    >>> groups = SegmentationClassGroups({"Bone": LabelGroup([1, 2]), "sacrum": (26, True)})
    >>> groups.keys(), groups["sacrum"].single_instance, groups.labels
    (['bone', 'sacrum'], True, [1, 2, 26])
    """

    def __init__(
        self,
        groups: Sequence[LabelGroup] | Mapping[str, LabelGroup | tuple[list[int] | int, bool]],
    ) -> None:
        named = (
            groups
            if isinstance(groups, Mapping)
            else {f"group_{i}": group for i, group in enumerate(groups)}
        )
        if not named:
            raise OptionError("groups is empty: pass at least one group.")
        self._groups: dict[str, LabelGroup] = {}
        for name, group in named.items():
            lower = checked_group_name(name)
            if lower in self._groups:
                raise OptionError(
                    f"groups: names are compared in lower case, and there are two groups "
                    f"{lower!r}. Rename {name!r}."
                )
            self._groups[lower] = _as_group(name, group)
        uses = Counter(label for group in self._groups.values() for label in group.value_labels)
        self.labels = list(uses)
        if twice := [label for label, n in uses.items() if n > 1]:
            logger.warning("Labels %s are in more than one group and evaluated in each.", twice)

    @property
    def plain(self) -> dict[str, PanopticaGroup] | None:
        """The groups as they are written in configurations."""
        return {name: group.plain for name, group in self._groups.items()}

    @classmethod
    def _from_config(cls, config: PanopticaConfig) -> SegmentationClassGroups:
        return groups_of(config)

    def _as_node(self) -> Node:
        return config_node(PanopticaConfig(expected_input=None, groups=self.plain))

    def has_defined_labels_for(
        self, arr: LabelArray | Sequence[int], raise_error: bool = False
    ) -> bool:
        """Return whether all labels of an image, or of a list, belong to a group."""
        background = {0} if isinstance(arr, np.ndarray) else set()
        undefined = sorted({*np.unique(np.asarray(arr)).tolist()} - background - {*self.labels})
        if undefined and raise_error:
            raise undefined_label(undefined[0], self)
        return not undefined

    def __str__(self) -> str:
        lines = [f"\n - {name} : {group}" for name, group in self._groups.items()]
        return f"SegmentationClassGroups = {''.join(lines)}"

    def __contains__(self, name: object) -> bool:
        return name in self._groups

    def __getitem__(self, name: str) -> LabelGroup:
        return self._groups[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._groups)

    def keys(self) -> list[str]:
        """Return the names."""
        return list(self._groups)

    def items(self) -> Iterator[tuple[str, LabelGroup]]:
        """Yield names and groups."""
        yield from self._groups.items()


class NoSegmentationClassGroups(SegmentationClassGroups):
    """All labels are one group."""

    def __init__(self) -> None:
        self._groups = {UNGROUPED: AnyLabelGroup()}
        self.labels = []

    @property
    def plain(self) -> None:
        """Nothing: that is how configurations write it."""
        return

    def has_defined_labels_for(
        self,
        arr: LabelArray | Sequence[int],  # noqa: ARG002
        raise_error: bool = False,  # noqa: ARG002
    ) -> bool:
        """Return True: every label belongs to the group."""
        return True

    def __str__(self) -> str:
        return "NoSegmentationClassGroups"


def _as_group(name: object, given: object) -> LabelGroup:
    if isinstance(given, LabelGroup):
        return given
    if isinstance(given, tuple) and len(given) == 2:
        return LabelGroup(*given)
    raise CallError(
        f"groups: {name!r} is {given!r}. Write a LabelGroup, or a pair of labels and whether they "
        f"are a single instance, such as ([1, 2], False)."
    )


def groups_of(config: PanopticaConfig) -> SegmentationClassGroups:
    """Return the groups of a configuration."""
    if config.groups is None:
        return NoSegmentationClassGroups()
    return SegmentationClassGroups({name: group_of(one) for name, one in config.groups.items()})


def checked_group_name(name: object) -> str:
    """Return the name in lower case, unless tables cannot hold it."""
    lower = str(name).lower()
    if not lower.strip() or any(part in lower for part in RESERVED):
        raise OptionError(
            f"groups: the name {name!r} must not be empty, and must contain neither '-' nor "
            f"'_inst_', which separate names in tables."
        )
    return lower


def undefined_label(label: int, groups: SegmentationClassGroups) -> LabelError:
    """Return the error for a label that belongs to no group."""
    return LabelError(
        f"segmentation_class_groups: the images have the label {label}, which is in no group. Add "
        f"it to a group, or remove it from the images. {groups}"
    )


def _as_labels(labels: Sequence[int] | int, argument: str) -> tuple[int, ...]:
    try:
        found = sorted({operator.index(one) for one in np.atleast_1d(np.asarray(labels)).tolist()})
    except TypeError:
        found = []
    if not found or found[0] < 1:
        raise OptionError(f"{argument}={labels!r} must be one or more whole numbers above 0.")
    return tuple(found)


def _single(single_instance: bool, labels: tuple[int, ...]) -> bool:
    if single_instance and len(labels) > 1:
        raise OptionError(
            f"single_instance=True needs exactly one label, but the group has {list(labels)}: make "
            f"one group for each."
        )
    return bool(single_instance)
