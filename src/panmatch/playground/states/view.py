"""The view of a scene: the strategies, the threshold, and what is drawn."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

from panmatch.errors import OptionError
from panmatch.overlap import Background, check_threshold
from panmatch.playground.checks import (
    as_mapping,
    check_finite,
    check_flag,
    check_keys,
    check_name,
    shown,
)
from panmatch.playground.states.strategies import STRATEGIES, ListedStrategy

Areas = Literal["raster", "analytic"]
CurveKind = Literal["pq", "sq", "rq", "ap"]
TableKind = Literal["pq", "sq", "rq"]

COMPARED = ("one-to-one/optimal", "many-to-one/merge/seed", "one-to-many/best")


@dataclass(frozen=True, slots=True)
class View:
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
        Whether the cells of the references cut the predictions (D8).
    parts, background
        Whether quality is that of the parts, and whether background counts as one (D9).
    cells
        Whether the cells are drawn.
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
    >>> View(strategy="many-to-one/merge/seed", threshold=0.3).listed.python
    'pm.ManyToOne(solver="merge", gate="seed")'
    """

    strategy: str = "one-to-one/optimal"
    compared: tuple[str, ...] = COMPARED
    threshold: float = 0.5
    regions: bool = False
    parts: bool = False
    background: Background = "image"
    cells: bool = False
    areas: Areas = "raster"
    curves: tuple[CurveKind, ...] = ("pq",)
    grid: bool = False
    table: TableKind = "pq"
    axis: int = 0
    slice: int | None = None

    def __post_init__(self) -> None:
        check_name("strategy", self.strategy, STRATEGIES)
        self._set("compared", _check_several("compared", self.compared, STRATEGIES))
        self._set("curves", _check_several("curves", self.curves, get_args(CurveKind)))
        self._set("threshold", check_threshold(check_finite("threshold", self.threshold)))
        for key in ("regions", "parts", "cells", "grid"):
            check_flag(key, getattr(self, key))
        check_name("background", self.background, get_args(Background))
        check_name("areas", self.areas, get_args(Areas))
        check_name("table", self.table, get_args(TableKind))
        _check_position("axis", self.axis, "0, 1 or 2", highest=2)
        if self.slice is not None:
            _check_position("slice", self.slice, "0 or more, or null for the middle one")
        self._check_together()

    @property
    def listed(self) -> ListedStrategy:
        """The strategy whose matching is shown."""
        return STRATEGIES[self.strategy]

    def to_dict(self) -> dict[str, Any]:
        """Return the view as JSON knows it, with all keys."""
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        return {
            k: list(value) if isinstance(value, tuple) else value for k, value in values.items()
        }

    @classmethod
    def from_dict(cls, given: object) -> View:
        """Read a view as `to_dict` writes it; keys that are not there have their defaults."""
        values = as_mapping("view", given)
        check_keys("view", values, needed=(), optional=[one.name for one in fields(cls)])
        return cls(**values)

    def _set(self, key: str, value: object) -> None:
        object.__setattr__(self, key, value)

    def _check_together(self) -> None:
        if not self.regions:
            for key, ids in (("strategy", (self.strategy,)), ("compared", self.compared)):
                for one in ids:
                    if STRATEGIES[one].only_regions:
                        raise OptionError(
                            f"{key}={one!r} takes together what is predicted in a cell, and needs "
                            "regions=true."
                        )
        if self.areas == "analytic":
            for key in ("regions", "parts"):
                if getattr(self, key):
                    raise OptionError(
                        f"areas='analytic' knows whole discs only: pass {key}=false, or "
                        "areas='raster'."
                    )


def _check_several(key: str, given: object, accepted: Collection[str]) -> tuple[str, ...]:
    if not isinstance(given, list | tuple):
        raise OptionError(f"{key}={shown(given)} is no list. Accepted: {', '.join(accepted)}.")
    for position, one in enumerate(given):
        check_name(key, one, accepted)
        if one in given[:position]:
            raise OptionError(f"{key} names {one!r} twice.")
    return tuple(given)


def _check_position(key: str, value: object, accepted: str, highest: float = math.inf) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= highest:
        raise OptionError(f"{key}={shown(value)} is not accepted; pass {accepted}.")
