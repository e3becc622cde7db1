"""The drop-in for panoptica beside panoptica: the same calls to both."""

from __future__ import annotations

import math
from collections.abc import Iterator

from benchmarks import scenes
from benchmarks.peer_panoptica_call import time_call
from benchmarks.peers import ask
from benchmarks.timing import Row, faster

OURS = "panmatch.compat.panoptica"
INSTANCES = (50, 500, 3000)


def rows() -> Iterator[Row]:
    """Yield every comparison as soon as it is measured."""
    for instances in INSTANCES:
        yield compared("drop-in, PQ", instances, "IOU", 50)
    yield compared("drop-in, areas over ten thresholds", 50, "IOU", 50, areas=True)
    for instances in (50, 500):
        yield compared("drop-in, default metrics", instances, "default", None)


def compared(
    what: str, instances: int, metrics: str, bound: float | None, *, areas: bool = False
) -> Row:
    """Time both, once their numbers are the same."""
    reference, prediction = scenes.balls(instances)
    ours, numbers = time_call(
        OURS, reference, prediction, metrics, areas=areas, repeats=15 if bound else 3
    )
    peer = ask("peer_panoptica_call.py", reference, prediction, metrics, areas)
    assert numbers.keys() == peer["numbers"].keys()
    for name, value in peer["numbers"].items():
        assert math.isclose(numbers[name], value, rel_tol=1e-9) or math.isnan(value), name
    what = f"{what}, 256³, {instances} instances"
    return faster(what, ours, peer["ms"], f"panoptica {peer['version']}", bound)
