"""A scene: shapes drawn on one canvas, some as reference, some as prediction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from panmatch.errors import OptionError
from panmatch.playground.checks import as_mapping, check_keys, inside, ordinal, shown
from panmatch.playground.drawing.canvas import HEIGHT, MOST_SCENE_POINTS, MOST_SHAPES, WIDTH
from panmatch.playground.drawing.raster import Runs, draw_runs, paint_images
from panmatch.playground.drawing.shapes import Shape, Stroke, shape_from_dict

Side = Literal["reference", "prediction"]
LabelImage = npt.NDArray[np.uint16]
PartImage = npt.NDArray[np.uint8]

SIDES: tuple[Side, Side] = ("reference", "prediction")


@dataclass(frozen=True, slots=True)
class Scene:
    """Shapes of the reference and of the prediction on a canvas of 600 × 362 units.

    The label of a shape is its position on its side, counted from 1. A later shape covers an
    earlier one of its own side, and the edge of the canvas cuts all.

    Examples
    --------
    >>> import panmatch as pm
    >>> from panmatch.playground.drawing.shapes import Disc
    >>> scene = Scene(reference=[Disc(300, 181, 40)], prediction=[Disc(310, 181, 40)])
    >>> pm.match(pm.count_overlaps(*scene.label_images())).tally.tp
    1
    """

    reference: tuple[Shape, ...] = ()
    prediction: tuple[Shape, ...] = ()

    def __post_init__(self) -> None:
        for side in SIDES:
            object.__setattr__(self, side, _check_side(side, getattr(self, side)))
        strokes = [one for one in self.reference + self.prediction if isinstance(one, Stroke)]
        points = sum(len(stroke.points) for stroke in strokes)
        if points > MOST_SCENE_POINTS:
            raise OptionError(
                f"the strokes of a scene have {points:,} points together; at most "
                f"{MOST_SCENE_POINTS:,} are accepted."
            )

    def shapes(self, side: Side) -> tuple[Shape, ...]:
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

    def part_images(self) -> tuple[PartImage, PartImage]:
        """Return the parts of both sides: on every pixel the part of the topmost shape (D9)."""
        images = paint_images([_with_parts(self.shapes(side)) for side in SIDES], np.uint8)
        return images[0], images[1]

    def to_dict(self) -> dict[str, Any]:
        """Return the scene as JSON knows it."""
        sides: dict[str, Any] = {
            side: [shape.to_dict() for shape in self.shapes(side)] for side in SIDES
        }
        return {"width": WIDTH, "height": HEIGHT, **sides}

    @classmethod
    def from_dict(cls, given: object) -> Scene:
        """Read a scene as `to_dict` writes it.

        Raises
        ------
        OptionError
            That names the side and the position of the shape, the key, the value and what is
            accepted.
        """
        values = as_mapping("scene", given)
        check_keys("a scene", values, needed=SIDES, optional=("width", "height"))
        for key, only in (("width", WIDTH), ("height", HEIGHT)):
            if values.get(key, only) != only:
                raise OptionError(
                    f"{key}={shown(values[key])} is not accepted: the canvas is {WIDTH} units wide "
                    f"and {HEIGHT} high."
                )
        return cls(*(_read_side(side, values) for side in SIDES))


def _read_side(side: Side, values: Mapping[str, Any]) -> tuple[Shape, ...]:
    given = _check_count(side, values[side])
    shapes = []
    for position, one in enumerate(given):
        with inside(place(side, position)):
            shapes.append(shape_from_dict(one))
    return tuple(shapes)


def place(side: Side, position: int) -> str:
    """Return where a shape stands, in words.

    Examples
    --------
    >>> place("prediction", 2)
    'the 3rd shape of prediction'
    """
    return f"the {ordinal(position)} shape of {side}"


def _check_side(side: Side, shapes: object) -> tuple[Shape, ...]:
    found = tuple(_check_count(side, shapes))
    for position, shape in enumerate(found):
        if not isinstance(shape, Shape):
            raise OptionError(
                f"{place(side, position)} is {shown(shape)}; pass a Disc, an Ellipse or a Stroke."
            )
    return found


def _check_count(side: Side, shapes: object) -> Sequence[Any]:
    if not isinstance(shapes, list | tuple):
        raise OptionError(f"{side}={shown(shapes)} is no list of shapes.")
    if len(shapes) > MOST_SHAPES:
        raise OptionError(f"{side} has {len(shapes):,} shapes; at most {MOST_SHAPES} are accepted.")
    return shapes


def _with_labels(shapes: Sequence[Shape]) -> list[tuple[Shape, int]]:
    return [(shape, label) for label, shape in enumerate(shapes, start=1)]


def _with_parts(shapes: Sequence[Shape]) -> list[tuple[Shape, int]]:
    return [(copy, part) for shape in shapes for part, copy in enumerate(shape.nested(), start=1)]
