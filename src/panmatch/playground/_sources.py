"""Where the page's numbers come from: overlaps, counted once, with their curves."""

from __future__ import annotations

import base64
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from panmatch.labels import LabelArray, Regions, as_labels, nearest_labels
from panmatch.matching import Budget, ManyToOne, Quality, Strategy
from panmatch.overlap import Overlap, count_part_overlaps, count_region_overlaps
from panmatch.playground._exact_areas import exact_overlap
from panmatch.playground._matching_rows import MatchingGraph
from panmatch.playground._pictures import Sampled, draw_parts, draw_pieces, sample
from panmatch.playground._runs import count_runs
from panmatch.playground._score_rows import LabelPair, curve_row, image_metric_rows, table_row
from panmatch.playground._states import STRATEGIES, PartImage, Scene, Side, View
from panmatch.playground._validation import Message
from panmatch.scoring import Surface, curve, surface

# Proves the optimum of nearly every scene, and stops early on the others. There is no time limit,
# so the same scene has the same numbers on every machine.
BUDGET = Budget(nodes=2_000, seconds=None)
BORDER_STEP = 2  # pixels of the raster per pixel of the picture of borders


def budgeted_strategy(name: str) -> Strategy:
    """Return the strategy of that id, with a budget that keeps the page responsive.

    Examples
    --------
    >>> budgeted_strategy("many-to-one/optimal/edge").budget
    Budget(nodes=2000, seconds=None)
    """
    strategy = STRATEGIES[name]
    if isinstance(strategy, ManyToOne) and strategy.solver == "optimal":
        return replace(strategy, budget=BUDGET)
    return strategy


@dataclass(frozen=True, slots=True, eq=False)
class CountedOverlap:
    """An overlap, and the curves requested so far, which cover every threshold."""

    overlap: Overlap
    _rows: dict[str, tuple[Message, Message]] = field(default_factory=dict, repr=False)
    _surfaces: dict[str, Surface] = field(default_factory=dict, repr=False)

    def rows(self, name: str) -> tuple[Message, Message]:
        """Return the curve of a strategy, and its row of the table, by the strategy's id."""
        if name not in self._rows:
            quality: Quality = "iou" if self.overlap.parts is None else "parts"
            strategy = budgeted_strategy(name).suited_to(self.overlap)
            steps = curve(self.overlap, strategy, quality=quality)
            self._rows[name] = curve_row(name, steps), table_row(name, steps)
        return self._rows[name]

    def surface(self, name: str) -> Surface:
        """Return the surface of a strategy, by its id; predictions must have confidences (D17)."""
        if name not in self._surfaces:
            strategy = budgeted_strategy(name).suited_to(self.overlap)
            self._surfaces[name] = surface(self.overlap, strategy)
        return self._surfaces[name]


class Source(ABC):
    """A scene or a pair of files."""

    def __init__(self) -> None:
        self._counted: dict[object, CountedOverlap] = {}
        self._image_metrics: list[Message] | None = None

    def counted(self, view: View) -> CountedOverlap:
        """Return the overlap that a view asks for; it is counted once."""
        key = view.areas, view.regions, view.background if view.parts else None
        if key not in self._counted:
            self._counted[key] = CountedOverlap(self.with_confidence(self.count(view)))
        return self._counted[key]

    @abstractmethod
    def count(self, view: View) -> Overlap:
        """Count the overlap that a view asks for."""

    @property
    def whole(self) -> Source:
        """The same with all predictions, if some are below a cut."""
        return self

    def with_confidence(self, overlap: Overlap) -> Overlap:
        """Return an overlap with the confidences of the predictions, where there are any."""
        return overlap

    @property
    @abstractmethod
    def images(self) -> LabelPair:
        """Both label images."""

    @property
    def has_image_metrics(self) -> bool:
        """Whether `image_metrics` answers at once."""
        return self._image_metrics is not None

    def image_metrics(self) -> list[Message]:
        """Return the metrics that need to see the voxels; they are computed once."""
        if self._image_metrics is None:
            self._image_metrics = image_metric_rows(self.images)
        return self._image_metrics

    def voronoi_borders(self) -> Message | None:
        """Return the borders of the Voronoi regions, where they can be drawn."""
        return None

    def picture(self, view: View, graph: MatchingGraph) -> Message | None:
        """Return what became of every pixel, where the page draws it: of parts, or of pieces."""
        del view, graph
        return None

    def centre(self, side: Side, number: int) -> list[float] | None:
        """Return the centre of a segment in voxels, where the page does not know it."""
        del side, number
        return None


