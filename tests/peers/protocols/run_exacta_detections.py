"""AP and FROC of lesions by exacta, which matches greedily by confidence.

Usage: python -m tests.peers.protocols.run_exacta_detections
"""

import json
from importlib.metadata import version
from pathlib import Path

import torch
from exacta.detection import LesionDetection

from tests.peers.protocols.detection_scenes import DATASETS, dataset

DATA = Path(__file__).parents[2] / "data" / "detections" / "exacta.json"
RATES = (0.25, 0.5, 1.0, 2.0)


def numbers(seed: int) -> dict[str, object]:
    metric = LesionDetection(connectivity=3, iou_threshold=0.1, num_classes=2)
    for mask, found in dataset(seed):
        metric.update(
            torch.from_numpy((found > 0).astype("int64"))[None],
            torch.from_numpy(mask.astype("int64"))[None],
            torch.from_numpy(found)[None],
        )
    curve = metric.compute().curves[0]
    return {
        "AP": float(curve.average_precision),
        "sensitivity": curve.sensitivity_at(RATES).tolist(),
        "tp": curve.true_positives.tolist(),
        "fp": curve.false_positives.tolist(),
        "lesions": curve.num_targets,
    }


if __name__ == "__main__":
    DATA.parent.mkdir(exist_ok=True)
    rows = [json.dumps(numbers(seed)) for seed in range(DATASETS)]
    head = json.dumps({"exacta": version("exacta")})[:-1]
    joined = ",\n".join(rows)
    DATA.write_text(f'{head}, "datasets": [\n{joined}\n]}}\n', encoding="utf-8")
