"""panoptica with its default metrics, in .venv-peers: run_panoptica_default.

Label images are unmatched instances; the matcher is its default, at its default threshold.
"""

from collections.abc import Mapping
from typing import Any

from panoptica import InputType, NaiveThresholdMatching, Panoptica_Evaluator

from tests.peers.protocols.records import write
from tests.peers.protocols.scenes import Scene

JUDGE = Panoptica_Evaluator(
    expected_input=InputType.UNMATCHED_INSTANCE, instance_matcher=NaiveThresholdMatching()
)


def evaluate(scene: Scene) -> Mapping[str, Any]:
    found = JUDGE.evaluate(
        scene.prediction, scene.reference, verbose=False, voxelspacing=scene.spacing
    )
    results: Mapping[str, Any] = found["ungrouped"].to_dict()
    return {name: value for name, value in results.items() if value is not None}


if __name__ == "__main__":
    write("panoptica-2.1.7", evaluate, packages=("panoptica",), family="objects")
