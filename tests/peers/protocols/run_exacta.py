"""BraTS 2023 lesion-wise scores by exacta, HD95 of whole regions by DeepMind's surface-distance.

Usage: python -m tests.peers.protocols.run_exacta

The numbers stand under the names of the challenge's own script (BraTS-2023-Metrics), whose values
for empty sides are given to exacta as options.
"""

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import surface_distance
from exacta import functional, lesions

from tests.peers.protocols.records import write
from tests.peers.protocols.scenes import Labels, Scene

MISSED = 374.0  # the diagonal of a BraTS volume, which the challenge puts in place of infinity


def hd95(reference: Labels, prediction: Labels, spacing: tuple[float, ...]) -> float:
    if not reference.any() and not prediction.any():
        return 0.0
    distances = surface_distance.compute_surface_distances(reference, prediction, spacing)
    found = float(surface_distance.compute_robust_hausdorff(distances, 95))
    return MISSED if math.isinf(found) else found


def evaluate(scene: Scene, challenge: str) -> Mapping[str, Any]:
    reference, prediction = (
        lesions.brats_regions(side[np.newaxis]) for side in (scene.reference, scene.prediction)
    )
    sides: dict[str, Any] = {"pred": prediction, "target": reference, "input_format": "one-hot"}
    found = lesions.brats2023(**sides, challenge=challenge, spacing=scene.spacing)
    dice = functional.dice(**sides, both_empty=1.0)
    specificity = functional.specificity(**sides, zero_division=0.0)
    volume = functional.target_volume(**sides, spacing=scene.spacing)
    results = {}
    for k, region in enumerate(("WT", "TC", "ET")):
        masks = reference[0, k], prediction[0, k]
        sensitivity = functional.sensitivity(**sides, zero_division=0.0 if masks[1].any() else 1.0)
        results[region] = {
            "Num_TP": found.tp[0, k],
            "Num_FP": found.fp[0, k],
            "Num_FN": found.fn[0, k],
            "Sensitivity": sensitivity[0, k],
            "Specificity": specificity[0, k],
            "Legacy_Dice": dice[0, k],
            "Legacy_HD95": hd95(*masks, scene.spacing),
            "GT_Complete_Volume": volume[0, k],
            "LesionWise_Score_Dice": found.lesion_dice[0, k],
            "LesionWise_Score_HD95": found.lesion_hd95[0, k],
        }
    return results


if __name__ == "__main__":
    packages = ("exacta", "surface-distance")
    for protocol, challenge in (("brats-2023-lesionwise", "GLI"), ("brats-mets", "MET")):
        write(
            protocol,
            partial(evaluate, challenge=challenge),
            packages=packages,
            family="lesions",
            challenge=challenge,
        )
