"""AUROC, AP and FROC of PI-CAI by picai_eval.

Usage: python -m tests.peers.protocols.run_picai
"""

import json
from importlib.metadata import version
from pathlib import Path

from picai_eval import evaluate

from tests.peers.protocols.detection_scenes import DATASETS, dataset

DATA = Path(__file__).parents[2] / "data" / "detections" / "picai.json"


def numbers(seed: int) -> dict[str, object]:
    masks, maps = zip(*dataset(seed), strict=True)
    found = evaluate(y_det=maps, y_true=masks, num_parallel_calls=1)
    rates = [0.25, 0.5, 1.0, 2.0]
    return {
        "AUROC": float(found.auroc),
        "AP": float(found.AP),
        "score": float(found.score),
        "sensitivity": [float(found.lesion_TPR_at_FPR(rate)) for rate in rates],
        "lesions": int(found.num_lesions),
    }


if __name__ == "__main__":
    DATA.parent.mkdir(exist_ok=True)
    rows = [json.dumps(numbers(seed)) for seed in range(DATASETS)]
    head = json.dumps({"picai_eval": version("picai_eval")})[:-1]
    joined = ",\n".join(rows)
    DATA.write_text(f'{head}, "datasets": [\n{joined}\n]}}\n', encoding="utf-8")
