"""Average precision and AJI by Cellpose: python -m tests.peers.protocols.run_cellpose."""

import warnings
from collections.abc import Mapping
from typing import Any

from cellpose.metrics import aggregated_jaccard_index, average_precision

from tests.peers.protocols.records import write
from tests.peers.protocols.scenes import Scene

THRESHOLDS = [0.5, 0.75, 0.9]


def evaluate(scene: Scene) -> Mapping[str, Any]:
    sides = [scene.reference], [scene.prediction]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        found = zip(("ap", "tp", "fp", "fn"), average_precision(*sides, THRESHOLDS), strict=True)
        results: dict[str, Any] = {
            name: dict(zip(THRESHOLDS, values[0], strict=True)) for name, values in found
        }
        results["aji"] = aggregated_jaccard_index(*sides)[0]
    return results


if __name__ == "__main__":
    # Its precisions are float32.
    write("cellpose", evaluate, packages=("cellpose",), family="objects", tolerance=1e-7)
