"""From images and a spec to two sides with classes (D1, D9, D10)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy.typing as npt

from panmatch.errors import Argument, OptionError
from panmatch.labels import (
    LabelGroup,
    Panoptic,
    SegmentClass,
    from_cityscapes,
    from_labels,
    from_panoptic_parts,
)
from panmatch.spec import ClassSpec, Spec, label_numbers

Image = npt.ArrayLike | Panoptic


@dataclass(frozen=True, slots=True, eq=False)
class Images:
    """The images of one side.

    Attributes
    ----------
    labels
        Label image, or a `Panoptic`.
    parts
        Part image, if there is one.
    """

    labels: Image
    parts: npt.ArrayLike | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Layer:
    """Classes that share no label, so one pass can count them all."""

    reference: Panoptic
    prediction: Panoptic

    @property
    def classes(self) -> tuple[SegmentClass, ...]:
        """The classes of the layer."""
        return self.reference.classes


def make_layers(spec: Spec, reference: Images, prediction: Images) -> list[Layer]:
    """Read both sides as the spec says; classes that share labels are in different layers."""
    sides = {"reference": reference, "prediction": prediction}
    panoptic = [isinstance(side.labels, Panoptic) for side in sides.values()]
    if all(panoptic):
        if any(side.parts is not None for side in sides.values()):
            raise OptionError(
                Argument("reference_parts"),
                " is given, but Panoptic images already contain their parts: drop it.",
            )
        return [Layer(reference.labels, prediction.labels)]  # type: ignore[arg-type]
    if any(panoptic):
        raise OptionError("reference and prediction must both be Panoptic, or both label images.")
    if spec.encoding == "coco":
        raise OptionError(
            "spec: encoding 'coco' needs a table of segments as well as the image: pass "
            "from_segments(…) on both sides, or evaluate the files with `panmatch evaluate`."
        )
    _check_parts(spec, sides)
    if spec.encoding != "labels":
        read = from_cityscapes if spec.encoding == "cityscapes" else from_panoptic_parts
        kinds = [
            _kind(name, class_spec, class_spec.numbers[0])  # type: ignore[index]
            for name, class_spec in spec.classes.items()
        ]
        return [Layer(*(read(side.labels, kinds, name=name) for name, side in sides.items()))]  # type: ignore[arg-type]
    return [
        Layer(*(_read_layer(spec, names, name, side) for name, side in sides.items()))
        for names in split_classes(spec.classes)
    ]


def split_classes(classes: dict[str, ClassSpec]) -> list[list[str]]:
    """Return the names of classes in groups, with no label twice in a group.

    Examples
    --------
    >>> tumour, core = ClassSpec(labels=[1, 2, 3]), ClassSpec(labels=[1, 3])
    >>> split_classes({"tumour": tumour, "core": core, "vessel": ClassSpec(labels=7)})
    [['tumour', 'vessel'], ['core']]
    """
    groups: list[tuple[list[str], set[int] | None]] = []  # None: all labels are taken
    for name, class_spec in classes.items():
        wanted = class_spec.numbers
        for names, taken in groups:
            if wanted is not None and taken is not None and taken.isdisjoint(wanted):
                names.append(name)
                taken.update(wanted)
                break
        else:
            groups.append(([name], None if wanted is None else set(wanted)))
    return [names for names, _ in groups]


def _read_layer(spec: Spec, names: list[str], side_name: str, side: Images) -> Panoptic:
    here = {label for name in names for label in spec.classes[name].numbers or ()}
    others = [class_spec.numbers for name, class_spec in spec.classes.items() if name not in names]
    background = set(spec.background_labels)
    ignored: set[int] | Literal["others"] = "others"
    if any(spec.classes[name].numbers is None for name in names):
        ignored = background  # all other labels belong to the class
    elif None not in others and spec.background != "others":
        elsewhere = {label for labels in others for label in labels or ()}
        ignored = (elsewhere | background) - here
    order = list(spec.classes)
    groups = [
        LabelGroup(
            _kind(name, spec.classes[name], order.index(name) + 1),
            spec.classes[name].numbers,
            spec.classes[name].instances,
            spec.classes[name].connectivity,
            spec.classes[name].min_voxels,
        )
        for name in names
    ]
    return from_labels(
        side.labels,  # type: ignore[arg-type]
        groups,
        void=label_numbers(spec.void),
        ignored=ignored,
        part_map=side.parts,
        void_part=spec.void_part,
        not_parts=label_numbers(spec.not_parts),
        name=side_name,
    )


def _kind(name: str, class_spec: ClassSpec, number: int) -> SegmentClass:
    return SegmentClass(number, name, class_spec.kind == "things", label_numbers(class_spec.parts))


def _check_parts(spec: Spec, sides: dict[str, Images]) -> None:
    given = {name: side.parts is not None for name, side in sides.items()}
    if len(set(given.values())) > 1:
        missing = next(name for name, there in given.items() if not there)
        raise OptionError(
            Argument(f"{missing}_parts"),
            " is missing: pass part images on both sides, or on neither.",
        )
    if any(given.values()):
        if not spec.has_parts or spec.encoding != "labels":
            raise OptionError(
                Argument("reference_parts"),
                " is given, but no class of the spec has parts to read from it: add `parts` to a "
                "class.",
            )
        return
    for name, class_spec in spec.classes.items():
        parts = label_numbers(class_spec.parts)
        strays = set(parts) - set(class_spec.numbers or parts)
        if strays and spec.encoding == "labels":
            raise OptionError(
                f"classes.{name}: the parts {sorted(strays)} are not labels of the class, so they "
                f"must be in part images: pass ",
                Argument("reference_parts"),
                " and ",
                Argument("prediction_parts"),
                ".",
            )
