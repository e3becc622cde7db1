"""One figure per job, drawn from the tables in README.md: all peers, the limit, and panmatch.

`python -m benchmarks.figures` draws them again. A job is all rows of the tables that say the same
about what is measured.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from benchmarks.peers import ROOT

README = Path(__file__).with_name("README.md")
FOLDER = ROOT / "docs" / "images"
# The name of each figure, and how the rows of its job begin.
JOBS = {
    "coco": "COCO panoptic PQ from disk",
    "instances": "COCO AP of masks from JSON, 5000 images × 36 references and detections, 1 thread",
    "small": "PQ and Dice of one image in a loop",
    "components": "PQ, Dice and HD95 of components, from masks, 256³, 512 objects",
    "masks": "Dice, HD95 and ASSD of whole masks",
    "objects": "IoU, Dice, ASSD, HD95 and NSD from arrays, 256³, 500 pairs, 2 threads",
    "organs": "Dice, HD95, ASSD and NSD of every organ",
    "voronoi": "Voronoi regions, 256³, 200 objects, 2 threads",
    "regions": "CC-Dice from masks, 256³, 50 objects, 2 threads",
    "pq": "PQ from arrays, 256³, 500 instances",
    "nifti": "one case from NIfTI",
}
UNITS = {"µs": 1e-3, "ms": 1.0, "s": 1e3}
INK, OURS, LIMIT, PEER, GRID = "#1f2430", "#7c45f2", "#b9bfca", "#5b8def", "#e3e6ec"
COLOURS = {"panmatch": OURS, "limit": LIMIT}

Bar = tuple[str, float]  # a program, and its milliseconds


def main() -> None:
    """Draw every job that the tables have."""
    for name, start in JOBS.items():
        found = list(rows_of(start))
        if found:
            draw(found[0][0], bars_of(found), FOLDER / f"speed-{name}.png")


def rows_of(start: str) -> Iterator[list[str]]:
    """Yield the cells of all rows of a job."""
    for line in README.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| ") and cells[0].startswith(start):
            yield cells


def bars_of(rows: list[list[str]]) -> list[Bar]:
    """Return us, the limit and all peers of a job, the fastest first."""
    bars = {"panmatch": milliseconds(rows[0][1])}
    for _, _, other, *_ in rows:
        parts = re.fullmatch(r"(.+?) ([\d.]+ (?:µs|ms|s))", other)
        if parts:
            bars[parts[1].rstrip(",")] = milliseconds(parts[2])
    return sorted(bars.items(), key=lambda bar: bar[1])


def milliseconds(text: str) -> float:
    """Return a time of a table as a number.

    >>> milliseconds("1.50 s"), milliseconds("20 µs")
    (1500.0, 0.02)
    """
    number, unit = text.split()
    return float(number) * UNITS[unit]


def in_words(ms: float) -> str:
    """Return a time with three digits and a unit."""
    unit = next((unit for unit, size in UNITS.items() if ms < 1000 * size), "s")
    return f"{ms / UNITS[unit]:.3g} {unit}"


def draw(title: str, bars: list[Bar], path: Path) -> None:
    """Draw times as bars on a logarithmic axis."""
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 1.15 + 0.38 * len(bars)), layout="constrained")
    names = [name for name, _ in bars]
    colours = [COLOURS.get(name.partition(":")[0], PEER) for name in names]
    axes.barh(range(len(bars)), [ms for _, ms in bars], color=colours, height=0.62, zorder=2)
    axes.set_yticks(range(len(bars)), names)
    axes.invert_yaxis()
    axes.set_xscale("log")
    low, high = bars[0][1], bars[-1][1]
    axes.set_xlim(low / 3, high * (high / low) ** 0.18 * 1.8)
    for place, (name, ms) in enumerate(bars):
        weight = "bold" if name == "panmatch" else "normal"
        axes.text(ms * 1.06, place, in_words(ms), va="center", color=INK, fontweight=weight)
        axes.get_yticklabels()[place].set_fontweight(weight)
    axes.xaxis.set_major_formatter(lambda ms, _: in_words(ms))
    axes.grid(axis="x", color=GRID, zorder=0)
    axes.tick_params(length=0, colors=INK, which="both")
    axes.spines[:].set_visible(False)
    axes.xaxis.set_minor_formatter(lambda *_: "")
    figure.suptitle(title[0].upper() + title[1:], x=0.01, ha="left", fontsize=10.5, color=INK)
    axes.set_xlabel("time, logarithmic: shorter is better", color=INK, fontsize=9)
    figure.savefig(path, dpi=130, facecolor="white")
    plt.close(figure)


if __name__ == "__main__":
    main()
