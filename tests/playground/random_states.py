"""States of every kind, drawn at random: what links can carry and the page can show."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from panmatch.errors import OptionError
from panmatch.playground import STRATEGIES, Disc, Ellipse, Scene, State, Stroke, View, exact_overlap
from panmatch.playground._states import AnyShape

SIDE = 7  # shapes of a side, at most


def random_state(rng: np.random.Generator) -> State:
    """Return a scene with a view that it can be shown in."""
    scene = Scene(_shapes(rng), _rated(_shapes(rng), rng))
    regions = bool(rng.uniform() < 0.4)
    names = [name for name, one in STRATEGIES.items() if regions or not one.needs_regions]
    chosen = rng.permutation(names).tolist()
    parts = bool(rng.uniform() < 0.5)
    view: dict[str, Any] = {
        "strategy": chosen[0],
        "compared": tuple(chosen[: rng.integers(1, 4)]),
        "threshold": round(float(rng.choice([0, 0.5, rng.uniform()])), 3),
        "regions": regions,
        "parts": parts,
        "background": str(rng.choice(["image", "none"])),
        "voronoi": bool(rng.uniform() < 0.2),
        "cut": round(float(rng.uniform()), 3) if rng.uniform() < 0.4 else None,
    }
    if not regions and not parts and _has_exact_areas(scene):
        view["areas"] = "analytic"
    return State(scene, View(**view))


def _rated(shapes: tuple[AnyShape, ...], rng: np.random.Generator) -> tuple[AnyShape, ...]:
    """Return shapes, most of which have a confidence; some with many digits, and some alike."""
    if rng.uniform() < 0.5:
        return shapes
    given = [round(float(rng.uniform()), int(rng.integers(1, 18))) for _ in shapes]
    return tuple(
        replace(shape, confidence=value if rng.uniform() < 0.8 else None)
        for shape, value in zip(shapes, given, strict=True)
    )


def _shapes(rng: np.random.Generator) -> tuple[AnyShape, ...]:
    if rng.uniform() < 0.3:  # a row of discs that do not touch, for exact areas
        xs = np.arange(60, 560, 95)[: rng.integers(0, 6)]
        return tuple(Disc(x + rng.uniform(-8, 8), 181, rng.uniform(20, 38)) for x in xs.tolist())
    return tuple(_shape(rng) for _ in range(rng.integers(0, SIDE + 1)))


def _shape(rng: np.random.Generator) -> AnyShape:
    x, y = rng.uniform(0, 600), rng.uniform(0, 362)
    parts = tuple(sorted(rng.uniform(0.2, 0.9, rng.integers(0, 3)).round(2).tolist()))[::-1]
    parts = parts if len(set(parts)) == len(parts) else ()
    kind = rng.integers(3)
    if kind == 0:
        return Disc(x, y, rng.uniform(10, 70), parts)
    if kind == 1:
        return Ellipse(x, y, rng.uniform(10, 90), rng.uniform(10, 60), rng.uniform(0, 180), parts)
    steps = rng.uniform(-25, 25, (rng.integers(1, 12), 2)).cumsum(axis=0)
    points = tuple((x + float(right), y + float(down)) for right, down in steps)
    return Stroke(points, rng.uniform(5, 40), parts)


def _has_exact_areas(scene: Scene) -> bool:
    try:
        exact_overlap(scene)
    except OptionError:
        return False
    return True
