"""Controlled mistakes: each function turns a reference into a prediction with a known mistake.

Every function takes a label image of any integer dtype, leaves it unchanged, and returns a new one
of the same dtype (int64 if new ids need it). The notes of each function say what happens to the
counts of D3 under the three strategies of D4 if the input is the reference, the result is the
prediction, and an edge needs IoU > τ (D2). |g| is the voxel count of an object before the mistake,
and |p| is its voxel count after it. Objects that are not mentioned stay perfect matches of quality
1.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from panmatch.errors import OptionError
from panmatch.labels import LabelArray, as_labels, check_same_shape
from panmatch.phantoms._objects import Floats, Image, Mask, cut, dtype_for, number_objects
from panmatch.phantoms._options import Radius, as_ints, check_count, check_distance, random_numbers
from panmatch.phantoms._scenes import draw_blobs
from panmatch.phantoms._shapes import Room


def shift(
    labels: npt.ArrayLike, offset: Sequence[int], *, ids: Iterable[int] | None = None
) -> LabelArray:
    """Move objects by whole voxels.

    Voxels that leave the image are lost. All chosen objects move together, so they can only meet
    objects that stay; where they do, the smaller id keeps the voxel.

    Parameters
    ----------
    labels
        Label image, one axis or more.
    offset
        Voxels to move by, one int per axis; negative numbers move towards index 0.
    ids
        The objects to change; None changes all.

    Notes
    -----
    Let I be the voxels that g shares with its moved self. As long as no moved object overlaps a
    reference other than its own, the three strategies agree: with I / (|g| + |p| − I) > τ, g stays
    a TP of that quality; otherwise TP falls by 1, FN rises by 1, and FP rises by 1 unless nothing
    is left inside the image. A moved object that overlaps another reference has an edge to that
    one too if their IoU > τ, and an object that stays loses the voxels that a smaller id takes.

    Examples
    --------
    >>> from panmatch.phantoms import shift
    >>> shift([[1, 1, 0, 2, 0]], (0, 1), ids=[1]).tolist()
    [[0, 1, 1, 2, 0]]
    """
    objects, steps = number_objects(labels), as_ints(offset)
    if steps is None or len(steps) != objects.numbers.ndim:
        raise OptionError(
            f"offset={offset!r} is not a shift by whole voxels; pass one int for each of the "
            f"{objects.numbers.ndim} axes of labels."
        )
    still = np.arange(objects.count + 1, dtype=np.int32)
    still[objects.pick(ids)] = 0
    stayed = still[objects.numbers]
    moved = _move(objects.numbers - stayed, steps)
    meet = (stayed > 0) & (moved > 0)
    after = np.where(meet, np.minimum(stayed, moved), np.maximum(stayed, moved))
    return objects.paint(objects.ids, after)


def dilate(labels: npt.ArrayLike, radius: float, *, ids: Iterable[int] | None = None) -> LabelArray:
    """Grow objects into the background by a Euclidean radius.

    An object takes the background voxels within `radius` of any of its own, never a voxel of
    another object. If several objects grow into the same voxel, the nearest gets it; ties go to the
    smaller id.

    Parameters
    ----------
    labels, ids
        As for `shift`. Other objects do not grow.
    radius
        In voxels, 0 or more.

    Notes
    -----
    A grown object contains its reference and meets no other, so the three strategies agree: with
    |g| / |p| > τ, g stays a TP of that quality; otherwise TP falls by 1, FN and FP rise by 1.

    Examples
    --------
    >>> from panmatch.phantoms import dilate
    >>> dilate([[0, 3, 0, 0, 0, 7]], 2).tolist()
    [[3, 3, 3, 3, 7, 7]]
    """
    from scipy.ndimage import distance_transform_edt

    objects, radius = number_objects(labels), check_distance("radius", radius)
    before, after = objects.numbers, objects.numbers.copy()
    nearest: Floats = np.full(before.shape, np.inf)
    for number, box in objects.boxes(objects.pick(ids), margin=int(radius)):
        distance: Floats = distance_transform_edt(before[box] != number)
        # Numbers rise: if objects are equally near, the smaller id has taken the voxel already.
        won = (before[box] == 0) & (distance <= radius) & (distance < nearest[box])
        after[box][won] = number
        nearest[box][won] = distance[won]
    return objects.paint(objects.ids, after)


def erode(labels: npt.ArrayLike, radius: float, *, ids: Iterable[int] | None = None) -> LabelArray:
    """Shrink objects by a Euclidean radius.

    An object loses the voxels within `radius` of any voxel that is not its own, whether background
    or another object, and may disappear. The edge of the image does not count: an object that was
    cut off there stays cut off there.

    Parameters
    ----------
    labels, radius, ids
        As for `dilate`.

    Notes
    -----
    A shrunken object lies inside its reference, so the three strategies agree: with |p| / |g| > τ,
    g stays a TP of that quality; otherwise TP falls by 1, FN rises by 1, and FP rises by 1 unless
    the object disappeared.

    Examples
    --------
    >>> from panmatch.phantoms import erode
    >>> erode([[0, 4, 4, 4, 0, 9]], 1).tolist()
    [[0, 0, 4, 0, 0, 0]]
    """
    from scipy.ndimage import distance_transform_edt

    objects, radius = number_objects(labels), check_distance("radius", radius)
    after = objects.numbers.copy()
    # One layer of surroundings is enough: everything farther out is farther away.
    for number, box in objects.boxes(objects.pick(ids), margin=1):
        inside = objects.numbers[box] == number
        if not inside.all():  # an object that fills the image has nothing around it
            after[box][inside & (distance_transform_edt(inside) <= radius)] = 0
    return objects.paint(objects.ids, after)


def split(labels: npt.ArrayLike, pieces: int, *, ids: Iterable[int] | None = None) -> LabelArray:
    """Cut objects into pieces of nearly equal size.

    Cuts run across the longest axis of the bounding box (the first if several are equally long). A
    cut may step within a layer, so the pieces of one object differ by at most one voxel, the larger
    ones first. The first piece keeps the id, and the others get new ids above the highest, in
    increasing order. An object with fewer voxels than `pieces` falls apart into single voxels.

    Parameters
    ----------
    labels, ids
        As for `shift`.
    pieces
        Pieces per object, 1 or more.

    Notes
    -----
    If g is cut into n pieces, the largest is a share q = ceil(|g| / n) / |g| of it. If q ≤ τ,
    TP falls by 1, FN rises by 1 and FP rises by n under all three strategies. If q > τ:

    - one-to-one and one-to-many: g stays a TP of quality q, FP rises by n − 1, FN stays.
    - many-to-one: all pieces are taken together, g stays a TP of quality 1, FP and FN stay. With
      ``gate="edge"`` only pieces whose own share is above τ are taken; the others are FPs.

    Examples
    --------
    >>> from panmatch.phantoms import split
    >>> split([[5, 5, 5, 5, 5, 0, 8]], 2, ids=[5]).tolist()
    [[5, 5, 5, 9, 9, 0, 8]]
    """
    objects, pieces = number_objects(labels), check_count("pieces", pieces, lowest=1)
    after, count = cut(objects, objects.pick(ids), pieces)
    added = objects.new_ids(count)
    return objects.paint(np.concatenate([objects.ids.astype(added.dtype), added]), after)


def merge_neighbours(labels: npt.ArrayLike, pairs: int, *, seed: int = 0) -> LabelArray:
    """Join pairs of neighbouring objects; the smaller id wins.

    Objects are visited in random order. Each one that is still single joins the single object
    with the nearest centroid (the smaller id if several are equally near), until there are enough
    pairs.

    Parameters
    ----------
    labels
        Label image, one axis or more.
    pairs
        How many pairs, at most half the number of objects. No object is in two.
    seed
        Equal seeds give equal pairs.

    Notes
    -----
    Let a and b be a joined pair with |a| ≥ |b|. The prediction has IoU q = |a| / (|a| + |b|) with a
    and 1 − q with b. If q ≤ τ, TP falls by 2, FN rises by 2 and FP rises by 1 under all three
    strategies. If q > τ:

    - one-to-one and many-to-one: a stays a TP of quality q; TP falls by 1, FN rises by 1, FP stays.
    - one-to-many: the same if 1 − q ≤ τ. Otherwise both stay TPs, of quality q and 1 − q, and TP,
      FP and FN stay (solver ``best``; ``optimal`` may give b up where that raises PQ).

    Examples
    --------
    >>> from panmatch.phantoms import merge_neighbours
    >>> merge_neighbours([[1, 0, 2, 0, 0, 0, 7, 0, 4]], 2).tolist()
    [[1, 0, 1, 0, 0, 0, 4, 0, 4]]
    """
    objects, pairs = number_objects(labels), check_count("pairs", pairs)
    if pairs > objects.count // 2:
        raise OptionError(
            f"pairs={pairs} is too many: labels has {objects.count} objects, "
            f"and each can be in only one pair; pass {objects.count // 2} or fewer."
        )
    ids, centroids, single = objects.ids.copy(), objects.centroids(), np.ones(objects.count, bool)
    for first in random_numbers(seed).permutation(objects.count).tolist():
        if pairs and single[first]:
            single[first] = False
            distance = ((centroids - centroids[first]) ** 2).sum(axis=1)
            second = int(np.argmin(np.where(single, distance, np.inf)))
            single[second] = False
            ids[[first, second]] = ids[min(first, second)]
            pairs -= 1
    return objects.paint(ids)


def miss(
    labels: npt.ArrayLike,
    count: int | None = None,
    *,
    ids: Iterable[int] | None = None,
    seed: int = 0,
) -> LabelArray:
    """Remove objects: `count` random ones, or those in `ids`.

    Parameters
    ----------
    labels
        Label image, one axis or more.
    count
        How many objects to remove, at most as many as there are.
    ids
        The objects to remove, instead of `count`.
    seed
        Equal seeds remove equal objects; only for `count`.

    Notes
    -----
    For each removed object, TP falls by 1 and FN rises by 1; FP stays. The three strategies agree.

    Examples
    --------
    >>> from panmatch.phantoms import miss
    >>> miss([[1, 0, 2, 0, 3]], ids=[2]).tolist()
    [[1, 0, 0, 0, 3]]
    """
    objects = number_objects(labels)
    if (count is None) == (ids is None):
        given = "neither" if count is None else "both"
        raise OptionError(f"miss got {given} of count and ids; pass exactly one of them.")
    kept = objects.ids.copy()
    if count is None:
        kept[np.array(objects.pick(ids), dtype=np.int64) - 1] = 0
    else:
        count = check_count("count", count, highest=objects.count)
        kept[random_numbers(seed).permutation(objects.count)[:count]] = 0
    return objects.paint(kept)


def add_spurious(
    labels: npt.ArrayLike,
    count: int,
    *,
    radius: Radius,
    avoid: npt.ArrayLike | None = None,
    gap: float = 1.0,
    seed: int = 0,
) -> LabelArray:
    """Add spurious objects: balls in empty places.

    Parameters
    ----------
    labels
        Label image with two or three axes.
    count
        How many balls to add. They get new ids above the highest of `labels`.
    avoid
        A second label image to stay clear of, usually the reference where `labels` is a
        prediction that has mistakes already.
    radius, gap, seed
        As for `balls`; `gap` is also the smallest distance to any object of `labels` and `avoid`.

    Notes
    -----
    FP rises by 1 per ball; TP and FN stay. The three strategies agree. This holds if the reference
    is `labels` or `avoid`: then no ball shares a voxel with any reference.

    Examples
    --------
    >>> from panmatch.phantoms import add_spurious
    >>> add_spurious([[0, 0, 0, 0, 6]] * 3, 1, radius=(1, 1)).tolist()
    [[0, 7, 0, 0, 6], [7, 7, 7, 0, 6], [0, 7, 0, 0, 6]]
    """
    objects, count = number_objects(labels), check_count("count", count)
    if objects.numbers.ndim not in (2, 3):
        raise OptionError(
            f"labels has {objects.numbers.ndim} axes; add_spurious draws discs in 2-D and balls in "
            "3-D: pass an image with two or three axes."
        )
    occupied: Mask = objects.numbers > 0
    if avoid is not None:
        other = as_labels(avoid, "avoid")
        check_same_shape({"labels": objects.numbers, "avoid": other})
        occupied |= other != 0
    room = Room(occupied.shape, np.ones(occupied.ndim))
    room.keep_clear_of(occupied, check_distance("gap", gap))
    added = objects.new_ids(count)
    image = objects.paint(objects.ids.astype(added.dtype))
    draw_blobs(image, added, room, radius, gap, seed, roughness=0)
    return image


def relabel(labels: npt.ArrayLike, *, seed: int = 0, high: int | None = None) -> LabelArray:
    """Give every object a new random id.

    Parameters
    ----------
    labels
        Label image, one axis or more.
    seed
        Equal seeds give equal ids.
    high
        Ids are drawn from 1 … `high`, no two alike; None means 10 times the number of objects.
        The dtype stays if it can hold `high`; otherwise the result is int64.

    Notes
    -----
    TP, FP and FN stay under all three strategies: only ``same-id`` looks at ids.

    Examples
    --------
    >>> from panmatch.phantoms import relabel
    >>> image = relabel([[1, 1, 0, 2]], high=2)
    >>> sorted(image[0, [0, 3]].tolist()), int(image[0, 2])
    ([1, 2], 0)
    """
    objects = number_objects(labels)
    largest = int(np.iinfo(np.int64).max)
    high = 10 * objects.count if high is None else high
    high = check_count("high", high, lowest=objects.count, highest=largest)
    drawn = random_numbers(seed).choice(high, size=objects.count, replace=False) + 1
    return objects.paint(drawn.astype(dtype_for(high, objects.ids.dtype)))


def _move(numbers: Image, steps: tuple[int, ...]) -> Image:
    """Return `numbers` moved by `steps`, with background filling in from outside."""
    moved = np.zeros_like(numbers)
    sides = list(zip(steps, numbers.shape, strict=True))
    if all(abs(step) < length for step, length in sides):
        source = tuple(slice(max(-step, 0), length - max(step, 0)) for step, length in sides)
        target = tuple(slice(max(step, 0), length - max(-step, 0)) for step, length in sides)
        moved[target] = numbers[source]
    return moved
