"""Volumes larger than memory: two cores, bounded memory, compared with just reading the chunks."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any

from benchmarks import volumes
from benchmarks.memory import peak_memory
from benchmarks.peers import ROOT
from benchmarks.timing import Row, at_most, below, not_measured

SIZES, CHUNK, HALVED = (512, 1024, 2048), 128, 1024
BYTES_PER_VOXEL = 1 / 2  # on disk, of both volumes; twice of what they take


def rows() -> Iterator[Row]:
    """Yield every comparison as soon as it is measured."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        needed = SIZES[-1] ** 3 * BYTES_PER_VOXEL
        if shutil.disk_usage(folder).free < needed:
            what = f"count overlaps of volumes up to {SIZES[-1]}³"
            yield not_measured(what, f"needs {needed / 1e9:.0f} GB of disk", "≤ 2 ×")
            return
        yield from streaming(folder)


def streaming(folder: Path) -> Iterator[Row]:
    per_voxel = {}
    for size in SIZES:
        stores = volumes.write(folder, size, CHUNK)
        found = measured(stores, CHUNK)
        overlap = load(stores)
        assert overlap == volumes.expected(size)
        if size == HALVED:
            yield halved(folder, overlap)
        per_voxel[size] = found["count"] / size**3
        what = f"count overlaps, {size}³ uint32 on disk in chunks of {CHUNK}³, two threads"
        yield at_most(what, found["count"], found["read"], "reading the chunks", 2)
        if size < SIZES[-1]:
            remove(stores)
    yield below(f"{what}, peak memory of the process", found["peak"], "MB", 2000)
    growth = per_voxel[SIZES[-1]] / per_voxel[SIZES[0]]
    yield Row(
        f"time per voxel of both volumes, {SIZES[-1]}³ against {SIZES[0]}³",
        f"{1e6 * per_voxel[SIZES[-1]]:.2f} ns",
        f"{1e6 * per_voxel[SIZES[0]]:.2f} ns",
        f"{growth:.2f} ×",
        "≤ 1.25 ×",
        growth <= 1.25,
    )
    yield evaluated(folder, stores, SIZES[-1])


def halved(folder: Path, overlap: Any) -> Row:
    """Count again in chunks of half the length: an eighth of the voxels each."""
    stores = volumes.write(folder, HALVED, CHUNK // 2)
    found = measured(stores, CHUNK // 2)
    assert load(stores) == overlap
    remove(stores)
    what = f"count overlaps, {HALVED}³ in chunks of {CHUNK // 2}³, to the same bits"
    return at_most(what, found["count"], found["read"], "reading the chunks", 2)


def remove(stores: list[Path]) -> None:
    for store in stores:
        shutil.rmtree(store)


def measured(stores: list[Path], chunk: int) -> dict[str, float]:
    """Return milliseconds of reading and of counting, and the peak in MB, in a fresh process."""
    code = (
        f"from benchmarks import chunked; chunked.print_times({list(map(str, stores))!r}, {chunk})"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


def print_times(stores: list[str], chunk: int) -> None:
    import panmatch as pm
    from panmatch.formats import open_labels

    images = [open_labels(path).labels for path in stores]
    # What is loaded when the first chunk is read would weigh on small volumes only.
    pm.count_overlaps(*(image[:1, :1, :1] for image in images))
    start = time.perf_counter()
    overlap = pm.count_overlaps(*images, threads=2)
    pm.match(overlap, threshold=0.5)
    counted = time.perf_counter()
    peak = peak_memory()
    read(stores, chunk)
    seconds = {"count": counted - start, "read": time.perf_counter() - counted}
    pm.save_overlap(overlap, f"{stores[0]}.npz")
    print(json.dumps({name: 1e3 * value for name, value in seconds.items()} | {"peak": peak}))


def read(stores: list[str], chunk: int) -> None:
    """Read every chunk of both volumes with two threads, and do nothing with them."""
    import zarr

    arrays: list[Any] = [zarr.open(path, mode="r") for path in stores]

    def read_chunk(start: tuple[int, ...]) -> None:
        for array in arrays:
            array[tuple(slice(at, at + chunk) for at in start)]

    with ThreadPoolExecutor(2) as pool:
        for _ in pool.map(read_chunk, product(range(0, arrays[0].shape[0], chunk), repeat=3)):
            pass


def load(stores: list[Path]) -> Any:
    import panmatch as pm

    return pm.load_overlap(f"{stores[0]}.npz")


def evaluated(folder: Path, stores: list[Path], size: int) -> Row:
    """Measure the peak memory of the command line, tables of all objects included."""
    code = (
        "import sys; sys.argv = ['panmatch', 'evaluate', *sys.argv[1:]]\n"
        "from benchmarks.memory import peak_memory\nfrom panmatch.cli._app import app\n"
        "app(standalone_mode=False)\nprint(peak_memory())"
    )
    arguments = [*map(str, stores), "-o", str(folder / "out")]
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    seconds = time.perf_counter() - start
    peak = float(done.stdout.splitlines()[-1])
    what = f"panmatch evaluate, {size}³, all tables in {seconds:.0f} s, peak memory"
    return below(what, peak, "MB", 2000)
