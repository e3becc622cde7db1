"""Enumerations of panoptica; a member equals its name as text."""

from __future__ import annotations

import math
import os
from enum import Enum, auto
from typing import Self

from panmatch.compat.panoptica._config import read_name, save_node, tagged
from panmatch.errors import check_choice


class NamedEnum(Enum):
    """Members are identified by their names, and may be compared with text.

    Examples
    --------
    >>> CCABackend.cc3d == "cc3d", str(CCABackend.scipy)
    (True, 'CCABackend.scipy')
    """

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Enum):
            return type(self) is type(other) and self.name == other.name
        return self.name == other

    def __hash__(self) -> int:
        return hash(self.name)

    def __str__(self) -> str:
        return f"{type(self).__name__}.{self.name}"

    def __repr__(self) -> str:
        return str(self)

    @classmethod
    def named(cls, given: object, argument: str) -> Self:
        """Return the member for itself or for its name; the error calls the argument by name."""
        name = getattr(given, "name", given)
        check_choice(argument, name, cls.__members__)
        return cls[str(name)]

    def save_to_config(self, path: str | os.PathLike[str]) -> None:
        """Write the name to a file."""
        save_node(tagged(f"!{type(self).__name__}", self.name), path)

    @classmethod
    def load_from_config(cls, path: str | os.PathLike[str]) -> Self:
        """Read a file that holds a name alone."""
        return cls.named(read_name(path, f"!{cls.__name__}"), str(path))


class InputType(NamedEnum):
    """What the images hold: classes, objects, or objects whose ids already match."""

    SEMANTIC = auto()
    UNMATCHED_INSTANCE = auto()
    MATCHED_INSTANCE = auto()


class CCABackend(NamedEnum):
    """How voxels are connected: ``cc3d`` at corners, within a label; ``scipy`` at faces."""

    cc3d = auto()
    scipy = auto()


class MetricMode(NamedEnum):
    """How to summarise the values of all matched objects."""

    ALL = auto()
    AVG = auto()
    SUM = auto()
    STD = auto()
    MIN = auto()
    MAX = auto()


class MetricType(NamedEnum):
    """Where a number is printed."""

    NO_PRINT = auto()
    MATCHING = auto()
    GLOBAL = auto()
    INSTANCE = auto()


class EdgeCaseZeroTP(NamedEnum):
    """Which side has objects if nothing matches."""

    NO_INSTANCES = auto()
    EMPTY_PRED = auto()
    EMPTY_REF = auto()
    NORMAL = auto()


class EdgeCaseResult(NamedEnum):
    """The value of a metric if nothing matches.

    Examples
    --------
    >>> EdgeCaseResult.ONE.value, EdgeCaseResult.NONE()
    (1.0, None)
    """

    INF = auto()
    NAN = auto()
    ZERO = auto()
    ONE = auto()
    NONE = auto()

    @property
    def value(self) -> float | None:  # type: ignore[override]
        """The number, or None."""
        return _NUMBERS[self.name]

    def __call__(self) -> float | None:
        return self.value


_NUMBERS: dict[str, float | None] = {
    "INF": math.inf,
    "NAN": math.nan,
    "ZERO": 0.0,
    "ONE": 1.0,
    "NONE": None,
}
