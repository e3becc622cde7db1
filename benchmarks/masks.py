"""Whole masks: Dice, HD95 and ASSD, against MONAI, surface-distance and exacta."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import panmatch as pm
from benchmarks import scenes
from benchmarks.limits import beside_reading
from benchmarks.peers import against, measure_peer, save_pair
from benchmarks.timing import Row, best_ms

PEERS = {
    "monai": "peer_monai.py",
    "surface-distance": "peer_surface_distance.py",
    "exacta": "peer_exacta_masks.py",
}
WHAT = "Dice, HD95 and ASSD of whole masks, 256³, 50 objects as one, 2 threads"
METRICS = ("dice", "hd95", "assd")


def rows() -> Iterator[Row]:
    """Yield every comparison as soon as it is measured."""
    reference, prediction = ((image > 0).astype(np.uint8) for image in scenes.balls(50))
    checked = pm.measure_whole(reference, prediction, (*METRICS, "hd95_elements"))
    numbers = {name: float(checked.columns[name][0]) for name in (*METRICS, "hd95_elements")}
    peers = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        save_pair(folder, reference, prediction)
        for program, script in PEERS.items():
            peers[program] = measure_peer(program, script, folder)
    for peer in peers.values():
        if peer is not None:
            peer.check(numbers)

    def ours() -> pm.Measurements:
        return pm.measure_whole(reference, prediction, METRICS, threads=2)

    taken = best_ms(ours, repeats=5)
    yield beside_reading(WHAT, taken, reference, prediction, threads=2)
    for program, peer in peers.items():
        yield against(WHAT, taken, program, peer, None)
