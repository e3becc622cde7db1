"""Evaluate scenes with configurations of panoptica, in panoptica's own environment.

Usage: python run_panoptica_configs.py SCENES.npz RESULTS.json

SCENES holds `reference_0`, `prediction_0`, … and `configs`, a path for each scene; with `areas`,
`autc_pq` is computed too. RESULTS has one entry per scene: for every group its numbers by name, or
the error under `error`. Beside that it has `tags`, all that panoptica reads.
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from panoptica import Panoptica_Evaluator
from panoptica.utils.config import supported_helper_classes


def numbers(found: Any) -> dict[str, float]:
    known = {name: float(value) for name, value in found.to_dict().items() if value is not None}
    mean = vars(found).get("region_avg_dsc")  # of regions; not in its own table
    return known if mean is None else known | {"region_avg_dsc": float(mean)}


def main(scenes_path: str, results_path: str) -> None:
    scenes: dict[str, npt.NDArray[Any]] = dict(np.load(scenes_path))
    results: list[dict[str, Any]] = []
    for i, config in enumerate(scenes["configs"].tolist()):
        try:
            judge = Panoptica_Evaluator.load_from_config(config)
            pair = scenes[f"prediction_{i}"], scenes[f"reference_{i}"]
            said = {name: numbers(one) for name, one in judge.evaluate(*pair).items()}
            if "areas" in scenes:
                for name, one in judge.evaluate_autc(*pair).items():
                    said[name]["autc_pq"] = one.get_autc("pq")
            results.append(said)
        except Exception as error:
            results.append({"error": f"{type(error).__name__}: {error}"})
    tags = sorted(one.__name__ for one in supported_helper_classes)
    Path(results_path).write_text(json.dumps({"scenes": results, "tags": tags}))


if __name__ == "__main__":
    main(*sys.argv[1:])
