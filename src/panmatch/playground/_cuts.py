"""What is left of a scene or a pair above a confidence cut, as the source of all numbers (D17)."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from panmatch.labels import as_labels
from panmatch.overlap import Overlap
from panmatch.playground._score_rows import LabelPair
from panmatch.playground._sources import DrawnScene, Source
from panmatch.playground._states import PartImage, Side, View


def source_at(whole: Source, view: View) -> Source:
    """Return a source without what is below the cut of a view; as it is if nothing is below."""
    cut = view.cut
    confidence = whole.counted(replace(view, parts=False)).overlap.confidence
    if cut is None or confidence is None or not (confidence < cut).any():
        return whole
    return CutScene(whole, cut) if isinstance(whole, DrawnScene) else CutPair(whole, cut)


class CutScene(DrawnScene):
    """A scene above a cut.

    Parameters
    ----------
    whole
        The scene, with all predictions.
    cut
        The lowest confidence that is kept.
    """

    def __init__(self, whole: DrawnScene, cut: float) -> None:
        super().__init__(whole.scene, whole)
        self._whole, self._cut = whole, cut

    @property
    def whole(self) -> DrawnScene:
        """The scene with all predictions."""
        return self._whole

    @cached_property
    def images(self) -> LabelPair:
        """Both label images; what is below the cut is background."""
        return LabelPair(*self.scene.label_images(self._cut))

    @cached_property
    def part_images(self) -> tuple[PartImage, PartImage]:
        """The parts of both sides; what is below the cut is background."""
        return self.scene.part_images(self._cut)

    def count(self, view: View) -> Overlap:
        """Count parts on what is left; anything else was counted on the whole scene."""
        if view.parts and self.scene.has_parts:
            return super().count(view)
        return self._whole.counted(view).overlap.above_cut(self._cut)


class CutPair(Source):
    """A pair of files above a cut; see `CutScene`."""

    def __init__(self, whole: Source, cut: float) -> None:
        super().__init__()
        self._whole, self._cut = whole, cut

    @property
    def whole(self) -> Source:
        """The pair with all predictions."""
        return self._whole

    @cached_property
    def images(self) -> LabelPair:
        """Both label images; what is below the cut is background."""
        images, kept = self._whole.images, self.counted(View()).overlap.predictions.ids
        prediction = np.where(np.isin(images.prediction, kept), images.prediction, 0)
        labels = as_labels(prediction.astype(images.prediction.dtype), "prediction")
        return LabelPair(images.reference, labels, images.spacing, images.void)

    def count(self, view: View) -> Overlap:
        """Return what is left of the overlap that a view asks for."""
        return self._whole.counted(view).overlap.above_cut(self._cut)

    def centre(self, side: Side, number: int) -> list[float] | None:
        """Return the centre of a segment in voxels."""
        return self._whole.centre(side, number)
