"""What many cores gain: everything that reads voxels, with one thread and with one per core.

`python -m benchmarks threads` runs only when it is named, since two cores say little.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise

import numpy as np

import panmatch as pm
from benchmarks import scenes
from benchmarks.timing import Row, best_ms, faster
from panmatch.labels import connected_components, edge_distances, nearest_labels

CORES = os.cpu_count() or 1
MOST_ROUNDS, LEAST_ROUNDS, SECONDS = 15, 3, 9  # one thread and all cores in turn
TARGET = 10 if CORES == 16 else None


def rows() -> Iterator[Row]:
    """Yield every comparison as soon as it is measured."""
    yield limit_of_computing()
    yield limit_of_copying()
    apart = scenes.scattered(200)
    far = scenes.twice_as_large((apart, apart))[0]
    for size, labels in (("256³", apart), ("512³", far)):
        yield gain(
            f"Voronoi regions, {size}, 200 objects",
            partial(nearest_labels, labels),
            TARGET,
        )
        yield gain(
            f"exact distance transform, {size} to float64",
            partial(edge_distances, labels == 0),
            TARGET,
        )
    yield from without_target()


def without_target() -> Iterator[Row]:
    pair = scenes.balls(500)
    large, matching = scenes.twice_as_large(pair), pm.match(pm.count_overlaps(*pair))
    distances = ("hd95", "assd", "nsd")
    yield gain(
        "count overlaps, 512³, 500 objects",
        partial(pm.count_overlaps, *large),
    )
    yield gain(
        "overlaps in Voronoi regions, 512³, 500 objects",
        partial(pm.count_region_overlaps, *large),
    )
    yield gain(
        "HD95, ASSD and NSD per object, 256³, 500 objects",
        partial(pm.measure, matching, *pair, distances),
    )
    yield gain(
        "HD95, ASSD and NSD of whole masks, 256³, 500 objects",
        partial(pm.measure_whole, *pair, distances),
    )
    yield gain(
        "connected components, 256³, 500 objects",
        partial(connected_components, pair[0] > 0),
    )


def gain(what: str, action: Callable[..., object], target: float | None = None) -> Row:
    """Compare all cores with one thread."""
    times: dict[int, list[float]] = {1: [], CORES: []}
    for round_ in range(MOST_ROUNDS):
        if round_ >= LEAST_ROUNDS and sum(map(sum, times.values())) > 1e3 * SECONDS:
            break
        for threads, taken in times.items():
            taken.append(best_ms(lambda: action(threads=threads), repeats=1))  # noqa: B023
    ours, alone = min(times[CORES]), min(times[1])
    return faster(f"{what}, {CORES} threads", ours, alone, "1 thread", target)


def limit_of_computing() -> Row:
    """As many hashes as threads: no memory to share, and nothing to wait for."""
    data = os.urandom(1 << 24)

    def hashes(threads: int) -> None:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(lambda _: hashlib.sha256(data).digest(), range(CORES)))

    return gain(f"limit of computing: {CORES} hashes", hashes)


def limit_of_copying() -> Row:
    source = np.ones(1 << 28, np.float32)
    target = np.ones_like(source)

    def copy(threads: int) -> None:
        ends = np.linspace(0, source.size, CORES + 1).astype(int).tolist()
        parts = [slice(*pair) for pair in pairwise(ends)]
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(lambda part: np.copyto(target[part], source[part]), parts))

    return gain("limit of memory: copy 1 GiB", copy)
