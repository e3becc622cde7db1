"""The classes of one case: their overlaps, and their images for what needs to see voxels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from panmatch.evaluation.held import hold
from panmatch.evaluation.sides import Image, Images, Layer, make_layers
from panmatch.labels.chunked.volumes import Volume, as_volume, map_labels
from panmatch.labels.classes import SegmentClass
from panmatch.labels.panoptic import Panoptic
from panmatch.labels.segment_images import SegmentImages
from panmatch.labels.validation import LabelArray
from panmatch.labels.void import is_set, split_void, without_mask
from panmatch.matching import Matcher
from panmatch.overlap import Overlap, count_region_overlaps
from panmatch.overlap.classes import ID_SPAN, count_class_labels
from panmatch.overlap.part_counting import count_part_overlaps
from panmatch.scoring.measurer import Measurer
from panmatch.spec import Spec


@dataclass(frozen=True, eq=False)
class ClassCase:
    """What strategies and metrics of one class work on, each made when it is asked for.

    Attributes
    ----------
    kind, at
        The class, and its position on either side.
    overlap
        Of whole predictions.
    reference_images, prediction_images
        Of the two sides.
    spec, spacing, void, threads
        As for `evaluate`.
    """

    kind: SegmentClass
    at: int
    overlap: Overlap
    reference_images: SegmentImages
    prediction_images: SegmentImages
    spec: Spec
    spacing: npt.ArrayLike | None
    void: npt.ArrayLike | None
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
            void=self._unknown,
            tolerance_mm=options.tolerance_mm,
            boundary_width_mm=options.boundary_width_mm,
            penalty_mm=options.penalty_mm,
            threads=self.threads,
        )

    @cached_property
    def images(self) -> tuple[Volume, Volume]:
        """Ids of the objects of the class, in the reference and in the prediction."""
        return self.reference_images.of_class(self.at), self.prediction_images.of_class(self.at)

    @cached_property
    def _unknown(self) -> Volume | None:
        """Void voxels of the reference and of the mask, not 0; None if there are none."""
        given = None if self.void is None else as_volume(self.void, "void")
        if not self.reference_images.has_void:
            return given
        own = self.reference_images.void
        return own if given is None else map_labels(_either, own, given)

    @cached_property
    def _region_overlap(self) -> Overlap:
        if not self.kind.has_parts:
            return count_region_overlaps(
                *self.images, self.spacing, void=self._unknown, threads=self.threads
            )
        unknown = max(self.kind.parts) + 1
        return count_part_overlaps(
            *self.images,
            self.reference_images.parts_of_class(self.at, unknown),
            self.prediction_images.parts_of_class(self.at, unknown),
            unknown,
            parts=self.kind.parts,
            background=self.spec.part_background,
            void=self._unknown,
            regions=True,
            spacing=self.spacing,
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
    if isinstance(reference.labels, np.ma.MaskedArray):
        if reference.labels.mask is not np.ma.nomask:
            void, _ = split_void(reference.labels, void)
        reference = Images(reference.labels.data, reference.parts)
    if not isinstance(prediction.labels, Panoptic):
        prediction = Images(without_mask(prediction.labels), prediction.parts)
    layers = make_layers(spec, *hold(reference, prediction, spec))
    classes = [one for layer in layers for one in _of_layer(layer, spec, spacing, void, threads)]
    if spec.encoding == "labels":
        return sorted(classes, key=lambda one: one.kind.id)  # as the spec lists them
    return [one for one in classes if one.occurs]


def shape_of(labels: Image) -> tuple[int, ...]:
    """Return the shape of one side."""
    return labels.arrays[0].shape if isinstance(labels, Panoptic) else np.shape(labels)


def _of_layer(
    layer: Layer,
    spec: Spec,
    spacing: npt.ArrayLike | None,
    void: npt.ArrayLike | None,
    threads: int | None,
) -> list[ClassCase]:
    counted = count_class_labels(layer.reference, layer.prediction, void=void, threads=threads)
    overlaps = counted.overlaps(spec.part_background)
    options: dict[str, Any] = {"unnumbered": ID_SPAN - 1, "threads": threads}
    of_ref, of_pred = counted.distinct()
    images = (
        SegmentImages(layer.reference, distinct=of_ref, **options),
        SegmentImages(layer.prediction, crowd=True, distinct=of_pred, **options),
    )
    return [
        ClassCase(kind, at, overlaps[kind.id], *images, spec, spacing, void, threads)
        for at, kind in enumerate(layer.classes)
    ]


def _either(first: LabelArray, second: LabelArray) -> npt.NDArray[np.bool_]:
    return is_set(first) | is_set(second)
