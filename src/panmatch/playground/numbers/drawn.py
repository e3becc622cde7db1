"""A scene with its images, painted and counted when they are first asked for."""

from __future__ import annotations

from functools import cached_property

from panmatch.overlap import Overlap, count_region_overlaps
from panmatch.overlap.part_counting import count_part_overlaps
from panmatch.playground.drawing.exact_areas import exact_overlap
from panmatch.playground.drawing.scene import Scene
from panmatch.playground.numbers.cell_borders import cell_borders
from panmatch.playground.numbers.counted import Source
from panmatch.playground.numbers.run_counting import count_runs
from panmatch.playground.numbers.voxels import Voxels
from panmatch.playground.plain import Message
from panmatch.playground.states.view import View


class DrawnScene(Source):
    """A scene, as the source of all numbers about it."""

    def __init__(self, scene: Scene) -> None:
        super().__init__()
        self.scene = scene

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
                regions=view.regions,
            )
        return count_region_overlaps(*images)

    def cells(self) -> Message | None:
        """Return the borders of the cells of the references."""
        return self._cells

    @cached_property
    def _cells(self) -> Message:
        return cell_borders(self.voxels.reference)
