"""Time the panoptic evaluation of cityscapesScripts, the code of COCO's official program.

Usage: python peer_cityscapes.py FOLDER

FOLDER holds reference.npy and prediction.npy with ids class × 1000 + instance. Images are handed
over decoded: what is timed begins after reading PNG files. Prints {"ms": …, "quality": …}.
"""

import contextlib
import io
import json
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from cityscapesscripts.evaluation import evalPanopticSemanticLabeling as peer  # noqa: N813


def segments(image: Any) -> list[dict[str, int]]:
    ids, areas = np.unique(image[image > 0], return_counts=True)
    return [
        {"id": int(i), "category_id": int(i) // 1000, "iscrowd": 0, "area": int(n)}
        for i, n in zip(ids, areas, strict=True)
    ]


def main(folder: str) -> None:
    images = {
        name: np.load(Path(folder) / f"{name}.npy").astype(np.uint32)
        for name in ("reference", "prediction")
    }
    peer.Image.open = lambda path: images[Path(path).name]
    peer.rgb2id = lambda image: image
    categories: dict[int, Any] = {
        one["category_id"]: {} for image in images.values() for one in segments(image)
    }
    times = []
    for _ in range(5):
        pair = [
            {"image_id": 1, "file_name": name, "segments_info": segments(image)}
            for name, image in images.items()
        ]
        with contextlib.redirect_stdout(io.StringIO()):
            start = time.perf_counter()
            found = peer.pq_compute_single_core(0, [pair], "", "", categories)
            times.append(time.perf_counter() - start)
    quality = float(sum(found[category].iou for category in categories))
    name = f"cityscapesScripts {version('cityscapesScripts')}"
    print(json.dumps({"ms": 1e3 * min(times), "quality": quality, "name": name}))


if __name__ == "__main__":
    main(*sys.argv[1:])
