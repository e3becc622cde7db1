"""Matching by StarDist: python -m tests.peers.protocols.run_stardist.

`datasets` holds the numbers of `matching_dataset` over all scenes of one dimension, pooled
(`by_image` false) and as means of images.
"""

from collections.abc import Mapping
from typing import Any

from stardist.matching import matching, matching_dataset

from tests.peers.protocols.records import flat, write
from tests.peers.protocols.scenes import Scene, objects

TEXT = ("criterion", "by_image")


def numbers(found: Any) -> dict[str, Any]:
    return {key: value for key, value in found._asdict().items() if key not in TEXT}


def evaluate(scene: Scene) -> Mapping[str, Any]:
    return numbers(matching(scene.reference, scene.prediction, thresh=0.5))


def dataset(dimensions: int, by_image: bool) -> dict[str, Any]:
    scenes = list(objects((dimensions,)))
    found = matching_dataset(
        [scene.reference for scene in scenes],
        [scene.prediction for scene in scenes],
        thresh=0.5,
        by_image=by_image,
        show_progress=False,
    )
    names = [scene.name for scene in scenes]
    return {"scenes": names, "by_image": by_image, "numbers": dict(flat(numbers(found)))}


if __name__ == "__main__":
    write(
        "stardist",
        evaluate,
        packages=("stardist",),
        family="objects",
        tolerance=1e-6,  # its scores are float32
        datasets=[dataset(d, by_image) for d in (2, 3) for by_image in (False, True)],
    )
