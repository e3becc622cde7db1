"""`make study`: how much heuristics miss, and how long the proof takes; kept in docs."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

import panmatch as pm
from benchmarks.machine import describe_machine, keep_below
from benchmarks.real_pairs import DATA, REAL, Pair
from panmatch import phantoms
from panmatch.matching import _optimal_merge as optimal_merge
from panmatch.matching import _reserving as reserving
from panmatch.matching import optimality_gap

PAGE = Path(__file__).parents[1] / "docs" / "explanation" / "optimal-matching.md"
MARK = "<!-- Everything below is written by `make study`. -->"
THRESHOLDS = (0.0, 0.1, 0.25)
SCENES = 100
TISSUES = (
    ((600, 600), 2000, 2500),
    ((70, 70, 70), 500, 700),
    ((70, 70, 70), 100, 1500),
    ((100, 100, 100), 1500, 2100),
)
UNTIMED = pm.Budget(seconds=None)  # so that other programs do not decide what is proven
STRATEGIES: dict[str, pm.Strategy] = {
    "one-to-one": pm.OneToOne(),
    "many-to-one, seed": pm.ManyToOne(budget=UNTIMED),
    "many-to-one, edge": pm.ManyToOne(gate="edge", budget=UNTIMED),
    "one-to-many": pm.OneToMany(),
}


def split(seed: int) -> Pair:
    """Objects predicted too large and in two to four pieces."""
    reference = phantoms.blobs((160, 160), 20, radius=(8, 14), gap=1, seed=seed)
    moved = phantoms.shift(phantoms.dilate(reference, 3), (2, 1))
    return reference, phantoms.split(moved, 2 + seed % 3)


def dense_touching(seed: int) -> Pair:
    """A tissue of cells against another tissue."""
    return phantoms.tissue((120, 120), 40, seed=seed), phantoms.tissue(
        (120, 120), 50, seed=seed + 1
    )


def tiny_objects(seed: int) -> Pair:
    """Objects of a few voxels, shifted by one or two."""
    reference = phantoms.balls((80, 80), 60, radius=(1, 3), gap=1, seed=seed)
    return reference, phantoms.shift(phantoms.dilate(reference, 1), (1, 1 + seed % 2))


def noisy_annotations(seed: int) -> Pair:
    """The same tissue drawn by somebody who merges, cuts, misses and shifts."""
    reference = phantoms.tissue((120, 120), 40, seed=seed)
    prediction = phantoms.merge_neighbours(reference, 8, seed=seed)
    ids = np.unique(prediction)[:: 3 + seed % 2]
    prediction = phantoms.split(prediction, 3, ids=ids.tolist())
    return reference, phantoms.shift(phantoms.miss(prediction, 4, seed=seed), (3, -2))


FAMILIES: dict[str, Callable[[int], Pair]] = {
    "split": split,
    "dense touching": dense_touching,
    "tiny objects": tiny_objects,
    "noisy annotations": noisy_annotations,
}


@dataclass(frozen=True)
class Found:
    """The gap of one scene, strategy and threshold."""

    relative: float
    proven: bool
    certified_gap: float
    ms: float


def measure(overlap: pm.Overlap, strategy: pm.Strategy, threshold: float) -> Found:
    start = time.process_time()
    gap = optimality_gap(overlap, strategy, threshold)
    elapsed = 1e3 * (time.process_time() - start)
    return Found(gap.relative, gap.certificate.proven, gap.certificate.gap, elapsed)


def summarise(name: str, strategy: str, found: list[Found]) -> str:
    gaps = np.array([f.relative for f in found])
    missed = gaps > 1e-9
    cells = [
        name,
        strategy,
        str(len(found)),
        f"{missed.mean():.1%}",
        f"{gaps.mean():.2%}",
        f"{gaps.max():.1%}",
        f"{np.mean([f.proven for f in found]):.1%}",
        f"{max(f.certified_gap for f in found):.1e}",
        f"{np.median([f.ms for f in found]):.1f}",
        f"{max(f.ms for f in found):.0f}",
    ]
    return f"| {' | '.join(cells)} |"


def family_rows() -> Iterator[str]:
    for family, make in FAMILIES.items():
        scenes = [make(seed) for seed in range(SCENES)]
        yield from rows_of(family, [pm.count_overlaps(*scene) for scene in scenes])
        cut = [pm.count_region_overlaps(*scene) for scene in scenes]
        yield from rows_of(f"{family}, regions", cut)


def tissue_rows() -> Iterator[str]:
    """Large tissues of touching cells; some references overlap dozens of predictions."""
    for shape, refs, preds in TISSUES:
        scene = (phantoms.tissue(shape, refs, seed=3), phantoms.tissue(shape, preds, seed=9))
        name = f"tissue {len(shape)}-D, {refs} × {preds}"
        yield from rows_of(name, [pm.count_overlaps(*scene)])
        yield from rows_of(f"{name}, regions", [pm.count_region_overlaps(*scene)])


def rows_of(name: str, overlaps: list[pm.Overlap]) -> Iterator[str]:
    for label, strategy in STRATEGIES.items():
        found = [measure(o, strategy, tau) for o in overlaps for tau in THRESHOLDS]
        yield summarise(name, label, found)


def real_rows() -> Iterator[str]:
    for name, pairs in REAL.items():
        images = list(pairs())
        yield from rows_of(f"{name} (real)", [pm.count_overlaps(*pair) for pair in images])
        cut = [pm.count_region_overlaps(*pair) for pair in images]
        yield from rows_of(f"{name} (real), regions", cut)


def prove_with(
    overlap: pm.Overlap, limits: dict[str, Any], most_problems: int
) -> tuple[pm.Certificate | None, float]:
    """Return what is proven within other limits than usual, and the milliseconds that it took."""
    strategy = pm.ManyToOne(solver="optimal", budget=UNTIMED)
    with (
        patch.multiple(optimal_merge, **limits) if limits else nullcontext(),
        patch.object(reserving, "MOST_PROBLEMS", most_problems),
    ):
        start = time.process_time()
        proof = pm.match(overlap, strategy, 0.0).certificate
        return proof, 1e3 * (time.process_time() - start)


def method_rows() -> Iterator[str]:
    """Time each way to solve the packing problem on its own."""
    methods: dict[str, dict[str, int]] = {
        "as built": {},
        "branching only": {"BRANCH_NODES": 100_000, "PRICE_ROUNDS": 0, "MOST_COLUMNS": 0},
        "prices and HiGHS only": {"BRANCH_NODES": 0},
        "prices and reservations only": {"BRANCH_NODES": 0, "MOST_COLUMNS": 0},
    }
    cases = {
        "split, 20 objects": pm.count_overlaps(*split(1)),
        "dense touching, 40 cells": pm.count_overlaps(*dense_touching(1)),
        "tissue, 500 cells": pm.count_overlaps(
            phantoms.tissue((300, 300), 500, seed=3), phantoms.tissue((300, 300), 500, seed=4)
        ),
    }
    for case, overlap in cases.items():
        for method, limits in methods.items():
            reserves = method in ("as built", "prices and reservations only")
            proof, elapsed = prove_with(overlap, limits, reserving.MOST_PROBLEMS if reserves else 0)
            assert proof is not None
            cells = f"{elapsed:.1f} | {proof.nodes} | {proof.gap:.1e}"
            yield f"| {case} | {method} | {cells} |"


def main() -> None:
    """Measure everything, say what is going on, and write the page."""
    head = (
        "| scenes | strategy | cases | heuristic misses the optimum | mean gap | largest gap "
        "| proven | largest certified gap | median ms | slowest ms |\n" + "|---" * 10 + "|"
    )
    lines = [
        f"Measured on {describe_machine()}. {SCENES} seeded scenes per family at τ = "
        f"{', '.join(f'{t:g}' for t in THRESHOLDS)}. Gaps are relative to the optimum. Times are "
        f"those of the processor, and include the heuristic. The budget is the default one, but "
        f"for its limit of 20 seconds, so that other programs on the machine cannot decide what "
        f"is proven.",
        "",
        head,
    ]
    sources = [family_rows(), tissue_rows()] + ([real_rows()] if DATA.exists() else [])
    for source in sources:
        for line in source:
            print(line, file=sys.stderr)
            lines.append(line)
    lines += ["", "Each method on its own, for many-to-one with the seed gate at τ = 0:", ""]
    lines += ["| scene | method | ms | nodes | certified gap |", "|---|---|---|---|---|"]
    for line in method_rows():
        print(line, file=sys.stderr)
        lines.append(line)
    keep_below(PAGE, MARK, "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
