"""The classes of one case: their overlaps, and their images for what needs to see voxels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from panmatch.errors import OptionError
from panmatch.evaluation.in_memory import load_if_needed
from panmatch.evaluation.sides import Image, Images, Layer, make_layers
from panmatch.labels import (
    Panoptic,
    Regions,
    SegmentClass,
    SegmentImages,
    Void,
    Volume,
    find_regions,
)
from panmatch.overlap import Overlap, count_part_overlaps, count_region_overlaps, count_sides
from panmatch.scoring import Measurer
from panmatch.spec import Matcher, Spec


@dataclass(frozen=True, eq=False)
class ClassCase:
    """What strategies and metrics of one class work on, each computed when it is first needed.

    Attributes
    ----------
    kind, place
        The class, and its position on either side.
    overlap
        Of whole predictions.
    reference_images, prediction_images
        Of the two sides.
    void
        All void voxels: of the reference itself, and of a mask.
    spec, spacing, threads
        As for `evaluate`.
    """

    kind: SegmentClass
    place: int
    overlap: Overlap
    reference_images: SegmentImages
    prediction_images: SegmentImages
    void: Void
    spec: Spec
    spacing: npt.ArrayLike | None
    threads: int | None

    @property
    def name(self) -> str:
        """What to call the class."""
        return self.kind.name or str(self.kind.id)

    @property
    def occurs(self) -> bool:
        """Whether either side has an object of the class."""
        return len(self.overlap.ref_ids) + len(self.overlap.pred_ids) > 0

    def overlap_for(self, matcher: Matcher) -> Overlap:
        """Return the overlap that a matcher works on."""
        return self._region_overlap if matcher.regions else self.overlap

    @cached_property
    def measurer(self) -> Measurer:
        """Measures the objects of the class."""
        options = self.spec.metric_options
        return Measurer(
            *self.images,
            self.spec.metric_objects,
            self.spacing,
            void=self.void,
            regions=self.regions if self._uses_regions else None,
            tolerance=options.tolerance,
            boundary_width=options.boundary_width,
            penalty=options.penalty,
            threads=self.threads,
        )

    @cached_property
    def images(self) -> tuple[Volume, Volume]:
        """Ids of the objects of the class, in the reference and in the prediction."""
        reference, prediction = self.reference_images, self.prediction_images
        return reference.of_class(self.place), prediction.of_class(self.place)

    @cached_property
    def regions(self) -> Regions:
        """Regions of the references: found once, for counting and for measuring (D8)."""
        return find_regions(*self.images, self.spacing, void=self.void, threads=self.threads)

    @property
    def _uses_regions(self) -> bool:
        return any(matcher.regions for matcher in self.spec.matching)

    @cached_property
    def _region_overlap(self) -> Overlap:
        if not self.kind.has_parts:
            return count_region_overlaps(
                *self.images, regions=self.regions, void=self.void, threads=self.threads
            )
        unknown = max(self.kind.parts) + 1
        return count_part_overlaps(
            *self.images,
            self.reference_images.parts_of_class(self.place, unknown),
            self.prediction_images.parts_of_class(self.place, unknown),
            unknown,
            parts=self.kind.parts,
            background=self.spec.part_background,
            regions=self.regions,
            void=self.void,
            threads=self.threads,
        )


def class_cases(
    reference: Images,
    prediction: Images,
    spec: Spec,
    *,
    spacing: npt.ArrayLike | None = None,
    void: npt.ArrayLike | None = None,
    threads: int | None = None,
) -> list[ClassCase]:
    """Return every class of a case, ready to be matched and measured.

    The classes of a spec are there in every case, the many categories of a COCO file where they
    occur. Parameters are those of `evaluate`.
    """
    known = Void.of(reference.labels, prediction.labels, void)
    if known.labels:
        raise OptionError(
            f"void={known.labels[0]} must be a mask of void voxels. If it is a label of the "
            f"reference, list it under `void` in the spec."
        )
    if isinstance(reference.labels, np.ma.MaskedArray):
        reference = Images(reference.labels.data, reference.parts)
    layers = make_layers(spec, *load_if_needed(reference, prediction, spec))
    cases = [case for layer in layers for case in _of_layer(layer, spec, spacing, known, threads)]
    if spec.encoding == "labels":
        return sorted(cases, key=lambda case: case.kind.id)  # as the spec lists them
    return [case for case in cases if case.occurs]


def shape_of(labels: Image) -> tuple[int, ...]:
    """Return the shape of one side."""
    return labels.arrays[0].shape if isinstance(labels, Panoptic) else np.shape(labels)


def _of_layer(
    layer: Layer, spec: Spec, spacing: npt.ArrayLike | None, void: Void, threads: int | None
) -> list[ClassCase]:
    counted = count_sides(layer.reference, layer.prediction, void=void, threads=threads)
    overlaps = counted.overlaps(spec.part_background)
    of_ref, of_pred = counted.distinct()
    images = (
        SegmentImages(layer.reference, distinct=of_ref, threads=threads),
        SegmentImages(layer.prediction, crowd=True, distinct=of_pred, threads=threads),
    )
    whole_void = void.with_mask(images[0].void)
    return [
        ClassCase(kind, place, overlaps[kind.id], *images, whole_void, spec, spacing, threads)
        for place, kind in enumerate(layer.classes)
    ]
