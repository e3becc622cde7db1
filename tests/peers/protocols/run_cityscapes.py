"""Panoptic quality by cityscapesScripts, in .venv-peers: run_cityscapes.

Its function reads the format of COCO and is that of COCO's own panopticapi, so it also answers for
COCO's classes. A group without any segment (things, stuff) has no average: the program divides by
zero there, and the group's numbers are left out.
"""

import contextlib
import io
import tempfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from cityscapesscripts.evaluation.evalPanopticSemanticLabeling import pq_compute_single_core
from cityscapesscripts.helpers.labels import labels
from PIL import Image

from tests.peers.protocols.records import write
from tests.peers.protocols.scenes import Labels, Scene

CITYSCAPES = {label.id: int(label.hasInstances) for label in labels if not label.ignoreInEval}
COCO = {1: 1, 3: 1, 149: 0, 187: 0}


def annotation(ids: Labels, file: Path, isthing: Mapping[int, int]) -> dict[str, Any]:
    """Write the image of an annotation and return its entry: a thing without instance is crowd."""
    channels = np.stack([ids % 256, ids // 256 % 256, ids // 65536], axis=-1).astype(np.uint8)
    Image.fromarray(channels).save(file)
    segments = []
    for id_, area in zip(*np.unique(ids[ids > 0], return_counts=True), strict=True):
        category = int(id_) if id_ < 1000 else int(id_) // 1000
        crowd = int(id_ < 1000 and isthing[category])
        segment = {"id": int(id_), "category_id": category, "area": int(area), "iscrowd": crowd}
        segments.append(segment)
    return {"image_id": "scene", "file_name": file.name, "segments_info": segments}


def evaluate(scene: Scene, isthing: Mapping[int, int]) -> Mapping[str, Any]:
    categories = {id_: {"id": id_, "isthing": thing} for id_, thing in isthing.items()}
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        sides = (
            annotation(getattr(scene, side), Path(folder) / f"{side}.png", isthing)
            for side in ("reference", "prediction")
        )
        found = pq_compute_single_core(0, [tuple(sides)], folder, folder, categories)
    results: dict[str, Any] = {}
    for group, things in (("All", None), ("Things", True), ("Stuff", False)):
        with contextlib.suppress(ZeroDivisionError):
            results[group], per_class = found.pq_average(categories, isthing=things)
            if group == "All":
                results["per_class"] = per_class
    return results


if __name__ == "__main__":
    packages = ("cityscapesscripts",)
    for protocol, family, isthing in (
        ("cityscapes", "panoptic", CITYSCAPES),
        ("coco-panoptic", "coco panoptic", COCO),
    ):
        judge = partial(evaluate, isthing=isthing)
        write(protocol, judge, packages=packages, family=family, isthing=isthing)
