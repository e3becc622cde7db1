"""Scenes on which every strategy, Voronoi regions and parts differ, and ways to look at them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

import panmatch as pm
from panmatch.playground import Disc, Ellipse, Scene, Stroke, View

Image = npt.NDArray[np.integer]
Mask = npt.NDArray[np.bool_]

# Reference 1 has two fragments and so has 5, prediction 4 covers references 3 and 4, reference 7
# is missed. Prediction 7 overlaps nothing, but lies in the Voronoi region of reference 4.
MIXED = Scene(
    reference=(
        Disc(100, 100, 40, (0.5,)),
        Ellipse(230, 100, 50, 25, 30, (0.6, 0.3)),
        Disc(330, 90, 30),
        Disc(400, 100, 35),
        Stroke(((80, 250), (200, 260), (240, 300)), 30, (0.5,)),
        Disc(500, 280, 30),
        Disc(380, 280, 20),
    ),
    prediction=(
        Disc(85, 100, 28, (0.5,)),
        Disc(122, 100, 22, (0.7,)),
        Ellipse(236, 104, 48, 26, 25, (0.5,)),
        Stroke(((320, 95), (400, 100)), 50),
        Stroke(((80, 252), (150, 254)), 26, (0.4,)),
        Stroke(((165, 262), (236, 300)), 26),
        Disc(500, 60, 25),
        Disc(520, 290, 30),
        Disc(415, 300, 12),
        Disc(330, 330, 8),
    ),
)
DISCS = Scene(
    reference=(Disc(100, 100, 40), Disc(300, 100, 30)),
    prediction=(Disc(110, 100, 40), Disc(290, 110, 25)),
)
EMPTY = Scene()
ONLY_REFERENCES = Scene(reference=MIXED.reference)
ONLY_PREDICTIONS = Scene(prediction=MIXED.prediction)

STRATEGIES: dict[str, pm.Strategy] = {
    "one-to-one/optimal": pm.OneToOne(solver="optimal"),
    "one-to-one/greedy": pm.OneToOne(solver="greedy"),
    "many-to-one/merge/seed": pm.ManyToOne(solver="merge", gate="seed"),
    "many-to-one/merge/edge": pm.ManyToOne(solver="merge", gate="edge"),
    "many-to-one/optimal/seed": pm.ManyToOne(solver="optimal", gate="seed"),
    "many-to-one/optimal/edge": pm.ManyToOne(solver="optimal", gate="edge"),
    "one-to-many/best": pm.OneToMany(solver="best"),
    "one-to-many/optimal": pm.OneToMany(solver="optimal"),
    "same-id": pm.SameId(),
    "union": pm.RegionUnion(),
}
WAYS = [
    (name, regions, parts)
    for name in STRATEGIES
    for regions in (False, True)
    for parts in (False, True)
    if regions or name != "union"
]


def count(scene: Scene, view: View) -> pm.Overlap:
    """Count what a view asks for, by the public names alone."""
    images = scene.label_images()
    if view.parts:
        return pm.count_part_overlaps(
            *images,
            *scene.part_images(),
            background=view.background,
            regions="voronoi" if view.regions else None,
        )
    return pm.count_region_overlaps(*images) if view.regions else pm.count_overlaps(*images)


def same(found: object, expected: float) -> bool:
    """Whether a number of a message is exactly that, null standing for NaN."""
    return found is None if np.isnan(expected) else found == expected
