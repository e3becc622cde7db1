"""Outlines of the objects of a slice, as the path of an SVG file."""

from __future__ import annotations

from collections.abc import Container, Iterator

import numpy as np

from panmatch.labels import LabelArray, Mask, segment_geometry

# Steps along the edges of voxels, y downwards. The object is always on the right-hand side.
RIGHT, DOWN, LEFT, UP = range(4)
STEPS = ((1, 0), (0, 1), (-1, 0), (0, -1))
TURNS = (1, 0, 3)  # to the right, straight on, to the left

Point = tuple[int, int]  # (x, y): corners of voxels, (0, 0) is the first corner of the first one
Run = tuple[int, int]  # direction and length


def outline_path(labels: LabelArray, ids: Container[int]) -> str:
    """Return the outlines of these objects along the edges of their voxels, holes included.

    Every object has its own outline, so two objects that touch have a line between them. Areas
    follow the even-odd rule. Each object is traced in its own box.

    Parameters
    ----------
    labels
        With two axes, rows and columns.
    ids
        Which objects; ids that do not occur have no outline.

    Returns
    -------
    str
        An SVG path, in voxels; empty if none of the objects occurs.

    Examples
    --------
    >>> outline_path(np.array([[0, 7, 7], [0, 7, 0]]), {7})
    'M1 0h2v1h-1v1h-1z'
    """
    boxes = segment_geometry(labels)
    return "".join(
        _spelt((corner[0] + left, corner[1] + top), runs)
        for number, (top, left), (bottom, right) in zip(
            boxes.ids.tolist(), boxes.start.tolist(), boxes.stop.tolist(), strict=True
        )
        if number in ids
        for corner, runs in _loops(labels[top:bottom, left:right] == number)
    )


def _spelt(start: Point, runs: list[Run]) -> str:
    words = [f"M{start[0]} {start[1]}"]
    for direction, length in runs[:-1]:  # the last one closes the loop
        sign = -1 if direction in (LEFT, UP) else 1
        words.append(f"{'hv'[direction % 2]}{sign * length}")
    return "".join(words) + "z"


def _loops(mask: Mask) -> Iterator[tuple[Point, list[Run]]]:
    """Yield the first corner and the straight runs of every closed line around a mask."""
    ways = _edges(mask)
    while ways:
        start = next(iter(ways))
        at, direction = start, ways[start][0]
        runs: list[Run] = []
        while not runs or at != start:
            direction = _take(ways, at, direction)
            length = runs.pop()[1] if runs and runs[-1][0] == direction else 0
            runs.append((direction, length + 1))
            at = at[0] + STEPS[direction][0], at[1] + STEPS[direction][1]
        yield start, runs


def _take(ways: dict[Point, list[int]], at: Point, before: int) -> int:
    """Remove the next edge at a corner: to the right first, so that diagonal voxels stay apart."""
    there = ways[at]
    chosen = next(way for turn in TURNS if (way := (before + turn) % 4) in there)
    there.remove(chosen)
    if not there:
        del ways[at]
    return chosen


def _edges(mask: Mask) -> dict[Point, list[int]]:
    """Return the directions of all edges of a mask, by the corner where each begins."""
    around = np.pad(mask, 1)
    neighbours = {
        RIGHT: (around[:-2, 1:-1], (0, 0)),  # along the upper edge, beginning at its left end
        DOWN: (around[1:-1, 2:], (1, 0)),
        LEFT: (around[2:, 1:-1], (1, 1)),
        UP: (around[1:-1, :-2], (0, 1)),
    }
    found: dict[Point, list[int]] = {}
    for direction, (neighbour, (dx, dy)) in neighbours.items():
        rows, columns = np.nonzero(mask & ~neighbour)
        for corner in zip((columns + dx).tolist(), (rows + dy).tolist(), strict=True):
            found.setdefault(corner, []).append(direction)
    return found
