"""Counting, matching and curves against numpy, panoptica and the machine's limit."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import panmatch as pm
from benchmarks import scenes
from benchmarks.limits import beside_reading
from benchmarks.memory import extra_memory
from benchmarks.peers import panoptica
from benchmarks.scenes import Labels, Pair
from benchmarks.timing import Row, at_most, below, best_ms, faster
from panmatch import related

STRATEGIES: list[pm.Strategy] = [
    pm.OneToOne(),
    pm.OneToOne(solver="greedy"),
    pm.ManyToOne(),
    pm.ManyToOne(gate="edge"),
    pm.OneToMany(),
    pm.SameId(),
]
CLUSTERINGS: dict[str, tuple[Callable[[pm.Overlap], object], ...]] = {
    "all clustering scores but AMI": (
        related.variation_of_information,
        related.adapted_rand_error,
        related.rand_index,
        related.adjusted_rand_index,
        related.cremi_score,
        related.graph_cluster_dice,
    ),
    "adjusted mutual information": (related.adjusted_mutual_information,),
    "components of the graph by kind": (pm.graph_structure,),
    "Cluster Dice of the graph at all thresholds": (related.graph_cluster_dice_curve,),
}
SUM_BOUNDS = {50: 2.5, 500: 4.0, 3000: 6.0}


def rows() -> Iterator[Row]:
    """Yield every comparison as soon as it is measured."""
    yield from counting("256³", {n: scenes.balls(n) for n in SUM_BOUNDS})
    for instances in SUM_BOUNDS:
        pair = scenes.twice_as_large(scenes.balls(instances))
        yield from counting("512³", {instances: pair})
    yield memory()
    yield from whole_pq()
    yield merging()
    yield curves_against_bincount()
    yield tissue_curves()
    yield from clusterings()
    yield import_time()


def counting(size: str, pairs: dict[int, Pair]) -> Iterator[Row]:
    for instances, (reference, prediction) in pairs.items():
        what = f"count overlaps, {size}, {instances} instances"
        total = sum_both(reference, prediction)
        one = best_ms(lambda: pm.count_overlaps(reference, prediction, threads=1))  # noqa: B023
        two = best_ms(lambda: pm.count_overlaps(reference, prediction, threads=2))  # noqa: B023
        name, numpy_ms = best_numpy(reference, prediction)
        yield at_most(f"{what}, 1 thread", one, total, "sum both arrays", SUM_BOUNDS[instances])
        yield faster(f"{what}, 1 thread", one, numpy_ms, name, 4)
        yield at_most(f"{what}, 2 threads", two, one, "1 thread", 1)


def sum_both(reference: Labels, prediction: Labels) -> float:
    """Return the faster of numpy's two ways to sum: in int64 (its default) and in int32."""
    return min(
        best_ms(lambda: (reference.sum(), prediction.sum())),
        best_ms(lambda: (reference.sum(dtype=np.int32), prediction.sum(dtype=np.int32))),
    )


def bincount_int64(reference: Labels, prediction: Labels) -> Any:
    width = int(prediction.max()) + 1
    return np.bincount(reference.ravel().astype(np.int64) * width + prediction.ravel())


def bincount_foreground(reference: Labels, prediction: Labels) -> Any:
    width = int(prediction.max()) + 1
    some = np.flatnonzero((reference | prediction).ravel())
    keys = reference.ravel()[some].astype(np.int64) * width + prediction.ravel()[some]
    return np.bincount(keys)


def bincount_int32(reference: Labels, prediction: Labels) -> Any:
    return np.bincount(reference.ravel() * np.int32(int(prediction.max()) + 1) + prediction.ravel())


def best_numpy(reference: Labels, prediction: Labels) -> tuple[str, float]:
    """Return the fastest of three ways to count pairs with numpy; `unique` is far behind."""
    ways = {
        "numpy bincount (int64)": bincount_int64,
        "numpy bincount (int32)": bincount_int32,
        "numpy bincount (foreground)": bincount_foreground,
    }
    times = {
        name: best_ms(lambda: way(reference, prediction), repeats=3)  # noqa: B023
        for name, way in ways.items()
    }
    return min(times.items(), key=lambda item: item[1])


def memory() -> Row:
    found = extra_memory("memory", "count_512()")
    return below("extra memory of counting, 512³, 3000 instances", found, "MB", 32)


def whole_pq() -> Iterator[Row]:
    for instances in SUM_BOUNDS:
        reference, prediction = scenes.balls(instances)

        def ours() -> pm.Tally:
            overlap = pm.count_overlaps(reference, prediction, threads=1)  # noqa: B023
            return pm.match(overlap, pm.OneToOne(solver="greedy"), 0.5).tally

        peer = panoptica(reference, prediction, "greedy", 0.5)
        assert abs(ours().pq - peer["pq"]) < 1e-6
        what = f"PQ from arrays, 256³, {instances} instances, 1 thread"
        taken = best_ms(ours)
        yield beside_reading(what, taken, reference, prediction, threads=1)
        yield faster(what, taken, peer["ms"], f"panoptica {peer['version']}", 100)


def merging() -> Row:
    reference, prediction = scenes.cut_in_two(500)

    def ours() -> pm.Tally:
        overlap = pm.count_overlaps(reference, prediction, threads=1)
        return pm.match(overlap, pm.ManyToOne(), 0.1).tally

    peer = panoptica(reference, prediction, "merge", 0.1)
    assert abs(ours().pq - peer["pq"]) < 1e-6
    what = "many-to-one PQ from arrays, 256³, 500 instances cut in two, 1 thread"
    return faster(what, best_ms(ours), peer["ms"], f"panoptica {peer['version']}", 500)


def all_curves(overlap: pm.Overlap) -> list[tuple[float, float, float]]:
    curves = [pm.curve(overlap, strategy) for strategy in STRATEGIES]
    return [(curve.autc, curve.autc_sq, curve.autc_rq) for curve in curves]


def curves_against_bincount() -> Row:
    reference, prediction = scenes.balls(3000)
    overlap = pm.count_overlaps(reference, prediction)
    ours = best_ms(lambda: all_curves(overlap))
    name, other = best_numpy(reference, prediction)
    return at_most("exact AUTC of all strategies, 256³, 3000 instances", ours, other, name, 1)


def tissue_curves() -> Row:
    overlap = pm.count_overlaps(*scenes.dense_tissue(3000))
    what = f"all curves of a dense tissue, 3000 cells, {len(overlap.edges)} contacts"
    return below(what, best_ms(lambda: all_curves(overlap)), "ms", 1000)


def clusterings() -> Iterator[Row]:
    """Yield the clustering scores and the structure of the graph beside the count behind them."""
    small = scenes.dense_tissue(3000)
    reference, prediction = scenes.twice_as_large(scenes.twice_as_large(small))
    overlap = pm.count_overlaps(reference, prediction)
    count = best_ms(lambda: pm.count_overlaps(reference, prediction, threads=1), repeats=5)
    what = f"512³ of dense tissue, 3000 cells, {len(overlap.edges)} contacts"
    for name, scores in CLUSTERINGS.items():
        ours = best_ms(lambda: [score(overlap) for score in scores])  # noqa: B023
        yield at_most(f"{name}, {what}", ours, count, "the count, 1 thread,", 1)


def import_time() -> Row:
    """Time the import in fresh processes, beyond numpy's own."""
    code = (
        "import numpy, time; start = time.perf_counter(); import panmatch; "
        "print(time.perf_counter() - start)"
    )
    times = [
        float(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True).stdout)
        for _ in range(7)
    ]
    return below("import panmatch beyond numpy", 1e3 * min(times), "ms", 60)
