"""Metrics of objects and the distance transform against panoptica, exacta and scipy."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import ndimage

import panmatch as pm
from benchmarks import scenes, surfaces
from benchmarks.limits import beside_reading
from benchmarks.peers import panoptica
from benchmarks.timing import Row, best_ms, faster, in_words
from panmatch.labels import edge_distances

OURS = ("iou", "dice", "assd", "hd95", "nsd")
THEIRS = "IOU,DSC,ASSD,HD95,NSD"


def rows() -> Iterator[Row]:
    """Yield every comparison as soon as it is measured."""
    yield from object_metrics()
    yield from surfaces.rows()
    yield from distance_transform()


def object_metrics() -> Iterator[Row]:
    reference, prediction = scenes.balls(500)
    peers = [
        panoptica(reference, prediction, "greedy", 0.1, metrics=THEIRS, workers=workers)
        for workers in (1, 2)
    ]
    peer = min(peers, key=lambda found: float(found["ms"]))
    name = f"panoptica {peer['version']} ({peers.index(peer) + 1} process)"
    for threads in (1, 2):

        def ours() -> pm.Measurements:
            overlap = pm.count_overlaps(reference, prediction, threads=threads)  # noqa: B023
            matching = pm.match(overlap, pm.OneToOne(solver="greedy"), 0.1)
            return pm.measure(matching, reference, prediction, OURS, threads=threads)  # noqa: B023

        found = ours()
        assert abs(found.score("sq_dice") - peer["sq_DSC"]) < 1e-6
        assert len(found) == 500
        what = f"IoU, Dice, ASSD, HD95 and NSD from arrays, 256³, 500 pairs, {in_words(threads)}"
        taken = best_ms(ours, repeats=7)
        yield beside_reading(what, taken, reference, prediction, threads=threads)
        yield faster(what, taken, peer["ms"], name, 8 if threads == 2 else None)


def distance_transform() -> Iterator[Row]:
    mask = scenes.balls(500)[0] == 0
    theirs = best_ms(lambda: ndimage.distance_transform_edt(mask), repeats=2)
    for threads in (1, 2):
        assert np.allclose(edge_distances(mask, threads=threads)[::16, ::16, ::16], _sample(mask))
        ours = best_ms(lambda: edge_distances(mask, threads=threads), repeats=7)  # noqa: B023
        what = f"exact distance transform, 256³ to float64, {in_words(threads)}"
        yield faster(
            what, ours, theirs, "scipy distance_transform_edt", 4 if threads == 2 else None
        )


def _sample(mask: scenes.Labels) -> scenes.Labels:
    distances: scenes.Labels = ndimage.distance_transform_edt(mask)[::16, ::16, ::16]
    return distances
