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
from panmatch.overlap import Background, Overlap, check_threshold
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

CERTAIN = 1.0  # confidence of a prediction that has none, among others that have one

AnyShape = Disc | Ellipse | Stroke
Layer = tuple[Shape, int]
Shapes = Annotated[tuple[AnyShape, ...], Length(most=MOST_SHAPES)]

# Every strategy with every combination of its options, by the key that links carry.
STRATEGIES: dict[str, Strategy] = {
    strategy.key: strategy for family in FAMILIES.values() for strategy in family.variants()
}
COMPARED = ("one-to-one/optimal", "many-to-one/merge/seed", "one-to-many/best")


@checked
class Scene(Checked):
    """Shapes of the reference and of the prediction on a canvas of 600 × 362 units.

    The label of a shape is its position on its side, counted from 1. A later shape covers an
    earlier one of its own side, and the edge of the canvas cuts all. Where some prediction has a
    confidence, one without it counts as certain: its confidence is 1.

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

    def label_images(self, cut: float | None = None) -> tuple[LabelImage, LabelImage]:
        """Return reference and prediction as label images of 1448 × 2400 pixels.

        With a cut, predictions of a lower confidence are background; they still cover others.
        """
        reference, prediction = (_with_labels(self.shapes(side)) for side in SIDES)
        images = paint_images([reference, self._above(cut, prediction)], np.uint16)
        return images[0], images[1]

    @property
    def has_parts(self) -> bool:
        """Whether some shape has parts."""
        return any(shape.parts for side in SIDES for shape in self.shapes(side))

    def part_images(self, cut: float | None = None) -> tuple[PartImage, PartImage]:
        """Return the parts of both sides: on every pixel the part of the topmost shape (D9).

        A cut is that of `label_images`.
        """
        reference, prediction = (self.shapes(side) for side in SIDES)
        parts = [
            (copy, 0 if self._is_below(cut, shape) else part)
            for shape in prediction
            for part, copy in enumerate(shape.nested(), start=1)
        ]
        images = paint_images([_with_parts(reference), parts], np.uint8)
        return images[0], images[1]

    @property
    def has_confidence(self) -> bool:
        """Whether some prediction has a confidence."""
        return any(shape.confidence is not None for shape in self.prediction)

    def with_confidence(self, overlap: Overlap) -> Overlap:
        """Return an overlap of this scene with the confidence of every prediction (D17).

        Examples
        --------
        >>> import panmatch as pm
        >>> discs = Disc(300, 181, 40, confidence=0.4), Disc(100, 181, 40)
        >>> scene = Scene(reference=discs, prediction=discs)
        >>> scene.with_confidence(pm.count_overlaps(*scene.label_images())).confidence
        array([0.4, 1. ])
        """
        ids = overlap.predictions.ids.tolist()
        return overlap.with_confidence([_confidence(self.prediction[one - 1]) for one in ids])

    def _above(self, cut: float | None, layers: list[Layer]) -> list[Layer]:
        return [(shape, 0 if self._is_below(cut, shape) else value) for shape, value in layers]

    def _is_below(self, cut: float | None, shape: Shape) -> bool:
        return cut is not None and self.has_confidence and _confidence(shape) < cut


def _with_labels(shapes: Sequence[Shape]) -> list[Layer]:
    return [(shape, label) for label, shape in enumerate(shapes, start=1)]


def _with_parts(shapes: Sequence[Shape]) -> list[Layer]:
    return [(copy, part) for shape in shapes for part, copy in enumerate(shape.nested(), start=1)]


def _confidence(shape: Shape) -> float:
    return CERTAIN if shape.confidence is None else shape.confidence


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
    cut
        Only predictions with a confidence of at least this are matched (D17). None keeps all, and
        predictions without confidences are always kept.
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
    cut: Finite | None = None
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
