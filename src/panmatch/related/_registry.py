"""Related scores by name: what a spec can ask for besides PQ."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, update_wrapper
from inspect import signature
from typing import Generic, Literal, ParamSpec

import numpy as np
import numpy.typing as npt

from panmatch.errors import OptionError, nearest_name
from panmatch.labels import LabelArray, Unit
from panmatch.matching import to_units
from panmatch.overlap import Overlap
from panmatch.scoring import Average, resolve_metrics

Option = str | float | int
Averages = Mapping[str, Average]


@dataclass(frozen=True, eq=False)
class ClassSides:
    """The two sides of one class in one case, without void."""

    overlap: Overlap  # of the objects of the class
    # Returns their label images; called once, and only if a score looks at voxels.
    paint: Callable[[], tuple[LabelArray, LabelArray]]
    spacing: npt.ArrayLike | None = None  # this, unit and threads are those of `measure`
    unit: Unit | None = None
    threads: int | None = None
    known_voxels: int = 0  # how many voxels are not void

    @cached_property
    def images(self) -> tuple[LabelArray, LabelArray]:
        """Ids of the objects, in the reference and in the prediction."""
        return self.paint()


@dataclass(frozen=True, slots=True)
class RelatedPart:
    """One of the numbers that a related score consists of."""

    suffix: str  # of the column; empty where there is only one
    title: str  # what people call it
    better: Literal["higher", "lower", "zero"] = "higher"
    dimension: Literal["", "length", "volume"] = ""


@dataclass(frozen=True, slots=True, eq=False)
class RelatedScore:
    """A score of a class that needs no matcher and no threshold of the spec.

    Attributes
    ----------
    name
        Its name in specs, and the start of its column names.
    parts
        The numbers that it consists of.
    about
        What it measures, in a sentence.
    pooled
        How several cases are combined: what is added up, and what it is divided by.
    compute
        Takes the sides and the options, and returns an average for every part, by its suffix.
        Averages of cases add, and an average of nothing is undefined.
    options
        Options with their defaults.
    any_metric
        Whether direction and dimension are those of the metric that its option `metric` names.
    """

    name: str
    parts: tuple[RelatedPart, ...]
    about: str
    pooled: str
    compute: Callable[..., Averages]
    options: Mapping[str, Option] = field(default_factory=dict)
    any_metric: bool = False

    def averages(self, sides: ClassSides, **options: Option) -> Averages:
        """Return the average of every part."""
        return self.compute(sides, **{**self.options, **self.checked(options)})

    def checked(self, options: Mapping[str, Option]) -> Mapping[str, Option]:
        """Return the options if the score has all of them, or raise."""
        for option in options:
            if option not in self.options:
                known = ", ".join(self.options) or "none"
                raise OptionError(
                    f"{option!r} is not an option of {self.name}"
                    f"{nearest_name(option, list(self.options))} It has: {known}."
                )
        self.parts_with(options)
        return options

    def parts_with(self, options: Mapping[str, Option]) -> tuple[RelatedPart, ...]:
        """Return its parts for these options."""
        if not self.any_metric:
            return self.parts
        given = {**self.options, **options}
        (metric,) = resolve_metrics(str(given["metric"]))
        # A length in voxels does not have the unit of the spacing.
        dimension = "" if given.get("units") == "voxel" else metric.dimension
        return tuple(
            replace(part, better=metric.better, dimension=dimension) for part in self.parts
        )


def share(part: float, whole: float) -> Average:
    """Return a ratio of whole numbers as an average, so that ratios of cases can be pooled.

    Examples
    --------
    >>> (share(1, 2) + share(0, 2)).value
    0.25
    """
    return Average(to_units(float(part)), int(whole), 0)


def single(value: float) -> Average:
    """Return one value of one case; NaN counts as undefined."""
    return Average.of(np.array([value], np.float64))


P = ParamSpec("P")


class PooledScore(Generic[P]):
    """A function that returns the score of a case, and whose `average` pools over cases.

    Examples
    --------
    >>> @PooledScore
    ... def right(given: list[bool]) -> Average:
    ...     return share(sum(given), len(given))
    >>> right([True, False])
    0.5
    >>> (right.average([True, False]) + right.average([True])).value
    0.6666666666666666
    """

    def __init__(self, average: Callable[P, Average]) -> None:
        update_wrapper(self, average)
        self.average = average
        self.__signature__ = signature(average).replace(return_annotation="float")

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> float:
        return self.average(*args, **kwargs).value
