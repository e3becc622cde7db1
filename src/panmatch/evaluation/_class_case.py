"""The classes of one case: their overlaps, and their images for metrics that need voxels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypedDict, TypeVar, Unpack

import numpy as np
import numpy.typing as npt

from panmatch.errors import OptionError
from panmatch.evaluation._case_result import MaskCounts
from panmatch.evaluation._confidences import Confidences, below_cut, confident
from panmatch.evaluation._sides import Image, Images, Layer, make_layers
from panmatch.labels import (
    LabelArray,
    Panoptic,
    Regions,
    SegmentClass,
    SegmentImages,
    Unit,
    Void,
    Volume,
    as_labels,
    bytes_of,
    drop_segments,
    find_regions,
    fits,
    in_gigabytes,
    is_chunked,
    is_masked,
    memory_bytes,
)
from panmatch.matching import Matcher
from panmatch.overlap import (
    ClassOverlaps,
    Overlap,
    SideCounts,
    count_part_overlaps,
    count_region_overlaps,
    count_sides,
)
from panmatch.scoring import Measurer, need_voxels, overlaps_by_right_class
from panmatch.spec import Spec


@dataclass(frozen=True, eq=False)
class ClassCase:
    """What strategies and metrics of one class work on, each computed on first use."""

    kind: SegmentClass  # the class, and its position on either side
    place: int
    overlap: Overlap  # of whole predictions
    reference_images: SegmentImages  # of the two sides
    prediction_images: SegmentImages
    void: Void  # all void voxels: of the reference itself, and of a mask
    known_voxels: int  # how many voxels are not void
    spec: Spec  # as for `evaluate`
    spacing: npt.ArrayLike | None
    unit: Unit | None
    threads: int | None
    layer: LayerOverlaps  # all classes that were counted together
    confidence: Mapping[int, float] | None = None  # of each prediction by id, if known
    uncut: ClassCase | None = None  # the class with the predictions below the cut, if there is one
    _cut_cases: dict[str, _CutCase] = field(default_factory=dict, repr=False)

    @property
    def name(self) -> str:
        """Name of the class."""
        return self.kind.name or str(self.kind.id)

    @property
    def occurs(self) -> bool:
        """Whether either side has an object of the class."""
        return len(self.overlap.ref_ids) + len(self.overlap.pred_ids) > 0

    @property
    def is_disjoint(self) -> bool:
        """Whether objects of one side share no voxels, as in any label image."""
        return True

    @property
    def mask_counts(self) -> MaskCounts:
        """Voxels of the class as one mask on each side, not counting void."""
        overlap = self.overlap
        tp = int(overlap.edges.intersection.sum())
        fp, fn = int(overlap.pred_areas.sum()) - tp, int(overlap.ref_sizes.sum()) - tp
        return MaskCounts(self.name, tp, fp, fn, self.known_voxels - tp - fp - fn)

    def overlap_for(self, matcher: Matcher) -> Overlap:
        """Return the overlap that a matcher works on."""
        return self.overlap if matcher.regions is None else self._cut_by(matcher.regions).overlap

    def all_for(self, matcher: Matcher) -> Overlap:
        """Return the same with predictions of any confidence, also those below the cut."""
        return (self.uncut or self).overlap_for(matcher)

    def with_confidence(self, values: Mapping[int, float]) -> ClassCase:
        """Return the case with the confidence of each prediction."""
        return replace(self, overlap=confident(self.overlap, values), confidence=values)

    def relabelled(self, matcher: Matcher, threshold: float) -> Overlap | None:
        """Return the overlap after predictions get the right class; None if nothing changes.

        Regions would have to be cut again, so nothing is moved there.
        """
        if matcher.regions is not None:
            return None
        return self.layer.by_right_class(matcher, threshold).get(self.kind.id)

    def measurer_for(self, matcher: Matcher) -> Measurer:
        """Return the measurer for the matchings of a matcher; whole predictions share one."""
        rules = [other.regions for other in self.spec.matching if other.regions is not None]
        rule = matcher.regions or next(iter(rules), None)
        return self._measurer if rule is None else self._cut_by(rule).measurer

    def forget_images(self) -> None:
        """Free the painted images: hundreds of classes would have hundreds of images."""
        for name in ("images", "_measurer"):
            self.__dict__.pop(name, None)
        self._cut_cases.clear()
        if self.uncut is not None:
            self.uncut.forget_images()

    @cached_property
    def images(self) -> tuple[Volume, Volume]:
        """Ids of the objects of the class, in the reference and in the prediction."""
        return self.reference_images.of_class(self.place), self.prediction_images.of_class(
            self.place
        )

    @cached_property
    def _measurer(self) -> Measurer:
        return self.make_measurer(None)

    def make_measurer(self, regions: Regions | None) -> Measurer:
        """Return a measurer of objects, and of their pieces if there are regions."""
        options = self.spec.metric_options
        return Measurer(
            *self.images,
            self.spec.metric_objects,
            self.spacing,
            unit=self.unit,
            void=self.void,
            regions=regions,
            tolerance=options.tolerance,
            boundary_width=options.boundary_width,
            penalty=options.penalty,
            threads=self.threads,
        )

    def _cut_by(self, rule: str) -> _CutCase:
        if rule not in self._cut_cases:
            self._cut_cases[rule] = _CutCase(self, rule)
        return self._cut_cases[rule]


@dataclass(frozen=True, eq=False)
class LayerOverlaps:
    """Classes that share no label, and their overlaps once every prediction has the right class."""

    overlaps: ClassOverlaps
    _known: dict[tuple[Matcher, float], dict[int, Overlap]] = field(default_factory=dict)

    def by_right_class(self, matcher: Matcher, threshold: float) -> dict[int, Overlap]:
        """Return the overlaps of the classes that change, by class id."""
        if not len(self.overlaps.across):
            return {}
        key = matcher, threshold
        if key not in self._known:
            matchings = {
                number: matcher.match(overlap, threshold)
                for number, overlap in self.overlaps.items()
            }
            self._known[key] = overlaps_by_right_class(self.overlaps, matchings)
        return self._known[key]


@dataclass(frozen=True, eq=False)
class _CutCase:
    """A class whose predictions are cut by one rule."""

    case: ClassCase
    rule: str

    @cached_property
    def regions(self) -> Regions:
        """Regions of the references: computed once, for counting and measuring (D8)."""
        case = self.case
        return find_regions(
            *case.images, case.spacing, rule=self.rule, void=case.void, threads=case.threads
        )

    @cached_property
    def overlap(self) -> Overlap:
        """Overlap of the pieces."""
        return confident(self._counted(), self.case.confidence)

    def _counted(self) -> Overlap:
        case = self.case
        if not case.kind.has_parts:
            return count_region_overlaps(
                *case.images, regions=self.regions, void=case.void, threads=case.threads
            )
        unknown = max(case.kind.parts) + 1
        return count_part_overlaps(
            *case.images,
            case.reference_images.parts_of_class(case.place, unknown),
            case.prediction_images.parts_of_class(case.place, unknown),
            unknown,
            parts=case.kind.parts,
            background=case.spec.part_background,
            regions=self.regions,
            void=case.void,
            threads=case.threads,
        )

    @cached_property
    def measurer(self) -> Measurer:
        """Measurer of whole objects and pieces."""
        return self.case.make_measurer(self.regions)


class CaseKeywords(TypedDict, total=False):
    """Options of `evaluate` that concern one case, by keyword."""

    spacing: npt.ArrayLike | None
    unit: Unit | None
    void: npt.ArrayLike | None
    threads: int | None
    confidence: Confidences | None


@dataclass(frozen=True, slots=True, eq=False)
class _CaseOptions:
    """The same with their defaults; any other keyword is an error."""

    spacing: npt.ArrayLike | None = None
    unit: Unit | None = None
    void: npt.ArrayLike | None = None
    threads: int | None = None
    confidence: Confidences | None = None


def class_cases(
    reference: Images, prediction: Images, spec: Spec, **options: Unpack[CaseKeywords]
) -> list[ClassCase]:
    """Return every class of a case, ready to be matched and measured.

    The classes of a spec are present in every case, the many categories of a COCO file only where
    they occur. Parameters are those of `evaluate`.
    """
    given = _CaseOptions(**options)
    known = Void.of(reference.labels, prediction.labels, given.void)
    if known.labels:
        raise OptionError(
            f"void={known.labels[0]} must be a mask of void voxels. If it is a label of the "
            f"reference, list it under `void` in the spec."
        )
    if is_masked(reference.labels):
        reference = Images(reference.labels.data, reference.parts)
    layers = make_layers(spec, *load_if_needed(reference, prediction, spec))
    cases = [case for layer in layers for case in _of_layer(layer, spec, known, given)]
    if given.confidence is not None:
        used = {one for case in cases for one in (case.uncut or case).confidence or ()}
        given.confidence.check_ids(used, prediction.labels)
    if spec.encoding == "labels":
        return sorted(cases, key=lambda case: case.kind.id)  # in the order of the spec
    return [case for case in cases if case.occurs]


def shape_of(labels: Image) -> tuple[int, ...]:
    """Return the shape of one side."""
    return labels.arrays[0].shape if isinstance(labels, Panoptic) else np.shape(labels)


def _of_layer(layer: Layer, spec: Spec, void: Void, given: _CaseOptions) -> list[ClassCase]:
    threads = given.threads
    counted = count_sides(layer.reference, layer.prediction, void=void, threads=threads)
    cases = _counted_cases(counted, spec, void, given)
    if spec.confidence is None or given.confidence is None:
        return cases
    how, known = spec.confidence, given.confidence
    scored = [
        case.with_confidence(known.of_class(case, how)) if case.kind.thing else case
        for case in cases
    ]
    if how.cut is None:
        return scored
    dropped = {case.place: below_cut(case.overlap, how.cut) for case in scored if case.kind.thing}
    left = replace(counted, prediction=drop_segments(layer.prediction, dropped))
    return [
        case
        if whole.confidence is None
        else replace(case.with_confidence(whole.confidence), uncut=whole)
        for case, whole in zip(_counted_cases(left, spec, void, given), scored, strict=True)
    ]


def _counted_cases(
    counted: SideCounts, spec: Spec, void: Void, given: _CaseOptions
) -> list[ClassCase]:
    threads = given.threads
    overlaps = counted.overlaps(spec.part_background)
    of_ref, of_pred = counted.sides
    images = (
        SegmentImages(
            counted.reference, distinct=of_ref.distinct, meaning=of_ref.meaning, threads=threads
        ),
        SegmentImages(
            counted.prediction,
            crowd=True,
            distinct=of_pred.distinct,
            meaning=of_pred.meaning,
            threads=threads,
        ),
    )
    together = LayerOverlaps(overlaps)
    whole_void, known_voxels = void.with_mask(images[0].void), counted.known_voxels
    return [
        ClassCase(
            kind,
            place,
            overlaps[kind.id],
            *images,
            whole_void,
            known_voxels,
            spec,
            given.spacing,
            given.unit,
            threads,
            together,
        )
        for place, kind in enumerate(counted.reference.classes)
    ]


T = TypeVar("T")

SMALL_BYTES = 1 << 28  # smaller images are read at once, which is faster than box by box


def load_if_needed(reference: Images, prediction: Images, spec: Spec) -> tuple[Images, Images]:
    """Return both sides, with chunked images read into memory if that is needed, or cheap.

    Metrics that look at voxels need whole images. Everything else can be counted chunk by chunk,
    with the same result. So small images are read into memory, and large ones are not. Dask arrays
    stay where they are.

    Raises
    ------
    OptionError
        If a metric needs images that take more than a quarter of this machine's memory.
    """
    sides = {"reference": reference, "prediction": prediction}
    chunked = [
        image for side in sides.values() for image in (side.labels, side.parts) if is_chunked(image)
    ]
    size = sum(map(bytes_of, chunked))
    by_voxels = [
        *need_voxels((*spec.metric_objects, *spec.whole_objects)),
        *(request.column for request in spec.related),
    ]
    if chunked and by_voxels and not fits(size):
        raise OptionError(_too_large(by_voxels, size))
    if not chunked or not (by_voxels or (size <= SMALL_BYTES and not any(map(_on_dask, chunked)))):
        return reference, prediction
    loaded = [
        Images(_in_memory(side.labels, name), _in_memory(side.parts, f"{name}_parts"))
        for name, side in sides.items()
    ]
    return loaded[0], loaded[1]


def _on_dask(image: object) -> bool:
    return hasattr(image, "__dask_graph__") or bool(getattr(image, "on_dask", False))


def _in_memory(image: T, name: str) -> T | LabelArray:
    return as_labels(image, name) if is_chunked(image) else image


def _too_large(metrics: list[str], size: int) -> str:
    return (
        f"metrics: {', '.join(metrics)} need whole images in memory, but these take "
        f"{in_gigabytes(size)}, more than a quarter of this machine's "
        f"{in_gigabytes(memory_bytes())}. Leave them out of the spec: metrics of counts, centres "
        f"and boxes, such as iou, dice, precision and recall, are computed chunk by chunk."
    )
