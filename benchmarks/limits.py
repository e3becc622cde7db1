"""What no program can avoid for a job: reading what it is given."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from isal import igzip

from benchmarks.peers import Image
from benchmarks.timing import Row, at_most, best_ms

UNPACKING = "limit: decompress both files with isal"


def beside_reading(what: str, ours: float, *images: Image, threads: int) -> Row:
    """Return how long ours takes beside reading all bytes of the images once."""
    name = "limit: read both arrays" if len(images) > 1 else "limit: read the array"
    return at_most(what, ours, reading_ms(*images, threads=threads), name, None)


def reading_ms(*images: Image, threads: int) -> float:
    """Return the milliseconds that adding up images takes, eight bytes at a time."""
    words = [image.reshape(-1).view(np.uint64) for image in images]
    if threads == 1:
        return best_ms(lambda: [one.sum() for one in words])
    parts = [part for one in words for part in np.array_split(one, threads)]
    with ThreadPoolExecutor(threads) as pool:
        return best_ms(lambda: list(pool.map(np.sum, parts)))


def unpack(paths: Iterable[Path]) -> None:
    """Decompress files that gzip has compressed."""
    for path in paths:
        with igzip.IGzipFile(path) as file:
            file.read()
