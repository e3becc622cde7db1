"""How time and memory grow with voxels, objects, chunks and workers: `make scale`.

Writes the tables and the figure of docs/scale.md.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

import panmatch as pm
from benchmarks import chunked, datasets, volumes
from benchmarks.machine import describe_machine, keep_below
from benchmarks.peers import ROOT
from benchmarks.timing import best_ms

PAGE, FIGURE = ROOT / "docs" / "scale.md", ROOT / "docs" / "images" / "scale.png"
MARK = "<!-- Everything below is written by `make scale`. -->"
SIZES = (64, 128, 256, 512)
STORED = (256, 512, 1024, 2048)
OBJECTS = (10, 100, 1_000, 10_000, 100_000)
CHUNKS = (32, 64, 128, 256)
Line = tuple[float, ...]


def main() -> None:
    """Measure, and write the page."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lines: dict[str, list[Line]] = {}
        for title, measure in (
            ("memory", in_memory),
            ("objects", objects),
            ("stored", lambda: stored(folder)),
            ("chunks", lambda: chunks(folder)),
            ("workers", lambda: workers(folder)),
        ):
            print(title, file=sys.stderr, flush=True)
            lines[title] = measure()
    draw(lines)
    keep_below(PAGE, MARK, page(lines))


def in_memory() -> list[Line]:
    """Count pairs in memory: side, milliseconds with one thread and with two."""
    found: list[Line] = []
    for side in SIZES:
        pair = [np.ascontiguousarray(tile(side, which)) for which in (0, 1)]
        times = (
            best_ms(lambda n=n, pair=pair: pm.count_overlaps(*pair, threads=n), repeats=5)  # type: ignore[misc]
            for n in (1, 2)
        )
        found.append((side, *times))
    return found


def tile(side: int, which: int) -> volumes.Labels:
    whole = np.tile(volumes.tiles()[which], (2, 2, 2))
    return whole[:side, :side, :side]


def objects() -> list[Line]:
    """Match and sweep: objects, milliseconds of matching and of all curves, bytes of the graph."""
    found: list[Line] = []
    for number in OBJECTS:
        overlap = many_objects(number)
        match = best_ms(lambda o=overlap: pm.match(o), repeats=5)  # type: ignore[misc]
        curves = best_ms(lambda o=overlap: all_curves(o), repeats=3)  # type: ignore[misc]
        size = sum(np.asarray(column).nbytes for column in overlap.columns().values())
        found.append((number, match, curves, size))
    return found


def many_objects(number: int) -> pm.Overlap:
    """Return cells in a row, each overlapped by its prediction and by that of its neighbour."""
    rng = np.random.default_rng(0)
    lengths = rng.integers(20, 60, number)
    reference = np.repeat(np.arange(1, number + 1), lengths)
    prediction = np.roll(reference, 7)
    return pm.count_overlaps(reference, prediction)


def all_curves(overlap: pm.Overlap) -> None:
    for strategy in ("one-to-one", "many-to-one", "one-to-many"):
        pm.curve(overlap, strategy)


def stored(folder: Path) -> list[Line]:
    """Count volumes on disk: side, milliseconds of counting and reading, peak in MB."""
    found: list[Line] = []
    for side in STORED:
        stores = volumes.write(folder, side, chunked.CHUNK)
        one = chunked.measured(stores, chunked.CHUNK)
        found.append((side, one["count"], one["read"], one["peak"]))
        for store in stores:
            shutil.rmtree(store)
    return found


def chunks(folder: Path) -> list[Line]:
    """Count one volume in chunks of several lengths: length, milliseconds, peak in MB."""
    found: list[Line] = []
    for length in CHUNKS:
        stores = volumes.write(folder, 512, length)
        one = chunked.measured(stores, length)
        found.append((length, one["count"], one["peak"]))
        for store in stores:
            shutil.rmtree(store)
    return found


def workers(folder: Path) -> list[Line]:
    """Evaluate cases: workers, milliseconds per case, share of the run that tables take."""
    data = folder / "cases"
    data.mkdir()
    datasets.make_cases(data)
    return [
        (number, 1e3 * one["evaluation"] / datasets.CASES, 1e3 * one["all"] / datasets.CASES)
        for number, one in zip((1, 2), datasets.evaluate(data, 1, 2), strict=True)
    ]


