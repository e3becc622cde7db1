"""One class of one case: its overlaps, and its images for what needs to see voxels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from panmatch.labels.chunked.volumes import Volume, as_volume, map_labels
from panmatch.labels.classes import SegmentClass
from panmatch.labels.segment_images import SegmentImages
from panmatch.labels.validation import LabelArray
from panmatch.labels.void import is_set
from panmatch.overlap import Overlap, count_region_overlaps
from panmatch.overlap.part_counting import count_part_overlaps
from panmatch.scoring.measurer import Measurer
from panmatch.spec import Matcher, Spec


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


def _either(first: LabelArray, second: LabelArray) -> npt.NDArray[np.bool_]:
    return is_set(first) | is_set(second)
