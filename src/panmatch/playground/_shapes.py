"""The shapes of a scene: discs, ellipses and strokes of a round brush."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import field
from itertools import pairwise
from typing import Annotated, Literal, Self

import numpy as np

from panmatch.errors import OptionError
from panmatch.playground._checks import Bounds, Length, Then, shown
from panmatch.playground._spans import (
    COLUMNS,
    ROWS,
    Mask,
    Spans,
    disc_spans,
    ellipse_spans,
    segment_spans,
)
from panmatch.playground._validation import Checked, Finite, checked

FARTHEST = 2000.0  # units: bound of coordinates on either side of 0, and of sizes
MOST_STROKE_POINTS = 2_000
MOST_PARTS = 4  # nested copies of a shape


def _check_falling(factors: tuple[float, ...]) -> None:
    if any(outer <= inner for outer, inner in pairwise(factors)):
        raise OptionError(f"{shown(factors)} must be decreasing factors, such as [0.6, 0.3].")


Coordinate = Annotated[Finite, Bounds(ge=-FARTHEST, le=FARTHEST)]
Size = Annotated[Finite, Bounds(ge=0, le=FARTHEST)]
Confidence = Annotated[Finite, Bounds(ge=0, le=1)]
Point = tuple[Coordinate, Coordinate]
Factors = Annotated[
    tuple[Annotated[Finite, Bounds(gt=0, lt=1)], ...],
    Length(most=MOST_PARTS),
    Then(_check_falling),
]


class Shape(Checked, ABC):
    """A set of points of the canvas; a pixel is covered if its centre belongs to the set.

    `parts` are decreasing factors between 0 and 1: the whole shape is part 1, its copy scaled by
    the first factor is part 2 and covers part 1, and so on. `confidence` is how sure a model is of
    a prediction (D17); it has no meaning for a reference.
    """

    __slots__ = ()

    kind: str
    parts: Factors
    confidence: Confidence | None

    @abstractmethod
    def scaled(self, factor: float) -> Self:
        """Return the shape scaled about its centre, without parts; a stroke gets thinner."""

    @classmethod
    @abstractmethod
    def spans(cls, shapes: Sequence[Self]) -> Spans:
        """Return the pixels of shapes of this kind; shapes are numbered by position."""

    def mask(self) -> Mask:
        """Return which pixels of the raster the shape covers."""
        spans = self.spans([self])
        covered = np.zeros(ROWS * COLUMNS, dtype=np.bool_)
        for start, stop in zip(spans.start.tolist(), spans.stop.tolist(), strict=True):
            covered[start:stop] = True
        return covered.reshape(ROWS, COLUMNS)

    def nested(self) -> tuple[Shape, ...]:
        """Return the shape and its scaled copies: part 1, part 2 and so on."""
        return (self, *(self.scaled(factor) for factor in self.parts))


@checked
class Disc(Shape):
    """All points at a distance of at most `r` from a centre.

    Examples
    --------
    >>> int(Disc(300, 181, 0.5).mask().sum())
    12
    """

    x: Coordinate
    y: Coordinate
    r: Size
    parts: Factors = ()
    confidence: Confidence | None = None
    kind: Literal["disc"] = field(default="disc", repr=False)

    def scaled(self, factor: float) -> Disc:
        """Return the disc with its radius times `factor`, without parts."""
        return Disc(self.x, self.y, self.r * factor)

    @classmethod
    def spans(cls, shapes: Sequence[Disc]) -> Spans:
        """Return the pixels of discs."""
        x, y, r = np.array([(disc.x, disc.y, disc.r) for disc in shapes]).T
        return disc_spans(x, y, r)


@checked
class Ellipse(Shape):
    """All points at a normalised radius of at most 1 from a centre.

    `angle` turns the ellipse by degrees from the x axis towards the y axis, which points down.

    Examples
    --------
    >>> int(Ellipse(300, 181, 1, 0.5).mask().sum()), int(Ellipse(300, 181, 1, 1).mask().sum())
    (28, 52)
    """

    x: Coordinate
    y: Coordinate
    rx: Size
    ry: Size
    angle: Finite = 0.0
    parts: Factors = ()
    confidence: Confidence | None = None
    kind: Literal["ellipse"] = field(default="ellipse", repr=False)

    def scaled(self, factor: float) -> Ellipse:
        """Return the ellipse with both radii times `factor`, without parts."""
        return Ellipse(self.x, self.y, self.rx * factor, self.ry * factor, self.angle)

    @classmethod
    def spans(cls, shapes: Sequence[Ellipse]) -> Spans:
        """Return the pixels of ellipses."""
        rows = [(shape.x, shape.y, shape.rx, shape.ry, shape.angle) for shape in shapes]
        x, y, rx, ry, angle = np.array(rows).T
        return ellipse_spans(x, y, rx, ry, angle)


@checked
class Stroke(Shape):
    """All points at a distance of at most half the `width` from a line through points.

    The ends are round, and a single point is a dot.

    Examples
    --------
    >>> int(Stroke(((300, 181),), width=1).mask().sum())
    12
    """

    points: Annotated[tuple[Point, ...], Length(1, MOST_STROKE_POINTS)]
    width: Size
    parts: Factors = ()
    confidence: Confidence | None = None
    kind: Literal["stroke"] = field(default="stroke", repr=False)

    def scaled(self, factor: float) -> Stroke:
        """Return the stroke with its width times `factor`, without parts."""
        return Stroke(self.points, self.width * factor)

    @classmethod
    def spans(cls, shapes: Sequence[Stroke]) -> Spans:
        """Return the pixels of strokes."""
        ends = [np.array((stroke.points[0], *stroke.points)) for stroke in shapes]
        counts = [len(stroke.points) for stroke in shapes]
        return segment_spans(
            np.repeat(np.arange(len(shapes)), counts),
            np.concatenate([points[:-1] for points in ends]),
            np.concatenate([points[1:] for points in ends]),
            np.repeat([stroke.width / 2 for stroke in shapes], counts),
        )
