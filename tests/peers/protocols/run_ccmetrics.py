"""All metrics of CC-Metrics, in .venv-ccmetrics: python -m tests.peers.protocols.run_ccmetrics.

`overall` lists the value of each reference component, in the order of its numbering. Distances need
a worst score, and surface Dice a threshold: they are those of the program's own README. `datasets`
holds means of both over several scenes.
"""

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from CCMetrics import (
    CCBaseMetric,
    CCDiceMetric,
    CCHausdorffDistance95Metric,
    CCHausdorffDistanceMetric,
    CCSurfaceDiceMetric,
    CCSurfaceDistanceMetric,
)

from tests.peers.protocols.records import write
from tests.peers.protocols.scenes import Labels, Scene, lesion_masks

WORST = 30
SINGLE_PRECISION = 1e-6


def judges() -> list[CCBaseMetric]:
    return [
        CCDiceMetric(),
        CCSurfaceDiceMetric(class_thresholds=[1]),
        CCHausdorffDistanceMetric(metric_worst_score=WORST),
        CCHausdorffDistance95Metric(metric_worst_score=WORST),
        CCSurfaceDistanceMetric(metric_worst_score=WORST),
    ]


def one_hot(side: Labels) -> Any:
    return np.stack([side == 0, side > 0])[np.newaxis].astype(np.float32)


def evaluate(scene: Scene) -> Mapping[str, Any]:
    found: dict[str, Any] = {}
    for judge in judges():
        name = type(judge).__name__
        judge(y_pred=one_hot(scene.prediction), y=one_hot(scene.reference))
        overall = np.atleast_1d(judge.cc_aggregate(mode="overall").numpy())
        found[name] = judge.cc_aggregate(mode="patient")[0]
        found[f"{name}/overall"] = dict(enumerate(overall.tolist(), start=1))
    return found


def dataset(*starts: str) -> dict[str, Any]:
    """Return means over cases and over all components, of scenes whose names begin like these."""
    scenes = [scene for scene in lesion_masks() if scene.name.startswith(starts)]
    found = {}
    for judge in judges():
        name = type(judge).__name__
        for scene in scenes:
            judge(y_pred=one_hot(scene.prediction), y=one_hot(scene.reference))
        found[name] = float(judge.cc_aggregate(mode="patient").double().mean())
        found[f"{name}/overall"] = float(judge.cc_aggregate(mode="overall").double().mean())
    return {"scenes": [scene.name for scene in scenes], "numbers": found}


if __name__ == "__main__":
    warnings.filterwarnings("ignore", message="the prediction of class")
    write(
        "cc-metrics-0.0.3",
        evaluate,
        packages=("CCMetrics", "monai"),
        family="lesion masks",
        tolerances={
            type(judge).__name__: SINGLE_PRECISION
            for judge in judges()
            if not isinstance(judge, CCDiceMetric)
        },
        # Cases without a reference among others.
        datasets=[dataset("drawn", "no ", "both"), dataset("no reference", "both empty")],
    )
