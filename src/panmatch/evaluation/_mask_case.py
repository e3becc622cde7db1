"""One class of an image whose masks may share voxels (D16)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from panmatch.evaluation._case_result import MaskCounts
from panmatch.labels import Mask, Masks, SegmentClass
from panmatch.matching import Matcher
from panmatch.overlap import Floats, Overlap, overlap_of
from panmatch.scoring import MaskMeasurer
from panmatch.spec import Spec


@dataclass(frozen=True, eq=False)
class MaskCase:
    """What strategies and metrics of one class work on.

    Attributes
    ----------
    kind
        The class.
    reference, prediction
        All masks of the class; their ids count from 1.
    crowd
        Which references are crowd (D10).
    confidence
        Of each prediction.
    spec
        As for `evaluate`.
    """

    kind: SegmentClass
    reference: Masks
    prediction: Masks
    crowd: Mask
    confidence: Floats
    spec: Spec

    @property
    def name(self) -> str:
        """Name of the class."""
        return self.kind.name

    @property
    def is_disjoint(self) -> bool:
        """Whether objects of one side are known to share no voxels."""
        return False

    @property
    def occurs(self) -> bool:
        """Whether either side has an object of the class."""
        return len(self.overlap.ref_ids) + len(self.overlap.pred_ids) > 0

    @cached_property
    def all_overlap(self) -> Overlap:
        """Overlap of predictions of any confidence."""
        return overlap_of(
            self.reference, self.prediction, crowd=self.crowd, confidence=self.confidence
        )

    @cached_property
    def overlap(self) -> Overlap:
        """Overlap of the predictions above the cut, if there is one."""
        cut = self.spec.cut
        return self.all_overlap if cut is None else self.all_overlap.above_cut(cut)

    def overlap_for(self, _: Matcher) -> Overlap:
        """Return the overlap that a matcher works on."""
        return self.overlap

    def all_for(self, _: Matcher) -> Overlap:
        """Return the same with predictions of any confidence."""
        return self.all_overlap

    def relabelled(self, _: Matcher, __: float) -> Overlap | None:
        """Return None: nothing is known about predictions of other classes."""
        return None

    @cached_property
    def _measurer(self) -> MaskMeasurer:
        return MaskMeasurer(self.reference, self.prediction, self.spec.metrics)

    def measurer_for(self, _: Matcher) -> MaskMeasurer:
        """Return the measurer for the matchings of a matcher."""
        return self._measurer

    @property
    def mask_counts(self) -> MaskCounts:
        """Voxels of the class as one mask on each side, without crowd."""
        overlap = self.overlap
        shape = self.prediction.shape if len(self.prediction) else self.reference.shape
        sides = (
            self.reference.take(overlap.ref_ids - 1).union(),
            self.prediction.take(overlap.pred_ids - 1).union(),
        )
        both = 0
        if len(overlap.ref_ids) and len(overlap.pred_ids):
            both = int(sides[0].shared_with(sides[1])[2].sum())
        ref, pred = (int((one.stop - one.start).sum()) for one in sides)
        voxels = int(np.prod(shape))
        return MaskCounts(self.name, both, pred - both, ref - both, voxels - ref - pred + both)