def draw(lines: dict[str, list[Line]]) -> None:
    """Draw all measurements: logarithmic axes, so that what is linear has slope 1."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 4, figsize=(11, 2.9), layout="constrained")
    memory, disk = np.array(lines["memory"]), np.array(lines["stored"])
    axes[0].loglog(memory[:, 0] ** 3, memory[:, 1], "o-", label="in memory, one thread")
    axes[0].loglog(disk[:, 0] ** 3, disk[:, 1], "s-", label="on disk, two threads")
    axes[0].loglog(disk[:, 0] ** 3, disk[:, 2], "^:", label="bare reading")
    axes[0].set(xlabel="voxels", ylabel="milliseconds", title="Counting a pair")
    number = np.array(lines["objects"])
    axes[1].loglog(number[:, 0], number[:, 1], "o-", label="one-to-one match")
    axes[1].loglog(number[:, 0], number[:, 2], "s-", label="three exact curves")
    axes[1].set(xlabel="objects of a side", ylabel="milliseconds", title="From the graph")
    length = np.array(lines["chunks"])
    axes[2].semilogx(length[:, 0], length[:, 1], "o-", base=2)
    axes[2].set(xlabel="length of a chunk", ylabel="milliseconds", title="512³ on disk", ylim=0)
    axes[3].semilogx(disk[:, 0] ** 3, disk[:, 3], "o-")
    axes[3].set(xlabel="voxels", ylabel="MB", title="Peak memory, on disk", ylim=0)
    for axis in axes[:2]:
        axis.legend(fontsize=7, frameon=False)
    FIGURE.parent.mkdir(exist_ok=True)
    figure.savefig(FIGURE, dpi=130)


def page(lines: dict[str, list[Line]]) -> str:
    side, count, read, peak = lines["stored"][-1]
    per_voxel = count / side**3  # milliseconds, two cores
    voxels = 10e12 / 8  # 10 TB in two volumes of four bytes per voxel
    hours = 2 * per_voxel * voxels / 3.6e6
    case = lines["workers"][1][1]
    parts = [
        f"Measured on {describe_machine()}.\n",
        "![Time and memory over voxels, objects and chunks](images/scale.png)\n",
        table(
            "voxels of a pair in memory | one thread | two threads | per voxel, one thread",
            lines["memory"],
            lambda n, one, two: (
                f"{n:.0f}³ | {one:.2f} ms | {two:.2f} ms | {1e6 * one / n**3:.2f} ns"
            ),
        ),
        table(
            "voxels of a pair on disk | counting, two threads | bare reading | per voxel | peak",
            lines["stored"],
            lambda n, c, r, p: (
                f"{n:.0f}³ | {c / 1e3:.2f} s | {r / 1e3:.2f} s "
                f"| {1e6 * c / n**3:.2f} ns | {p:.0f} MB"
            ),
        ),
        table(
            "chunks of 512³ | counting, two threads | peak",
            lines["chunks"],
            lambda n, c, p: f"{n:.0f}³ | {c / 1e3:.2f} s | {p:.0f} MB",
        ),
        table(
            "objects of a side | one-to-one match | three exact curves | graph",
            lines["objects"],
            lambda n, m, c, b: f"{n:,.0f} | {m:.2f} ms | {c:.2f} ms | {b / 1e3:,.0f} kB",
        ),
        table(
            "workers | one case of 128³ from NIfTI, 3 strategies, curves, 4 metrics | with tables",
            lines["workers"],
            lambda n, e, a: f"{n:.0f} | {e:.1f} ms | {a:.1f} ms",
        ),
        "## What that means\n",
        f"**A pair of volumes of 10 TB in all** (two of {voxels / 1e12:.2f} · 10¹² voxels of four "
        f"bytes): {1e6 * per_voxel:.2f} ns per voxel with two cores, reading and decoding "
        f"included, make {hours:,.0f} core-hours, that is {60 * hours / 256:.0f} minutes on 256 "
        f"cores if storage delivers the compressed chunks that fast. That is {count / read:.2f} "
        f"times what bare reading took. Memory stays at that of one box per thread (here "
        f"{peak:.0f} MB for two, the graph of {side:.0f}³ included), plus the graph: some "
        f"{bytes_per_object(lines):.0f} bytes per object.\n",
        f"**A challenge of 100,000 cases** like those above: {case:.1f} ms per case with two "
        f"workers make {1e5 * case / 3.6e6:.2f} hours on this machine, and "
        f"{1e5 * 2 * case / 3.6e6 / 64 * 60:.1f} minutes on 64 cores.\n",
        "These are products of measured rates; what they leave out is the time that storage and "
        "network take when many cores ask at once.\n",
    ]
    return "\n".join(parts)


def bytes_per_object(lines: dict[str, list[Line]]) -> float:
    number, _, _, size = lines["objects"][-1]
    return size / number


def table(head: str, lines: list[Line], write: Callable[..., str]) -> str:
    columns = head.count("|") + 1
    rows = [f"| {head} |", "|" + "---|" * columns, *(f"| {write(*line)} |" for line in lines)]
    return "\n".join(rows) + "\n"


if __name__ == "__main__":
    main()
