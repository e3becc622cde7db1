"""All metrics of CC-Metrics, in .venv-ccmetrics: python -m tests.peers.protocols.run_ccmetrics.

`overall` lists the value of each reference component, in the order of its numbering. Distances need
a worst score, and surface Dice a threshold: they are those of the program's own README.
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
from tests.peers.protocols.scenes import Scene

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


def evaluate(scene: Scene) -> Mapping[str, Any]:
    reference, prediction = (
        np.stack([side == 0, side > 0])[np.newaxis].astype(np.float32)
        for side in (scene.reference, scene.prediction)
    )
    found: dict[str, Any] = {}
    for judge in judges():
        name = type(judge).__name__
        judge(y_pred=prediction, y=reference)
        overall = np.atleast_1d(judge.cc_aggregate(mode="overall").numpy())
        found[name] = judge.cc_aggregate(mode="patient")[0]
        found[f"{name}/overall"] = dict(enumerate(overall.tolist(), start=1))
    return found


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
    )
