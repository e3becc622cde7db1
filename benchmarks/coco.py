"""COCO panoptic from disk: PNG files and JSON, against hotcoco."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from PIL import Image

from benchmarks.scenes import Labels
from panmatch import phantoms

IMAGES, SHAPE, SEGMENTS = 60, (480, 640), 30
CATEGORIES = [{"id": i, "name": f"class {i}", "isthing": int(i <= 80)} for i in range(1, 134)]


def make_dataset(folder: Path) -> None:
    """Write both sides as COCO does: one PNG file per image, and a JSON file."""
    for side in ("reference", "prediction"):
        (folder / side).mkdir()
    tables: dict[str, list[object]] = {"reference": [], "prediction": []}
    for number in range(IMAGES):
        reference = phantoms.tissue(SHAPE, SEGMENTS, seed=number)
        reference[:40, :60] = 0  # void
        prediction = phantoms.shift(reference, (2 + number % 5, -3))
        for side, labels in (("reference", reference), ("prediction", prediction)):
            table = save_image(labels, folder / side / f"{number:012}.png", number)
            tables[side].append({"image_id": number, **table})
    images = [{"id": number, "height": SHAPE[0], "width": SHAPE[1]} for number in range(IMAGES)]
    for side, found in tables.items():
        content = {"images": images, "annotations": found, "categories": CATEGORIES}
        (folder / f"{side}.json").write_text(json.dumps(content))


def save_image(labels: Labels, file: Path, seed: int) -> dict[str, object]:
    """Write segment ids as colours, and return what the JSON file says about the image."""
    random = np.random.default_rng(seed)
    ids = np.concatenate([[0], random.choice(2**24 - 1, SEGMENTS, replace=False) + 1])
    colours = ids[labels][..., None] >> np.array([0, 8, 16]) & 255
    Image.fromarray(colours.astype(np.uint8)).save(file)
    sizes = np.bincount(labels.ravel(), minlength=SEGMENTS + 1)
    segments = [
        {
            "id": int(ids[i]),
            "category_id": (seed + 7 * i) % len(CATEGORIES) + 1,
            "iscrowd": 0,
            "bbox": [0, 0, SHAPE[1], SHAPE[0]],
            "area": int(sizes[i]),
        }
        for i in np.flatnonzero(sizes).tolist()
        if i
    ]
    return {"file_name": file.name, "segments_info": segments}
