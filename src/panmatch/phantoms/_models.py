"""Simulated models, each with one typical mistake, known object by object.

They take any anatomy and return a prediction with a profile of its mistakes. In semantic images,
where objects are connected components, the components of the prediction are the objects that the
profile lists.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol

import numpy as np

from panmatch.errors import OptionError
from panmatch.labels import edge_distances
from panmatch.phantoms._anatomy import Anatomy, FreshIds, Prediction, Profile, as_prediction
from panmatch.phantoms._objects import Floats, Objects, cut, keep_largest_pieces, number_objects
from panmatch.phantoms._options import (
    Radius,
    as_float,
    check_count,
    check_distance,
    check_probability,
    check_radius,
    random_numbers,
)
from panmatch.phantoms._reshaping import (
    displace,
    grow_unevenly,
    join_neighbours,
    pieces_apart,
    shrink_unevenly,
    touches_another,
)
from panmatch.phantoms._shapes import box_around, layered_blob, scatter

OFF_BY = 0.5  # how far an outline may be off, as a share of the depth of the object


class SimulatedModel(Protocol):
    """Anything that predicts an anatomy and lists the mistakes of the prediction.

    Examples
    --------
    >>> from panmatch.phantoms import SIMULATED_MODELS, spine
    >>> SIMULATED_MODELS["merges"].predict(spine((64, 48), 2)).profile.merged
    ((23, 24),)
    """

    def predict(self, anatomy: Anatomy, seed: int = 0) -> Prediction:
        """Return a prediction; equal seeds give equal ones."""
        ...


@dataclass(frozen=True, slots=True)
class Splits:
    """Splits large objects into pieces.

    Attributes
    ----------
    pieces
        How many pieces, 2 or more. Separating a piece from the others may break it up or remove
        it, so there can be more or fewer pieces. An object that would end up with fewer than two
        pieces stays whole.
    probability
        Probability that a large object is split. The largest object always is.
    limit
        Volume from which an object is large, in mm³ (mm² in 2-D); None for the median of the image.

    Examples
    --------
    >>> from panmatch.phantoms import Splits, liver_lesions
    >>> liver = liver_lesions((64, 64), 1, radius_mm=(6, 6))
    >>> Splits(2).predict(liver).profile.split
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
        volumes, limit = _volumes(objects, anatomy, self.limit)
        chosen = volumes >= limit
        chosen &= random_numbers(seed).random(objects.count) < self.probability
        chosen[volumes.argsort(kind="stable")[-1:]] = True
        numbers, _ = cut(objects, np.flatnonzero(chosen) + 1, self.pieces)
        after, split = anatomy.objects.copy(), dict[int, tuple[int, ...]]()
        for number, box in objects.boxes(np.flatnonzero(chosen) + 1):
            inside = objects.numbers[box] == number
            pieces = np.where(inside, numbers[box], np.int32(0))
            pieces = pieces_apart(pieces) if anatomy.is_semantic else number_objects(pieces).numbers
            own, count = int(objects.ids[number - 1]), int(pieces.max())
            others = fresh.take(own, count - 1) if count > 1 else []
            if others:  # there is none if no label of this kind is left
                after[box][inside] = np.array([0, own, *others])[pieces[inside]]
                split[own] = (own, *others)
        return as_prediction(anatomy, after, anatomy.content, Profile(split=split))


