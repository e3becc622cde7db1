"""CC-Dice by CC-Metrics, in .venv-ccmetrics: python -m tests.peers.protocols.run_ccmetrics.

`components` lists the Dice of each reference component, in the order of its numbering.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from CCMetrics import CCDiceMetric

from tests.peers.protocols.records import write
from tests.peers.protocols.scenes import Scene


def evaluate(scene: Scene) -> Mapping[str, Any]:
    reference, prediction = (
        np.stack([side == 0, side > 0])[np.newaxis].astype(np.float32)
        for side in (scene.reference, scene.prediction)
    )
    judge = CCDiceMetric()
    judge(y_pred=prediction, y=reference)
    overall = np.atleast_1d(judge.cc_aggregate(mode="overall").numpy())
    return {
        "CCDiceMetric": judge.cc_aggregate(mode="patient")[0],
        "overall": dict(enumerate(overall.tolist(), start=1)),
    }


if __name__ == "__main__":
    write("cc-metrics-0.0.3", evaluate, packages=("CCMetrics",), family="lesion masks")
