"""Scenes that are hard to match, or that heuristics match badly; docs/explanation/complexity.md.

Every scene is a table of intersections with the sizes of all segments. `Table.label_images` draws
it, so all of them occur as images.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import Literal

import numpy as np
import numpy.typing as npt

import panmatch as pm

Labels = npt.NDArray[np.int64]
ThreeSet = tuple[int, int, int]
Gate = Literal["seed", "edge"]


@dataclass(frozen=True)
class Table:
    """Intersections as rows of references, and the sizes of all segments."""

    intersections: list[list[int]]
    ref_sizes: list[int]
    pred_sizes: list[int]

    @property
    def overlap(self) -> pm.Overlap:
        return pm.Overlap.from_dense(self.intersections, self.ref_sizes, self.pred_sizes)

    def label_images(self) -> tuple[Labels, Labels]:
        """Return a reference and a prediction, as rows of voxels, with these counts.

        Raises if there are none: intersections of a segment must not add up to more than its size.
        """
        table = np.pad(np.array(self.intersections), ((1, 0), (1, 0)))
        table[1:, 0] = np.array(self.ref_sizes) - table[1:].sum(1)
        table[0, 1:] = np.array(self.pred_sizes) - table[:, 1:].sum(0)
        if (table < 0).any():
            raise ValueError("A segment is smaller than its intersections.")
        ref, pred = np.indices(table.shape)
        return np.repeat(ref, table.ravel()), np.repeat(pred, table.ravel())


def beside(*scenes: Table) -> Table:
    """Return one scene that shows several without contact."""
    width = sum(len(scene.pred_sizes) for scene in scenes)
    rows, before = [], 0
    for scene in scenes:
        after = width - before - len(scene.pred_sizes)
        rows += [[0] * before + row + [0] * after for row in scene.intersections]
        before += len(scene.pred_sizes)
    return Table(
        rows,
        [size for scene in scenes for size in scene.ref_sizes],
        [size for scene in scenes for size in scene.pred_sizes],
    )


@dataclass(frozen=True)
class CoverSizes:
    """Sizes behind the reduction from exact cover: s, w and E on the page."""

    seed: int
    share: int
    excess: int

    @classmethod
    def at(cls, threshold: Fraction, gate: Gate) -> CoverSizes:
        """Return sizes that work at a threshold: below 1 for seeds, below 1/8 for edges."""
        if gate == "edge":
            share = floor(threshold / (1 - 8 * threshold)) + 1
            return cls(3 * share + 1, share, 2 * share)
        return cls(max(4, floor(3 * threshold / (1 - threshold)) + 1), 1, 2)

    def quality(self, elements: int, *, seeded: bool = True) -> Fraction:
        """Return f(j): the IoU of a set's reference with its seed and j of its elements."""
        inside = seeded * self.seed + elements * self.share
        return Fraction(inside, self.seed + 3 * self.share + elements * self.excess)

    @property
    def loss(self) -> Fraction:
        """What a reference loses with all three elements: δ."""
        return self.quality(0) - self.quality(3)

    def target(self, sets: int, elements: int) -> Fraction:
        """Return the PQ that only an exact cover reaches."""
        return self.quality(0) - Fraction(elements, 3 * sets) * self.loss


def exact_cover_scene(sets: Sequence[ThreeSet], elements: int, sizes: CoverSizes) -> Table:
    """Return the scene of the reduction.

    References are sets. The first predictions are seeds, one inside each reference, the others are
    elements, which share `sizes.share` voxels with every set that contains them.
    """
    n = len(sets)
    occurrences = Counter(x for members in sets for x in members)
    assert max(occurrences.values(), default=0) <= 3
    rows = [
        [sizes.seed * (i == j) for j in range(n)]
        + [sizes.share * (x in members) for x in range(elements)]
        for i, members in enumerate(sets)
    ]
    return Table(
        rows,
        [sizes.seed + 3 * sizes.share] * n,
        [sizes.seed] * n + [sizes.share + sizes.excess] * elements,
    )


def exact_cover_in_regions(
    sets: Sequence[ThreeSet], elements: int, sizes: CoverSizes
) -> tuple[Labels, Labels]:
    """Return label images whose Voronoi regions cut every element into pieces, one per set.

    Every reference is a run of voxels. All that its elements have outside follows right after it,
    and the next reference is far enough away.
    """
    outside = 3 * sizes.excess
    reference, prediction = [], []
    for i, members in enumerate(sets, start=1):
        own = [len(sets) + 1 + x for x in members]
        reference += [i] * (sizes.seed + 3 * sizes.share) + [0] * (2 * outside + 2)
        prediction += [i] * sizes.seed + np.repeat(own, sizes.share).tolist()
        prediction += np.repeat(own, sizes.excess).tolist() + [0] * (outside + 2)
    assert max(prediction) <= len(sets) + elements
    return np.array(reference), np.array(prediction)


def refused_joiners(joiners: int, seed: int) -> Table:
    """Return a reference with a good prediction and small ones that greedy merge refuses.

    Each shares one voxel with the reference and has two outside, which lowers the union's IoU if
    the seed is larger than there are joiners.
    """
    assert seed > joiners
    return Table([[seed] + [1] * joiners], [seed + joiners], [seed] + [3] * joiners)


def refused_above(threshold: Fraction, quality: Fraction, size: int) -> Table:
    """Return a reference whose joiners all pass the threshold, and are all refused.

    Its seed has the given quality and lies inside. Each joiner has so much outside that the IoU of
    the union does not rise. There are as many as fit in.
    """
    seed = floor(quality * size)
    share = 1
    while Fraction(share, size + ceil(Fraction(share * size, seed))) <= threshold:
        share += 1
    joiners = (size - seed) // share
    excess = ceil(Fraction(share * size, seed))
    return Table([[seed] + [share] * joiners], [size], [seed] + [share + excess] * joiners)


def spoilt_by_its_seed(threshold: Fraction, part: Fraction, size: int) -> Table:
    """Return a reference that greedy merge gives to a huge prediction first.

    That one shares a part of the reference, and its IoU is just above that of the others, which
    lie inside, pass the threshold and would cover the rest.
    """
    share = floor(threshold * size) + 1
    inside = floor(part * size)
    huge = inside + ceil(Fraction(inside * size, share)) - 1 - size
    others = (size - inside) // share
    return Table([[inside] + [share] * others], [size], [huge] + [share] * others)


def merged_badly(threshold: Fraction, size: int) -> Table:
    """Return a scene of which greedy merge reaches about 67 τ² of the maximum, for small τ."""
    refused = refused_above(threshold, Fraction(143, 50) * threshold, size)
    spoilt = spoilt_by_its_seed(threshold, Fraction(8, 25), size)
    return beside(*[refused] * 9, *[spoilt] * 7)


def one_for_all(refs: int, largest: int) -> Table:
    """Return one prediction over a large reference and many of a single voxel."""
    sizes = [largest] + [1] * (refs - 1)
    return Table([[size] for size in sizes], sizes, [sum(sizes)])


def one_for_few(threshold: Fraction, refs: int, size: int) -> Table:
    """Return one prediction over a large reference and others that just pass the threshold."""
    small = floor(threshold * size) + 1
    sizes = [size - (refs - 1) * small] + [small] * (refs - 1)
    return Table([[part] for part in sizes], sizes, [size])
