"""Simulated models, each with one habit: what it does wrong is known, object by object.

They take any anatomy, see all of it, and return a prediction with the profile of its mistakes. In
semantic images, where objects are connected components, they make sure that the components of the
prediction are the objects that the profile speaks of.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol

import numpy as np

from panmatch.errors import OptionError
from panmatch.phantoms.anatomy import Anatomy, FreshIds, as_image
from panmatch.phantoms.bridges import join_neighbours
from panmatch.phantoms.mistakes import miss
from panmatch.phantoms.objects import Floats, Objects, number_objects
from panmatch.phantoms.options import (
    Radius,
    check_count,
    check_distance,
    check_probability,
    check_radius,
    random_numbers,
)
from panmatch.phantoms.outlines import label_layers, layered_blob
from panmatch.phantoms.placement import box_around
from panmatch.phantoms.predictions import Prediction, Profile, predicted
from panmatch.phantoms.redrawing import (
    displace,
    grow_unevenly,
    largest_depths,
    shrink_unevenly,
)
from panmatch.phantoms.scattering import scatter
from panmatch.phantoms.separation import cut_apart, largest_piece_each, touches_another

ROUGHNESS = 0.45  # of made-up objects
OFF_BY = 0.5  # how far an outline may be off, as a share of the depth of the object


class SimulatedModel(Protocol):
    """Whatever predicts an anatomy and says what it got wrong."""

    def predict(self, anatomy: Anatomy, seed: int = 0) -> Prediction:
        """Return a prediction; equal seeds give equal ones."""
        ...


@dataclass(frozen=True, slots=True)
class Fragmenter:
    """Cuts large objects into pieces.

    Attributes
    ----------
    pieces
        How many pieces, 2 or more. What is left of a piece after parting it from the others may
        fall apart or be dropped, so that there are more or fewer; an object of which fewer than
        two would be left stays whole.
    probability
        That an object is cut, if it is large. The largest is always.
    limit
        Volume from which an object is large, in mm³ (mm² in 2-D); None for the median of the image.

    Examples
    --------
    >>> from panmatch.phantoms import liver_lesions
    >>> liver = liver_lesions((64, 64), 1, radius_mm=(6, 6))
    >>> Fragmenter(2).predict(liver).profile.cut
    {1: (1, 2)}
    """

    pieces: int = 3
    probability: float = 0.6
    limit: float | None = None

    def __post_init__(self) -> None:
        check_count("pieces", self.pieces, lowest=2)
        check_probability("probability", self.probability)
        _check_limit(self.limit)

    def predict(self, anatomy: Anatomy, seed: int = 0) -> Prediction:
        """Return a prediction; equal seeds give equal ones."""
        objects, fresh = number_objects(anatomy.objects), FreshIds(anatomy)
        chosen = self._choose(_volumes(objects, anatomy), random_numbers(seed))
        after, done = anatomy.objects.copy(), {}
        gaps = anatomy.is_semantic
        for number, box, pieces in cut_apart(objects, chosen, self.pieces, gaps=gaps):
            own = int(objects.ids[number - 1])
            others = fresh.take(own, int(pieces.max()) - 1)
            if others is None:
                continue  # the labels of this kind are used up: it cannot be cut
            inside = objects.numbers[box] == number
            after[box][inside] = np.array([0, own, *others])[pieces[inside]]
            done[own] = (own, *others)
        return predicted(anatomy, after, anatomy.content, Profile(cut=done))

    def _choose(self, sizes: Floats, rng: np.random.Generator) -> list[int]:
        """Return the numbers of the objects to cut."""
        chosen = sizes >= _limit(self.limit, sizes)
        chosen &= rng.random(len(sizes)) < self.probability
        chosen[sizes.argsort(kind="stable")[-1:]] = True
        numbers: list[int] = (np.flatnonzero(chosen) + 1).tolist()
        return numbers


@dataclass(frozen=True, slots=True)
class Merger:
    """Joins pairs of neighbouring objects.

    Objects are visited in random order, and each that is still single joins the single one of its
    kind with the nearest surface. In semantic images a bridge makes the two one component; where
    it would leave the organ or touch a third object, the next nearest is tried.

    Attributes
    ----------
    share
        Of all objects, how many are to be in a pair; pairs are rounded up. There are fewer where
        neighbours run out.
    reach_mm
        Largest distance between the surfaces of neighbours.

    Examples
    --------
    >>> from panmatch.phantoms import spine
    >>> Merger(share=1).predict(spine((64, 48), 2)).profile.merged
    ((23, 24),)
    """

    share: float = 0.4
    reach_mm: float = 15.0

    def __post_init__(self) -> None:
        check_probability("share", self.share)
        check_distance("reach_mm", self.reach_mm)

    def predict(self, anatomy: Anatomy, seed: int = 0) -> Prediction:
        """Return a prediction; equal seeds give equal ones."""
        objects, rng = number_objects(anatomy.objects), random_numbers(seed)
        wanted = math.ceil(self.share * objects.count / 2)
        pairs, after = join_neighbours(objects, anatomy, wanted, self.reach_mm, rng)
        ids = objects.ids.copy()
        for pair in pairs:
            ids[np.array(pair) - 1] = ids[min(pair) - 1]
        merged = [tuple(objects.ids[np.sort(pair) - 1].tolist()) for pair in pairs]
        image = as_image(objects.paint(ids, after))
        profile = Profile(merged=tuple(sorted((low, high) for low, high in merged)))
        return predicted(anatomy, image, anatomy.content, profile)


@dataclass(frozen=True, slots=True)
class SmallLesionMisser:
    """Misses small objects, the smaller the likelier.

    Attributes
    ----------
    limit
        Volume from which no object is missed, in mm³ (mm² in 2-D); None for the median of the
        image. Below, the probability falls evenly from 1 at volume 0 to 0 at the limit.

    Examples
    --------
    >>> from panmatch.phantoms import brain_metastases
    >>> brain = brain_metastases((32, 32), 2, radius_mm=(1, 4))
    >>> SmallLesionMisser(limit=0).predict(brain).profile.missed
    ()
    >>> SmallLesionMisser(limit=1e9).predict(brain).profile.missed
    (1, 2)
    """

    limit: float | None = None

    def __post_init__(self) -> None:
        _check_limit(self.limit)

    def predict(self, anatomy: Anatomy, seed: int = 0) -> Prediction:
        """Return a prediction; equal seeds give equal ones."""
        objects = number_objects(anatomy.objects)
        sizes = _volumes(objects, anatomy)
        # A draw below 1 can equal 0: an object at the limit must not be missed by that.
        drawn = 1 - random_numbers(seed).random(len(sizes))
        gone = drawn * _limit(self.limit, sizes) > sizes
        missed = objects.ids[gone].tolist()
        after = as_image(miss(anatomy.objects, ids=missed))
        return predicted(anatomy, after, anatomy.content, Profile(missed=tuple(missed)))


@dataclass(frozen=True, slots=True)
class Redrawer:
    """Draws every object too large or too small, by a smooth random amount; parts move as well.

    Each grows or shrinks as a whole, so that one contains the other; those that shrink keep half
    of their voxels at least. In semantic images objects stay apart and in one piece. There are no
    mistakes to list: objects are found, but not quite right.

    Attributes
    ----------
    offset_mm
        How far outlines are off, at most, and never farther than half the depth of the object;
        below the finest spacing nothing changes.

    Examples
    --------
    >>> from panmatch.phantoms import liver_lesions
    >>> liver = liver_lesions((64, 64), 3, radius_mm=(3, 6))
    >>> seen = Redrawer(2.5).predict(liver)
    >>> bool((seen.labels != liver.labels).any()), seen.profile == Profile()
    (True, True)
    """

    offset_mm: float = 2.5

    def __post_init__(self) -> None:
        check_distance("offset_mm", self.offset_mm)

    def predict(self, anatomy: Anatomy, seed: int = 0) -> Prediction:
        """Return a prediction; equal seeds give equal ones."""
        objects, rng = number_objects(anatomy.objects), random_numbers(seed)
        numbers, sizes = objects.numbers, np.array(anatomy.spacing)
        by = np.minimum(self.offset_mm, OFF_BY * largest_depths(numbers, sizes))
        grows = rng.random(len(by)) < 0.5
        smaller = shrink_unevenly(numbers, np.where(grows, 0, by), sizes, rng)
        after = grow_unevenly(smaller, np.where(grows, by, 0), sizes, rng)
        after[(after > 0) & ~anatomy.room] = 0
        if anatomy.is_semantic:
            after[touches_another(after) & (after != numbers)] = 0
            after = largest_piece_each(after)
        content = displace(anatomy.content, numbers, by / 2, sizes, rng)
        content[after != numbers] = 0  # what an object took is made like itself
        image = as_image(objects.paint(objects.ids, after))
        return predicted(anatomy, image, content, Profile())


@dataclass(frozen=True, slots=True)
class Hallucinator:
    """Adds small objects that are made like real ones, where there is nothing.

    Attributes
    ----------
    count
        How many; fewer where there is no room for more, or no label left.
    radius_mm
        Lowest and highest radius of the balls around them.

    Examples
    --------
    >>> from panmatch.phantoms import brain_metastases
    >>> seen = Hallucinator(2).predict(brain_metastases((32, 32), 0))
    >>> seen.profile.made_up, np.unique(seen.labels).tolist()
    ((1, 2), [0, 2, 3])
    """

    count: int = 4
    radius_mm: Radius = (2.0, 4.0)

    def __post_init__(self) -> None:
        check_count("count", self.count)
        check_radius(self.radius_mm, "radius_mm")

    def predict(self, anatomy: Anatomy, seed: int = 0) -> Prediction:
        """Return a prediction; equal seeds give equal ones."""
        sizes, rng, fresh = np.array(anatomy.spacing), random_numbers(seed), FreshIds(anatomy)
        after, content, done = anatomy.objects.copy(), anatomy.content, []
        radii = np.maximum(rng.uniform(*self.radius_mm, size=self.count), sizes.min())
        for centre, radius in scatter(anatomy.room, radii, sizes, rng, occupied=after > 0):
            layers = layered_blob(radius, ROUGHNESS, sizes, rng)
            names = fresh.take(anatomy.id_ranges[0][0], 1)
            if names is None:
                break  # the labels of this kind are used up
            box, inside = box_around(centre, layers), layers > 0
            after[box][inside] = names[0]
            content[box][inside] = label_layers(layers, anatomy.layers)[inside]
            done += names
        return predicted(anatomy, after, content, Profile(made_up=tuple(sorted(done))))


def _volumes(objects: Objects, anatomy: Anatomy) -> Floats:
    """Return the volume of each object, in mm³ (mm² in 2-D)."""
    counts = np.bincount(objects.numbers.ravel(), minlength=objects.count + 1)[1:]
    sizes: Floats = counts * np.prod(anatomy.spacing)
    return sizes


def _check_limit(limit: float | None) -> None:
    if limit is not None and not limit >= 0:
        raise OptionError(
            f"limit={limit!r} is no volume; pass 0 mm³ or more, or None for the median volume."
        )


def _limit(limit: float | None, sizes: Floats) -> float:
    if limit is None:
        return float(np.median(sizes)) if len(sizes) else 0.0
    return limit


SIMULATED_MODELS: Mapping[str, SimulatedModel] = MappingProxyType(
    {
        "careful": Redrawer(offset_mm=1.2),
        "fragmenter": Fragmenter(),
        "hallucinator": Hallucinator(),
        "merger": Merger(),
        "sloppy": Redrawer(offset_mm=2.5),
        "small-lesion-misser": SmallLesionMisser(),
    }
)
