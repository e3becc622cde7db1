"""COCO instances from JSON files: AP of masks, against hotcoco and pycocotools."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.peers import Measured, python_of, run_script
from benchmarks.timing import Row, at_most, faster, not_measured, processor_ms
from panmatch.labels import Masks, read_segmentations

IMAGES, SHAPE, OBJECTS = 5000, (480, 640), 36
CLASSES, CLASSES_PER_IMAGE, CORNERS = 80, 5, 24
CROWD = 0.01  # share of references
PLACES = np.arange(13)  # characters that a run length needs at most
ROUNDS = 3
WHAT = "COCO AP of masks from JSON, 5000 images × 36 references and detections"


@dataclass(frozen=True, slots=True)
class Times:
    """What a program says about the files, and its times in milliseconds."""

    measured: Measured
    load_cpu: float
    score_cpu: float
    load_wall: float
    score_wall: float

    @property
    def cpu(self) -> float:
        return self.load_cpu + self.score_cpu

    @property
    def wall(self) -> float:
        return self.load_wall + self.score_wall


def rows() -> Iterator[Row]:
    """Yield every comparison as soon as it is measured; the programs take turns."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_dataset(folder)
        for threads in (1, 2):
            ours, theirs = in_turns(folder, threads)
            yield against(f"{WHAT}, {threads} thread{'s'[: threads - 1]}, processor time",
                          ours.cpu, "hotcoco", theirs, 1.0)  # fmt: skip
            if threads > 1:
                yield against(f"{WHAT}, {threads} threads", ours.wall, "hotcoco", theirs, 1.0,
                              clock=True)  # fmt: skip
                continue
            reading = processor_ms(lambda: read(folder))
            yield at_most(f"{WHAT}, 1 thread, processor time", ours.cpu, reading,
                          "limit: read both files", None)  # fmt: skip
            slow = time_program("pycocotools", folder, 1, 1)
            if slow is not None:
                slow.measured.check(ours.measured.numbers, 1e-12)
            yield against(f"{WHAT}, 1 thread, processor time", ours.cpu, "pycocotools", slow, 50)
            if slow is not None:
                what = f"{WHAT}, both files loaded, 1 thread, processor time"
                yield faster(what, ours.score_cpu, slow.score_cpu, slow.measured.name, 50)


def read(folder: Path) -> None:
    """Read every byte of both files into memory."""
    for name in ("reference.json", "prediction.json"):
        (folder / name).read_bytes()


def against(
    what: str, ours: float, program: str, peer: Times | None, bound: float | None, *,
    clock: bool = False,
) -> Row:  # fmt: skip
    """Compare our time with that of a peer, whose numbers were checked."""
    if peer is None:
        return not_measured(what, f"{program} (make bench installs it)", "")
    return faster(what, ours, peer.wall if clock else peer.cpu, peer.measured.name, bound)


def in_turns(folder: Path, threads: int) -> tuple[Times, Times | None]:
    """Return the best rounds of ours and of hotcoco, which have the same numbers."""
    programs = ("panmatch", "hotcoco")
    both = [[time_program(one, folder, threads, 1) for one in programs] for _ in range(ROUNDS)]
    ours = [mine for mine, _ in both if mine is not None]
    theirs = [peer for _, peer in both if peer is not None]
    for peer in theirs:
        peer.measured.check(ours[0].measured.numbers, 1e-12)
    best = min(ours, key=lambda one: one.cpu)
    return best, min(theirs, key=lambda one: one.cpu, default=None)


def time_program(program: str, folder: Path, threads: int, rounds: int) -> Times | None:
    """Return what a program says; None if it is not installed."""
    python = Path(sys.executable) if program == "panmatch" else python_of(program)
    if not python.exists():
        return None
    found = run_script("peer_instances.py", folder, program, threads, rounds, python=python)
    load_cpu, score_cpu, load_wall, score_wall = found["times"]
    measured = Measured(found["name"], load_cpu + score_cpu, found["numbers"])
    return Times(measured, load_cpu, score_cpu, load_wall, score_wall)