class DrawnScene(Source):
    """A scene, as the source of all numbers about it; images are painted when they are needed.

    Parameters
    ----------
    scene
        What is drawn.
    before
        The scene before: while predictions are dragged, the Voronoi regions stay.
    """

    def __init__(self, scene: Scene, before: DrawnScene | None = None) -> None:
        super().__init__()
        self.scene = scene
        self._voronoi = _Voronoi()
        if before is not None and before.scene.reference == scene.reference:
            self._voronoi = before._voronoi

    @cached_property
    def images(self) -> LabelPair:
        """Both label images."""
        return LabelPair(*self.scene.label_images())

    @cached_property
    def part_images(self) -> tuple[PartImage, PartImage]:
        """The parts of both sides."""
        return self.scene.part_images()

    def with_confidence(self, overlap: Overlap) -> Overlap:
        """Return an overlap with the confidences of the predictions, if some of them have one."""
        return self.scene.with_confidence(overlap) if self.scene.has_confidence else overlap

    def _by_parts(self, view: View) -> bool:
        return view.parts and self.scene.has_parts

    def count(self, view: View) -> Overlap:
        """Count the overlap that a view asks for, or compute it from geometry.

        If no shape has parts, all of it is part 1, and quality is plain IoU (D9).
        """
        if view.areas == "analytic":
            return exact_overlap(self.scene)
        by_parts = self._by_parts(view)
        if not by_parts and not view.regions:
            return count_runs(*self.scene.label_runs())
        images = self.images.reference, self.images.prediction
        if by_parts:
            return count_part_overlaps(
                *images,
                *self.part_images,
                background=view.background,
                regions=self._regions() if view.regions else None,
            )
        return count_region_overlaps(*images, regions=self._regions())

    def _regions(self) -> Regions:
        if self._voronoi.regions is None:
            labels = nearest_labels(self.images.reference)
            self._voronoi.regions = Regions(labels, (1.0, 1.0), "voronoi")
            self._voronoi.sampled_regions = sample(labels)
        return self._voronoi.regions

    def region_labels(self) -> LabelArray:
        """Return the reference whose Voronoi region each pixel is in."""
        return as_labels(self._regions().image, "regions")

    def voronoi_borders(self) -> Message | None:
        """Return the borders of the Voronoi regions of the references."""
        if self._voronoi.borders is None:
            self._voronoi.borders = draw_voronoi_borders(self.images.reference)
        return self._voronoi.borders

    def picture(self, view: View, graph: MatchingGraph) -> Message | None:
        """Return what became of every pixel, if parts are scored or predictions are cut."""
        by_parts = self._by_parts(view)
        if not by_parts and not view.regions:
            return None
        if self._voronoi.sampled is None:
            self._voronoi.sampled = sample(self.images.reference)
        images = Sampled(
            self._voronoi.sampled,
            sample(self.images.prediction),
            self._voronoi.sampled_regions if view.regions else None,
            (sample(self.part_images[0]), sample(self.part_images[1])) if by_parts else None,
        )
        return draw_parts(images, graph) if by_parts else draw_pieces(images, graph)


@dataclass(slots=True)
class _Voronoi:
    """What was computed from the references of a scene alone."""

    regions: Regions | None = None
    sampled: LabelArray | None = None  # label image, as pictures need it
    sampled_regions: LabelArray | None = None
    borders: Message | None = None


def draw_voronoi_borders(reference: LabelArray) -> Message:
    """Return the pixels at which one Voronoi region ends and another one begins, as a picture.

    Parameters
    ----------
    reference
        Label image with even sides. The regions are those of its blocks of 2 × 2 pixels, each with
        the largest label in it, so no object is lost.
    """
    rows = np.maximum(reference[::BORDER_STEP], reference[1::BORDER_STEP])
    regions = nearest_labels(np.maximum(rows[:, ::BORDER_STEP], rows[:, 1::BORDER_STEP]))
    borders = np.zeros(regions.shape, np.bool_)
    borders[:, :-1] = regions[:, 1:] != regions[:, :-1]
    borders[:-1] |= regions[1:] != regions[:-1]
    bits = base64.b64encode(np.packbits(borders).tobytes()).decode("ascii")
    return {"width": regions.shape[1], "height": regions.shape[0], "bits": bits}
