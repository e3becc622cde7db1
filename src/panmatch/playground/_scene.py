"""A scene: shapes drawn on one canvas, some as reference, some as prediction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Annotated, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field, model_validator

from panmatch.errors import OptionError
from panmatch.playground._runs import Runs, draw_runs, paint_images
from panmatch.playground._shapes import Disc, Ellipse, Shape, Stroke
from panmatch.playground._validation import Checked, checked, need_keys

Side = Literal["reference", "prediction"]
LabelImage = npt.NDArray[np.uint16]
PartImage = npt.NDArray[np.uint8]

SIDES: tuple[Side, Side] = ("reference", "prediction")
MOST_SHAPES = 400  # per side
MOST_SCENE_POINTS = 20_000  # of all strokes of both sides

AnyShape = Annotated[Disc | Ellipse | Stroke, Field(discriminator="kind")]
Shapes = Annotated[tuple[AnyShape, ...], Field(max_length=MOST_SHAPES)]


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

    @model_validator(mode="before")
    @classmethod
    def _need_both_sides(cls, given: object) -> object:
        return need_keys(given, *SIDES)

    def __post_init__(self) -> None:
        strokes = [shape for shape in self.reference + self.prediction if shape.kind == "stroke"]
        points = sum(len(stroke.points) for stroke in strokes)
        if points > MOST_SCENE_POINTS:
            raise OptionError(
                f"the strokes of a scene have {points:,} points together; at most "
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
