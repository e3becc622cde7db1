"""Cells, region-wise matching and CC-Metrics against scipy, panoptica and CCMetrics."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from scipy import ndimage

import panmatch as pm
from benchmarks import scenes
from benchmarks.limits import beside_reading
from benchmarks.memory import extra_memory
from benchmarks.peers import CCMETRICS, ask
from benchmarks.timing import Row, at_most, below, best_ms, faster, in_words, not_measured
from panmatch import related
from panmatch.labels import nearest_labels


def rows() -> Iterator[Row]:
    """Yield every comparison as soon as it is measured."""
    yield from cells()
    yield large_cells()
    yield cell_memory()
    yield from region_pq()
    yield from cc_dice()


def cells() -> Iterator[Row]:
    labels = scenes.scattered(200)
    background = labels == 0

    def by_scipy() -> scenes.Labels:
        _, indices = ndimage.distance_transform_edt(background, return_indices=True)
        found: scenes.Labels = labels[tuple(indices)]
        return found

    agree = float(np.mean(by_scipy() == nearest_labels(labels)))
    assert agree > 0.99  # ties aside
    theirs = best_ms(by_scipy, repeats=2)
    for threads in (1, 2):
        ours = best_ms(lambda: nearest_labels(labels, threads=threads), repeats=5)  # noqa: B023
        what = f"Voronoi regions, 256³, 200 objects, {in_words(threads)}"
        name = "scipy distance transform and lookup"
        yield beside_reading(what, ours, labels, threads=threads)
        yield faster(what, ours, theirs, name, 8 if threads == 2 else None)


def large_cells() -> Row:
    labels = scenes.twice_as_large((scenes.scattered(200),) * 2)[0]
    one, two = (
        best_ms(partial(nearest_labels, labels, threads=threads), repeats=3) for threads in (1, 2)
    )
    return at_most("Voronoi regions, 512³, 200 objects, 2 threads", two, one, "1 thread", 0.6)


def cell_memory() -> Row:
    """The cells themselves and one float per voxel: twice 64 MB for 256³ int32."""
    return below(
        "extra memory of Voronoi regions, 256³ int32",
        extra_memory("memory", "cells_256()"),
        "MB",
        2 * 64 * 1.05,
    )


def region_pq() -> Iterator[Row]:
    reference, prediction = scenes.balls(50)
    peer = ask("peer_panoptica_regions.py", reference, prediction, 0.5)
    mean = related.cc_metric(reference=reference, prediction=prediction).mean
    assert abs(mean - peer["dice"]) < 1e-3  # ties between cells go another way
    for threads in (1, 2):

        def ours() -> pm.Tally:
            cut = pm.count_region_overlaps(reference, prediction, threads=threads)  # noqa: B023
            return pm.match(cut, pm.OneToOne(solver="greedy"), 0.5).tally

        assert ours().tp == 50
        what = f"region-wise PQ from arrays, 256³, 50 objects, {in_words(threads)}"
        name = f"panoptica {peer['version']} region-wise"
        yield faster(
            what, best_ms(ours, repeats=5), peer["ms"], name, 100 if threads == 2 else None
        )


def cc_dice() -> Iterator[Row]:
    what = "CC-Dice from masks, 256³, 50 objects"
    if not CCMETRICS.exists():
        yield not_measured(what, "CCMetrics (make bench-ccmetrics installs it)", "≥ 20 ×")
        return
    reference, prediction = ((image > 0).astype(np.uint8) for image in scenes.balls(50))
    peer = ask("peer_ccmetrics.py", reference, prediction, python=CCMETRICS)
    for threads in (1, 2):

        def ours() -> float:
            return related.cc_metric(
                reference=reference, prediction=prediction, threads=threads  # noqa: B023
            ).mean  # fmt: skip

        assert abs(ours() - peer["dice"]) < 1e-9
        name, target = f"CCMetrics {peer['version']}", 20 if threads == 2 else None
        job, taken = f"{what}, {in_words(threads)}", best_ms(ours, repeats=5)
        yield beside_reading(job, taken, reference, prediction, threads=threads)
        yield faster(job, taken, peer["ms"], name, target)
