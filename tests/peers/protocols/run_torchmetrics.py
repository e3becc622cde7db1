"""Panoptic quality by torchmetrics, a second opinion on COCO: run_torchmetrics.

torchmetrics also leaves out what the prediction leaves void, and has no crowds; COCO's program does
neither. Scenes where that matters have no number here: those with a crowd, and those with a void
pixel in the prediction.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torchmetrics.functional.detection import panoptic_quality

from tests.peers.protocols.records import write
from tests.peers.protocols.scenes import Labels, Scene

THINGS, STUFF = {1, 3}, {149, 187}


def pairs(ids: Labels) -> Any:
    """Return (category, instance) per pixel; category 0, which is unknown, is void."""
    category = np.where(ids >= 1000, ids // 1000, ids)
    instance = np.where(ids >= 1000, ids % 1000, 0)
    return torch.from_numpy(np.stack([category, instance], axis=-1)[np.newaxis])


def evaluate(scene: Scene) -> Mapping[str, Any]:
    if np.isin(scene.reference, list(THINGS)).any() or (scene.prediction == 0).any():
        return {}
    found = panoptic_quality(
        pairs(scene.prediction),
        pairs(scene.reference),
        things=THINGS,
        stuffs=STUFF,
        allow_unknown_preds_category=True,
        return_sq_and_rq=True,
    )
    return {"All": dict(zip(("pq", "sq", "rq"), found.flatten().tolist(), strict=True))}


if __name__ == "__main__":
    write(
        "coco-panoptic",
        evaluate,
        packages=("torchmetrics",),
        family="coco panoptic",
        tolerance=1e-7,  # its areas are float32 when divided
        second="torchmetrics",
    )
