"""Distances between surfaces against exacta, and components against cc3d."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import cc3d
import numpy as np
import numpy.typing as npt

import panmatch as pm
from benchmarks import scenes
from benchmarks.limits import beside_reading
from benchmarks.peers import EXACTA, Image, ask
from benchmarks.timing import Row, at_most, best_ms, faster, not_measured
from panmatch.labels import connected_components

METRICS = ("dice", "hd95", "assd", "nsd")
THREADS = 2
ROUNDS = 2  # of theirs and ours in turn

Mask = npt.NDArray[np.bool_]
Scores = dict[str, npt.NDArray[np.float64]]


def rows() -> Iterator[Row]:
    """Yield every comparison as soon as it is measured."""
    balls = {f"{count} objects": scenes.balls(count) for count in (64, 512)}
    organ, torso = scenes.organs(1), scenes.organs(20)
    for name, pair in (balls | {"one organ": organ, "20 organs": torso}).items():
        masks = pair[0] > 0, pair[1] > 0
        what = f"Dice, HD95, ASSD and NSD of whole masks, 256³, {name}"
        yield from _against_exacta(what, "whole", masks, partial(whole, *masks), 2)
    what = "Dice, HD95, ASSD and NSD of every organ, 256³, 20 organs"
    yield from _against_exacta(what, "organs", torso, partial(organs, *torso), 3)
    for name, pair in balls.items():
        masks = pair[0] > 0, pair[1] > 0
        what = f"PQ, Dice and HD95 of components, from masks, 256³, {name}"
        yield from _against_exacta(what, "lesions", masks, partial(lesions, *masks), 3)
    for name, pair in balls.items():
        yield _components(name, pair[0] > 0)


def whole(reference: Mask, prediction: Mask) -> Scores:
    found = pm.measure_whole(reference, prediction, METRICS, threads=THREADS)
    return {name: found.columns[name] for name in METRICS}


def organs(reference: scenes.Labels, prediction: scenes.Labels) -> Scores:
    overlap = pm.count_overlaps(reference, prediction, threads=THREADS)
    matching = pm.match(overlap, pm.SameId(), 0.0)
    found = pm.measure(matching, reference, prediction, METRICS, threads=THREADS)
    return {name: found.columns[name] for name in METRICS}


def lesions(reference: Mask, prediction: Mask) -> Scores:
    images = (
        connected_components(reference, threads=THREADS),
        connected_components(prediction, threads=THREADS),
    )
    overlap = pm.count_overlaps(*images, threads=THREADS)
    matching = pm.match(overlap, pm.OneToOne(solver="greedy"), 0.1)
    found = pm.measure(matching, *images, ("dice", "hd95"), threads=THREADS)
    means = {
        name: np.nansum(found.columns[name], keepdims=True) / len(found)
        for name in ("dice", "hd95")
    }
    return {"pq": np.array([matching.tally.pq]), **means}


def _against_exacta(
    what: str, job: str, images: tuple[Image, Image], ours: Callable[[], Scores], bound: float
) -> Iterator[Row]:
    what = f"{what}, {THREADS} threads"
    if not EXACTA.exists():
        remedy = "exacta (make .venv-oracle-exacta/installed installs it)"
        yield not_measured(what, remedy, f"≥ {bound:g} ×")
        return
    times, peer_times = [], []
    for _ in range(ROUNDS):
        peer = ask("peer_exacta.py", *images, job, THREADS, python=EXACTA)
        for name, values in ours().items():
            assert np.allclose(values, peer[name], rtol=1e-9, atol=0), name
        times.append(best_ms(ours, repeats=5))
        peer_times.append(peer["ms"])
    yield beside_reading(what, min(times), *images, threads=THREADS)
    yield faster(what, min(times), min(peer_times), f"exacta {peer['version']}", bound)


def _components(name: str, mask: Mask) -> Row:
    as_bytes = mask.view(np.uint8)
    calls: tuple[Callable[[], scenes.Labels], ...] = (
        lambda: cc3d.connected_components(as_bytes),
        lambda: cc3d.connected_components(as_bytes, binary_image=True),
        lambda: cc3d.connected_components(mask),
    )
    assert np.array_equal(connected_components(mask), calls[0]())
    theirs = min(best_ms(call, repeats=5) for call in calls)
    ours = best_ms(partial(connected_components, mask, threads=THREADS), repeats=5)
    return at_most(f"connected components, 256³, {name}", ours, theirs, "fastest call of cc3d", 1)
