"""The grid of every study: eight ways to match at ten thresholds; and the whole grid.

To extend the whole grid by a setting, add it to `RULES`, or to `IN_REGIONS` if it needs regions.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

import panmatch as pm

WAYS: tuple[Any, ...] = (
    "one-to-one",
    "many-to-one",
    {"strategy": "many-to-one", "gate": "edge"},
    {"strategy": "many-to-one", "solver": "optimal"},
    "one-to-many",
    {"strategy": "one-to-many", "solver": "optimal"},
    {"strategy": "many-to-one", "regions": True},
    "union",
)
THRESHOLDS = tuple(step / 10 for step in range(10))

# By the titles of the package: the ways that figures and short tables show.
ONE, MANY, BEST, UNION = (
    "one-to-one (optimal)",
    "many-to-one (merge, seed)",
    "one-to-many (best)",
    "union",
)
MAIN_WAYS = (ONE, MANY, BEST, UNION)


# The whole grid: every strategy with every solver and gate, each with whole predictions and with
# predictions that are cut by regions, and union, which needs regions.
RULES: tuple[dict[str, str], ...] = (
    {"strategy": "one-to-one", "solver": "optimal"},
    {"strategy": "one-to-one", "solver": "greedy"},
    {"strategy": "many-to-one", "solver": "optimal", "gate": "seed"},
    {"strategy": "many-to-one", "solver": "merge", "gate": "seed"},
    {"strategy": "many-to-one", "solver": "optimal", "gate": "edge"},
    {"strategy": "many-to-one", "solver": "merge", "gate": "edge"},
    {"strategy": "one-to-many", "solver": "optimal"},
    {"strategy": "one-to-many", "solver": "best"},
)
IN_REGIONS: tuple[dict[str, Any], ...] = (
    *({**rule, "regions": True} for rule in RULES),
    {"strategy": "union"},
)
EVERY_WAY = (*RULES, *IN_REGIONS)


def whole_grid(spec: pm.Spec) -> pm.Spec:
    """Return a spec with every matcher; thresholds come from the exact curves.

    A class without parts is left out if another one is the same with parts, whose PQ it has.
    """
    with_parts = [one for one in spec.classes.values() if one.parts]
    classes = {
        name: one
        for name, one in spec.classes.items()
        if one.parts or not any(_same(one, other) for other in with_parts)
    }
    given: dict[str, Any] = {"matching": EVERY_WAY}
    matching = pm.Spec(**given).matching
    changes = {"classes": classes, "matching": matching, "thresholds": (0.5,), "headline": None}
    return spec.model_copy(update=changes)


def _same(one: BaseModel, other: BaseModel) -> bool:
    return one.model_dump(exclude={"parts"}) == other.model_dump(exclude={"parts"})


def full_spec(**keys: Any) -> pm.Spec:
    """Return a spec with the whole grid; `keys` say what the classes are."""
    return pm.Spec(matching=WAYS, thresholds=THRESHOLDS, metrics=("iou",), **keys)
