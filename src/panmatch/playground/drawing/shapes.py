"""The shapes of a scene: discs, ellipses and strokes of a round brush."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import MISSING, dataclass, fields
from typing import Any, ClassVar, Self

import numpy as np

from panmatch.errors import OptionError
from panmatch.playground.checks import (
    as_mapping,
    check_finite,
    check_keys,
    check_name,
    check_number,
    inside,
    ordinal,
    shown,
)
from panmatch.playground.drawing.canvas import (
    COLUMNS,
    FARTHEST,
    MOST_PARTS,
    MOST_STROKE_POINTS,
    ROWS,
)
from panmatch.playground.drawing.spans import (
    Mask,
    Spans,
    disc_spans,
    ellipse_spans,
    segment_spans,
)

Point = tuple[float, float]
Factors = tuple[float, ...]


class Shape(ABC):
    """A set of points of the canvas; a pixel is covered if its centre belongs to the set.

    `parts` are falling factors between 0 and 1: the whole shape is part 1, its copy scaled by the
    first factor is part 2 and covers part 1, and so on.
    """

    __slots__ = ()

    kind: ClassVar[str]
    parts: Factors

    @abstractmethod
    def scaled(self, factor: float) -> Self:
        """Return the shape scaled about its centre, without parts; a stroke gets thinner."""

    @classmethod
    @abstractmethod
    def spans(cls, shapes: Sequence[Self]) -> Spans:
        """Return the pixels of shapes of this kind; shapes are numbered by position."""

    def mask(self) -> Mask:
        """Return which pixels of the raster the shape covers."""
        found = self.spans([self])
        covered = np.zeros(ROWS * COLUMNS, dtype=np.bool_)
        for start, stop in zip(found.start.tolist(), found.stop.tolist(), strict=True):
            covered[start:stop] = True
        return covered.reshape(ROWS, COLUMNS)

    def nested(self) -> tuple[Shape, ...]:
        """Return the shape and its scaled copies: part 1, part 2 and so on."""
        return (self, *(self.scaled(factor) for factor in self.parts))

    def to_dict(self) -> dict[str, Any]:
        """Return the shape as JSON knows it."""
        values = {one.name: getattr(self, one.name) for one in fields(self)}  # type: ignore[arg-type]
        return {"kind": self.kind, **{key: _as_lists(value) for key, value in values.items()}}


@dataclass(frozen=True, slots=True)
class Disc(Shape):
    """All points at a distance of at most `r` from a centre.

    Examples
    --------
    >>> int(Disc(300, 181, 0.5).mask().sum())
    12
    """

    x: float
    y: float
    r: float
    parts: Factors = ()

    kind: ClassVar[str] = "disc"

    def __post_init__(self) -> None:
        _check_centre(self)
        _set(self, "r", check_number("r", self.r, 0, FARTHEST))
        _set(self, "parts", _check_parts(self.parts))

    def scaled(self, factor: float) -> Disc:
        """Return the disc with its radius times `factor`, without parts."""
        return Disc(self.x, self.y, self.r * factor)

    @classmethod
    def spans(cls, shapes: Sequence[Disc]) -> Spans:
        """Return the pixels of discs."""
        x, y, r = np.array([(one.x, one.y, one.r) for one in shapes]).T
        return disc_spans(x, y, r)


@dataclass(frozen=True, slots=True)
class Ellipse(Shape):
    """All points at a normalised radius of at most 1 from a centre.

    `angle` turns the ellipse by degrees from the x axis towards the y axis, which points down.

    Examples
    --------
    >>> int(Ellipse(300, 181, 1, 0.5).mask().sum()), int(Ellipse(300, 181, 1, 1).mask().sum())
    (28, 52)
    """

    x: float
    y: float
    rx: float
    ry: float
    angle: float = 0.0
    parts: Factors = ()

    kind: ClassVar[str] = "ellipse"

    def __post_init__(self) -> None:
        _check_centre(self)
        _set(self, "rx", check_number("rx", self.rx, 0, FARTHEST))
        _set(self, "ry", check_number("ry", self.ry, 0, FARTHEST))
        _set(self, "angle", check_finite("angle", self.angle))
        _set(self, "parts", _check_parts(self.parts))

    def scaled(self, factor: float) -> Ellipse:
        """Return the ellipse with both radii times `factor`, without parts."""
        return Ellipse(self.x, self.y, self.rx * factor, self.ry * factor, self.angle)

    @classmethod
    def spans(cls, shapes: Sequence[Ellipse]) -> Spans:
        """Return the pixels of ellipses."""
        rows = [(one.x, one.y, one.rx, one.ry, one.angle) for one in shapes]
        x, y, rx, ry, angle = np.array(rows).T
        return ellipse_spans(x, y, rx, ry, angle)


@dataclass(frozen=True, slots=True)
class Stroke(Shape):
    """All points at a distance of at most half the `width` from a line through points.

    The ends are round, and a single point is a dot.

    Examples
    --------
    >>> int(Stroke(((300, 181),), width=1).mask().sum())
    12
    """

    points: tuple[Point, ...]
    width: float
    parts: Factors = ()

    kind: ClassVar[str] = "stroke"

    def __post_init__(self) -> None:
        _set(self, "points", _check_points(self.points))
        _set(self, "width", check_number("width", self.width, 0, FARTHEST))
        _set(self, "parts", _check_parts(self.parts))

    def scaled(self, factor: float) -> Stroke:
        """Return the stroke with its width times `factor`, without parts."""
        return Stroke(self.points, self.width * factor)

    @classmethod
    def spans(cls, shapes: Sequence[Stroke]) -> Spans:
        """Return the pixels of strokes."""
        ends = [np.array((one.points[0], *one.points)) for one in shapes]
        counts = [len(one.points) for one in shapes]
        return segment_spans(
            np.repeat(np.arange(len(shapes)), counts),
            np.concatenate([points[:-1] for points in ends]),
            np.concatenate([points[1:] for points in ends]),
            np.repeat([one.width / 2 for one in shapes], counts),
        )


KINDS: dict[str, type[Shape]] = {kind.kind: kind for kind in (Disc, Ellipse, Stroke)}
_FIELDS = {name: fields(kind) for name, kind in KINDS.items()}  # type: ignore[arg-type]
NEEDED, OPTIONAL = (
    {
        name: [one.name for one in known if (one.default is MISSING) == needed]
        for name, known in _FIELDS.items()
    }
    for needed in (True, False)
)


def shape_from_dict(given: object) -> Shape:
    """Read a shape as `Shape.to_dict` writes it, or raise an `OptionError`.

    Examples
    --------
    >>> shape_from_dict({"kind": "disc", "x": 1.5, "y": 2, "r": 30})
    Disc(x=1.5, y=2.0, r=30.0, parts=())
    """
    values = dict(as_mapping("shape", given))
    if "kind" not in values:
        raise OptionError(f"the key 'kind' is missing. Accepted: {', '.join(KINDS)}.")
    name = values.pop("kind")
    check_name("kind", name, KINDS)
    check_keys(f"a {name}", values, needed=NEEDED[name], optional=OPTIONAL[name])
    return KINDS[name](**values)


def _set(shape: Shape, key: str, value: object) -> None:
    object.__setattr__(shape, key, value)


def _check_centre(shape: Disc | Ellipse) -> None:
    _set(shape, "x", check_number("x", shape.x, -FARTHEST, FARTHEST))
    _set(shape, "y", check_number("y", shape.y, -FARTHEST, FARTHEST))


def _check_parts(parts: object) -> Factors:
    if not isinstance(parts, list | tuple):
        raise OptionError(f"parts={shown(parts)} is no list of factors, such as [0.6, 0.3].")
    factors = tuple(check_number("parts", factor, 0, 1) for factor in parts)
    falling = all(
        above > below for above, below in zip((1.0, *factors), (*factors, 0.0), strict=True)
    )
    if len(factors) > MOST_PARTS or not falling:
        raise OptionError(
            f"parts={shown(parts)} must be at most {MOST_PARTS} factors that fall, each between "
            "0 and 1, such as [0.6, 0.3]."
        )
    return factors


def _check_points(points: object) -> tuple[Point, ...]:
    if not isinstance(points, list | tuple) or not 1 <= len(points) <= MOST_STROKE_POINTS:
        raise OptionError(
            f"points={shown(points)} must be a list of 1 to {MOST_STROKE_POINTS:,} points [x, y]."
        )
    return tuple(_check_point(position, point) for position, point in enumerate(points))


def _check_point(position: int, point: object) -> Point:
    if not isinstance(point, list | tuple) or len(point) != 2:
        raise OptionError(f"the {ordinal(position)} point is {shown(point)}, but must be [x, y].")
    x, y = point
    if type(x) is type(y) is float and -FARTHEST <= x <= FARTHEST and -FARTHEST <= y <= FARTHEST:
        return x, y
    with inside(f"the {ordinal(position)} point"):
        return (
            check_number("x", x, -FARTHEST, FARTHEST),
            check_number("y", y, -FARTHEST, FARTHEST),
        )


def _as_lists(value: Any) -> Any:
    return [_as_lists(one) for one in value] if isinstance(value, tuple) else value
