"""Pairs of volumes larger than memory, written chunk by chunk, with known overlaps.

Balls lie on a lattice whose step divides no chunk, so that most chunks cut some; predictions are
the same balls shifted, some missing and some in two. A tile of 8³ lattice cells repeats, with ids
of its own each time: the overlaps of the volume are the sum of those of its tiles.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cache, reduce
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import panmatch as pm

STEP, CELLS = 48, 8
TILE = STEP * CELLS
IDS = CELLS**3 * 2  # of a tile: each ball may be two predictions
SHIFT = (2, -1, 3)
SIDES = ("reference", "prediction")

Labels = npt.NDArray[np.uint32]


@cache
def tiles() -> tuple[Labels, Labels]:
    """Return the tile of the reference and that of the prediction."""
    rng = np.random.default_rng(0)
    found = np.zeros((2, TILE, TILE, TILE), np.uint32)
    grid = np.indices((STEP,) * 3, np.float32)
    for number, place in enumerate(product(range(CELLS), repeat=3)):
        radius = rng.uniform(8, 19)
        centre = STEP / 2 + rng.uniform(-1, 1, 3)
        box = tuple(slice(STEP * at, STEP * (at + 1)) for at in place)
        found[0][box][_ball(grid, centre, radius)] = 2 * number + 1
        if number % 10:
            ball = _ball(grid, centre + SHIFT, radius)
            found[1][box][ball] = 2 * number + 2
            found[1][box][ball & (grid[0] > centre[0] + SHIFT[0]) & (number % 4 == 0)] -= 1
    return found[0], found[1]


def _ball(grid: npt.NDArray[Any], centre: npt.NDArray[Any], radius: float) -> npt.NDArray[np.bool_]:
    distances = sum((axis - place) ** 2 for axis, place in zip(grid, centre, strict=True))
    ball: npt.NDArray[np.bool_] = np.asarray(distances) <= radius**2
    return ball


def box_of(tile: Labels, start: tuple[int, ...], length: int, size: int) -> Labels:
    """Return the labels of a cube of the volume; its tiles are numbered in C order."""
    per_axis = -(-size // TILE)
    block = np.empty((length,) * 3, np.uint32)
    spans = [_spans(at, at + length) for at in start]
    for parts in product(*spans):
        number = sum(
            part[0] * per_axis**power for part, power in zip(parts, (2, 1, 0), strict=True)
        )
        target = tuple(
            slice(a - first, b - first) for (_, a, b), first in zip(parts, start, strict=True)
        )
        source = tuple(slice(a - at * TILE, b - at * TILE) for at, a, b in parts)
        labels = tile[source]
        np.add(labels, number * IDS, out=block[target], where=labels > 0)
        block[target][labels == 0] = 0
    return block


def _spans(start: int, stop: int) -> list[tuple[int, int, int]]:
    """Return which tiles an interval meets, and from where to where."""
    return [
        (at, max(start, at * TILE), min(stop, (at + 1) * TILE))
        for at in range(start // TILE, -(-stop // TILE))
    ]


def write(folder: Path, size: int, chunk: int) -> list[Path]:
    """Write both volumes as Zarr arrays with a fast codec, and return their paths."""
    import zarr
    from zarr.codecs import BloscCodec

    create: Any = zarr.create_array
    paths = [folder / f"{side}-{size}-{chunk}.zarr" for side in SIDES]
    for path, tile in zip(paths, tiles(), strict=True):
        array = create(
            str(path),
            shape=(size,) * 3,
            chunks=(chunk,) * 3,
            dtype="uint32",
            compressors=BloscCodec(cname="lz4", clevel=1),
        )

        def save(start: tuple[int, ...], array: Any = array, tile: Labels = tile) -> None:
            box = tuple(slice(at, at + chunk) for at in start)
            array[box] = box_of(tile, start, chunk, size)

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(save, product(range(0, size, chunk), repeat=3)))
    return paths


def expected(size: int) -> pm.Overlap:
    """Return the overlaps of a volume as the sum of those of its tiles."""
    per_axis = -(-size // TILE)
    counted = {
        cut: pm.count_overlaps(*(tile[tuple(map(slice, cut))] for tile in tiles()))
        for cut in product({TILE, size - (per_axis - 1) * TILE, min(size, TILE)}, repeat=3)
    }
    found = []
    for number, place in enumerate(product(range(per_axis), repeat=3)):
        cut = tuple(min(TILE, size - at * TILE) for at in place)
        columns = counted[cut].columns()
        moved = {name: columns[name] + number * IDS for name in ("ref_ids", "pred_ids")}
        found.append(pm.Overlap.from_columns(columns | moved))
    return reduce(lambda one, other: one + other, found)
