"""COCO panoptic from disk: PNG files and JSON, against hotcoco."""

from __future__ import annotations

import json
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from isal import isal_zlib
from PIL import Image

from benchmarks.peers import against, measure_peer
from benchmarks.scenes import Labels
from benchmarks.timing import Row, at_most, processor_ms
from panmatch import phantoms, related

WHAT = "COCO panoptic PQ from disk, 60 pairs of 640 × 480, processor time"
ROUNDS = 3
IMAGES, SHAPE, SEGMENTS = 60, (480, 640), 30
CATEGORIES = [{"id": i, "name": f"class {i}", "isthing": int(i <= 80)} for i in range(1, 134)]


def rows() -> Iterator[Row]:
    """Yield every comparison as soon as it is measured; hotcoco and we take turns."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_dataset(folder)
        found = scores(folder)
        rounds = []
        for _ in range(ROUNDS):
            mine = processor_ms(lambda: scores(folder))
            peer = measure_peer("hotcoco", "peer_hotcoco.py", folder)
            if peer is not None:
                peer.check(found, 1e-9)
            rounds.append((mine, peer))
        unpacking = processor_ms(lambda: unpack(folder))
    ours = min(mine for mine, _ in rounds)
    theirs = [peer for _, peer in rounds if peer is not None]
    yield at_most(WHAT, ours, unpacking, "limit: read and inflate all files with isal", None)
    best = min(theirs, key=lambda peer: peer.ms, default=None)
    yield against(WHAT, ours, "hotcoco", best, 1.2)


def scores(folder: Path) -> dict[str, float]:
    """Return the scores of all classes."""
    sides = [folder / "reference", folder / "prediction"]
    paths = [path for side in sides for path in (side.with_suffix(".json"), side)]
    found = related.coco_pq(*paths).all
    return {"pq": found.pq, "sq": found.sq, "rq": found.rq}


def unpack(folder: Path) -> None:
    """Read and inflate the pixels of all PNG files."""
    n_bytes = SHAPE[0] * (1 + 3 * SHAPE[1])
    for file in sorted(folder.rglob("*.png")):
        content = file.read_bytes()
        start = content.index(b"IDAT") + 4
        assert len(isal_zlib.decompress(content[start:-16], zlib.MAX_WBITS, n_bytes)) == n_bytes


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