@dataclass(frozen=True, slots=True)
class Merges:
    """Joins pairs of neighbouring objects.

    Objects are visited in random order, and each that is still single joins the single one of its
    kind with the nearest surface. In semantic images a bridge turns the two into one component. If
    it would leave the organ or touch a third object, the next nearest object is tried.

    Attributes
    ----------
    share
        Share of all objects to put into pairs; the number of pairs is rounded up. There are fewer
        if objects run out of neighbours.
    reach_mm
        Largest distance between the surfaces of neighbours.

    Examples
    --------
    >>> from panmatch.phantoms import Merges, spine
    >>> Merges(share=1).predict(spine((64, 48), 2)).profile.merged
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
        pairs, numbers = join_neighbours(objects, anatomy, wanted, self.reach_mm, rng)
        ids, merged = objects.ids.copy(), list[tuple[int, int]]()
        for low, high in map(sorted, pairs):
            merged.append((int(ids[low - 1]), int(ids[high - 1])))
            ids[high - 1] = ids[low - 1]
        after = objects.paint(ids, numbers).astype(np.int32)
        profile = Profile(merged=tuple(sorted(merged)))
        return as_prediction(anatomy, after, anatomy.content, profile)


@dataclass(frozen=True, slots=True)
class MissesSmall:
    """Misses small objects; the smaller an object, the likelier it is missed.

    Attributes
    ----------
    limit
        Volume from which no object is missed, in mm³ (mm² in 2-D); None for the median of the
        image. Below it, the probability falls linearly from 1 at volume 0 to 0 at the limit.

    Examples
    --------
    >>> from panmatch.phantoms import MissesSmall, brain_metastases
    >>> brain = brain_metastases((32, 32), 2, radius_mm=(1, 4))
    >>> MissesSmall(limit=0).predict(brain).profile.missed
    ()
    >>> MissesSmall(limit=1e9).predict(brain).profile.missed
    (1, 2)
    """

    limit: float | None = None

    def __post_init__(self) -> None:
        _check_limit(self.limit)

    def predict(self, anatomy: Anatomy, seed: int = 0) -> Prediction:
        """Return a prediction; equal seeds give equal ones."""
        objects = number_objects(anatomy.objects)
        volumes, limit = _volumes(objects, anatomy, self.limit)
        # A draw below 1 can equal 0: that must not make us miss an object at the limit.
        drawn = 1 - random_numbers(seed).random(len(volumes))
        gone = drawn * limit > volumes
        after = objects.paint(np.where(gone, 0, objects.ids)).astype(np.int32)
        profile = Profile(missed=tuple(objects.ids[gone].tolist()))
        return as_prediction(anatomy, after, anatomy.content, profile)


@dataclass(frozen=True, slots=True)
class Redraws:
    """Draws every object too large or too small, by a smooth random amount; parts move, too.

    Each object grows or shrinks as a whole, so either the object or its prediction contains the
    other. An object that shrinks keeps at least half of its voxels. In semantic images objects stay
    separate and in one piece. There are no mistakes to list: every object is predicted, but its
    outline is off.

    Attributes
    ----------
    offset_mm
        How far outlines may be off, but never more than half the depth of the object. Below the
        finest spacing nothing changes.

    Examples
    --------
    >>> from panmatch.phantoms import Profile, Redraws, liver_lesions
    >>> liver = liver_lesions((64, 64), 3, radius_mm=(3, 6))
    >>> seen = Redraws(2.5).predict(liver)
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
        depth = edge_distances(numbers, sizes, border=True)
        deepest = np.zeros(objects.count + 1)
        np.maximum.at(deepest, numbers.ravel(), depth.ravel())
        by = np.minimum(self.offset_mm, OFF_BY * deepest)
        grows = rng.random(len(by)) < 0.5
        smaller = shrink_unevenly(numbers, np.where(grows, 0, by), sizes, rng)
        after = grow_unevenly(smaller, np.where(grows, by, 0), sizes, rng)
        after[~anatomy.room] = 0
        if anatomy.is_semantic:
            after[touches_another(after) & (after != numbers)] = 0
            keep_largest_pieces(after, "full")
        content = displace(anatomy.content, numbers, by / 2, sizes, rng)
        content[after != numbers] = 0  # what an object took consists of the same as the object
        image = objects.paint(objects.ids, after).astype(np.int32)
        return as_prediction(anatomy, image, content, Profile())


@dataclass(frozen=True, slots=True)
class AddsSpurious:
    """Adds small spurious objects, with the layers of real ones, in empty places.

    Attributes
    ----------
    count
        How many; fewer if there is no room for more, or no label left.
    radius_mm
        Lowest and highest radius of the balls around them.

    Examples
    --------
    >>> import numpy as np
    >>> from panmatch.phantoms import AddsSpurious, brain_metastases
    >>> seen = AddsSpurious(2).predict(brain_metastases((32, 32), 0))
    >>> seen.profile.spurious, np.unique(seen.labels).tolist()
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
        after, content, spurious = anatomy.objects.copy(), anatomy.content, list[int]()
        radii = np.maximum(rng.uniform(*self.radius_mm, size=self.count), sizes.min())
        for centre, radius in scatter(anatomy.room, radii, sizes, rng, avoid=after > 0):
            new = fresh.take(anatomy.id_ranges[0][0], 1)
            if not new:
                break  # no label of this kind is left
            blob = layered_blob(radius, anatomy.layers, sizes, rng)
            box = box_around(centre, blob.shape)
            after[box][blob > 0] = new[0]
            content[box][blob > 0] = blob[blob > 0]
            spurious += new
        profile = Profile(spurious=tuple(sorted(spurious)))
        return as_prediction(anatomy, after, content, profile)


def _check_limit(limit: float | None) -> None:
    if limit is not None and not as_float(limit) >= 0:
        raise OptionError(
            f"limit={limit!r} is not a volume; pass 0 mm³ or more, or None for the median volume."
        )


def _volumes(objects: Objects, anatomy: Anatomy, limit: float | None) -> tuple[Floats, float]:
    """Return the volume of each object, in mm³ (mm² in 2-D), and the limit or their median."""
    counts = np.bincount(objects.numbers.ravel(), minlength=objects.count + 1)[1:]
    volumes: Floats = counts * np.prod(anatomy.spacing)
    if limit is None:
        limit = float(np.median(volumes)) if len(volumes) else 0.0
    return volumes, limit


SIMULATED_MODELS: Mapping[str, SimulatedModel] = MappingProxyType(
    {
        "adds-spurious": AddsSpurious(),
        "merges": Merges(),
        "misses-small": MissesSmall(),
        "redraws": Redraws(),
        "redraws-slightly": Redraws(offset_mm=1.2),
        "splits": Splits(),
    }
)
