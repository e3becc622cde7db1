"""The grid of every study: eight ways to match at ten thresholds."""

from __future__ import annotations

from typing import Any

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


def full_spec(**keys: Any) -> pm.Spec:
    """Return a spec with the whole grid; `keys` say what the classes are."""
    return pm.Spec(matching=WAYS, thresholds=THRESHOLDS, metrics=("iou",), **keys)
