"""What mistakes do to voxels: moving, growing, shrinking and cutting numbered objects."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from panmatch.phantoms.objects import Box, Floats, Numbers, Objects


def move(objects: Objects, chosen: Iterable[int], steps: tuple[int, ...]) -> Numbers:
    """Return the numbers after the `chosen` objects moved; the smaller number keeps a voxel."""
    moves = np.zeros(objects.count + 1, dtype=np.bool_)
    moves[list(chosen)] = True
    moving = moves[objects.numbers]
    stayed: Numbers = np.where(moving, np.int32(0), objects.numbers)
    moved = _roll_in_background(np.where(moving, objects.numbers, np.int32(0)), steps)
    meet = (stayed > 0) & (moved > 0)
    return np.where(meet, np.minimum(stayed, moved), np.maximum(stayed, moved))


def grow(objects: Objects, chosen: Iterable[int], radius: float) -> Numbers:
    """Return the numbers after the `chosen` objects took the background within `radius`.

    `chosen` must rise: ties between equally near objects then go to the smaller number.
    """
    from scipy.ndimage import distance_transform_edt

    before, after = objects.numbers, objects.numbers.copy()
    nearest: Floats = np.full(before.shape, np.inf)
    boxes = objects.boxes()
    for number in chosen:
        box = _widen(boxes[number - 1], int(radius), before.shape)
        distance: Floats = distance_transform_edt(before[box] != number)
        won = (before[box] == 0) & (distance <= radius) & (distance < nearest[box])
        after[box][won] = number
        nearest[box][won] = distance[won]
    return after


def shrink(objects: Objects, chosen: Iterable[int], radius: float) -> Numbers:
    """Return the numbers after the `chosen` objects lost what lies within `radius` of others."""
    from scipy.ndimage import distance_transform_edt

    before, after = objects.numbers, objects.numbers.copy()
    boxes = objects.boxes()
    for number in chosen:
        # One layer of surroundings is enough: whatever lies farther out is farther away.
        box = _widen(boxes[number - 1], 1, before.shape)
        inside = before[box] == number
        if inside.all():
            continue  # the object fills the image: no voxel is outside it
        after[box][inside & (distance_transform_edt(inside) <= radius)] = 0
    return after


def cut(objects: Objects, chosen: Iterable[int], pieces: int) -> tuple[Numbers, int]:
    """Return the numbers after cutting the `chosen` objects, and how many numbers were added."""
    after, boxes, highest = objects.numbers.copy(), objects.boxes(), objects.count
    for number in chosen:
        highest += _cut_one(after[boxes[number - 1]], number, pieces, highest)
    return after, highest - objects.count


def _cut_one(box: Numbers, number: int, pieces: int, highest: int) -> int:
    """Cut one object, in place, into numbers above `highest`; return how many were added."""
    layers = np.moveaxis(box, int(np.argmax(box.shape)), 0)
    inside = layers == number
    size = int(np.count_nonzero(inside))
    pieces = min(pieces, size)
    names = np.concatenate([[number], np.arange(highest + 1, highest + pieces)])
    sizes = size // pieces + (np.arange(pieces) < size % pieces)
    # A mask is filled in index order, layer by layer: each run of names becomes a slab.
    layers[inside] = np.repeat(names, sizes)
    return pieces - 1


def _roll_in_background(numbers: Numbers, steps: tuple[int, ...]) -> Numbers:
    """Return `numbers` moved by `steps`, with background coming in from outside."""
    moved = np.zeros_like(numbers)
    spans = list(zip(steps, numbers.shape, strict=True))
    if any(abs(step) >= length for step, length in spans):
        return moved
    source = tuple(slice(max(-step, 0), length - max(step, 0)) for step, length in spans)
    target = tuple(slice(max(step, 0), length - max(-step, 0)) for step, length in spans)
    moved[target] = numbers[source]
    return moved


def _widen(box: Box, by: int, shape: tuple[int, ...]) -> Box:
    return tuple(
        slice(max(side.start - by, 0), min(side.stop + by, length))
        for side, length in zip(box, shape, strict=True)
    )
