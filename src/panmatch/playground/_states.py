"""The state of the playground, which links carry: a scene, and how it is matched and shown."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, Literal, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field, StrictBool, model_validator
from pydantic_core import PydanticKnownError

from panmatch.errors import OptionError
from panmatch.matching import STRATEGIES as FAMILIES
from panmatch.matching import Strategy
from panmatch.overlap import Background, check_threshold
from panmatch.playground._scene import Scene
from panmatch.playground._validation import Checked, Finite, Position, checked, need_keys

T = TypeVar("T")

# Every strategy with every combination of its options, by the key that links carry.
STRATEGIES: dict[str, Strategy] = {
    strategy.key: strategy for family in FAMILIES.values() for strategy in family.variants()
}
COMPARED = ("one-to-one/optimal", "many-to-one/merge/seed", "one-to-many/best")


def _check_strategy(name: object) -> object:
    if isinstance(name, str) and name in STRATEGIES:
        return name
    raise PydanticKnownError("literal_error", {"expected": ", ".join(map(repr, STRATEGIES))})


def _check_once(names: tuple[T, ...]) -> tuple[T, ...]:
    for position, name in enumerate(names):
        if name in names[:position]:
            raise OptionError(f"{name!r} is listed twice.")
    return names


StrategyName = Annotated[str, BeforeValidator(_check_strategy)]
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
    compared: Annotated[tuple[StrategyName, ...], AfterValidator(_check_once)] = COMPARED
    threshold: Finite = 0.5
    regions: StrictBool = False
    parts: StrictBool = False
    background: Background = "image"
    voronoi: StrictBool = False
    areas: Literal["raster", "analytic"] = "raster"
    curves: Annotated[tuple[Quantity, ...], AfterValidator(_check_once)] = ("pq",)
    grid: StrictBool = False
    table: Literal["pq", "sq", "rq"] = "pq"
    axis: Annotated[Position, Field(le=2)] = 0
    slice: Position | None = None

    def __post_init__(self) -> None:
        check_threshold(self.threshold)
        for key, names in (("strategy", (self.strategy,)), ("compared", self.compared)):
            for name in names:
                if STRATEGIES[name].needs_regions and not self.regions:
                    raise OptionError(
                        f"{key}={name!r} takes together what is predicted in a Voronoi region, "
                        "and needs regions=true."
                    )
        for key in ("regions", "parts"):
            if self.areas == "analytic" and getattr(self, key):
                raise OptionError(
                    f"areas='analytic' knows whole discs only: pass {key}=false, or areas='raster'."
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
    format: Annotated[Position, Field(ge=1, le=1)] = field(default=1, repr=False)

    @model_validator(mode="before")
    @classmethod
    def _need_format(cls, given: object) -> object:
        return need_keys(given, "format", "scene")
