"""How time and memory grow with voxels, objects, chunks and workers: `make scale`.

Writes the tables and the figure of docs/explanation/scale.md.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import panmatch as pm
from benchmarks import chunked, datasets, volumes
from benchmarks.machine import describe_machine, keep_below
from benchmarks.memory import peak_memory, peak_of_tree
from benchmarks.peers import ROOT
from benchmarks.timing import best_ms
from panmatch.formats import open_labels
from panmatch.labels import connected_components

PAGE, FIGURE = ROOT / "docs" / "explanation" / "scale.md", ROOT / "docs" / "images" / "scale.png"
MARK = "<!-- Everything below is written by `make scale`. -->"
SIZES = (64, 128, 256, 512)
STORED = (256, 512, 1024, 2048)
OBJECTS = (10, 100, 1_000, 10_000, 100_000)
CHUNKS = (32, 64, 128, 256)
KINDS = {
    "overlaps": "overlaps",
    "regions": "overlaps in Voronoi regions",
    "components": "components of both masks, then overlaps",
}
VOXELS_PER_OBJECT = 10_000  # in the estimate for a large volume
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
            ("kinds", lambda: kinds(folder)),
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
        chunked.remove(stores)
    return found


def chunks(folder: Path) -> list[Line]:
    """Count one volume in chunks of several lengths: length, ms of counting, of reading, peak."""
    found: list[Line] = []
    for length in CHUNKS:
        stores = volumes.write(folder, 512, length)
        one = chunked.measured(stores, length)
        found.append((length, one["count"], one["read"], one["peak"]))
        chunked.remove(stores)
    return found


def kinds(folder: Path) -> list[Line]:
    """Do all that goes box by box: position among `KINDS`, milliseconds for 512³, peak in MB."""
    stores = volumes.write(folder, 512, chunked.CHUNK)
    found: list[Line] = []
    for at, kind in enumerate(KINDS):
        code = f"from benchmarks import scale; scale.print_kind({list(map(str, stores))}, {kind!r})"
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True
        )
        found.append((at, *json.loads(done.stdout)))
    chunked.remove(stores)
    return found


def print_kind(stores: list[str], kind: str) -> None:
    """Print how long one of `KINDS` takes, and the peak of this process."""
    images = [open_labels(path).labels for path in stores]
    start = time.perf_counter()
    if kind == "components":
        parts = (connected_components(image, threads=2) for image in images)
        pm.count_overlaps(*parts, threads=2)
    elif kind == "regions":
        pm.count_region_overlaps(*images, threads=2)
    else:
        pm.count_overlaps(*images, threads=2)
    print(json.dumps([1e3 * (time.perf_counter() - start), peak_memory()]))


def workers(folder: Path) -> list[Line]:
    """Evaluate cases: workers, milliseconds per case, the same with tables, peak in MB."""
    data = folder / "cases"
    data.mkdir()
    datasets.make_cases(data)
    return [
        (
            number,
            1e3 * one["evaluation"] / datasets.CASES,
            1e3 * one["all"] / datasets.CASES,
            peak_of_tree(datasets.evaluation(data, number)),
        )
        for number, one in zip((1, 2), datasets.evaluate(data, 1, 2), strict=True)
    ]


def draw(lines: dict[str, list[Line]]) -> None:
    """Draw all measurements: on logarithmic axes, what is linear has slope 1."""
    import matplotlib.pyplot as plt

    figure, grid = plt.subplots(2, 3, figsize=(9.6, 5.6), layout="constrained")
    axes = dict(
        zip(("pair", "chunks", "peak", "match", "graph", "workers"), grid.flat, strict=True)
    )
    memory, disk, length, number, cases = (
        np.array(lines[name]).T for name in ("memory", "stored", "chunks", "objects", "workers")
    )
    axes["pair"].loglog(memory[0] ** 3, memory[1], "o-", label="in memory, one thread")
    axes["pair"].loglog(disk[0] ** 3, disk[1], "s-", label="on disk, two threads")
    axes["pair"].loglog(disk[0] ** 3, disk[2], "^:", label="bare reading")
    axes["pair"].set(xlabel="voxels", ylabel="milliseconds", title="Counting a pair")
    axes["pair"].set_ylim(top=3e6)
    axes["chunks"].semilogx(length[0], length[1], "s-", color="C1", label="counting")
    axes["chunks"].semilogx(length[0], length[2], "^:", color="C2", label="bare reading")
    axes["chunks"].set(xlabel="length of a chunk", ylabel="milliseconds", title="512³ on disk")
    axes["chunks"].set_xticks(length[0], [f"{n:.0f}" for n in length[0]])
    axes["chunks"].minorticks_off()
    axes["peak"].semilogx(disk[0] ** 3, disk[3], "s-", color="C1")
    axes["peak"].set(xlabel="voxels on disk", ylabel="MB", title="Peak memory of counting")
    axes["match"].loglog(number[0], number[1], "o-", label="one-to-one match")
    axes["match"].loglog(number[0], number[2], "s-", label="three exact curves")
    axes["match"].set(xlabel="objects of a side", ylabel="milliseconds", title="From the graph")
    axes["graph"].loglog(number[0], number[3] / 1e3, "o-")
    axes["graph"].set(xlabel="objects of a side", ylabel="kB", title="Size of the graph")
    axes["workers"].plot(cases[0], cases[1], "o-", label="measured")
    axes["workers"].plot(cases[0], cases[1][0] / cases[0], "k:", label="ideal")
    axes["workers"].set(xlabel="workers", ylabel="milliseconds", title="A case of 128³ from NIfTI")
    axes["workers"].set_xticks(cases[0])
    for name in ("chunks", "peak", "workers"):
        axes[name].set_ylim(0, 1.15 * axes[name].dataLim.y1)
    for name in ("pair", "chunks", "match", "workers"):
        axes[name].legend(fontsize=7, frameon=False)
    FIGURE.parent.mkdir(exist_ok=True)
    figure.savefig(FIGURE, dpi=130)


def page(lines: dict[str, list[Line]]) -> str:
    parts = [
        f"Measured on {describe_machine()}.\n",
        "![Time and memory over voxels, chunks, objects and workers](../images/scale.png)\n",
        table(
            "pair in memory, voxels | one thread | two threads | per voxel, one thread",
            lines["memory"],
            lambda n, one, two: (
                f"{n:.0f}³ | {one:.2f} ms | {two:.2f} ms | {1e6 * one / n**3:.2f} ns"
            ),
        ),
        table(
            "pair on disk, voxels | counting, two threads | bare reading | per voxel | peak",
            lines["stored"],
            lambda n, c, r, p: (
                f"{n:.0f}³ | {c / 1e3:.2f} s | {r / 1e3:.2f} s "
                f"| {1e6 * c / n**3:.2f} ns | {p:.0f} MB"
            ),
        ),
        table(
            "512³ on disk, size of a chunk | counting, two threads | bare reading | peak",
            lines["chunks"],
            lambda n, c, r, p: f"{n:.0f}³ | {c / 1e3:.2f} s | {r / 1e3:.2f} s | {p:.0f} MB",
        ),
        table(
            "pair of 512³ on disk, two threads | time | per voxel | peak",
            lines["kinds"],
            lambda at, t, p: (
                f"{list(KINDS.values())[int(at)]} | {t / 1e3:.2f} s "
                f"| {1e6 * t / 512**3:.1f} ns | {p:.0f} MB"
            ),
        ),
        table(
            "objects per side | one-to-one match | three exact curves | size of the graph",
            lines["objects"],
            lambda n, m, c, b: f"{n:,.0f} | {m:.2f} ms | {c:.2f} ms | {b / 1e3:,.0f} kB",
        ),
        table(
            "workers | time per case of 128³ (NIfTI, 3 strategies, curves, 4 metrics) | with "
            "tables | peak of all processes",
            lines["workers"],
            lambda n, e, a, p: f"{n:.0f} | {e:.1f} ms | {a:.1f} ms | {p:.0f} MB",
        ),
        "## What this means for your data\n",
        large_volume(lines),
        many_cases(lines),
        "These estimates multiply measured rates. They leave out the time that storage and network "
        "need when many cores read at once.\n",
    ]
    return "\n".join(parts)


def large_volume(lines: dict[str, list[Line]]) -> str:
    side, count, read, peak = lines["stored"][-1]
    voxels = 10e12 / 8  # 10 TB in two volumes of four bytes per voxel
    hours = 2 * count / side**3 * voxels / 3.6e6  # of one core
    per_kind = [time_ / lines["kinds"][0][1] for _, time_, _ in lines["kinds"]]
    number, match, curves, size = lines["objects"][-1]
    objects_ = voxels / VOXELS_PER_OBJECT
    return (
        f"**A pair of volumes with 10 TB in total** ({voxels / 1e12:.2f} · 10¹² voxels of four "
        f"bytes each): at {1e6 * count / side**3:.2f} ns per voxel with two cores, including "
        f"reading and decoding, counting takes {hours:.1f} core-hours. That is {hours / 2:.1f} "
        f"hours on this machine and {60 * hours / 256:.1f} minutes on 256 cores, if the storage "
        f"delivers the compressed chunks fast enough. It is {count / read:.2f} times the time "
        f"for reading alone. Regions take {per_kind[1]:.1f} times as long as counting, and "
        f"components of both masks {per_kind[2]:.1f} times. With one object per "
        f"{VOXELS_PER_OBJECT:,} voxels, the graph of {objects_ / 1e6:.0f} million objects takes "
        f"{objects_ * size / number / 1e9:.0f} GB. On one core a match takes "
        f"{objects_ * match / number / 1e3:.0f} s and three exact curves take "
        f"{objects_ * curves / number / 6e4:.0f} minutes. Apart from the graph, each thread "
        f"needs memory for one box: here {peak:.0f} MB in all, including the graph of "
        f"{side:.0f}³.\n"
    )


def many_cases(lines: dict[str, list[Line]]) -> str:
    case, with_tables = lines["workers"][1][1:3]
    return (
        f"**A challenge with 100,000 cases** like those above: at {case:.1f} ms per case with two "
        f"workers, evaluation takes {1e5 * case / 6e4:.0f} minutes on this machine, or "
        f"{1e5 * with_tables / 6e4:.0f} with all tables, and {1e5 * 2 * case / 64 / 6e4:.1f} "
        f"minutes on 64 cores.\n"
    )


def table(head: str, lines: list[Line], write: Callable[..., str]) -> str:
    columns = head.count("|") + 1
    rows = [f"| {head} |", "|" + "---|" * columns, *(f"| {write(*line)} |" for line in lines)]
    return "\n".join(rows) + "\n"


if __name__ == "__main__":
    main()
