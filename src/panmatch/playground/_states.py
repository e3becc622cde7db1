"""The state of the playground, which links carry: a scene, and how it is matched and shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Annotated, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from panmatch.errors import OptionError
from panmatch.matching import STRATEGIES as FAMILIES
from panmatch.matching import Strategy
from panmatch.overlap import Background, check_threshold
from panmatch.playground._checks import Bounds, Length, OneOf, Then
from panmatch.playground._runs import Runs, draw_runs, paint_images
from panmatch.playground._shapes import Disc, Ellipse, Shape, Stroke
from panmatch.playground._validation import Checked, Finite, Position, checked

Side = Literal["reference", "prediction"]
LabelImage = npt.NDArray[np.uint16]
PartImage = npt.NDArray[np.uint8]

SIDES: tuple[Side, Side] = ("reference", "prediction")
MOST_SHAPES = 400  # per side
MOST_SCENE_POINTS = 20_000  # of all strokes of both sides

AnyShape = Disc | Ellipse | Stroke
Shapes = Annotated[tuple[AnyShape, ...], Length(most=MOST_SHAPES)]

# Every strategy with every combination of its options, by the key that links carry. Whether parts
# are shown can change at any time, so none of them needs parts.
STRATEGIES: dict[str, Strategy] = {
    strategy.key: strategy
    for family in FAMILIES.values()
    for strategy in family.variants()
    if strategy.quality == "iou"
}
COMPARED = ("one-to-one/optimal", "many-to-one/merge/seed", "one-to-many/best")


@checked
class Scene(Checked):
    """Shapes of the reference and of the prediction on a canvas of 600 × 362 units.

    The label of a shape is its position on its side, counted from 1. A later shape covers an
    earlier one of its own side, and the edge of the canvas cuts all.

    Examples
    --------
    >>> import panmatch as pm
    >>> scene = Scene(reference=[Disc(300, 181, 40)], prediction=[Disc(310, 181, 40)])
    >>> pm.match(pm.count_overlaps(*scene.label_images())).tally.tp
    1
    """

    reference: Shapes = ()
    prediction: Shapes = ()
    width: Literal[600] = field(default=600, repr=False)
    height: Literal[362] = field(default=362, repr=False)
    needed: ClassVar[tuple[str, ...]] = SIDES

    def __post_init__(self) -> None:
        strokes = [shape for shape in self.reference + self.prediction if shape.kind == "stroke"]
        points = sum(len(stroke.points) for stroke in strokes)
        if points > MOST_SCENE_POINTS:
            raise OptionError(
                f"the strokes of the scene have {points:,} points in total; at most "
                f"{MOST_SCENE_POINTS:,} are accepted."
            )

    def shapes(self, side: Side) -> Shapes:
        """Return the shapes of one side."""
        return self.reference if side == "reference" else self.prediction

    def label_runs(self) -> tuple[Runs, Runs]:
        """Return the label images of reference and prediction as runs."""
        reference, prediction = draw_runs([_with_labels(self.shapes(side)) for side in SIDES])
        return reference, prediction

    def label_images(self) -> tuple[LabelImage, LabelImage]:
        """Return reference and prediction as label images of 1448 × 2400 pixels."""
        images = paint_images([_with_labels(self.shapes(side)) for side in SIDES], np.uint16)
        return images[0], images[1]

    @property
    def has_parts(self) -> bool:
        """Whether some shape has parts."""
        return any(shape.parts for side in SIDES for shape in self.shapes(side))

    def part_images(self) -> tuple[PartImage, PartImage]:
        """Return the parts of both sides: on every pixel the part of the topmost shape (D9)."""
        images = paint_images([_with_parts(self.shapes(side)) for side in SIDES], np.uint8)
        return images[0], images[1]


def _with_labels(shapes: Sequence[Shape]) -> list[tuple[Shape, int]]:
    return [(shape, label) for label, shape in enumerate(shapes, start=1)]


def _with_parts(shapes: Sequence[Shape]) -> list[tuple[Shape, int]]:
    return [(copy, part) for shape in shapes for part, copy in enumerate(shape.nested(), start=1)]


def _check_once(names: tuple[str, ...]) -> None:
    for position, name in enumerate(names):
        if name in names[:position]:
            raise OptionError(f"{name!r} is listed twice.")


StrategyName = Annotated[str, OneOf(lambda: list(STRATEGIES))]
Quantity = Literal["pq", "sq", "rq", "ap"]


@checked
class View(Checked):
    """How a scene or a pair of images is matched and shown.

    Attributes
    ----------
    strategy
        Id of the strategy whose matching is shown; a key of `STRATEGIES`.
    compared
        Ids of the strategies whose curves and scores are listed.
    threshold
        In [0, 1); an edge passes if its IoU is strictly greater (D2).
    regions
        Whether the Voronoi regions of the references cut the predictions (D8).
    parts, background
        Whether quality is that of the parts, and whether background counts as one (D9).
    voronoi
        Whether the borders of the Voronoi regions are drawn.
    areas
        ``"raster"``: pixels are counted. ``"analytic"``: exact areas of discs.
    curves
        Which curves are drawn.
    grid
        Whether curves are marked at 0, 0.1 … 0.9 rather than where they change.
    table
        Which score the table shows.
    axis, slice
        Of a 3-D pair of images; None for the middle slice.

    Examples
    --------
    >>> View(strategy="same-id", compared=("union", "same-id"), regions=True).shown_strategies
    ('same-id', 'union')
    """

    strategy: StrategyName = "one-to-one/optimal"
    compared: Annotated[tuple[StrategyName, ...], Then(_check_once)] = COMPARED
    threshold: Finite = 0.5
    regions: bool = False
    parts: bool = False
    background: Background = "image"
    voronoi: bool = False
    areas: Literal["raster", "analytic"] = "raster"
    curves: Annotated[tuple[Quantity, ...], Then(_check_once)] = ("pq",)
    grid: bool = False
    table: Literal["pq", "sq", "rq"] = "pq"
    axis: Annotated[Position, Bounds(le=2)] = 0
    slice: Position | None = None

    def __post_init__(self) -> None:
        check_threshold(self.threshold)
        for key, names in (("strategy", (self.strategy,)), ("compared", self.compared)):
            for name in names:
                if STRATEGIES[name].needs_regions and not self.regions:
                    raise OptionError(
                        f"{key}={name!r} matches everything predicted in a Voronoi region, so it "
                        "needs regions=true."
                    )
        for key in ("regions", "parts"):
            if self.areas == "analytic" and getattr(self, key):
                raise OptionError(
                    f"areas='analytic' works only for whole discs: pass {key}=false, or "
                    f"areas='raster'."
                )

    @property
    def shown_strategies(self) -> tuple[str, ...]:
        """Ids of the chosen strategy and of those compared, each once."""
        return tuple(dict.fromkeys((self.strategy, *self.compared)))


@checked
class State(Checked):
    """A scene and the view of it; the scene is None where a pair of files is open."""

    scene: Scene | None
    view: View = field(default_factory=View)
    format: Annotated[Position, Bounds(ge=1, le=1)] = field(default=1, repr=False)
    needed: ClassVar[tuple[str, ...]] = ("format", "scene")