def make_dataset(folder: Path, images: int = IMAGES, seed: int = 0) -> None:
    """Write references as polygons, a few as crowd, and detections as compressed texts."""
    rng = np.random.default_rng(seed)
    n = images * OBJECTS
    image = np.repeat(np.arange(1, images + 1), OBJECTS)
    present = rng.integers(1, CLASSES + 1, (images, CLASSES_PER_IMAGE))
    kind = present[image - 1, rng.integers(0, CLASSES_PER_IMAGE, n)]
    centre = rng.uniform((0, 0), SHAPE[::-1], (n, 2))
    radius = np.minimum(np.exp(rng.normal(3.3, 0.8, n)), 200)
    outlines = blobs(rng, centre, radius)
    moved = blobs(rng, centre + rng.normal(0, 1, (n, 2)) * radius[:, None] / 6, radius)
    crowd = rng.random(n) < CROWD
    sizes = np.tile(SHAPE, (n, 1)).astype(np.int64)
    drawn, found = (read_segmentations(side.reshape(n, 1, -1).tolist(), sizes, [""] * n)
                    for side in (outlines, moved))  # fmt: skip
    areas, boxes = drawn.sizes.tolist(), boxes_of(outlines).tolist()
    annotations = [
        {
            "segmentation": {"size": list(SHAPE), "counts": lengths_of(drawn, i)}
            if crowd[i] else [outline],
            "area": float(areas[i]), "iscrowd": int(crowd[i]), "image_id": int(image[i]),
            "bbox": boxes[i], "category_id": int(kind[i]), "id": i + 1,
        }
        for i, outline in enumerate(outlines.reshape(n, -1).tolist())
    ]  # fmt: skip
    wrong = rng.random(n) < 0.2
    guessed = np.where(wrong, rng.integers(1, CLASSES + 1, n), kind).tolist()
    boxes, scores = boxes_of(moved).tolist(), rng.random(n).tolist()
    detections = [
        {
            "image_id": int(image[i]), "category_id": guessed[i], "bbox": boxes[i],
            "score": scores[i], "segmentation": {"size": list(SHAPE), "counts": text},
        }
        for i, text in enumerate(texts_of(found))
    ]  # fmt: skip
    content = {
        "images": [
            {"id": i, "height": SHAPE[0], "width": SHAPE[1], "file_name": f"{i:012}.jpg"}
            for i in range(1, images + 1)
        ],
        "categories": [{"id": i, "name": f"class {i}"} for i in range(1, CLASSES + 1)],
        "annotations": annotations,
    }
    (folder / "reference.json").write_text(json.dumps(content))
    (folder / "prediction.json").write_text(json.dumps(detections))


def blobs(
    rng: np.random.Generator, centre: npt.NDArray[np.float64], radius: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Return irregular polygons, shape [mask, corner, xy], with two decimals as in COCO."""
    angle = np.linspace(0, 2 * np.pi, CORNERS, endpoint=False)
    reach = radius[:, None] * rng.uniform(0.75, 1.15, (len(radius), CORNERS))
    corners = centre[:, None] + reach[..., None] * np.stack([np.cos(angle), np.sin(angle)], 1)
    clipped: npt.NDArray[np.float64] = np.clip(corners, 0, SHAPE[::-1])
    return clipped.round(2)


def boxes_of(outlines: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return x, y, width and height of every polygon."""
    low, high = outlines.min(axis=1), outlines.max(axis=1)
    return np.concatenate([low, high - low], axis=1).round(2)


def lengths_of(masks: Masks, i: int) -> list[int]:
    """Return the run lengths of a mask, outside and inside in turn."""
    runs = slice(masks.first[i], masks.first[i + 1])
    edges = np.stack([masks.start[runs], masks.stop[runs]], axis=1).ravel()
    return [int(one) for one in np.diff(edges, prepend=0, append=SHAPE[0] * SHAPE[1])]


def texts_of(masks: Masks) -> list[str]:
    """Return the compressed texts of all masks: all characters of all numbers at once."""
    edges = [lengths_of(masks, i) for i in range(len(masks))]
    first = np.concatenate([[0], np.cumsum([len(one) for one in edges])])
    length = np.concatenate(edges)
    place = np.arange(len(length)) - np.repeat(first[:-1], np.diff(first))
    value = np.where(place > 2, length - np.roll(length, 2), length)
    rest = value[:, None] >> (5 * PLACES)
    after, bits = rest >> 5, rest & 31
    last = np.where(bits & 16, after == -1, after == 0)
    count = last.argmax(axis=1) + 1
    more = count[:, None] > PLACES + 1
    characters = (48 + bits + 32 * more).astype(np.uint8)
    text = characters[count[:, None] > PLACES].tobytes().decode()
    ends = np.concatenate([[0], np.cumsum(count)])[first]
    return [text[a:b] for a, b in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)]
