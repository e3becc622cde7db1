"""Simulated raters: people who draw the same objects, each a little differently."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from panmatch.errors import OptionError
from panmatch.labels import LabelArray, edge_distances
from panmatch.phantoms._mistakes import add_spurious
from panmatch.phantoms._objects import number_objects
from panmatch.phantoms._options import (
    check_count,
    check_distance,
    check_probability,
    random_numbers,
)
from panmatch.phantoms._reshaping import grow_unevenly, shrink_unevenly

OFF_BY = 0.5  # how far an outline may be off, as a share of the depth of the object


def simulate_raters(
    labels: npt.ArrayLike,
    names: Sequence[str] = ("ann", "bob", "eve"),
    *,
    offset: float = 1.5,
    misses: float = 0.3,
    spurious: int = 0,
    seed: int = 0,
) -> dict[str, LabelArray]:
    """Return what several raters draw of the same objects.

    Objects differ in how easy they are to see, and the smaller ones are harder, so raters tend to
    miss the same ones. What they draw keeps the id of the object.

    Parameters
    ----------
    labels
        Label image with two or three axes.
    names
        The raters; each is drawn with random numbers of their own.
    offset
        How far an outline may be off, in voxels; at most half of the depth of the object.
    misses
        Probability of missing the smallest object; it falls to 0 for the largest.
    spurious
        How many objects each rater adds where there is none.
    seed
        Equal seeds give equal raters.

    Examples
    --------
    >>> import numpy as np
    >>> from panmatch.phantoms import balls, simulate_raters
    >>> truth = balls((48, 48), 6, radius=(3, 6), seed=1)
    >>> drawn = simulate_raters(truth, misses=0.8)
    >>> {name: len(np.unique(labels)) - 1 for name, labels in drawn.items()}
    {'ann': 5, 'bob': 3, 'eve': 3}
    """
    if len(set(names)) != len(names) or not names:
        raise OptionError(f"names={list(names)!r} must be one or more different names.")
    check_distance("offset", offset)
    check_probability("misses", misses)
    check_count("spurious", spurious)
    objects = number_objects(labels)
    numbers = objects.numbers.astype(np.int32)
    sizes = np.bincount(numbers.ravel(), minlength=objects.count + 1)[1:]
    ranks = np.argsort(np.argsort(-sizes, kind="stable"), kind="stable")  # 0 for the largest
    hidden = misses * ranks / max(objects.count - 1, 1)
    depth = edge_distances(numbers, np.ones(numbers.ndim), border=True)
    deepest = np.zeros(objects.count + 1)
    np.maximum.at(deepest, numbers.ravel(), depth.ravel())
    by = np.minimum(offset, OFF_BY * deepest)
    steps = np.ones(numbers.ndim)
    found = {}
    for i, name in enumerate(names):
        rng = random_numbers(1000 * seed + i)
        grows = rng.random(len(by)) < 0.5
        after = shrink_unevenly(numbers, np.where(grows, 0, by), steps, rng)
        after = grow_unevenly(after, np.where(grows, by, 0), steps, rng)
        missed = np.flatnonzero(rng.random(objects.count) < hidden) + 1
        after[np.isin(after, missed)] = 0
        drawn = objects.paint(objects.ids, after)
        if spurious:
            drawn = add_spurious(drawn, spurious, radius=(2, 3), avoid=labels, seed=1000 * seed + i)
        found[name] = drawn
    return found
