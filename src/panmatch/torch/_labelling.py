"""What the numbers in a batch of label tensors mean."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt
from torch import Tensor

from panmatch.errors import LabelError, OptionError, PanmatchError, ShapeError, check_choice
from panmatch.labels import (
    REGION_RULES,
    LabelGroup,
    Panoptic,
    SegmentClass,
    Void,
    check_classes,
    check_is_label_tensor,
    from_labels,
    from_maps,
)
from panmatch.overlap import (
    ClassOverlaps,
    Overlap,
    count_class_overlaps,
    count_overlaps,
    count_region_overlaps,
)

Instances = Literal["ids", "components"]
Image: TypeAlias = "npt.NDArray[np.generic] | Tensor"

OBJECT = SegmentClass(1, "object")


@dataclass(frozen=True, slots=True)
class Labelling:
    """How tensors of labels are read; see `PanopticMatching`."""

    classes: tuple[SegmentClass, ...] | None  # None where every object is of the same kind
    instances: Instances
    void: tuple[int, ...]
    regions: str | None = None  # by which rule predictions are cut
    spacing: tuple[float, ...] | None = None

    @classmethod
    def of(
        cls,
        classes: Iterable[SegmentClass] | None,
        instances: Instances,
        void: int | Iterable[int],
    ) -> Labelling:
        """Check the options of a metric and return what they mean."""
        check_choice("instances", instances, get_args(Instances))
        unknown = (void,) if isinstance(void, int | np.integer) else tuple(void)
        kinds = None if classes is None else check_classes(classes)
        _check_kinds(kinds or (), instances, unknown)
        return cls(kinds, instances, unknown)

    def in_regions(self, rule: str | None, spacing: Iterable[float] | None) -> Labelling:
        """Return the labelling with predictions cut by regions of the targets; None for whole."""
        if rule is None:
            if spacing is not None:
                raise OptionError(
                    "spacing is only used to cut predictions by regions: pass regions='voronoi' "
                    "as well."
                )
            return self
        check_choice("regions", rule, REGION_RULES)
        if self.classes is not None or self.instances != "ids":
            raise OptionError(
                f"regions={rule!r} needs numbered objects of one kind: leave out classes, and pass "
                f"instances='ids'. For other images use panmatch.Evaluator."
            )
        return replace(self, regions=rule, spacing=None if spacing is None else tuple(spacing))

    @property
    def kinds(self) -> tuple[SegmentClass, ...]:
        """All classes; without any, the one that every object belongs to."""
        return self.classes or (OBJECT,)

    @property
    def no_segments(self) -> Overlap:
        """The overlap of images without objects."""
        if self.regions is None:
            return Overlap.from_dense(np.zeros((0, 0), np.int64), [], [])
        return count_region_overlaps([0], [0])

    @property
    def holds_pairs(self) -> bool:
        """Whether the last axis of tensors holds class and number."""
        return self.classes is not None and self.instances == "ids"

    def count(self, preds: Tensor, target: Tensor, void: Tensor | None) -> Iterator[ClassOverlaps]:
        """Yield the overlaps of every image of a batch.

        This is where labels leave torch. Numbered objects on a CUDA device are counted there if
        CuPy is installed; all other tensors are copied to the host, one batch at a time.
        """
        self.check(preds, target, void)
        given = [target, preds] if void is None else [target, preds, void]
        one_device = target.is_cuda and {tensor.device for tensor in given} == {target.device}
        stay = one_device and self.holds_plain_ids and _has_cupy()
        batch = given if stay else [tensor.cpu().numpy() for tensor in given]
        for position, images in enumerate(zip(*batch, strict=True)):
            try:
                cut = self.regions is not None
                yield self._count_in_regions(*images) if cut else self._count(*images)
            except PanmatchError as error:
                error.add_note(f"This happened in image {position} of the batch.")
                raise

    def _count_in_regions(
        self, reference: Image, prediction: Image, void: Image | None = None
    ) -> ClassOverlaps:
        overlap = count_region_overlaps(
            reference, prediction, self.spacing,
            rule=self.regions or "", void=Void(self.void, void),
        )  # fmt: skip
        return ClassOverlaps.of_one(self.kinds[0], overlap)

    def check(self, preds: Tensor, target: Tensor, void: Tensor | None) -> None:
        """Raise a `LabelError` or `ShapeError` unless the tensors can be read."""
        _check_integers("preds", preds)
        _check_integers("target", target)
        if preds.shape != target.shape:
            raise ShapeError(
                f"preds has shape {tuple(preds.shape)} but target has shape "
                f"{tuple(target.shape)}; both must lie on the same grid."
            )
        shape = tuple(preds.shape)
        if self.holds_pairs and (len(shape) < 3 or shape[-1] != 2):
            raise ShapeError(
                f"preds and target have shape {shape}, but with classes they must be "
                f"[B, *spatial, 2]: the last axis holds class and instance. For class maps whose "
                f"connected components are the objects, pass instances='components'."
            )
        if len(shape) < 2:
            raise ShapeError(
                f"preds and target have shape {shape}, but must be [B, *spatial]: a batch of "
                f"label images. Add the batch axis with unsqueeze(0)."
            )
        grid = shape[:-1] if self.holds_pairs else shape
        if void is not None:
            _check_integers("void", void)
            if tuple(void.shape) != grid:
                raise ShapeError(f"void has shape {tuple(void.shape)}, but the images have {grid}.")

    @property
    def holds_plain_ids(self) -> bool:
        """Whether tensors hold the numbers of objects, and nothing else."""
        return self.classes is None and self.instances == "ids"

    def _count(
        self, reference: Image, prediction: Image, void: Image | None = None
    ) -> ClassOverlaps:
        if self.holds_plain_ids:
            overlap = count_overlaps(reference, prediction, Void(self.void, void))
            return ClassOverlaps.of_one(self.kinds[0], overlap)
        both = self.read(reference, "target"), self.read(prediction, "preds")
        return count_class_overlaps(*both, void=void)

    def read(self, image: Image, name: str) -> Panoptic:
        """Return an image with what its numbers mean, for `name` ``"target"`` or ``"preds"``."""
        if self.holds_pairs:
            maps = image[..., 0], image[..., 1]
            return from_maps(*maps, self.kinds, void=self.void, numbering="per class", name=name)
        groups = [
            LabelGroup(kind, None if self.classes is None else (kind.id,), self.instances)
            for kind in self.kinds
        ]
        known = self.classes is None and name == "preds"  # what it predicts is an object
        return from_labels(image, groups, void=() if known else self.void, name=name)


def _has_cupy() -> bool:
    return find_spec("cupy") is not None


def _check_integers(name: str, tensor: object) -> None:
    if not isinstance(tensor, Tensor):
        raise LabelError(
            f"{name} is a {type(tensor).__name__}, not a torch.Tensor: pass "
            f"torch.as_tensor({name})."
        )
    check_is_label_tensor(tensor, name)


def _check_kinds(
    kinds: tuple[SegmentClass, ...], instances: Instances, void: tuple[int, ...]
) -> None:
    for kind in kinds:
        if kind.has_parts:
            raise OptionError(
                f"classes: class {kind.id} has parts, but label tensors hold no parts. Remove "
                f"them, or use panmatch.Evaluator, which accepts part images."
            )
        if kind.id in void:
            raise OptionError(
                f"classes: class {kind.id} is also listed under void. Remove it from one of them."
            )
        if kind.id == 0 and instances == "components":
            raise OptionError(
                "classes: label 0 is background in class maps, so no class can have it. Use "
                "another id."
            )
    names = [key_of(kind) for kind in kinds]
    twice = [name for position, name in enumerate(names) if name in names[:position]]
    if twice:
        raise OptionError(f"classes: more than one class has the name {twice[0]!r}.")


def key_of(kind: SegmentClass) -> str:
    """Return what a class is called in the names of scores: its name, or else its id."""
    return kind.name or str(kind.id)
