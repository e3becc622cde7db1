"""Random datasets of COCO instances: crowd, ties, all sizes, polygons and encodings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from panmatch.labels import Masks, read_masks
from tests.mask_scenes import text_of

Dataset = dict[str, Any]


def lengths_of(masks: Masks, i: int) -> list[int]:
    """Return the run lengths of a mask, outside and inside in turn."""
    start, stop = (
        column[masks.first[i] : masks.first[i + 1]] for column in (masks.start, masks.stop)
    )
    edges = np.concatenate([[0], np.stack([start, stop], axis=1).ravel(), [np.prod(masks.shape)]])
    lengths: list[int] = np.diff(edges).tolist()
    return lengths if lengths[-1] or len(lengths) == 1 else lengths[:-1]


def random_dataset(seed: int) -> Dataset:
    """Return references, and detections that are moved, missing, doubled or spurious."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(60, 220))
    images = [
        {"id": 3 * i + 1, "height": size, "width": size + 7} for i in range(rng.integers(1, 5))
    ]
    annotations: list[Dataset] = []
    detections: list[Dataset] = []
    for image in images:
        for category in (1, 2, 5):
            for _ in range(rng.integers(0, 6)):
                centre, radius = (
                    rng.uniform(0, size, 2),
                    rng.uniform(3, size / 2) ** rng.choice([1, 0.7]),
                )
                outline = blob(rng, centre, radius)
                crowd = int(rng.random() < 0.15)
                one = {"image_id": image["id"], "category_id": category, "iscrowd": crowd}
                masks = read_masks([[outline]], "blob", size=(size, size + 7))
                shape: Any = [outline]
                if crowd or rng.random() < 0.3:
                    shape = {"size": [size, size + 7], "counts": lengths_of(masks, 0)}
                    if not crowd:
                        shape["counts"] = text_of(shape["counts"])
                area = float(masks.sizes[0]) + float(rng.choice([0, 0.5]))
                annotations.append(
                    one | {"id": len(annotations) + 1, "segmentation": shape, "area": area,
                           "bbox": box_of(outline)}
                )  # fmt: skip
                for _ in range(rng.choice([0, 1, 1, 1, 2])):
                    moved = blob(
                        rng, centre + rng.normal(0, radius / 8, 2), radius * rng.uniform(0.8, 1.2)
                    )
                    detections.append(detection(rng, image, category, moved, size))
        for _ in range(rng.integers(0, 4)):
            spurious = blob(rng, rng.uniform(0, size, 2), rng.uniform(2, 40))
            category = int(rng.choice([1, 2, 5, 9]))
            detections.append(detection(rng, image, category, spurious, size))
    order = rng.permutation(len(detections)).tolist()
    categories = [{"id": i, "name": f"kind {i}"} for i in (1, 2, 5, 7)]
    return {
        "reference": {"images": images, "categories": categories, "annotations": annotations},
        "prediction": [detections[i] for i in order],
    }


def label_dataset(pairs: Sequence[tuple[Any, Any]], seed: int) -> Dataset:
    """Return pairs of label images as COCO instances: few crowds, two classes, drawn scores."""
    rng = np.random.default_rng(seed)
    images: list[Dataset] = []
    sides: tuple[list[Dataset], list[Dataset]] = ([], [])
    for number, pair in enumerate(pairs, 1):
        height, width = pair[0].shape
        images.append({"id": number, "height": height, "width": width})
        for rows, labels in zip(sides, pair, strict=True):
            for label in np.unique(labels[labels > 0]).tolist():
                mask = labels == label
                counts = lengths_of(read_masks([mask], "mask", order="F"), 0)
                low, high = np.argwhere(mask).min(0), np.argwhere(mask).max(0) + 1
                box = [*low[::-1].tolist(), *(high - low)[::-1].tolist()]
                rows.append({"image_id": number, "category_id": 1 + label % 2, "bbox": box,
                             "segmentation": {"size": [height, width], "counts": counts},
                             "id": len(rows) + 1})  # fmt: skip
    for row in sides[0]:
        area = float(sum(row["segmentation"]["counts"][1::2]))
        row.update(iscrowd=int(rng.random() < 0.05), area=area)
    for row in sides[1]:
        row.update(score=round(float(rng.random()), 3), category_id=int(rng.integers(1, 3)))
        row["segmentation"]["counts"] = text_of(row["segmentation"]["counts"])
        del row["id"]
    categories = [{"id": i, "name": f"kind {i}"} for i in (1, 2)]
    reference = {"images": images, "categories": categories, "annotations": sides[0]}
    return {"reference": reference, "prediction": sides[1]}


def blob(rng: np.random.Generator, centre: Any, radius: float) -> list[float]:
    """Return an irregular polygon."""
    angles = np.linspace(0, 2 * np.pi, int(rng.integers(5, 14)), endpoint=False)
    reach = radius * rng.uniform(0.8, 1.1, len(angles))
    corners = np.stack([centre[0] + reach * np.cos(angles), centre[1] + reach * np.sin(angles)], 1)
    return [round(one, 2) for one in corners.ravel().tolist()]


def box_of(outline: list[float]) -> list[float]:
    """Return x, y, width and height."""
    low, high = np.reshape(outline, (-1, 2)).min(0), np.reshape(outline, (-1, 2)).max(0)
    return [*low.tolist(), *(high - low).tolist()]


def detection(
    rng: np.random.Generator, image: Dataset, category: int, outline: list[float], size: int
) -> Dataset:
    """Return a detection; scores have few digits, so that some are equal."""
    masks = read_masks([[outline]], "blob", size=(size, size + 7))
    counts = text_of(lengths_of(masks, 0))
    return {
        "image_id": image["id"],
        "category_id": category,
        "segmentation": {"size": [size, size + 7], "counts": counts},
        "bbox": box_of(outline),
        "score": round(float(rng.random()), int(rng.choice([1, 3]))),
    }
