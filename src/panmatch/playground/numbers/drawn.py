"""A scene with its images, painted and counted when they are first asked for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from panmatch.labels import Regions, nearest_labels
from panmatch.overlap import Overlap, count_part_overlaps, count_region_overlaps
from panmatch.playground.drawing.exact_areas import exact_overlap
from panmatch.playground.drawing.scene import Scene
from panmatch.playground.numbers.cell_borders import cell_borders
from panmatch.playground.numbers.counted import Source
from panmatch.playground.numbers.run_counting import count_runs
from panmatch.playground.numbers.voxels import Voxels
from panmatch.playground.plain import Message
from panmatch.playground.states.view import View


@dataclass(slots=True)
class _OfReferences:
    """What was computed from the references of a scene alone."""

    regions: Regions | None = None
    borders: Message | None = None


class DrawnScene(Source):
    """A scene, as the source of all numbers about it.

    Parameters
    ----------
    scene
        What is drawn.
    before
        The scene before: while predictions are dragged, the cells of the references stay.
    """

    def __init__(self, scene: Scene, before: DrawnScene | None = None) -> None:
        super().__init__()
        self.scene = scene
        self._of_references = _OfReferences()
        if before is not None and before.scene.reference == scene.reference:
            self._of_references = before._of_references

    @cached_property
    def voxels(self) -> Voxels:
        """Both label images."""
        return Voxels(*self.scene.label_images())

    def count(self, view: View) -> Overlap:
        """Count the overlap that a view asks for, or compute it from geometry.

        Where no shape has parts, all of it is part 1, and quality is the plain IoU (D9).
        """
        if view.areas == "analytic":
            return exact_overlap(self.scene)
        if not view.parts and not view.regions:
            return count_runs(*self.scene.label_runs())
        images = self.voxels.reference, self.voxels.prediction
        if view.parts:
            return count_part_overlaps(
                *images,
                *self.scene.part_images(),
                background=view.background,
                regions=self._regions() if view.regions else None,
            )
        return count_region_overlaps(*images, regions=self._regions())

    def cells(self) -> Message | None:
        """Return the borders of the cells of the references."""
        known = self._of_references
        if known.borders is None:
            known.borders = cell_borders(self.voxels.reference)
        return known.borders

    def _regions(self) -> Regions:
        known = self._of_references
        if known.regions is None:
            known.regions = Regions(nearest_labels(self.voxels.reference), (1.0, 1.0), "voronoi")
        return known.regions
