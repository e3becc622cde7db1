"""One small image in a loop: PQ and Dice, against torchmetrics, stardist and exacta."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import panmatch as pm
from benchmarks.limits import beside_reading
from benchmarks.peers import against, measure_peer, save_pair
from benchmarks.scenes import Labels
from benchmarks.timing import Row, below, loop_ms
from panmatch import phantoms

PEERS = {
    "torchmetrics": "peer_torchmetrics.py",
    "stardist": "peer_stardist.py",
    "exacta": "peer_exacta_objects.py",
}
WHAT = "PQ and Dice of one image in a loop, 256 × 256, 30 objects"


def rows() -> Iterator[Row]:
    """Yield every comparison as soon as it is measured."""
    reference = phantoms.balls((256, 256), 30, radius=(8, 16), gap=4, seed=1).astype(np.int32)
    prediction = phantoms.shift(reference, (1, 2)).astype(np.int32)
    numbers = scores(reference, prediction)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        save_pair(folder, reference, prediction)
        peers = {
            program: measure_peer(program, script, folder) for program, script in PEERS.items()
        }
    for peer in peers.values():
        if peer is not None:
            peer.check(numbers)
    ours = loop_ms(lambda: scores(reference, prediction))
    yield below(WHAT, 1e3 * ours, "µs", 150)
    yield beside_reading(WHAT, ours, reference, prediction, threads=1)
    for program, peer in peers.items():
        yield against(WHAT, ours, program, peer, None)


def scores(reference: Labels, prediction: Labels) -> dict[str, float]:
    """Return PQ, and the mean Dice of matched objects."""
    overlap = pm.count_overlaps(reference, prediction)
    matching = pm.match(overlap)
    dice = overlap.dice[matching.edges]
    return {"pq": matching.tally.pq, "sq_dice": float(dice.mean())}
